// Bulk copies from shared to global memory, and their groups: see bulk.h. A copy reads shared memory when it is issued,
// and lands when a warp waits for its group, or at the end of the block.
#include "../analyses/race_proxy.h"
#include "../analyses/race_reduction.h"
#include "../recording/recording.h"
#include "../traffic/traffic.h"
#include "atomic.h"
#include "bind_memory.h"
#include "bulk.h"
#include "mbarrier.h"

#include <stdlib.h>
#include <string.h>

// A thread's copy to global memory.
struct bulk_store {
    struct bulk_store *next;
    struct bulk_copy *copy;
    uint64_t to; // plain copies: device address
    unsigned warp;
    int lane;
    uint32_t group;                    // of its thread
    uint32_t clock;                    // of the agent that reads shared memory
    bool read;                         // a warp has waited for the read
    struct pending_reduction *pending; // of a reduction
    struct sim_allocation *allocation;
};

struct block_copy {
    uint32_t clock; // of the agent, 0: none
    int32_t pc;
    unsigned warp;
    int lane;
};

struct bulk_stores {
    struct bulk_store *first;
    struct block_copy block_copy; // the latest copy to another block
    uint32_t committed[MAX_WARPS][LANES];
};

static bool make_stores(struct block *block) {
    if (!block->stores)
        block->stores = calloc(1, sizeof *block->stores);
    return block->stores;
}

// Reads shared memory. Each row of a box, or the whole of a plain copy, becomes one store.
static enum step issue_store(struct warp *warp, const struct bound *bound, int lane, uint32_t offset, uint32_t skip,
                             uint32_t bytes, const struct box *box, uint64_t address, struct sim_allocation *allocation,
                             uint32_t clock, enum ptx_type reduces) {
    struct bulk_store *store = calloc(1, sizeof *store);
    struct bulk_copy *copy = bulk_make(warp, bound, lane, bytes);
    if (!store || !copy || !make_stores(warp->block)) {
        free(store);
        bulk_free(copy);
        return warp_fatal(warp, SIM_OUT_OF_HOST_MEMORY);
    }
    copy->reduces = reduces;
    traffic_bulk_store(warp->block->traffic, pc_of(warp, bound), bulk_kind(bound->ptx),
                       offset + (box ? tensor_box_distance(box, skip) : 0), address, bytes);
    for (uint32_t i = 0; i < bytes; i++)
        copy->data[i] = warp->block->shared[box ? tensor_box_offset(box, offset, skip + i) : offset + i];
    *store = (struct bulk_store){
        .next = warp->block->stores->first,
        .copy = copy,
        .to = address,
        .warp = warp->index,
        .lane = lane,
        .group = warp->block->stores->committed[warp->index][lane],
        .clock = clock,
        .allocation = allocation,
        .pending = reduces ? race_reduction_issue(warp, bound, lane, address, bytes) : NULL,
    };
    warp->block->stores->first = store;
    return STEP_NEXT;
}

uint32_t bulk_begin_read(struct warp *warp, const struct bound *bound, int lane, uint32_t offset, uint32_t bytes,
                         const struct box *box) {
    const bool whole = !box || box->pitch == box->row_bytes;
    const uint32_t unit = whole ? bytes : BULK_UNIT;
    unsigned agent;
    const bool kept = race_agent_of_bulk(warp->block, &agent);
    const uint32_t clock = kept ? race_agent_issue(warp->block, agent) : 0;
    for (uint32_t i = 0; i < bytes; i += unit) {
        uint32_t from = whole ? offset : tensor_box_offset(box, offset, i);
        if (kept)
            race_proxy_read(warp, bound, lane, agent, clock, from, unit, NULL);
        else
            race_proxy_check(warp, bound, lane, from, unit);
    }
    return clock;
}

// Returns whether the element type supports the reduction; TF32 supports none.
static bool can_reduce(enum ptx_variant what, enum ptx_type type) {
    bool floating = type == PTX_F16 || type == PTX_BF16 || type == PTX_F32 || type == PTX_F64;
    if (type == PTX_TF32 || ptx_type_size(type) < 2 || type == PTX_U16)
        return false;
    return !floating || what == PTX_V_ADD || (what <= PTX_V_MAX && ptx_type_size(type) == 2);
}

