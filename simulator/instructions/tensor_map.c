// Instructions that modify tensor maps: tensormap.replace, tensormap.cp_fenceproxy, and the fences between them and the
// copies that use the map. A thread, or a warp, reads and writes a map as 128 bytes, so that races on it are detected;
// memory/tensor_map.c tracks releases and acquires.
#include "families.h"
#include "sync.h"

#include "../machine/access.h"
#include "../machine/block.h"
#include "../memory/address.h"
#include "../memory/spaces.h"
#include "../memory/tensor_map.h"
#include "../recording/recording.h"

#include <string.h>

enum { PIECE = 16, PIECES = TENSOR_MAP_BYTES / PIECE };

struct map_operands {
    struct operand_address to, from;
    operand_ref value;
};

// The map of the current instruction, and its address.
static _Thread_local struct {
    uint64_t base;
    uint8_t bytes[TENSOR_MAP_BYTES];
} held;

static void copy_map(const struct access *access, uint8_t *origin, bool to_hand) {
    struct access filled = *access;
    access_fill(&filled);
    for (uint32_t left = access->mask; left; left &= left - 1) {
        uint64_t address = filled.address[first_lane(left)]; // without the window that the base may have
        uint8_t *hand = held.bytes + (address - held.base) % TENSOR_MAP_BYTES;
        memcpy(to_hand ? hand : origin + address, to_hand ? origin + address : hand, PIECE);
    }
}

static void load_map(struct warp *warp, const struct bound *bound, const struct access *access, uint8_t *origin) {
    (void)warp, (void)bound;
    copy_map(access, origin, true);
}

static void store_map(struct warp *warp, const struct bound *bound, const struct access *access, uint8_t *origin) {
    (void)warp, (void)bound;
    copy_map(access, origin, false);
}

static enum step report_misaligned(struct warp *warp, const struct bound *bound, int lane, const char *verb,
                                   uint64_t address) {
    warp_report(warp, SIM_FINDING_MISALIGNED, bound, NULL, lane,
                "{op} %s the tensor map at address 0x%llx, which is not a multiple of %d bytes", verb,
                (unsigned long long)address, TENSOR_MAP_ALIGNMENT);
    return warp_fatal(warp, SIM_MISALIGNED_ADDRESS);
}

// One lane reads or writes the map, in several accesses.
static enum step move_by_lane(struct warp *warp, const struct bound *bound, int lane, bool to_hand) {
    enum step step =
        held.base % TENSOR_MAP_ALIGNMENT ? report_misaligned(warp, bound, lane, "modifies", held.base) : STEP_NEXT;
    for (unsigned i = 0; i < PIECES && step == STEP_NEXT; i++) {
        uint64_t address = held.base + i * PIECE;
        struct access access = {
            .space = (enum ptx_space)bound->space,
            .kind = to_hand ? ACCESS_LOAD : ACCESS_STORE,
            .mask = 1u << lane,
            .bytes = PIECE,
            .span = {address, address, 0, LANES_UNIFORM},
        };
        step = access_run_uncounted(warp, bound, &access, to_hand ? load_map : store_map);
    }
    return step;
}

// The warp reads or writes the map together, one part per lane.
static enum step move_by_warp(struct warp *warp, const struct bound *bound, enum ptx_space space, bool to_hand) {
    struct access access = {
        .space = space,
        .kind = to_hand ? ACCESS_LOAD : ACCESS_STORE,
        .mask = (1u << PIECES) - 1,
        .bytes = PIECE,
        .span = {held.base, held.base + TENSOR_MAP_BYTES - PIECE, 0, LANES_SCATTERED},
    };
    for (unsigned i = 0; i < LANES; i++)
        access.address[i] = held.base + (i < PIECES ? i * PIECE : 0);
    if (held.base % TENSOR_MAP_ALIGNMENT)
        return report_misaligned(warp, bound, 0, "modifies", held.base);
    return access_run_uncounted(warp, bound, &access, to_hand ? load_map : store_map);
}

// A map of zeros is about to be initialized field by field. The assembler implements tensormap.replace by stores in
// which ranks, sizes, boxes and steps are one less, so that zeros mean ones.
static bool initialize_map(struct tensor_map *map) {
    static const struct tensor_map zeros, ones = {.magic = TENSOR_MAP_MAGIC,
                                                  .rank = 1,
                                                  .type = PTX_U8,
                                                  .element_bytes = 1,
                                                  .box = {1, 1, 1, 1, 1},
                                                  .step = {1, 1, 1, 1, 1}};
    memcpy(map, held.bytes, sizeof *map);
    if (memcmp(map, &zeros, sizeof zeros) == 0)
        *map = ones;
    return map->magic == TENSOR_MAP_MAGIC && !map->pixels;
}

