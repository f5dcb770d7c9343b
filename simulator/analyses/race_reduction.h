// The order of bulk reductions of different blocks. race_reduction.c explains the rule.
#ifndef SIMULATOR_ANALYSES_RACE_REDUCTION_H
#define SIMULATOR_ANALYSES_RACE_REDUCTION_H

#include "../machine/bound.h"

struct pending_reduction;
struct run;

// A lane of the warp issues a reduction of these bytes. Returns its entry until it lands; NULL: it is not followed.
struct pending_reduction *race_reduction_issue(struct warp *warp, const struct bound *bound, int lane, uint64_t address,
                                               uint32_t bytes);

// A wait has returned that covers only the read of its source.
void race_reduction_is_read(struct pending_reduction *reduction);

// It has landed, or is given up. reduction may be NULL.
void race_reduction_end(struct run *run, struct pending_reduction *reduction);

// The warp signals other blocks by a store or an atomic at this address, or has read a signal there.
void race_reduction_signal(struct warp *warp, uint64_t address);
void race_reduction_acquire(struct warp *warp, uint64_t address);

#endif
