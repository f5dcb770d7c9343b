// Whether what a block has stored to global memory is there for who sees its flag or counter.
#ifndef SIMULATOR_ANALYSES_RELEASE_H
#define SIMULATOR_ANALYSES_RELEASE_H

#include "../machine/block.h"

void release_start(struct warp *warp);

// The lanes of mask store to global memory, in the ordinary way.
void release_note_write(struct warp *warp, uint32_t mask, int32_t pc);

// The lanes of mask execute a fence that other blocks see.
void release_fence(struct warp *warp, uint32_t mask);

// Whether the relaxed store of these lanes publishes what the block has stored before, less what is apart.
bool release_publishes(const struct warp *warp, uint32_t mask, struct apart *apart);
bool release_is_apart(const struct apart *apart, int32_t pc);

#endif
