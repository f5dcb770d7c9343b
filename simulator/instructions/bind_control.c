// Binds control flow, barriers and cooperative operations of lanes.
#include "families.h"

#include "../analyses/race_cluster.h"
#include "../analyses/race_shared.h"
#include "../analyses/release.h"
#include "../machine/block.h"
#include "barrier.h"
#include "sync.h"

#include <sched.h>
#include <string.h>

// The host's memory is already ordered, except for other host threads. Passes the fence to the race analyses.
static enum step run_fence(struct warp *warp, const struct bound *bound, uint32_t mask) {
    warp->block->fenced |= bound->extra;
    if (warp->block->race.on && bound->extra)
        release_fence(warp, mask);
    if (warp->block->race.on) {
        race_fence(warp, mask);
        race_cluster_fence(warp);
    }
    if (bound->extra && warp->clock[CLOCK_OBSERVED] > warp->clock[CLOCK_ACQUIRED])
        warp->clock[CLOCK_ACQUIRED] = warp->clock[CLOCK_OBSERVED];
    atomic_thread_fence(memory_order_seq_cst);
    return STEP_NEXT;
}

static enum step run_nothing(struct warp *warp, const struct bound *bound, uint32_t mask) {
    (void)warp, (void)bound, (void)mask;
    return STEP_NEXT;
}

// A sleeping thread waits for others: they get a turn at its next backward branch.
static enum step run_sleep(struct warp *warp, const struct bound *bound, uint32_t mask) {
    (void)bound, (void)mask;
    warp->turn_budget = 1;
    sched_yield();
    return STEP_NEXT;
}

static enum step run_trap(struct warp *warp, const struct bound *bound, uint32_t mask) {
    warp_report(warp, SIM_FINDING_TRAP, bound, NULL, first_lane(mask), "{here} executes a trap");
    return warp_fatal(warp, SIM_TRAP);
}

static bool bind_plain(struct bound *bound, bound_run *run) {
    bound->kind = BOUND_RUN;
    bound->run = run;
    return true;
}

bool bind_barrier(struct binder *binder, const struct ptx_instruction *ptx, struct bound *bound) {
    bound->kind = BOUND_RUN;
    bound->run = run_barrier;
    bound->extra = ptx->variant == PTX_V_ARRIVE     ? BAR_ARRIVE
                   : ptx->variant == PTX_V_RED_POPC ? BAR_RED_POPC
                   : ptx->variant == PTX_V_RED_AND  ? BAR_RED_AND
                   : ptx->variant == PTX_V_RED_OR   ? BAR_RED_OR
                                                    : BAR_SYNC;
    bound->a = bind_source(binder, &ptx->src[0], PTX_U32);
    bound->b = bind_source(binder, &ptx->src[1], PTX_U32);
    bound->c = bind_source(binder, &ptx->src[2], PTX_PRED);
    bound->d = bind_result(binder, &ptx->dst[0]);
    return bound->extra < BAR_RED_POPC || bound->c != NO_OPERAND;
}

bool bind_sync_warp(struct binder *binder, const struct ptx_instruction *ptx, struct bound *bound) {
    bound->a = bind_source(binder, &ptx->src[0], PTX_B32);
    return bound->a != NO_OPERAND && bind_plain(bound, run_sync_warp);
}

// A cache policy is only a hint: any value will do.
bool bind_policy(struct binder *binder, const struct ptx_instruction *ptx, struct bound *bound) {
    bound->a = bound->b = bound->c = bind_constant(binder, 0, PTX_B64);
    bound->kind = BOUND_LANES;
    bound->lanes = binder->lanes->and_b64;
    bound->d = bind_result(binder, &ptx->dst[0]);
    bound->result_cell = 8;
    return bound->d != NO_OPERAND;
}

// extra: threads of other blocks also see it.
bool bind_fence(struct binder *binder, const struct ptx_instruction *ptx, struct bound *bound) {
    (void)binder;
    bound->extra = !strstr(ptx->text, ".cta");
    return bind_plain(bound, run_fence);
}

static enum step run_dependency_wait(struct warp *warp, const struct bound *bound, uint32_t mask) {
    (void)bound, (void)mask;
    warp->clock[CLOCK_DEPENDENCY] = 1;
    atomic_store(&warp->run->dependency_waited, true);
    return STEP_NEXT;
}

// launch_dependents has no effect: launches never overlap, and it orders nothing.
bool bind_grid_dependency(struct binder *binder, const struct ptx_instruction *ptx, struct bound *bound) {
    (void)binder;
    return bind_plain(bound, strstr(ptx->text, ".wait") ? run_dependency_wait : run_nothing);
}

#define PLAIN(name)                                                                                                    \
    bool bind_##name(struct binder *binder, const struct ptx_instruction *ptx, struct bound *bound) {                  \
        (void)binder, (void)ptx;                                                                                       \
        return bind_plain(bound, run_##name);                                                                          \
    }
PLAIN(sleep)
PLAIN(trap)
PLAIN(nothing)