// elemtype's values are not in the order of CUtensorMapDataType.
static const enum ptx_type element_type[] = {PTX_U8,  PTX_U16, PTX_U32, PTX_S32,  PTX_U64,  PTX_S64, PTX_F16,
                                             PTX_F32, PTX_F32, PTX_F64, PTX_BF16, PTX_TF32, PTX_TF32};

// A value that exceeds the map's field is as invalid as the field's largest value.
static uint64_t at_most(uint64_t value, uint64_t most) {
    return value < most ? value : most;
}

static void set_field(struct tensor_map *map, enum ptx_variant field, uint64_t dimension, uint64_t value) {
    switch (field) {
    case PTX_V_MAP_GLOBAL_ADDRESS:
        map->address = value;
        break;
    case PTX_V_MAP_RANK: // one less than that
        map->rank = (uint8_t)at_most(value + 1, UINT8_MAX);
        break;
    case PTX_V_MAP_BOX_DIM:
        map->box[dimension] = (uint16_t)at_most(value, UINT16_MAX);
        break;
    case PTX_V_MAP_GLOBAL_DIM:
        map->last[dimension] = (uint32_t)value - 1;
        map->no_size = (uint8_t)((map->no_size & ~(1u << dimension)) | (unsigned)(value == 0) << dimension);
        break;
    case PTX_V_MAP_GLOBAL_STRIDE:
        map->stride[dimension] = value;
        break;
    case PTX_V_MAP_ELEMENT_STRIDE: // without an interleave, it has no effect in the first dimension
        map->step[dimension] =
            (uint8_t)(dimension == 0 && value && value <= TENSOR_MOST_STEP ? 1 : at_most(value, UINT8_MAX));
        break;
    case PTX_V_MAP_ELEMTYPE:
        map->type = (uint8_t)element_type[value];
        map->element_bytes = (uint8_t)ptx_type_size(element_type[value]);
        break;
    case PTX_V_MAP_INTERLEAVE:
        map->interleave = (uint8_t)value;
        break;
    case PTX_V_MAP_SWIZZLE:
        map->swizzle = (uint8_t)value;
        break;
    default:
        map->nan_fill = value == 1;
        break;
    }
}

static enum step replace(struct warp *warp, const struct bound *bound, int lane) {
    const struct map_operands *operands = operand_data(warp, bound->c);
    const struct ptx_instruction *ptx = bound->ptx;
    struct tensor_map map;
    held.base = address_of_lane(warp, &operands->to, lane);
    enum step step = move_by_lane(warp, bound, lane, true);
    if (step != STEP_NEXT)
        return step;
    if (!initialize_map(&map)) {
        warp_report(warp, SIM_FINDING_TENSOR_MAP, bound, NULL, lane,
                    "{op} modifies the tensor map at address 0x%llx, which %s [tensor-map-invalid]",
                    (unsigned long long)held.base,
                    map.magic == TENSOR_MAP_MAGIC
                        ? "was written by cuTensorMapEncodeIm2col; tensormap.replace modifies tiled maps only"
                        : "was neither written by cuTensorMapEncodeTiled nor filled with zeros");
        return warp_fatal(warp, SIM_ILLEGAL_INSTRUCTION);
    }
    uint64_t value = is_64_bit(ptx->type) ? cells64(warp, operands->value)[lane] : cells32(warp, operands->value)[lane];
    set_field(&map, ptx->variant, ptx->src[2].bits, value);
    map.released = 0;
    map.changed = tensor_map_change();
    memcpy(held.bytes, &map, sizeof map);
    return move_by_lane(warp, bound, lane, false);
}

static enum step run_replace(struct warp *warp, const struct bound *bound, uint32_t mask) {
    enum step step = STEP_NEXT;
    for (uint32_t left = mask; left && step == STEP_NEXT; left &= left - 1)
        step = replace(warp, bound, first_lane(left));
    return step;
}

