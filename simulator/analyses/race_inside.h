// Order of accesses to global memory within a block. race_inside.c explains the rules.
#ifndef SIMULATOR_ANALYSES_RACE_INSIDE_H
#define SIMULATOR_ANALYSES_RACE_INSIDE_H

#include "../machine/warp.h"

struct access;

// The warp's current time, without a lane; 0: the time is not kept, for example for asynchronous copies.
uint32_t inside_now(const struct warp *warp, const struct bound *bound);

// The same time with a lane, or with SHADOW_MANY or SHADOW_ATOMIC instead of a lane.
static inline uint32_t inside_when(uint32_t now, uint32_t lane) {
    return now ? now | lane << GLOBAL_LANE : 0;
}

// Fills in the clocks that the warp has acquired within its block.
void inside_view(const struct warp *warp, const struct bound *bound, struct global_view *view);

// The epoch that corresponds to the time in the shadow of shared memory.
uint32_t inside_epoch(const struct warp *warp, uint32_t when);

// Returns whether the access at `when` by a thread of the block happens before this lane's access, or does not race
// with it.
bool inside_happens_before(const struct warp *warp, const struct bound *bound, const struct access *access,
                           uint32_t when, int lane);

// Reports a race on the word between this thread, which reads or writes it, and the thread of `when`, which executed
// the other instruction.
void inside_report(struct warp *warp, const struct bound *bound, const struct access *access, int lane, size_t word,
                   uint32_t when, const struct bound *other, bool writes, bool other_wrote);

// An atomic or volatile access to global memory: other warps of the block acquire from it.
void inside_synchronize(struct warp *warp, const struct bound *bound, const struct access *access);

// A bulk copy reads a word that an ordinary access at `when` wrote: reports a missing proxy fence.
void inside_check_proxy(struct warp *warp, const struct bound *bound, const struct access *access, int lane,
                        size_t word, uint32_t when, const struct bound *writer);

#endif
