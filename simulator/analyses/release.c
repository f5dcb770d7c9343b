// A relaxed store, such as an atomicAdd() without an order, releases an earlier store if a fence separates the two (PTX
// ISA, memory consistency model: release pattern). The fence is one of the storing thread, or of the signalling thread
// after both have synchronized at a barrier. So each warp keeps whether it has stored since its last fence, and which
// lanes have stored since their last synchronization: without a __syncwarp() or barrier in between, a lane's signal
// does not release the stores of another lane. The instructions of those stores are kept; their results remain
// unreleased, while the lane's own stores are released.
//
// Stores of a warp that has not synchronized with the signalling one may belong to other data: they are not checked.
#include "release.h"

#include "../machine/block.h"

void release_start(struct warp *warp) {
    warp->unfenced_store_clock = warp->unordered_clock = warp->unordered_lanes = warp->fenced_lanes = 0;
    warp->recent_stores = 0;
}

void release_note_write(struct warp *warp, uint32_t mask, int32_t pc) {
    unsigned i = 0;
    if (warp->unordered_clock < warp->own_floor_epoch >> 5)
        warp->unordered_lanes = warp->fenced_lanes = warp->recent_stores = 0;
    warp->unordered_lanes |= mask;
    warp->fenced_lanes &= ~mask;
    warp->unordered_clock = warp->unfenced_store_clock = warp->clock[warp->index];
    while (i < warp->recent_stores && i < MOST_UNORDERED_STORES && warp->recent_store[i].pc != pc)
        i++;
    if (i == warp->recent_stores) {
        warp->recent_stores++;
        if (i < MOST_UNORDERED_STORES) {
            warp->recent_store[i].pc = pc;
            warp->recent_store[i].lanes = 0;
        }
    }
    if (i < MOST_UNORDERED_STORES)
        warp->recent_store[i].lanes |= mask;
}

// Returns whether other lanes of the warp have stored since they synchronized with this one.
static bool has_unordered_lanes(const struct warp *warp, uint32_t mask) {
    return (warp->unordered_lanes & ~mask) && warp->unordered_clock >= warp->lane_clock[first_lane(mask)];
}

static bool is_synchronized(const struct warp *warp, const struct warp *other) {
    return other == warp || other->unfenced_store_clock <= warp->clock[other->index];
}

void release_fence(struct warp *warp, uint32_t mask) {
    struct block *block = warp->block;
    bool unordered_stores = has_unordered_lanes(warp, mask);
    warp->fenced_lanes |= mask;
    for (unsigned w = 0; w < block->warps; w++)
        if (is_synchronized(warp, &block->warp[w]) && !(unordered_stores && w == warp->index))
            block->warp[w].unfenced_store_clock = 0;
}

bool release_covers(const struct warp *warp, uint32_t mask, struct unordered_stores *unordered_stores) {
    const struct block *block = warp->block;
    unsigned count = 0;
    for (unsigned w = 0; w < block->warps; w++)
        if (w != warp->index && block->warp[w].unfenced_store_clock && is_synchronized(warp, &block->warp[w]))
            return false;
    if (!has_unordered_lanes(warp, mask))
        return !warp->unfenced_store_clock;
    if (mask & ~warp->fenced_lanes || warp->recent_stores > MOST_UNORDERED_STORES)
        return false;
    for (unsigned i = 0; i < warp->recent_stores; i++)
        if (warp->recent_store[i].lanes & ~mask)
            unordered_stores->pc[count++] = warp->recent_store[i].pc;
    atomic_store(&unordered_stores->count, count);
    return true;
}

bool release_is_unordered(const struct unordered_stores *unordered_stores, int32_t pc) {
    unsigned count = atomic_load(&unordered_stores->count);
    for (unsigned i = 0; i < count; i++)
        if (unordered_stores->pc[i] == pc)
            return true;
    return false;
}
