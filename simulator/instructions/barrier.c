// Named barriers: see barrier.h. All threads of a warp that have not exited arrive together (bar.sync is .aligned, and
// an unaligned one can wait for the rest of its warp, which has to arrive anyway).
#include "barrier.h"
#include "../analyses/race_cluster.h"
#include "../analyses/race_shared.h"
#include "../recording/recording.h"
#include "../traffic/work.h"

#include "../machine/block.h"
#include "../traffic/overlap.h"

#include <string.h>

void barrier_reset(struct block *block) {
    memset(block->barrier, 0, sizeof block->barrier);
}

static unsigned expected_now(const struct block *block, const struct barrier *barrier) {
    if (barrier->expected)
        return barrier->expected;
    unsigned threads = 0;
    for (unsigned w = 0; w < block->warps; w++)
        threads += block->warp[w].live ? LANES : 0;
    return threads;
}

static const struct ptx_location *location_of(const struct warp *warp, int32_t pc) {
    const struct ptx_kernel *ptx = warp->run->kernel->ptx;
    int32_t location = ptx->instruction[pc].location;
    return location >= 0 && location < ptx->module->locations ? &ptx->module->location[location] : NULL;
}

// The compiler may duplicate a barrier, for example by unrolling a loop; so barriers are distinguished by their line.
static bool same_line(const struct warp *warp, int32_t a, int32_t b) {
    const struct ptx_location *x = location_of(warp, a), *y = location_of(warp, b);
    return a == b || !x || !y || (x->file == y->file && x->line == y->line);
}

static void write_result(struct warp *warp, const struct split *split, const struct barrier *barrier) {
    const struct bound *bound = &warp->code[split->pc];
    uint32_t count[LANES];
    switch (bound->extra) {
    case BAR_RED_POPC:
        for (int i = 0; i < LANES; i++)
            count[i] = barrier->true_lanes;
        warp_write32(warp, bound->d, count, split->mask);
        break;
    case BAR_RED_AND:
        warp_write_predicate(warp, bound->d, barrier->any_false ? 0 : ALL_LANES, split->mask);
        break;
    case BAR_RED_OR:
        warp_write_predicate(warp, bound->d, barrier->true_lanes ? ALL_LANES : 0, split->mask);
        break;
    default:
        break;
    }
}

// Returns whether the split waits for the current phase of the barrier.
static bool waits(const struct split *split, unsigned id) {
    return split->state == SPLIT_AT_BARRIER && split->arrived && split->barrier == id;
}

// Returns whether all warps of the block have arrived at the barrier.
static bool all_warps_wait(const struct block *block, unsigned id) {
    for (unsigned w = 0; w < block->warps; w++) {
        const struct warp *warp = &block->warp[w];
        bool waiting = !warp->live && block->barrier[id].expected == 0;
        for (int i = 0; i < warp->splits && !waiting; i++)
            waiting = waits(&warp->split[i], id);
        if (!waiting)
            return false;
    }
    return true;
}

static void complete(struct block *block, unsigned id) {
    struct barrier *barrier = &block->barrier[id];
    bool everyone = all_warps_wait(block, id);
    for (unsigned w = 0; w < block->warps; w++) {
        struct warp *warp = &block->warp[w];
        bool waited = false;
        for (int i = 0; i < warp->splits; i++) {
            struct split *split = &warp->split[i];
            if (waits(split, id)) {
                write_result(warp, split, barrier);
                if (!waited)
                    recording_event(warp, &warp->code[split->pc], RECORDING_PASS, id, 0);
                split->state = SPLIT_READY;
                split->pc++;
                waited = true;
            }
        }
        if (waited && warp->work)
            work_wait_until(warp->work, barrier->time);
        if (waited) {
            if (id)
                overlap_count(OVERLAP_TURNS);
            warp->passed.id = id;
            warp->passed.threads = barrier->expected;
            warp->passed.warps = barrier->warps;
            race_cluster_acquire(warp, block->barrier_remote[id], false);
            race_leave_barrier(warp, barrier->clock, everyone);
        }
    }
    if (everyone)
        race_align_clocks(block);
    race_cluster_reset_clocks(block, block->barrier_remote[id]);
    memset(barrier, 0, sizeof *barrier);
}

static void complete_if_due(struct block *block, unsigned id) {
    const struct barrier *barrier = &block->barrier[id];
    if (barrier->arrivals && barrier->arrivals >= expected_now(block, barrier))
        complete(block, id);
}

// The whole warp has arrived at the barrier, by the instruction at pc.
static void arrive(struct warp *warp, const struct bound *bound, unsigned id, unsigned threads) {
    struct barrier *barrier = &warp->block->barrier[id];
    int32_t pc = pc_of(warp, bound);
    if (barrier->warps == 0) {
        barrier->first_pc = pc;
        barrier->expected = threads;
    } else if (threads == 0 && barrier->expected == 0 && !same_line(warp, pc, barrier->first_pc)) {
        warp_report(warp, SIM_FINDING_DIVERGENT_BARRIER, bound, &warp->code[barrier->first_pc],
                    first_lane(warp->live ? warp->live : 1),
                    "warps of the block wait at different __syncthreads(): warp %u at {here}, and warp %d at {there}",
                    warp->index, __builtin_ctz(barrier->warps));
    } else if (threads != barrier->expected) {
        warp_report(warp, SIM_FINDING_DIVERGENT_BARRIER, bound, &warp->code[barrier->first_pc],
                    first_lane(warp->live ? warp->live : 1),
                    "named barrier %u has a count of %u threads at {here}, but of %u threads at {there}", id, threads,
                    barrier->expected);
    }
    recording_event(warp, bound, RECORDING_ARRIVE, id, 0);
    if (warp->work && work_time(warp->work) > barrier->time)
        barrier->time = work_time(warp->work);
    barrier->warps |= 1u << warp->index;
    barrier->arrivals += LANES;
    race_cluster_release(warp, &warp->block->barrier_remote[id]);
    race_publish(warp, barrier->clock);
    complete_if_due(warp->block, id);
}

