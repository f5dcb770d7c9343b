// Bulk copies to shared memory: see bulk.h. A copy reads its source when it is issued, and lands when a warp waits on
// its mbarrier, or at a random earlier time. A copy to several blocks of a cluster (.multicast) is one copy for each of
// them, to the same offset, and signals the mbarrier at the same offset.
#include "../analyses/race_cluster.h"
#include "../analyses/race_proxy.h"
#include "../analyses/race_shared.h"
#include "../analyses/race_tile.h"
#include "../recording/recording.h"
#include "../traffic/traffic.h"
#include "../traffic/work.h"
#include "atomic.h"
#include "bind_memory.h"
#include "bulk.h"
#include "mbarrier.h"

#include <stdlib.h>
#include <string.h>

#define RECORDED_ROWS 256   // of a box: the maximum, except for more than two dimensions
#define RECORDED_UNITS 4096 // of a box with 256-byte rows

void bulk_free(struct bulk_copy *copy) {
    if (copy)
        free(copy->segment);
    free(copy);
}

void bulk_free_list(struct bulk_copy *first) {
    while (first) {
        struct bulk_copy *next = first->next;
        bulk_free(first);
        first = next;
    }
}

struct bulk_copy *bulk_make(struct warp *warp, const struct bound *bound, int lane, uint32_t bytes) {
    struct bulk_copy *copy = calloc(1, sizeof *copy + bytes);
    if (!copy)
        return NULL;
    copy->bytes = bytes;
    copy->pc = pc_of(warp, bound);
    copy->issuer = warp;
    copy->lane = lane;
    return copy;
}

// Splits a copy to offset of shared memory into segments; box: NULL if the bytes are consecutive.
static bool set_segments(struct bulk_copy *copy, uint32_t offset, const struct box *box) {
    uint32_t unit = box && box->map.swizzle ? BULK_UNIT : copy->bytes;
    copy->segments = copy->bytes / unit;
    copy->segment = malloc(copy->segments * sizeof *copy->segment);
    for (uint32_t i = 0; copy->segment && i < copy->segments; i++)
        copy->segment[i] = (struct bulk_segment){box ? tensor_box_offset(box, offset, i * unit) : offset, unit};
    return copy->segment;
}

// Notes the copy's destination in the shadow: as one range if its segments are consecutive.
static void note_in_flight(struct warp *warp, const struct bound *bound, int lane, struct block *target,
                           const struct bulk_copy *copy, uint32_t mbarrier) {
    uint32_t first = UINT32_MAX, end = 0;
    for (uint32_t i = 0; i < copy->segments; i++) {
        const struct bulk_segment *segment = &copy->segment[i];
        first = segment->offset < first ? segment->offset : first;
        end = segment->offset + segment->bytes > end ? segment->offset + segment->bytes : end;
    }
    const bool whole = end - first == copy->bytes;
    for (uint32_t i = 0; i < (whole ? 1 : copy->segments); i++) {
        uint32_t offset = whole ? first : copy->segment[i].offset, bytes = whole ? copy->bytes : copy->segment[i].bytes;
        race_tile_note_copy(target, offset, bytes, mbarrier);
        if (target != warp->block)
            race_cluster_issue(warp, bound, lane, target, offset, bytes);
        else if (!copy->reduces)
            race_proxy_issue(warp, bound, lane, offset, bytes);
    }
}

void bulk_land(struct block *block, const struct bulk_copy *copy, uint32_t epoch) {
    enum ptx_variant what = block->run->kernel->ptx->instruction[copy->pc].variant;
    const uint8_t *from = copy->data;
    for (uint32_t i = 0; i < copy->segments; i++) {
        uint8_t *to = block->shared + copy->segment[i].offset;
        if (copy->reduces)
            atomic_apply(to, from, copy->segment[i].bytes, what, copy->reduces, false);
        else
            memcpy(to, from, copy->segment[i].bytes);
        race_proxy_land(block, epoch, copy->pc, copy->segment[i].offset, copy->segment[i].bytes);
        race_proxy_note_swizzle(block, copy->segment[i].offset, copy->segment[i].bytes, copy->swizzle);
        from += copy->segment[i].bytes;
    }
}

