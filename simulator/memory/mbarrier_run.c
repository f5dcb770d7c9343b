// The instructions of mbarriers, executed lane by lane: each lane's is a separate arrival.
#include "../analyses/race_cluster.h"
#include "../analyses/race_proxy.h"
#include "../analyses/race_shared.h"
#include "../recording/recording.h"
#include "../traffic/work.h"
#include "address.h"
#include "async.h"
#include "bind_memory.h"
#include "bulk.h"
#include "mbarrier.h"

#include <stdio.h>

#define MOST_ARRIVALS ((1u << 20) - 1)
#define STATE_PHASE 32 // a state is the phase, and below this bit the pending arrivals

struct mbarrier_operands {
    struct operand_address address;
    operand_ref value; // NO_OPERAND: the instruction has none
};

static const struct mbarrier_operands *operands_of(const struct warp *warp, const struct bound *bound) {
    return operand_data(warp, bound->c);
}

static uint32_t value_of(const struct warp *warp, operand_ref where, int lane, uint32_t otherwise) {
    return where == NO_OPERAND ? otherwise : cells32(warp, where)[lane];
}

static struct mbarrier *barrier_of(struct warp *warp, const struct bound *bound, int lane, enum step *step) {
    uint64_t offset = address_in_shared(warp, &operands_of(warp, bound)->address, (enum ptx_space)bound->space, lane);
    return mbarrier_for_access(warp, bound, offset, lane, step);
}

// The same within the block itself, for operations that other blocks may not execute.
static struct mbarrier *own_barrier_of(struct warp *warp, const struct bound *bound, int lane, enum step *step) {
    struct mbarrier *barrier = barrier_of(warp, bound, lane, step);
    if (!barrier || barrier->owner == warp->block)
        return barrier;
    warp_report(
        warp, SIM_FINDING_MBARRIER, bound, NULL, lane,
        "{op} accesses an mbarrier of block (%u,%u,%u); other blocks can only arrive at the mbarrier [mbarrier-remote]",
        barrier->owner->index.x, barrier->owner->index.y, barrier->owner->index.z);
    *step = warp_fatal(warp, SIM_LAUNCH_FAILURE);
    return NULL;
}

static enum step run_init(struct warp *warp, const struct bound *bound, uint32_t mask) {
    const struct mbarrier_operands *operands = operands_of(warp, bound);
    for (uint32_t left = mask; left; left &= left - 1) {
        int lane = first_lane(left);
        uint64_t offset = address_in_shared(warp, &operands->address, (enum ptx_space)bound->space, lane);
        uint32_t count = value_of(warp, operands->value, lane, 0);
        if (offset == UINT64_MAX || offset % 8 || offset + 8 > warp->run->shared_bytes || count < 1 ||
            count > MOST_ARRIVALS) {
            warp_report(
                warp, SIM_FINDING_MBARRIER, bound, NULL, lane,
                "{op} has an arrival count of %u, and an mbarrier at byte 0x%llx of shared memory; the count "
                "must be 1 to %u, and the byte a multiple of 8 within the block's shared memory [mbarrier-init]",
                count, (unsigned long long)offset, MOST_ARRIVALS);
            return warp_fatal(warp, SIM_LAUNCH_FAILURE);
        }
        if (!mbarrier_init(warp, bound, (uint32_t)offset, count))
            return warp_fatal(warp, SIM_OUT_OF_HOST_MEMORY);
        recording_event(warp, bound, RECORDING_INIT, (int64_t)offset, count);
    }
    race_advance_clock(warp, false, true);
    return STEP_NEXT;
}

static enum step run_inval(struct warp *warp, const struct bound *bound, uint32_t mask) {
    enum step step = STEP_NEXT;
    for (uint32_t left = mask; left; left &= left - 1) {
        struct mbarrier *barrier = own_barrier_of(warp, bound, first_lane(left), &step);
        if (!barrier)
            return step;
        barrier->invalid = true;
    }
    return step;
}

static bool expects_tx(enum ptx_opcode opcode) {
    return opcode == PTX_OP_MBARRIER_ARRIVE_EXPECT_TX || opcode == PTX_OP_MBARRIER_ARRIVE_DROP_EXPECT_TX;
}

