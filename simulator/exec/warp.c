// The interpreter's loop: fetch an instruction, find the lanes that execute it, do it for all of them at once.
//
// Divergence needs no control-flow graph. Of the splits that can run, the one deepest in calls and, among those, lowest
// in the program goes first: the others are further down, where it will join them. A split that loops for long while
// others wait gives them a turn, so that lanes may wait for each other.
#include "warp.h"

#include "block.h"
#include "sync.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define PATIENCE 4096 // taken backward branches

void warp_write32(struct warp *warp, place where, const uint32_t *values, uint32_t mask) {
    if (where == NO_PLACE) {
        return;
    }
    if (mask == ALL_LANES) {
        memcpy(at(warp, where), values, 4 * LANES);
    } else {
        warp->lanes->blend32(cells32(warp, where), values, mask);
    }
}

void warp_write64(struct warp *warp, place where, const uint64_t *values, uint32_t mask) {
    if (where == NO_PLACE) {
        return;
    }
    if (mask == ALL_LANES) {
        memcpy(at(warp, where), values, 8 * LANES);
    } else {
        warp->lanes->blend64(cells64(warp, where), values, mask);
    }
}

void warp_write_predicate(struct warp *warp, place where, uint32_t bits, uint32_t mask) {
    if (where != NO_PLACE) {
        uint32_t *p = predicate(warp, where);
        *p = (*p & ~mask) | (bits & mask);
    }
}

// An operation that writes some lanes only, or saturates, computes all lanes aside and keeps what is wanted.
static __attribute__((noinline)) void run_lanes_aside(struct warp *warp, const struct bound *bound, uint32_t mask) {
    uint64_t aside[LANES];
    bound->lanes(aside, at(warp, bound->a), at(warp, bound->b), at(warp, bound->c), bound->extra);
    if (bound->saturate) {
        warp->lanes->saturate_f32(aside, aside, aside, aside, 0);
    }
    if (bound->result_cell == 8) {
        warp_write64(warp, bound->d, aside, mask);
    } else if (bound->result_cell == 4) {
        warp_write32(warp, bound->d, (const uint32_t *)(const void *)aside, mask);
    } else {
        uint32_t bits;
        memcpy(&bits, aside, sizeof bits);
        warp_write_predicate(warp, bound->d, bits, mask);
    }
}

static void remove_split(struct warp *warp, struct split *split) {
    *split = warp->split[--warp->splits];
}

// Splits that stand at the same place become one.
static void merge_ready(struct warp *warp) {
    for (int i = 0; i < warp->splits; i++) {
        struct split *a = &warp->split[i];
        for (int k = i + 1; k < warp->splits; k++) {
            struct split *b = &warp->split[k];
            if (a->state == SPLIT_READY && b->state == SPLIT_READY && a->pc == b->pc && a->depth == b->depth) {
                a->mask |= b->mask;
                a->yielded &= b->yielded;
                remove_split(warp, b);
                k--;
            }
        }
    }
}

static bool goes_before(const struct split *a, const struct split *b) {
    return a->depth != b->depth ? a->depth > b->depth : a->pc < b->pc;
}

// The split to run next, NULL where none can.
static struct split *choose(struct warp *warp) {
    struct split *best = NULL;
    bool ready = false;
    if (warp->splits > 1) {
        merge_ready(warp);
    }
    for (int i = 0; i < warp->splits; i++) {
        struct split *split = &warp->split[i];
        ready |= split->state == SPLIT_READY;
        if (split->state == SPLIT_READY && !split->yielded && (!best || goes_before(split, best))) {
            best = split;
        }
    }
    if (!best && ready) {
        for (int i = 0; i < warp->splits; i++) {
            warp->split[i].yielded = false;
        }
        return choose(warp);
    }
    return best;
}

// Where the running split has to stop because another one stands there.
static int32_t meeting_place(const struct warp *warp, const struct split *now) {
    int32_t place = INT32_MAX;
    for (int i = 0; i < warp->splits; i++) {
        const struct split *other = &warp->split[i];
        if (other != now && other->state == SPLIT_READY && other->depth == now->depth && other->pc > now->pc &&
            other->pc < place) {
            place = other->pc;
        }
    }
    return place;
}

bool warp_can_run(const struct warp *warp) {
    for (int i = 0; i < warp->splits; i++) {
        if (warp->split[i].state == SPLIT_READY) {
            return true;
        }
    }
    return false;
}

struct split *warp_split_off(struct warp *warp, uint32_t mask, int32_t pc) {
    struct split *part = &warp->split[warp->splits++];
    *part = *warp->now;
    part->mask = mask;
    part->pc = pc;
    warp->now->mask &= ~mask;
    return part;
}

void warp_exit_lanes(struct warp *warp, uint32_t mask) {
    struct split *now = warp->now;
    warp->live &= ~mask;
    now->mask &= ~mask;
    if (!now->mask) {
        remove_split(warp, now);
    }
    sync_retry(warp);
    barrier_lanes_exited(warp);
}

