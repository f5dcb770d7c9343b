// The sixteen named barriers of a block. A barrier completes when the expected number of threads has arrived, in whole
// warps; threads that wait (bar.sync, bar.red) then continue, threads that only arrive (bar.arrive) are never blocked.
#ifndef SIMULATOR_INSTRUCTIONS_BARRIER_H
#define SIMULATOR_INSTRUCTIONS_BARRIER_H

#include "../machine/bound.h"

struct block;

// bound->extra: the operation.
enum { BAR_SYNC, BAR_ARRIVE, BAR_RED_POPC, BAR_RED_AND, BAR_RED_OR };

enum step run_barrier(struct warp *warp, const struct bound *bound, uint32_t mask);

// Lanes of the warp have exited: a barrier for all threads no longer waits for them.
void barrier_lanes_exited(struct warp *warp);

// Before a block starts.
void barrier_reset(struct block *block);

// Called when no warp of the block can run. Lanes of one warp that wait at different barrier instructions are reported
// and then count as arrived, as on a GPU. false: there are no such lanes.
bool barrier_release_divergent(struct block *block);

#endif