// arrive, arrive_drop, and both with expect_tx
static enum step run_arrive(struct warp *warp, const struct bound *bound, uint32_t mask) {
    const struct mbarrier_operands *operands = operands_of(warp, bound);
    enum ptx_opcode opcode = bound->ptx->opcode;
    uint64_t state[LANES] = {0};
    enum step step = STEP_NEXT;
    for (uint32_t left = mask; left; left &= left - 1) {
        int lane = first_lane(left);
        struct mbarrier *barrier = barrier_of(warp, bound, lane, &step);
        if (!barrier)
            return step;
        uint32_t count = expects_tx(opcode) ? 1 : value_of(warp, operands->value, lane, 1);
        state[lane] = (uint64_t)barrier->phase << STATE_PHASE | barrier->pending;
        if (expects_tx(opcode))
            recording_event(warp, bound, RECORDING_EXPECT, barrier->offset, value_of(warp, operands->value, lane, 0));
        recording_event(warp, bound, RECORDING_SIGNAL, barrier->offset, barrier->phase);
        if (expects_tx(opcode))
            mbarrier_expect_tx(warp, bound, barrier, value_of(warp, operands->value, lane, 0));
        if (opcode == PTX_OP_MBARRIER_ARRIVE_DROP || opcode == PTX_OP_MBARRIER_ARRIVE_DROP_EXPECT_TX)
            barrier->count -= count < barrier->count ? count : barrier->count;
        if (!mbarrier_arrive(warp, bound, barrier, count, lane, mask))
            return STEP_STOP;
    }
    race_advance_clock(warp, false, true);
    warp_write64(warp, bound->d, state, mask);
    if (warp->turn_budget > 0)
        return step;
    warp->now->pc++;
    return STEP_MOVED;
}

static enum step run_tx(struct warp *warp, const struct bound *bound, uint32_t mask) {
    const struct mbarrier_operands *operands = operands_of(warp, bound);
    enum step step = STEP_NEXT;
    for (uint32_t left = mask; left; left &= left - 1) {
        int lane = first_lane(left);
        struct mbarrier *barrier = barrier_of(warp, bound, lane, &step);
        if (!barrier)
            return step;
        uint32_t bytes = value_of(warp, operands->value, lane, 0);
        if (bound->ptx->opcode == PTX_OP_MBARRIER_EXPECT_TX) {
            recording_event(warp, bound, RECORDING_EXPECT, barrier->offset, bytes);
            mbarrier_expect_tx(warp, bound, barrier, bytes);
        } else {
            mbarrier_complete_tx(warp, barrier, bytes);
        }
    }
    return step;
}

// cp.async.mbarrier.arrive: the thread's own cp.async copies arrive, which they do at once. Without .noinc the expected
// arrival count does not include this arrival.
static enum step run_copies_arrive(struct warp *warp, const struct bound *bound, uint32_t mask) {
    enum step step = STEP_NEXT;
    async_land(warp->block, warp->index, mask, ASYNC_ALL, race_epoch(warp));
    for (uint32_t left = mask; left; left &= left - 1) {
        int lane = first_lane(left);
        struct mbarrier *barrier = own_barrier_of(warp, bound, lane, &step);
        if (!barrier)
            return step;
        barrier->pending += !(bound->ptx->flags & PTX_NO_COMPLETE);
        recording_event(warp, bound, RECORDING_SIGNAL, barrier->offset, barrier->phase);
        if (!mbarrier_arrive(warp, bound, barrier, 1, lane, mask))
            return STEP_STOP;
    }
    race_advance_clock(warp, false, true);
    return step;
}

// The parity of the phase that a lane tests.
static uint32_t parity_of(const struct warp *warp, const struct bound *bound, int lane) {
    const struct mbarrier_operands *operands = operands_of(warp, bound);
    if (bound->ptx->flags & PTX_PARITY)
        return value_of(warp, operands->value, lane, 0) & 1;
    return (uint32_t)(cells64(warp, operands->value)[lane] >> STATE_PHASE) & 1;
}

// Returns whether the phase that a lane tests is complete. A state names the phase; a parity means the current or the
// last one.
static bool is_complete(const struct warp *warp, const struct bound *bound, const struct mbarrier *barrier, int lane) {
    const struct mbarrier_operands *operands = operands_of(warp, bound);
    if (bound->ptx->flags & PTX_PARITY)
        return (barrier->phase & 1) != parity_of(warp, bound, lane);
    return barrier->phase != (uint32_t)(cells64(warp, operands->value)[lane] >> STATE_PHASE);
}

// test_wait, try_wait. The latter suspends the thread until the phase completes or its time limit is reached.
static enum step run_wait(struct warp *warp, const struct bound *bound, uint32_t mask) {
    uint32_t complete = 0;
    bool late = false;
    enum step step = STEP_NEXT;
    for (uint32_t left = mask; left; left &= left - 1) {
        int lane = first_lane(left);
        struct mbarrier *barrier = own_barrier_of(warp, bound, lane, &step);
        if (!barrier)
            return step;
        recording_event(warp, bound, RECORDING_TEST, barrier->offset, parity_of(warp, bound, lane));
        bool done = is_complete(warp, bound, barrier, lane);
        late = late || (!done && mbarrier_delays_completion(warp->block, barrier));
        if (!done && !late)
            mbarrier_land_copies(warp, barrier);
        if (!is_complete(warp, bound, barrier, lane))
            continue;
        complete |= 1u << lane;
        recording_event(warp, bound, RECORDING_READY, barrier->offset, parity_of(warp, bound, lane));
        race_acquire(warp, barrier->completed);
        race_cluster_acquire(warp, barrier->remote_completed, true);
        if (warp->work)
            work_wait_until(warp->work, barrier->end_time);
    }
    if (complete)
        race_sync_lanes(warp, complete);
    else if (bound->ptx->opcode == PTX_OP_MBARRIER_TRY_WAIT && !late)
        return warp_wait(warp, mask);
    if (complete != mask)
        warp->turn_budget = 1; // a warp that tests repeatedly lets others have a turn
    warp_write_predicate(warp, bound->d, complete, mask);
    return step;
}