static uint32_t value_of(const struct warp *warp, operand_ref where, int lane, uint32_t otherwise) {
    return where == NO_OPERAND ? otherwise : cells32(warp, where)[lane];
}

// Lanes of the warp that wait at this barrier and are not counted yet.
static uint32_t waiting_at(const struct warp *warp, unsigned id, int32_t pc, bool anywhere) {
    uint32_t lanes = 0;
    for (int i = 0; i < warp->splits; i++) {
        const struct split *split = &warp->split[i];
        if (split->state == SPLIT_AT_BARRIER && !split->arrived && split->barrier == id &&
            (anywhere || split->pc == pc))
            lanes |= split->mask;
    }
    return lanes;
}

// The whole warp waits at the barrier: counts its lanes, and evaluates the predicates of bar.red.
static void count_waiting(struct warp *warp, const struct bound *bound, unsigned id, unsigned threads) {
    struct barrier *barrier = &warp->block->barrier[id];
    for (int i = 0; i < warp->splits; i++) {
        struct split *split = &warp->split[i];
        if (split->state != SPLIT_AT_BARRIER || split->arrived || split->barrier != id)
            continue;
        const struct bound *its = &warp->code[split->pc];
        split->arrived = true;
        if (its->extra >= BAR_RED_POPC) {
            uint32_t bits = *predicate(warp, its->c) ^ (its->ptx->src[2].negated ? ALL_LANES : 0);
            barrier->true_lanes += (unsigned)__builtin_popcount(bits & split->mask);
            barrier->any_false |= (bits & split->mask) != split->mask;
        }
    }
    arrive(warp, bound, id, threads);
}

enum step run_barrier(struct warp *warp, const struct bound *bound, uint32_t mask) {
    struct split *now = warp->now;
    int lane = first_lane(mask);
    unsigned id = value_of(warp, bound->a, lane, 0), threads = value_of(warp, bound->b, lane, 0);
    if (id >= BARRIERS || threads % LANES != 0 || (bound->extra == BAR_ARRIVE && threads == 0)) {
        warp_report(
            warp, SIM_FINDING_DIVERGENT_BARRIER, bound, NULL, lane,
            "{op} names barrier %u and %u threads; a barrier ID is 0 to 15, and a thread count is a multiple of 32", id,
            threads);
        return warp_fatal(warp, SIM_LAUNCH_FAILURE);
    }
    if (bound->extra == BAR_ARRIVE) {
        arrive(warp, bound, id, threads);
        return STEP_NEXT;
    }
    if (mask != now->mask) // lanes that the guard excludes continue
        warp_add_split(warp, now->mask & ~mask, now->pc + 1);
    now->state = SPLIT_AT_BARRIER;
    now->arrived = false;
    now->barrier = id;
    now->barrier_threads = threads;
    bool anywhere = !(bound->ptx->flags & PTX_ALIGNED);
    if (waiting_at(warp, id, now->pc, anywhere) == warp->live)
        count_waiting(warp, bound, id, threads);
    return STEP_MOVED;
}

void barrier_lanes_exited(struct warp *warp) {
    struct block *block = warp->block;
    for (int i = 0; i < warp->splits && warp->live; i++) {
        struct split *split = &warp->split[i];
        if (split->state == SPLIT_AT_BARRIER && !split->arrived &&
            waiting_at(warp, split->barrier, split->pc, false) == warp->live)
            count_waiting(warp, &warp->code[split->pc], split->barrier, split->barrier_threads);
    }
    if (!warp->live)
        for (unsigned id = 0; id < BARRIERS; id++)
            complete_if_due(block, id);
}

bool barrier_release_divergent(struct block *block) {
    for (unsigned w = 0; w < block->warps; w++) {
        struct warp *warp = &block->warp[w];
        for (int i = 0; i < warp->splits; i++) {
            const struct split *a = &warp->split[i];
            if (a->state != SPLIT_AT_BARRIER || a->arrived || waiting_at(warp, a->barrier, 0, true) != warp->live)
                continue;
            for (int k = i + 1; k < warp->splits; k++) {
                const struct split *b = &warp->split[k];
                if (b->state == SPLIT_AT_BARRIER && b->barrier == a->barrier && !same_line(warp, a->pc, b->pc)) {
                    warp_report(warp, SIM_FINDING_DIVERGENT_BARRIER, &warp->code[a->pc], &warp->code[b->pc],
                                first_lane(a->mask),
                                "%d threads of warp %u wait at the barrier at {here}, but %d threads of the same warp "
                                "wait at the "
                                "barrier at {there}",
                                __builtin_popcount(a->mask), warp->index, __builtin_popcount(b->mask));
                }
            }
            count_waiting(warp, &warp->code[a->pc], a->barrier, a->barrier_threads);
            return true;
        }
    }
    return false;
}