// Counts instructions after each turn of a warp, and ends a launch where one block has had its share. A warp that waits
// may be in an endless loop, too: one with a barrier in it.
static bool within_limit(struct warp *warp) {
    struct run *run = warp->run;
    uint64_t done = warp->block->warp_instructions += warp->warp_instructions;
    atomic_fetch_add(&run->lane_instructions, warp->lane_instructions);
    atomic_fetch_add(&run->warp_instructions, warp->warp_instructions);
    warp->lane_instructions = warp->warp_instructions = 0;
    if (run->options.instruction_limit == 0 || done < run->options.instruction_limit || warp->splits == 0) {
        return !run_stopped(run);
    }
    const struct split *split = warp_can_run(warp) ? choose(warp) : &warp->split[0];
    warp_report(warp, SIM_FINDING_INSTRUCTION_LIMIT, &warp->code[split->pc], NULL, first_lane(split->mask),
                "the block has executed %llu warp instructions and is still going round the loop with this line; the "
                "limit is %llu for a block, and SIMULATOR_INSTRUCTION_LIMIT=%llu would raise it",
                (unsigned long long)done, (unsigned long long)run->options.instruction_limit,
                (unsigned long long)run->options.instruction_limit * 10);
    warp_fatal(warp, SIM_LAUNCH_TIMEOUT);
    return false;
}

// A branch that only some lanes take. The lanes that go on are now, the others a split of their own.
static void diverge(struct warp *warp, uint32_t taken, int32_t target, int32_t next) {
    warp->now->pc = next;
    warp_split_off(warp, taken, target);
}

// Runs one split until it has to look at the others. false: the launch stops.
static bool run_split(struct warp *warp, struct split *split) {
    const struct bound *code = warp->code;
    uint32_t active = split->mask;
    int32_t pc = split->pc, limit = meeting_place(warp, split);
    uint64_t warp_instructions = 0, lane_instructions = 0;
    enum step step = STEP_NEXT;
    warp->now = split;
    do {
        const struct bound *bound = &code[pc];
        uint32_t mask = active & (*predicate(warp, bound->guard) ^ bound->guard_flip);
        warp_instructions++;
        lane_instructions += mask == ALL_LANES ? LANES : (unsigned)__builtin_popcount(mask);
        if (bound->kind == BOUND_LANES) {
            if (mask == ALL_LANES && !bound->saturate) {
                bound->lanes(at(warp, bound->d), at(warp, bound->a), at(warp, bound->b), at(warp, bound->c),
                             bound->extra);
            } else if (mask) {
                run_lanes_aside(warp, bound, mask);
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
            if (backward && --warp->patience <= 0) {
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
            if (step != STEP_NEXT) {
                break;
            }
            pc++;
        }
    } while (pc < limit);
    if (step == STEP_NEXT) {
        split->pc = pc;
    }
    warp->warp_instructions += warp_instructions;
    warp->lane_instructions += lane_instructions;
    return step != STEP_STOP;
}

bool warp_run(struct warp *warp) {
    struct split *split = NULL;
    warp->patience = PATIENCE;
    while ((split = choose(warp)) != NULL) {
        if (!run_split(warp, split)) {
            return false;
        }
        if (warp->patience <= 0) {
            break;
        }
    }
    return within_limit(warp);
}

struct sim_dim warp_thread(const struct warp *warp, unsigned warp_index, int lane) {
    struct sim_dim size = warp->run->launch->block;
    unsigned thread = warp_index * LANES + (unsigned)lane;
    return (struct sim_dim){thread % size.x, thread / size.x % size.y, thread / size.x / size.y};
}

bool warp_reported(struct warp *warp, enum sim_finding_kind kind, const struct bound *bound,
                   const struct bound *other) {
    int32_t line = bound->line, other_line = other ? other->line : -1;
    for (int i = 0; i < REPORTED; i++) {
        if (warp->reported[i].count && warp->reported[i].kind == kind && warp->reported[i].line == line &&
            warp->reported[i].other == other_line) {
            atomic_fetch_add_explicit(warp->reported[i].count, 1, memory_order_relaxed);
            return true;
        }
    }
    _Atomic uint64_t *count = sim_report_known(kind, line, other_line);
    if (count) {
        unsigned place = warp->reported_next++ % REPORTED;
        warp->reported[place].kind = kind;
        warp->reported[place].line = line;
        warp->reported[place].other = other_line;
        warp->reported[place].count = count;
        atomic_fetch_add_explicit(count, 1, memory_order_relaxed);
    }
    return count != NULL;
}

void warp_report(struct warp *warp, enum sim_finding_kind kind, const struct bound *bound, const struct bound *other,
                 int lane, const char *detail, ...) {
    char text[512];
    va_list arguments;
    if (warp_reported(warp, kind, bound, other)) {
        return;
    }
    va_start(arguments, detail);
    vsnprintf(text, sizeof text, detail, arguments);
    va_end(arguments);
    sim_report(kind, warp->run->kernel->ptx, bound->line, other ? other->line : -1, warp->block->index,
               warp_thread(warp, warp->index, lane), "%s", text);
}

enum step warp_fatal(struct warp *warp, enum sim_status status) {
    int none = SIM_OK;
    atomic_compare_exchange_strong(&warp->run->status, &none, (int)status);
    return STEP_STOP;
}