static enum step run_pending_count(struct warp *warp, const struct bound *bound, uint32_t mask) {
    uint32_t pending[LANES];
    for (int lane = 0; lane < LANES; lane++)
        pending[lane] = (uint32_t)cells64(warp, bound->a)[lane];
    warp_write32(warp, bound->d, pending, mask);
    return STEP_NEXT;
}

static enum step run_proxy_fence(struct warp *warp, const struct bound *bound, uint32_t mask) {
    (void)mask;
    recording_event(warp, bound, RECORDING_FENCE, 0, 0);
    if (bound->ptx->opcode == PTX_OP_FENCE_PROXY && bound->ptx->variant == PTX_V_ASYNC)
        race_proxy_fence(warp);
    mbarrier_fence(warp);
    return STEP_NEXT;
}

bool mbarrier_describe(const struct warp *warp, const struct split *split, char *text, size_t size) {
    const struct mbarrier *barrier = mbarrier_of_split(warp, split);
    if (!barrier)
        return false;
    char where[128], name[ELEMENT_NAME_TEXT];
    int64_t queued = 0;
    sim_report_location(warp->run->kernel->ptx, barrier->init_pc, where, sizeof where);
    mbarrier_name(barrier->owner, barrier->offset, name);
    for (const struct bulk_copy *copy = barrier->first; copy; copy = copy->next)
        queued += copy->bytes;
    int64_t missing = barrier->bytes - queued;
    // A wait that does not end waits for the current phase: that of the other parity has ended.
    snprintf(text, size,
             "waits for parity %u of the mbarrier %s, initialized at %s, so for phase %u, which is the current one "
             "and lacks %u of %u arrivals and %lld of %lld bytes",
             barrier->phase & 1, name, where, barrier->phase, barrier->pending, barrier->count, (long long)missing,
             (long long)barrier->expected);
    return true;
}

static bound_run *run_of(enum ptx_opcode opcode) {
    switch (opcode) {
    case PTX_OP_MBARRIER_INIT:
        return run_init;
    case PTX_OP_MBARRIER_INVAL:
        return run_inval;
    case PTX_OP_MBARRIER_EXPECT_TX:
    case PTX_OP_MBARRIER_COMPLETE_TX:
        return run_tx;
    case PTX_OP_MBARRIER_TEST_WAIT:
    case PTX_OP_MBARRIER_TRY_WAIT:
        return run_wait;
    case PTX_OP_CP_ASYNC_MBARRIER_ARRIVE:
        return run_copies_arrive;
    default:
        return run_arrive;
    }
}

struct mbarrier *mbarrier_of_split(const struct warp *warp, const struct split *split) {
    const struct bound *bound = &warp->code[split->pc];
    if (split->state != SPLIT_AT_EVENT || run_of(bound->ptx->opcode) != run_wait)
        return NULL;
    uint64_t at = address_in_shared(warp, &operands_of(warp, bound)->address, (enum ptx_space)bound->space,
                                    first_lane(split->mask));
    return mbarrier_at(warp->block, at & CLUSTER_OFFSET);
}

bool bind_mbarrier(struct binder *binder, const struct ptx_instruction *ptx, struct bound *bound) {
    bool waits = ptx->opcode == PTX_OP_MBARRIER_TEST_WAIT || ptx->opcode == PTX_OP_MBARRIER_TRY_WAIT;
    bool by_state = waits && !(ptx->flags & PTX_PARITY);
    const struct ptx_operand *value = &ptx->src[1];
    struct mbarrier_operands operands = {.value = NO_OPERAND};
    if (value->kind != PTX_OPERAND_NONE)
        operands.value = bind_source(binder, value, by_state ? PTX_B64 : PTX_B32);
    if (waits && value->kind == PTX_OPERAND_REGISTER && (ptx_type_size(value->reg_type) == 8) != by_state)
        return false;
    bound->kind = BOUND_RUN;
    bound->run = run_of(ptx->opcode);
    bound->space = (uint8_t)ptx->space;
    bound->d = bind_result(binder, &ptx->dst[0]);
    if (!address_bind(binder, &ptx->src[0], &operands.address))
        return false;
    bound->c = bind_data(binder, &operands, sizeof operands);
    return true;
}

bool bind_pending_count(struct binder *binder, const struct ptx_instruction *ptx, struct bound *bound) {
    bound->kind = BOUND_RUN;
    bound->run = run_pending_count;
    bound->a = bind_source(binder, &ptx->src[0], PTX_B64);
    bound->d = bind_result(binder, &ptx->dst[0]);
    return bound->a != NO_OPERAND;
}

bool bind_proxy_fence(struct binder *binder, const struct ptx_instruction *ptx, struct bound *bound) {
    (void)binder, (void)ptx;
    bound->kind = BOUND_RUN;
    bound->run = run_proxy_fence;
    return true;
}
