// The sixteen barriers of a block. A barrier completes when as many threads as are expected have come, counted in whole
// warps; those that wait (bar.sync, bar.red) go on, those that only arrived (bar.arrive) never stopped.
#ifndef SIMULATOR_EXEC_BARRIER_H
#define SIMULATOR_EXEC_BARRIER_H

#include "bind.h"

#define BARRIERS 16

struct block;

struct barrier {
    unsigned expected;     // threads, 0: all of the block that have not exited
    unsigned arrivals;     // threads, in whole warps
    uint32_t warps;        // a bit a warp: who has arrived
    int32_t first_pc;      // the instruction of the first to arrive
    unsigned true_lanes;   // bar.red: how many predicates were true,
    bool any_false;        // and whether one was not
    uint32_t clock[LANES]; // joined clocks of those who arrived, see race_shared.h
};

// bound->extra: what it does.
enum { BAR_SYNC, BAR_ARRIVE, BAR_RED_POPC, BAR_RED_AND, BAR_RED_OR };

enum step run_barrier(struct warp *warp, const struct bound *bound, uint32_t mask);

// Lanes of the warp have exited: a barrier that waits for all threads no longer waits for them.
void barrier_lanes_exited(struct warp *warp);

// Before a block starts.
void barrier_reset(struct block *block);

// Called when no warp of the block can run. Lanes of one warp that wait at different barrier instructions are reported
// and then count as arrived, as they do on the GPU. false: there was nothing of that kind.
bool barrier_force(struct block *block);

#endif