// Fills out-of-bounds elements. For every type an H200 writes the same NaN to each 16 bits, and does not round it.
static void fill(uint8_t *to, const struct box *box) {
    memset(to, 0, box->row_bytes);
    for (uint32_t i = 0; box->map.nan_fill && i < box->row_bytes; i += 2)
        memcpy(to + i, &(uint16_t){0x7ff7}, 2);
}

// A load with a TF32 map rounds its elements to TF32: an H200 keeps subnormal ones, and has one NaN.
static void round_to_tf32(uint8_t *to, uint32_t bytes) {
    for (uint32_t i = 0; i < bytes; i += 4) {
        uint32_t bits;
        memcpy(&bits, to + i, sizeof bits);
        bits = (bits & 0x7fffffff) > 0x7f800000 ? 0x7fffe000 : (bits + 0x1000) & 0xffffe000;
        memcpy(to + i, &bits, sizeof bits);
    }
}

// The number of blocks that receive a load.
static unsigned receivers(struct warp *warp, const struct bound *bound, int lane) {
    const struct bulk_operands *operands = operand_data(warp, bound->c);
    return operands->blocks == NO_OPERAND
               ? 1
               : (unsigned)__builtin_popcount(cells32(warp, operands->blocks)[lane] & 0xffff);
}

static enum step load_box(struct warp *warp, const struct bound *bound, int lane, const struct box *box,
                          uint64_t offset, struct bulk_copy *copy) {
    struct traffic_table *traffic = warp->block->traffic;
    int32_t pc = pc_of(warp, bound);
    const unsigned blocks = receivers(warp, bound, lane);
    for (uint32_t row = 0; row < box->rows; row++, offset += box->pitch) {
        uint64_t address;
        uint32_t first, end;
        struct sim_allocation *allocation;
        uint8_t *to = copy->data + (size_t)row * box->row_bytes;
        fill(to, box);
        if (!tensor_row_inside(box, row, &address, &first, &end)) {
            traffic_bulk_fill(traffic, pc, blocks, offset, box->row_bytes);
            continue;
        }
        enum step step = bulk_check_global(warp, bound, lane, address, end - first, false, true, &allocation);
        if (step != STEP_NEXT)
            return step;
        traffic_bulk_fill(traffic, pc, blocks, offset, first);
        traffic_bulk_load(traffic, pc, blocks, offset + first, address, end - first);
        traffic_bulk_fill(traffic, pc, blocks, offset + end, box->row_bytes - end);
        memcpy(to + first, allocation->bytes + (address - allocation->address), end - first);
        if (box->map.type == PTX_TF32)
            round_to_tf32(to + first, end - first);
    }
    return STEP_NEXT;
}

// ---- To shared memory ----------------------------------------------------------------------------------------------

enum step bulk_issue(struct warp *warp, const struct bound *bound, int lane, struct bulk_copy *copy,
                     struct block *target, uint64_t offset, const struct box *box, uint64_t barrier_address) {
    enum step step;
    struct mbarrier *barrier = mbarrier_for_access(warp, bound, barrier_address, lane, &step);
    bool by_proxy = bound->ptx->opcode != PTX_OP_ST_ASYNC && !copy->reduces;
    if (barrier && barrier->owner != target) {
        warp_report(
            warp, SIM_FINDING_MBARRIER, bound, NULL, lane,
            "{op} writes to shared memory of block (%u,%u,%u), but signals an mbarrier of block (%u,%u,%u); the "
            "destination and the mbarrier must be in the same block [mbarrier-block]",
            target->index.x, target->index.y, target->index.z, barrier->owner->index.x, barrier->owner->index.y,
            barrier->owner->index.z);
        step = warp_fatal(warp, SIM_LAUNCH_FAILURE);
        barrier = NULL;
    }
    if (!barrier || !set_segments(copy, (uint32_t)offset, box)) {
        bulk_free(copy);
        return barrier ? warp_fatal(warp, SIM_OUT_OF_HOST_MEMORY) : step;
    }
    if (!barrier->fenced && warp->block->race.on && by_proxy) {
        char name[ELEMENT_NAME_TEXT];
        mbarrier_name(barrier->owner, barrier->offset, name);
        warp_report(warp, SIM_FINDING_MBARRIER_INIT_FENCE, bound, &warp->code[barrier->init_pc], lane,
                    "{op} signals the mbarrier %s, with no fence.mbarrier_init after the "
                    "{other}",
                    name);
    }
    copy->phase = barrier->phase;
    copy->swizzle = box ? box->map.swizzle : -1;
    if (warp->work)
        copy->time = work_copy(warp->work, copy->bytes);
    traffic_bulk(warp->block->traffic, copy->bytes);
    recording_event(warp, bound, RECORDING_BULK, barrier->offset, copy->bytes);
    note_in_flight(warp, bound, lane, target, copy, barrier->offset);
    if (barrier->first)
        barrier->last->next = copy;
    else
        barrier->first = copy;
    barrier->last = copy;
    block_event(target);
    mbarrier_land_copies_early(warp, barrier);
    return STEP_NEXT;
}

