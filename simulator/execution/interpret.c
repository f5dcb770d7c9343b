// The interpreter's loop: fetch an instruction, determine the lanes that execute it, execute it for all of them.
//
// Divergence needs no control-flow graph. Of the splits that can run, the one at the deepest call and, among those, at
// the lowest instruction runs first: the others are further down in the program, where it will reconverge with them. A
// split that loops for long while others wait gives them a turn, so that lanes may wait for each other.
#include "interpret.h"
#include "spin.h"

#include "../analyses/validity.h"
#include "../machine/block.h"
#include "../traffic/work.h"

#include <string.h>

// Merges splits at the same instruction.
static void merge_ready(struct warp *warp) {
    for (int i = 0; i < warp->splits; i++) {
        struct split *a = &warp->split[i];
        for (int k = i + 1; k < warp->splits; k++) {
            struct split *b = &warp->split[k];
            if (a->state == SPLIT_READY && b->state == SPLIT_READY && a->pc == b->pc && a->depth == b->depth) {
                a->mask |= b->mask;
                a->yielded &= b->yielded;
                warp_remove_split(warp, b);
                k--;
            }
        }
    }
}

static bool runs_before(const struct split *a, const struct split *b) {
    return a->depth != b->depth ? a->depth > b->depth : a->pc < b->pc;
}

// The split that runs next, NULL if none can run.
static struct split *choose(struct warp *warp) {
    struct split *best = NULL;
    bool ready = false;
    if (warp->splits > 1)
        merge_ready(warp);
    for (int i = 0; i < warp->splits; i++) {
        struct split *split = &warp->split[i];
        ready |= split->state == SPLIT_READY;
        if (split->state == SPLIT_READY && !split->yielded && (!best || runs_before(split, best)))
            best = split;
    }
    if (!best && ready) {
        for (int i = 0; i < warp->splits; i++)
            warp->split[i].yielded = false;
        return choose(warp);
    }
    return best;
}

// The instruction at which the running split has to stop because another split is there.
static int32_t merge_point(const struct warp *warp, const struct split *now) {
    int32_t target = INT32_MAX;
    for (int i = 0; i < warp->splits; i++) {
        const struct split *other = &warp->split[i];
        if (other != now && other->state == SPLIT_READY && other->depth == now->depth && other->pc > now->pc &&
            other->pc < target)
            target = other->pc;
    }
    return target;
}

// Counts instructions after each turn of a warp, and ends the launch if a block has reached its limit. A warp that
// waits may also be in an endless loop, one with a barrier.
static bool within_limit(struct warp *warp) {
    struct run *run = warp->run;
    uint64_t done = warp->block->warp_instructions += warp->warp_instructions;
    atomic_fetch_add(&run->lane_instructions, warp->lane_instructions);
    atomic_fetch_add(&run->warp_instructions, warp->warp_instructions);
    warp->lane_instructions = warp->warp_instructions = 0;
    if (run->options.instruction_limit == 0 || done < run->options.instruction_limit || warp->splits == 0)
        return !run_stopped(run);
    const struct split *split = warp_can_run(warp) ? choose(warp) : &warp->split[0];
    char last_observed[SPIN_TEXT];
    spin_describe(warp, last_observed);
    warp_report(warp, SIM_FINDING_INSTRUCTION_LIMIT, &warp->code[split->pc], NULL, first_lane(split->mask),
                "the block has executed %llu warp instructions and is still in the loop at {here}%s. If the loop is "
                "finite, rerun with SIMULATOR_INSTRUCTION_LIMIT=%llu",
                (unsigned long long)done, last_observed, (unsigned long long)run->options.instruction_limit * 10);
    warp_fatal(warp, SIM_LAUNCH_TIMEOUT);
    return false;
}

// A branch that only some lanes take. The lanes that continue remain in the running split, the others become a new
// split.
static void diverge(struct warp *warp, uint32_t taken, int32_t target, int32_t next) {
    warp->now->pc = next;
    warp_add_split(warp, taken, target);
}

// Runs one split until the other splits have to be considered. false: the launch stops. watched: the warp's registers
// hold uninitialized values, which each instruction has to be checked for.
static inline __attribute__((always_inline)) bool run_split(struct warp *warp, struct split *split, bool traced) {
    const struct bound *code = warp->code;
    uint32_t active = split->mask;
    int32_t pc = split->pc, limit = merge_point(warp, split);
    uint64_t warp_instructions = 0, lane_instructions = 0;
    enum step step = STEP_NEXT;
    warp->now = split;
    do {
        const struct bound *bound = &code[pc];
        uint32_t mask = active & (*predicate(warp, bound->guard) ^ bound->guard_flip);
        if (traced && validity_holds_any(warp))
            validity_step(warp, bound, active, mask);
        if (traced && warp->work)
            work_step(warp->work, pc);
        warp_instructions++;
        lane_instructions += mask == ALL_LANES ? LANES : (unsigned)__builtin_popcount(mask);
        if (bound->kind == BOUND_LANES) {
            if (mask == ALL_LANES && !bound->saturate) {
                bound->lanes(operand_data(warp, bound->d), operand_data(warp, bound->a), operand_data(warp, bound->b),
                             operand_data(warp, bound->c), bound->extra);
            } else if (mask) {
                warp_run_lanes(warp, bound, mask);
            }
            pc++;
        } else if (bound->kind == BOUND_BRANCH) {
            if (mask == 0) {
                pc++;
                continue;
            }
            if (mask != active) {
                diverge(warp, mask, bound->target, pc + 1);
                step = STEP_MOVED;
                break;
            }
            bool backward = bound->target <= pc;
            pc = bound->target;
            if (backward && --warp->turn_budget <= 0) {
                split->pc = pc;
                split->yielded = true;
                step = STEP_MOVED;
                break;
            }
        } else if (mask == 0) {
            pc++;
        } else {
            split->pc = pc;
            step = bound->run(warp, bound, mask);
            if (step != STEP_NEXT)
                break;
            pc++;
        }
    } while (pc < limit);
    if (step == STEP_NEXT)
        split->pc = pc;
    warp->warp_instructions += warp_instructions;
    warp->lane_instructions += lane_instructions;
    return step != STEP_STOP;
}

bool warp_run(struct warp *warp) {
    struct split *split = NULL;
    warp->turn_budget = TURN_BRANCHES;
    warp->last_observed.bytes = 0;
    while ((split = choose(warp))) {
        if (!(validity_holds_any(warp) || warp->work ? run_split(warp, split, true) : run_split(warp, split, false)))
            return false;
        if (warp->turn_budget <= 0)
            break;
    }
    return within_limit(warp);
}