bool bind_map_replace(struct binder *binder, const struct ptx_instruction *ptx, struct bound *bound) {
    struct map_operands operands = {.value = bind_source(binder, &ptx->src[1], ptx->type)};
    const struct ptx_operand *map = &ptx->src[0];
    bound->kind = BOUND_RUN;
    bound->run = run_replace;
    bound->space = (uint8_t)ptx->space;
    bound->bytes = PIECE;
    if (operands.value == NO_OPERAND || !address_bind(binder, map, &operands.to))
        return false;
    bound->c = bind_data(binder, &operands, sizeof operands);
    return true;
}

static enum step run_copy(struct warp *warp, const struct bound *bound, uint32_t mask) {
    const struct map_operands *operands = operand_data(warp, bound->c);
    struct tensor_map map;
    enum step step;
    if (!sync_whole_warp(warp, bound, mask, &step))
        return step;
    held.base = address_of_lane(warp, &operands->from, 0);
    step = move_by_warp(warp, bound, PTX_SHARED, true);
    if (step != STEP_NEXT)
        return step;
    memcpy(&map, held.bytes, sizeof map);
    if (map.magic == TENSOR_MAP_MAGIC) { // an invalid map is reported when it is used
        map.released = 1;
        map.changed = tensor_map_change();
        memcpy(held.bytes, &map, sizeof map);
    }
    held.base = address_of_lane(warp, &operands->to, 0);
    recording_event(warp, bound, RECORDING_FENCE, 0, 0);
    return move_by_warp(warp, bound, PTX_GLOBAL, false);
}

bool bind_map_copy(struct binder *binder, const struct ptx_instruction *ptx, struct bound *bound) {
    struct map_operands operands = {0};
    bound->kind = BOUND_RUN;
    bound->run = run_copy;
    bound->space = PTX_SHARED;
    bound->bytes = PIECE;
    if (!address_bind(binder, &ptx->src[0], &operands.to) || !address_bind(binder, &ptx->src[1], &operands.from))
        return false;
    bound->c = bind_data(binder, &operands, sizeof operands);
    return true;
}

static enum step run_acquire(struct warp *warp, const struct bound *bound, uint32_t mask) {
    const struct map_operands *operands = operand_data(warp, bound->c);
    recording_event(warp, bound, RECORDING_FENCE, 0, 0);
    for (uint32_t left = mask; left; left &= left - 1) {
        uint64_t address = address_of_lane(warp, &operands->from, first_lane(left));
        const struct sim_allocation *allocation = sim_memory_find(address, TENSOR_MAP_BYTES);
        struct tensor_map map;
        if (!allocation) // a map in the parameters, which cannot be modified
            continue;
        memcpy(&map, allocation->bytes + (address - allocation->address), sizeof map);
        if (map.magic == TENSOR_MAP_MAGIC && map.changed && !tensor_map_acquire(warp->block, address, map.changed))
            return warp_fatal(warp, SIM_OUT_OF_HOST_MEMORY);
    }
    return STEP_NEXT;
}

static enum step run_release(struct warp *warp, const struct bound *bound, uint32_t mask) {
    (void)mask;
    recording_event(warp, bound, RECORDING_FENCE, 0, 0);
    atomic_store(&warp->run->maps_released, tensor_map_last_change());
    return STEP_NEXT;
}

bool bind_map_fence(struct binder *binder, const struct ptx_instruction *ptx, struct bound *bound) {
    struct map_operands operands = {0};
    bool releases = ptx->flags & PTX_RELEASE;
    bound->kind = BOUND_RUN;
    bound->run = releases ? run_release : run_acquire;
    if (!releases && !address_bind(binder, &ptx->src[0], &operands.from))
        return false;
    bound->c = bind_data(binder, &operands, sizeof operands);
    return true;
}

// The prefetch itself has no effect that a program sees.
static enum step run_prefetch(struct warp *warp, const struct bound *bound, uint32_t mask) {
    const struct map_operands *operands = operand_data(warp, bound->c);
    for (uint32_t left = mask; left; left &= left - 1) {
        uint64_t address = address_of_lane(warp, &operands->to, first_lane(left));
        if (address % TENSOR_MAP_ALIGNMENT)
            return report_misaligned(warp, bound, first_lane(left), "reads", address);
    }
    return STEP_NEXT;
}

bool bind_prefetch_map(struct binder *binder, const struct ptx_instruction *ptx, struct bound *bound) {
    struct map_operands operands = {.value = NO_OPERAND};
    bound->kind = BOUND_RUN;
    bound->run = run_prefetch;
    if (!address_bind(binder, &ptx->src[0], &operands.to))
        return false;
    bound->c = bind_data(binder, &operands, sizeof operands);
    return true;
}