// Passes the rows of a box to the recording.
void bulk_record_box(struct warp *warp, const struct bound *bound, bool stores, uint64_t offset,
                     const struct box *box) {
    uint64_t address[RECORDED_ROWS];
    int64_t unit[RECORDED_UNITS];
    const uint32_t rows = box->rows < RECORDED_ROWS ? box->rows : RECORDED_ROWS;
    const uint32_t units = rows * box->row_bytes / BULK_UNIT;
    const bool known = box->row_bytes % BULK_UNIT == 0 && units <= RECORDED_UNITS;
    if (!warp->record)
        return;
    for (uint32_t i = 0; i < units && known; i++)
        unit[i] = tensor_box_offset(box, (uint32_t)offset, i * BULK_UNIT);
    for (uint32_t row = 0; row < rows; row++) {
        uint32_t first, end;
        if (!tensor_row_inside(box, row, &address[row], &first, &end))
            address[row] = 0;
    }
    recording_box(warp, bound, stores, (uint32_t)offset, box->row_bytes, rows, address, known ? unit : NULL, units);
}

static struct bulk_copy *duplicate(struct warp *warp, const struct bound *bound, int lane,
                                   const struct bulk_copy *copy) {
    struct bulk_copy *same = bulk_make(warp, bound, lane, copy->bytes);
    if (same)
        memcpy(same->data, copy->data, copy->bytes);
    return same;
}

// Copies to each block of a mask; the last block gets the copy itself instead of a duplicate.
static enum step multicast(struct warp *warp, const struct bound *bound, int lane, struct bulk_copy *copy,
                           uint64_t offset, const struct box *box, uint64_t barrier) {
    const struct bulk_operands *operands = operand_data(warp, bound->c);
    uint32_t blocks = cells32(warp, operands->blocks)[lane] & 0xffff;
    bool taken = false;
    enum step step = STEP_NEXT;
    for (uint64_t rank = 0; blocks >> rank && step == STEP_NEXT; rank++) {
        uint64_t name = (rank + 1) << CLUSTER_SHIFT, to = name | (offset & CLUSTER_OFFSET);
        if (!(blocks >> rank & 1))
            continue;
        struct block *target = address_block(warp, bound, &to, lane, &step);
        struct bulk_copy *one = blocks >> rank == 1 ? copy : target ? duplicate(warp, bound, lane, copy) : NULL;
        if (!target)
            break;
        if (!one) {
            step = warp_fatal(warp, SIM_OUT_OF_HOST_MEMORY);
            break;
        }
        taken = one == copy;
        step = bulk_issue(warp, bound, lane, one, target, to, box, name | (barrier & CLUSTER_OFFSET));
    }
    if (!taken)
        bulk_free(copy);
    return step;
}

static enum step issue_load(struct warp *warp, const struct bound *bound, int lane, struct bulk_copy *copy,
                            struct block *target, uint64_t offset, const struct box *box) {
    const struct bulk_operands *operands = operand_data(warp, bound->c);
    uint64_t barrier = address_in_shared(warp, &operands->barrier, PTX_SHARED, lane);
    if (operands->blocks != NO_OPERAND)
        return multicast(warp, bound, lane, copy, offset, box, barrier);
    return bulk_issue(warp, bound, lane, copy, target, offset, box, barrier);
}

