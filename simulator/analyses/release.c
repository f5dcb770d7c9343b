// A relaxed store, such as an atomicAdd() without an order, publishes a store that came before it where a fence stands
// between the two (PTX manual, memory consistency model: a release pattern). The fence is that of the thread that
// stored, or one of the thread that signals, after both have met at a barrier. So of each warp is kept whether it has
// stored since its last fence; and which lanes have since they met last, for a lane that signals knows nothing of what
// another one has stored without __syncwarp() or a barrier between.
//
// Stores of a warp that the one that signals has not met may be anything's: they are not asked for.
#include "release.h"

#include "../machine/block.h"

void release_start(struct warp *warp) {
    warp->unfenced = warp->wrote_clock = warp->wrote = 0;
}

void release_note_write(struct warp *warp, uint32_t mask) {
    if (warp->wrote_clock < warp->own_floor_key >> 5)
        warp->wrote = 0;
    warp->wrote |= mask;
    warp->wrote_clock = warp->unfenced = warp->clock[warp->index];
}

// Whether other lanes of the warp have stored, and have not met this one since.
static bool is_apart(const struct warp *warp, uint32_t mask) {
    return (warp->wrote & ~mask) && warp->wrote_clock >= warp->lane_clock[first_lane(mask)];
}

static bool has_met(const struct warp *warp, const struct warp *other) {
    return other == warp || other->unfenced <= warp->clock[other->index];
}

void release_fence(struct warp *warp, uint32_t mask) {
    struct block *block = warp->block;
    if (is_apart(warp, mask))
        return;
    for (unsigned w = 0; w < block->warps; w++)
        if (has_met(warp, &block->warp[w]))
            block->warp[w].unfenced = 0;
}

bool release_publishes(const struct warp *warp, uint32_t mask) {
    const struct block *block = warp->block;
    for (unsigned w = 0; w < block->warps; w++)
        if (block->warp[w].unfenced && has_met(warp, &block->warp[w]))
            return false;
    return !is_apart(warp, mask);
}
