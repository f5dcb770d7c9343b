// The sixteen barriers of a block. A barrier completes when as many threads as are expected have come, counted in whole
// warps; those that wait (bar.sync, bar.red) go on, those that only arrived (bar.arrive) never stopped.
#ifndef SIMULATOR_INSTRUCTIONS_BARRIER_H
#define SIMULATOR_INSTRUCTIONS_BARRIER_H

#include "../machine/bound.h"

struct block;

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
