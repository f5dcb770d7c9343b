// Whether a block's stores to global memory are visible to a block that reads its flag or counter.
#ifndef SIMULATOR_ANALYSES_RELEASE_H
#define SIMULATOR_ANALYSES_RELEASE_H

#include "../machine/block.h"

void release_start(struct warp *warp);

// Notes an ordinary store of these lanes to global memory.
void release_note_write(struct warp *warp, uint32_t mask, int32_t pc);

// Notes a fence of these lanes at device scope.
void release_fence(struct warp *warp, uint32_t mask);

// Returns whether the relaxed store of these lanes releases the block's earlier stores, except those in *unordered.
bool release_covers(const struct warp *warp, uint32_t mask, struct unordered_stores *unordered_stores);
bool release_is_unordered(const struct unordered_stores *unordered_stores, int32_t pc);

#endif
