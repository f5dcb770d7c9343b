// Checks of bulk copies, and the addresses of the rows of a tensor's box: see tensor_box.h.
#include "tensor_box.h"
#include "invalid_address.h"

#include "../analyses/race_global.h"
#include "../machine/access.h"
#include "../machine/block.h"

#include <stdio.h>
#include <string.h>

enum step bulk_misaligned(struct warp *warp, const struct bound *bound, int lane, const char *what, uint64_t value,
                          unsigned unit) {
    warp_report(warp, SIM_FINDING_MISALIGNED, bound, NULL, lane,
                "{op} has %s of 0x%llx, which is not a multiple of %u bytes", what, (unsigned long long)value, unit);
    return warp_fatal(warp, SIM_MISALIGNED_ADDRESS);
}

enum step bulk_check_shared(struct warp *warp, const struct bound *bound, int lane, uint64_t offset, uint32_t bytes,
                            unsigned unit) {
    if (offset == UINT64_MAX || offset + bytes > warp->run->shared_bytes) {
        warp_report(warp, SIM_FINDING_SHARED_OUT_OF_BOUNDS, bound, NULL, lane,
                    "{op} copies %u bytes at byte 0x%llx of the block's shared memory, which has %zu bytes", bytes,
                    (unsigned long long)offset, warp->run->shared_bytes);
        return warp_fatal(warp, SIM_ILLEGAL_ADDRESS);
    }
    return offset % unit ? bulk_misaligned(warp, bound, lane, "a shared memory offset", offset, unit) : STEP_NEXT;
}

enum step bulk_check_global(struct warp *warp, const struct bound *bound, int lane, uint64_t address, uint64_t bytes,
                            bool writes, bool by_map, struct sim_allocation **allocation) {
    *allocation = sim_memory_find(address, bytes);
    if (!*allocation || (writes && (*allocation)->kind == SIM_ALLOCATION_CONST_VARIABLE)) {
        warp_report(warp, by_map ? SIM_FINDING_TENSOR_MAP : SIM_FINDING_OUT_OF_BOUNDS, bound, NULL, lane,
                    "{op} %s %llu bytes at address 0x%llx, which are not within one allocation of device memory%s",
                    writes ? "writes" : "reads", (unsigned long long)bytes, (unsigned long long)address,
                    by_map ? ": the tensor of the map is larger than the allocation, or the allocation was freed "
                             "[tensor-map-bounds]"
                           : "");
        return warp_fatal(warp, SIM_ILLEGAL_ADDRESS);
    }
    if (!sim_memory_is_reachable(warp->run->launch->ordinal, *allocation))
        return peer_access_report(warp, bound, *allocation, writes, lane);
    struct access access = {
        .space = PTX_GLOBAL,
        .kind = !writes              ? ACCESS_LOAD
                : bound->is_volatile ? ACCESS_REDUCTION
                                     : ACCESS_BULK_STORE,
        .mask = 1u << lane,
        .bytes = (uint32_t)bytes,
        .span = {address, address, 0, LANES_UNIFORM},
        .allocation = *allocation,
    };
    race_global_access(warp, bound, &access);
    warp->block->changed |= writes;
    return warp->block->aborted ? STEP_STOP : STEP_NEXT;
}

bool tensor_map_read(struct warp *warp, const struct bound *bound, int lane, uint64_t address, struct tensor_map *map) {
    const struct run *run = warp->run;
    const char *wrong = NULL;
    char rank[96];
    const uint8_t *from = NULL;
    if ((address & WINDOW_MASK) == PARAM_WINDOW) {
        uint64_t offset = address & ~WINDOW_MASK;
        if (offset + TENSOR_MAP_BYTES <= run->kernel->ptx->param_bytes)
            from = (const uint8_t *)run->launch->parameters + offset;
    } else if ((address & WINDOW_MASK) == SIM_LOCAL_WINDOW) {
        wrong = "is in the thread's local memory; declare the parameter as const __grid_constant__ [tensor-map-local]";
    } else if ((address & WINDOW_MASK) == SIM_SHARED_WINDOW) {
        wrong = "is in shared memory";
    } else {
        struct sim_allocation *allocation = sim_memory_find(address, TENSOR_MAP_BYTES);
        if (allocation)
            from = allocation->bytes + (address - allocation->address);
    }
    if (!wrong && address % TENSOR_MAP_ALIGNMENT)
        wrong = "is not at a multiple of 64 bytes";
    if (!wrong && !from)
        wrong = "is not in device memory";
    if (!wrong) {
        memcpy(map, from, sizeof *map);
        snprintf(rank, sizeof rank, "has rank %u, but the instruction has %d coordinates [tensor-map-rank]", map->rank,
                 bound->vector);
        if (map->magic != TENSOR_MAP_MAGIC)
            wrong = "was not written by cuTensorMapEncodeTiled or cuTensorMapEncodeIm2col";
        else if (map->rank != bound->vector)
            wrong = rank;
        else if (map->pixels != ((bound->ptx->flags & PTX_IM2COL) != 0))
            wrong = map->pixels ? "was written by cuTensorMapEncodeIm2col; the instruction is not .im2col"
                                : "was written by cuTensorMapEncodeTiled; the instruction is .im2col";
    }
    if (!wrong)
        return !map->changed || tensor_map_check(warp, bound, lane, address, map);
    warp_report(warp, SIM_FINDING_TENSOR_MAP, bound, NULL, lane, "{op} uses the tensor map at address 0x%llx, which %s",
                (unsigned long long)address, wrong);
    warp_fatal(warp, SIM_ILLEGAL_ADDRESS);
    return false;
}