// Only loads may start before their tensor: an H200 rejects other copies as illegal instructions (tested in one and two
// dimensions; the PTX ISA does not mention it).
static enum step check_corner(struct warp *warp, const struct bound *bound, int lane, const struct box *box) {
    for (unsigned i = 0; i < box->map.rank && !box->map.pixels; i++) {
        if (box->at[i] >= 0)
            continue;
        warp_report(warp, SIM_FINDING_OUT_OF_BOUNDS, bound, NULL, lane,
                    "{op} has coordinate %d in dimension %u (0 = innermost); only a TMA load may start below 0 "
                    "[negative-coordinate]",
                    box->at[i], i);
        return warp_fatal(warp, SIM_ILLEGAL_INSTRUCTION);
    }
    return STEP_NEXT;
}

enum step bulk_store_tensor(struct warp *warp, const struct bound *bound, int lane) {
    const struct bulk_operands *operands = operand_data(warp, bound->c);
    struct box box;
    if (!tensor_map_read(warp, bound, lane, address_of_lane(warp, &operands->to, lane), &box.map))
        return STEP_STOP;
    enum ptx_type reduces =
        bound->ptx->opcode == PTX_OP_CP_ASYNC_BULK_TENSOR ? PTX_NO_TYPE : (enum ptx_type)box.map.type;
    if (reduces && !can_reduce(bound->ptx->variant, reduces)) {
        warp_report(warp, SIM_FINDING_TENSOR_MAP, bound, NULL, lane,
                    "{op} uses a reduction that is not defined for the element type of the tensor map "
                    "[tensor-map-reduction]");
        return warp_fatal(warp, SIM_LAUNCH_FAILURE);
    }
    enum step step = tensor_box_find(warp, bound, operands->coordinate, NULL, lane, &box);
    step = step == STEP_NEXT ? check_corner(warp, bound, lane, &box) : step;
    if (step != STEP_NEXT)
        return step;
    uint64_t offset = address_in_shared(warp, &operands->from, PTX_SHARED, lane);
    step = bulk_check_shared(warp, bound, lane, offset, box.rows * box.pitch, TENSOR_ALIGNMENT);
    if (step != STEP_NEXT)
        return step;
    bulk_record_box(warp, bound, true, offset, &box);
    recording_event(warp, bound, RECORDING_BULK, -1, box.rows * box.row_bytes);
    uint32_t clock = 0;
    bool reading = false; // a box out of bounds of the tensor reads nothing, and no wait would complete the read
    for (uint32_t row = 0; row < box.rows && step == STEP_NEXT; row++) {
        uint64_t address;
        uint32_t first, end;
        struct sim_allocation *allocation;
        if (!tensor_row_inside(&box, row, &address, &first, &end))
            continue;
        if (!reading)
            clock = bulk_begin_read(warp, bound, lane, (uint32_t)offset, box.rows * box.row_bytes, &box);
        reading = true;
        step = bulk_check_global(warp, bound, lane, address, end - first, true, true, &allocation);
        if (step == STEP_NEXT)
            step = issue_store(warp, bound, lane, (uint32_t)offset, row * box.row_bytes + first, end - first, &box,
                               address, allocation, clock, reduces);
    }
    return step;
}

enum step bulk_store_plain(struct warp *warp, const struct bound *bound, int lane) {
    const struct bulk_operands *operands = operand_data(warp, bound->c);
    uint32_t bytes = cells32(warp, operands->size)[lane];
    uint64_t offset = address_in_shared(warp, &operands->from, PTX_SHARED, lane);
    uint64_t address = address_of_lane(warp, &operands->to, lane);
    struct sim_allocation *allocation;
    enum step step = bulk_check_plain(warp, bound, lane, offset, address, bytes, &allocation);
    if (step != STEP_NEXT)
        return step;
    if (warp->record)
        recording_box(warp, bound, true, (uint32_t)offset, bytes, 1, &address, NULL, 0);
    recording_event(warp, bound, RECORDING_BULK, -1, bytes);
    uint32_t clock = bulk_begin_read(warp, bound, lane, (uint32_t)offset, bytes, NULL);
    return issue_store(warp, bound, lane, (uint32_t)offset, 0, bytes, NULL, address, allocation, clock,
                       bound->ptx->type);
}

static void finish(struct run *run, struct bulk_store *store) {
    const struct bulk_copy *copy = store->copy;
    uint8_t *to = store->allocation->bytes + (store->to - store->allocation->address);
    if (copy->reduces)
        atomic_apply(to, copy->data, copy->bytes, copy->issuer->code[copy->pc].ptx->variant, copy->reduces, false);
    else
        memcpy(to, copy->data, copy->bytes);
    race_reduction_end(run, store->pending);
    bulk_free(store->copy);
    free(store);
}