static enum step load_tensor(struct warp *warp, const struct bound *bound, int lane) {
    const struct bulk_operands *operands = operand_data(warp, bound->c);
    struct box box;
    if (!tensor_map_read(warp, bound, lane, address_of_lane(warp, &operands->from, lane), &box.map))
        return STEP_STOP;
    enum step step =
        tensor_box_find(warp, bound, operands->coordinate, operands->has_offsets ? operands->offset : NULL, lane, &box);
    if (step != STEP_NEXT)
        return step;
    uint64_t offset = address_in_shared(warp, &operands->to, PTX_SHARED, lane);
    struct block *target = address_block(warp, bound, &offset, lane, &step);
    if (target)
        step = bulk_check_shared(warp, bound, lane, offset, box.rows * box.pitch, TENSOR_ALIGNMENT);
    if (step != STEP_NEXT)
        return step;
    bulk_record_box(warp, bound, false, offset, &box);
    struct bulk_copy *copy = bulk_make(warp, bound, lane, box.rows * box.row_bytes);
    if (!copy)
        return warp_fatal(warp, SIM_OUT_OF_HOST_MEMORY);
    step = load_box(warp, bound, lane, &box, offset, copy);
    if (step == STEP_NEXT)
        return issue_load(warp, bound, lane, copy, target, offset, &box);
    bulk_free(copy);
    return step;
}

enum step bulk_check_plain(struct warp *warp, const struct bound *bound, int lane, uint64_t offset, uint64_t address,
                           uint32_t bytes, struct sim_allocation **allocation) {
    enum step step = bulk_check_shared(warp, bound, lane, offset, bytes, BULK_UNIT);
    if (step == STEP_NEXT && (bytes == 0 || bytes % BULK_UNIT))
        return bulk_misaligned(warp, bound, lane, "a size", bytes, BULK_UNIT);
    if (step == STEP_NEXT && address % BULK_UNIT)
        return bulk_misaligned(warp, bound, lane, "a global memory address", address, BULK_UNIT);
    bool writes = bound->ptx->space == PTX_GLOBAL;
    return step == STEP_NEXT ? bulk_check_global(warp, bound, lane, address, bytes, writes, false, allocation) : step;
}

static enum step load_plain(struct warp *warp, const struct bound *bound, int lane) {
    const struct bulk_operands *operands = operand_data(warp, bound->c);
    uint32_t bytes = cells32(warp, operands->size)[lane];
    uint64_t offset = address_in_shared(warp, &operands->to, PTX_SHARED, lane);
    uint64_t address = address_of_lane(warp, &operands->from, lane);
    struct sim_allocation *allocation;
    enum step step;
    struct block *target = address_block(warp, bound, &offset, lane, &step);
    if (target)
        step = bulk_check_plain(warp, bound, lane, offset, address, bytes, &allocation);
    if (step != STEP_NEXT)
        return step;
    if (warp->record)
        recording_box(warp, bound, false, (uint32_t)offset, bytes, 1, &address, NULL, 0);
    struct bulk_copy *copy = bulk_make(warp, bound, lane, bytes);
    if (!copy)
        return warp_fatal(warp, SIM_OUT_OF_HOST_MEMORY);
    traffic_bulk_load(warp->block->traffic, pc_of(warp, bound), receivers(warp, bound, lane), offset, address, bytes);
    memcpy(copy->data, allocation->bytes + (address - allocation->address), bytes);
    return issue_load(warp, bound, lane, copy, target, offset, NULL);
}

// ---- Binding -------------------------------------------------------------------------------------------------------

enum access_kind bulk_kind(const struct ptx_instruction *ptx) {
    bool reduces = ptx->opcode == PTX_OP_CP_REDUCE_ASYNC_BULK || ptx->opcode == PTX_OP_CP_REDUCE_ASYNC_BULK_TENSOR;
    return ptx->space != PTX_GLOBAL ? ACCESS_BULK_LOAD : reduces ? ACCESS_BULK_REDUCTION : ACCESS_BULK_STORE;
}

