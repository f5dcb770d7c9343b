// Order within a block, of what its threads do to global memory. race_inside.c explains the rules.
#ifndef SIMULATOR_ANALYSES_RACE_INSIDE_H
#define SIMULATOR_ANALYSES_RACE_INSIDE_H

#include "../machine/warp.h"

struct access;

// The warp's own time, without a lane; 0: it is not kept, as for what asynchronous units do.
uint32_t inside_now(const struct warp *warp, const struct bound *bound);

// The same with a lane, or SHADOW_MANY or SHADOW_ATOMIC in its place.
static inline uint32_t inside_when(uint32_t now, uint32_t lane) {
    return now ? now | lane << GLOBAL_LANE : 0;
}

// What the warp knows of its block.
void inside_view(const struct warp *warp, const struct bound *bound, struct global_view *view);

// The key that the same would have in shared memory.
uint32_t inside_key(const struct warp *warp, uint32_t when);

// Whether what a thread of the block did at `when` comes before what this lane does now, or does not race with it.
bool inside_ordered(const struct warp *warp, const struct bound *bound, const struct access *access, uint32_t when,
                    int lane);

// Two threads of the block race for a word: this one, which writes it or not, and that of `when`, by the other
// instruction.
void inside_report(struct warp *warp, const struct bound *bound, const struct access *access, int lane, size_t word,
                   uint32_t when, const struct bound *other, bool writes, bool it_wrote);

// An atomic or volatile access to global memory: other warps of the block learn from it.
void inside_signal(struct warp *warp, const struct bound *bound, const struct access *access);

#endif