static enum step run_commit(struct warp *warp, const struct bound *bound, uint32_t mask) {
    if (!make_stores(warp->block))
        return warp_fatal(warp, SIM_OUT_OF_HOST_MEMORY);
    recording_event(warp, bound, RECORDING_BULK_COMMIT, warp->block->stores->committed[warp->index][first_lane(mask)],
                    0);
    for (uint32_t left = mask; left; left &= left - 1)
        warp->block->stores->committed[warp->index][first_lane(left)]++;
    return STEP_NEXT;
}

// bound->extra: the number of a thread's latest groups that may remain in flight.
static enum step run_wait(struct warp *warp, const struct bound *bound, uint32_t mask) {
    struct bulk_stores *stores = warp->block->stores;
    uint32_t clock = 0;
    unsigned agent;
    recording_event(warp, bound, RECORDING_BULK_WAIT, bound->extra, 0);
    if (!stores)
        return STEP_NEXT;
    for (struct bulk_store **link = &stores->first; *link;) {
        struct bulk_store *store = *link;
        bool due = store->group + bound->extra < stores->committed[store->warp][store->lane];
        if (store->warp != warp->index || !(mask >> store->lane & 1) || !due) {
            link = &store->next;
            continue;
        }
        clock = store->clock > clock ? store->clock : clock;
        store->read = true;
        if (bound->ptx->flags & PTX_READ) {
            race_reduction_is_read(store->pending);
            link = &store->next;
        } else {
            *link = store->next;
            finish(warp->run, store);
        }
    }
    if (clock && race_agent_of_bulk(warp->block, &agent))
        race_agent_wait(warp, agent, clock);
    return STEP_NEXT;
}

bool bulk_note_remote_copy(struct warp *warp, const struct bound *bound, int lane, uint32_t clock) {
    if (!clock)
        return true;
    if (!make_stores(warp->block))
        return false;
    warp->block->stores->block_copy = (struct block_copy){clock, pc_of(warp, bound), warp->index, lane};
    return true;
}

// Reports copies to other blocks' shared memory whose read no warp of this block has acquired from an mbarrier.
static void report_unfinished_copies(struct block *block) {
    struct block_copy *last = &block->stores->block_copy;
    unsigned agent;
    bool known = !last->clock || !race_agent_of_bulk(block, &agent);
    for (unsigned w = 0; w < block->warps && !known; w++)
        known = block->warp[w].clock[agent] >= last->clock;
    if (!known)
        warp_report(
            &block->warp[last->warp], SIM_FINDING_CLUSTER_LIFETIME, &block->warp[0].code[last->pc], NULL, last->lane,
            "the {op} may still read shared memory of the issuing block when the block exits [cluster-early-exit]");
    *last = (struct block_copy){0};
}

void bulk_end(struct block *block) {
    mbarrier_end(block);
    if (block->stores)
        report_unfinished_copies(block);
    while (block->stores && block->stores->first) {
        struct bulk_store *store = block->stores->first;
        struct warp *warp = &block->warp[store->warp];
        if (!store->read && block->race.on)
            warp_report(warp, SIM_FINDING_MISSING_PHASE_WAIT, &warp->code[store->copy->pc], NULL, store->lane,
                        "the {op} may still read shared memory when the block exits [missing-store-wait]");
        block->stores->first = store->next;
        finish(block->run, store);
    }
    if (block->stores)
        memset(block->stores->committed, 0, sizeof block->stores->committed);
}

void bulk_land_all(struct block *block) {
    while (block->stores && block->stores->first) {
        struct bulk_store *store = block->stores->first;
        block->stores->first = store->next;
        finish(block->run, store);
    }
    if (block->stores)
        memset(block->stores->committed, 0, sizeof block->stores->committed);
}

void bulk_discard(struct block *block) {
    while (block->stores && block->stores->first) {
        struct bulk_store *store = block->stores->first;
        block->stores->first = store->next;
        race_reduction_end(block->run, store->pending);
        bulk_free(store->copy);
        free(store);
    }
    free(block->stores);
}

bool bind_bulk_group(struct binder *binder, const struct ptx_instruction *ptx, struct bound *bound) {
    (void)binder;
    bool waits = ptx->opcode == PTX_OP_CP_ASYNC_BULK_WAIT_GROUP;
    bound->kind = BOUND_RUN;
    bound->run = waits ? run_wait : run_commit;
    bound->extra = waits ? (uint32_t)ptx->src[0].bits : 0;
    return !waits || ptx->src[0].kind == PTX_OPERAND_IMMEDIATE;
}