enum step tensor_box_find(struct warp *warp, const struct bound *bound, const operand_ref coordinate[],
                          const operand_ref offset[], int lane, struct box *box) {
    const struct tensor_map *map = &box->map;
    box->rows = 1;
    for (unsigned i = 0; i < map->rank; i++) {
        bool spatial = map->pixels && i > 0 && i + 1 < map->rank;
        box->at[i] = (int32_t)cells32(warp, coordinate[i])[lane];
        box->offset[i] = spatial && offset ? (int32_t)(uint16_t)cells32(warp, offset[i - 1])[lane] : 0;
        box->count[i] = (map->box[i] + map->step[i] - 1u) / map->step[i];
        box->rows *= i && !map->pixels ? box->count[i] : 1;
    }
    if (map->pixels)
        box->rows = map->box[1];
    box->row_bytes = box->count[0] * map->element_bytes;
    box->pitch = map->swizzle ? BULK_UNIT << map->swizzle : box->row_bytes;
    int64_t begins = (int64_t)box->at[0] * map->element_bytes;
    if (begins % 16 == 0)
        return STEP_NEXT;
    warp_report(warp, SIM_FINDING_MISALIGNED, bound, NULL, lane,
                "{op} has coordinate %d in dimension 0 (innermost): the box starts at byte %lld of a row, which is not "
                "a multiple of 16 bytes",
                box->at[0], (long long)begins);
    return warp_fatal(warp, SIM_ILLEGAL_INSTRUCTION);
}

// The coordinate of pixel `row` along a dimension; *row becomes the number of complete passes over the dimensions
// before: from the start of the copy to the end, then from the lower corner on.
static int64_t pixel_at(const struct box *box, unsigned i, uint32_t *row) {
    const struct tensor_map *map = &box->map;
    int64_t at = box->at[i], step = map->step[i];
    if (i + 1 == map->rank) // images
        return at + *row * step;
    int64_t lower = map->lower[i - 1], last = (int64_t)map->last[i] + map->upper[i - 1];
    uint32_t first = at > last ? 1 : (uint32_t)((last - at) / step) + 1;
    uint32_t whole = lower > last ? 1 : (uint32_t)((last - lower) / step) + 1, n = *row;
    if (n < first) {
        *row = 0;
        return at + n * step;
    }
    *row = 1 + (n - first) / whole;
    return lower + (n - first) % whole * step;
}

bool tensor_row_inside(const struct box *box, uint32_t row, uint64_t *address, uint32_t *first, uint32_t *end) {
    const struct tensor_map *map = &box->map;
    *address = map->address;
    for (unsigned i = 1; i < map->rank; i++) {
        int64_t at;
        if (map->pixels) {
            at = pixel_at(box, i, &row) + box->offset[i];
        } else {
            at = (int64_t)box->at[i] + (int64_t)(row % box->count[i]) * map->step[i];
            row /= box->count[i];
        }
        if (at < 0 || at > map->last[i])
            return false;
        *address += (uint64_t)at * map->stride[i - 1];
    }
    int64_t low = box->at[0], high = low + box->count[0], size = (int64_t)map->last[0] + 1;
    int64_t from = low < 0 ? 0 : low, to = high > size ? size : high;
    if (from >= to)
        return false;
    *first = (uint32_t)(from - low) * map->element_bytes;
    *end = (uint32_t)(to - low) * map->element_bytes;
    *address += (uint64_t)from * map->element_bytes;
    return true;
}