static bool is_tensor(const struct ptx_instruction *ptx) {
    return ptx->opcode == PTX_OP_CP_ASYNC_BULK_TENSOR || ptx->opcode == PTX_OP_CP_REDUCE_ASYNC_BULK_TENSOR;
}

static enum step run_bulk(struct warp *warp, const struct bound *bound, uint32_t mask) {
    bool stores = bound->ptx->space == PTX_GLOBAL, tensor = is_tensor(bound->ptx);
    bool block_copy = bound->ptx->space2 == PTX_SHARED && !stores;
    enum step step = STEP_NEXT;
    if (!block_copy)
        traffic_bulk_request(warp->block->traffic, pc_of(warp, bound), bulk_kind(bound->ptx));
    for (uint32_t left = mask; left && step == STEP_NEXT; left &= left - 1) {
        int lane = first_lane(left);
        step = block_copy ? bulk_copy_remote(warp, bound, lane)
               : stores   ? (tensor ? bulk_store_tensor(warp, bound, lane) : bulk_store_plain(warp, bound, lane))
                          : (tensor ? load_tensor(warp, bound, lane) : load_plain(warp, bound, lane));
    }
    return step;
}

// Returns whether cp.reduce.async.bulk supports the type; a tensor's type is in its map.
static bool can_reduce(const struct ptx_instruction *ptx) {
    enum ptx_type t = ptx->type;
    bool bits = ptx->variant == PTX_V_AND || ptx->variant == PTX_V_OR || ptx->variant == PTX_V_XOR;
    bool floating = t == PTX_F16 || t == PTX_BF16 || t == PTX_F32 || t == PTX_F64;
    if (ptx->opcode != PTX_OP_CP_REDUCE_ASYNC_BULK || bits)
        return ptx->opcode != PTX_OP_CP_REDUCE_ASYNC_BULK || t == PTX_B32 || t == PTX_B64;
    if (floating)
        return ptx->space == PTX_GLOBAL &&
               (ptx->variant == PTX_V_ADD || (ptx_type_size(t) == 2 && ptx->variant <= PTX_V_MAX));
    return (t == PTX_U32 || t == PTX_S32 || t == PTX_U64 || t == PTX_S64) && ptx->variant <= PTX_V_DEC;
}

bool bind_bulk(struct binder *binder, const struct ptx_instruction *ptx, struct bound *bound) {
    struct bulk_operands operands = {.size = NO_OPERAND, .blocks = NO_OPERAND};
    bool stores = ptx->space == PTX_GLOBAL, tensor = is_tensor(ptx);
    const struct ptx_operand *map = &ptx->src[stores ? 0 : 1];
    int barrier = tensor ? 2 : 3;
    bound->kind = BOUND_RUN;
    bound->run = run_bulk;
    bound->vector = (uint8_t)ptx->vector;
    bound->is_volatile = ptx->opcode != PTX_OP_CP_ASYNC_BULK && ptx->opcode != PTX_OP_CP_ASYNC_BULK_TENSOR;
    if (!can_reduce(ptx) || !address_bind(binder, &ptx->src[0], &operands.to) ||
        !address_bind(binder, &ptx->src[1], &operands.from))
        return false;
    for (int i = 0; tensor && i < map->count; i++)
        operands.coordinate[i] = bind_source(binder, &map->elements[i], PTX_B32);
    if (!tensor)
        operands.size = bind_source(binder, &ptx->src[2], PTX_B32);
    if (!stores && !address_bind(binder, &ptx->src[barrier], &operands.barrier))
        return false;
    operands.has_offsets = ptx->flags & PTX_IM2COL && !stores;
    const struct ptx_operand *offsets = &ptx->src[barrier + 1];
    for (int i = 0; operands.has_offsets && i < offsets->count; i++)
        if ((operands.offset[i] = bind_source(binder, &offsets->elements[i], PTX_B16)) == NO_OPERAND)
            return false;
    if (ptx->flags & PTX_MULTICAST)
        operands.blocks = bind_source(binder, &ptx->src[barrier + 1 + operands.has_offsets], PTX_B16);
    bound->c = bind_data(binder, &operands, sizeof operands);
    return !(ptx->flags & PTX_MULTICAST) || operands.blocks != NO_OPERAND;
}
