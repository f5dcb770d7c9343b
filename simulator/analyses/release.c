// A relaxed store, such as an atomicAdd() without an order, publishes a store that came before it where a fence stands
// between the two (PTX manual, memory consistency model: a release pattern). The fence is that of the thread that
// stored, or one of the thread that signals, after both have met at a barrier. So of each warp is kept whether it has
// stored since its last fence; and which lanes have since they met last, for a lane that signals knows nothing of what
// another one has stored without __syncwarp() or a barrier between: by which instructions these stored is kept, and
// what they have written stays unpublished, while the lane's own stores are.
//
// Stores of a warp that the one that signals has not met may be anything's: they are not asked for.
#include "release.h"

#include "../machine/block.h"

void release_start(struct warp *warp) {
    warp->unfenced = warp->wrote_clock = warp->wrote = warp->covered = 0;
    warp->stores = 0;
}

void release_note_write(struct warp *warp, uint32_t mask, int32_t pc) {
    unsigned i = 0;
    if (warp->wrote_clock < warp->own_floor_key >> 5)
        warp->wrote = warp->covered = warp->stores = 0;
    warp->wrote |= mask;
    warp->covered &= ~mask;
    warp->wrote_clock = warp->unfenced = warp->clock[warp->index];
    while (i < warp->stores && i < APART_STORES && warp->stored[i].pc != pc)
        i++;
    if (i == warp->stores) {
        warp->stores++;
        if (i < APART_STORES) {
            warp->stored[i].pc = pc;
            warp->stored[i].lanes = 0;
        }
    }
    if (i < APART_STORES)
        warp->stored[i].lanes |= mask;
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
    bool apart = is_apart(warp, mask);
    warp->covered |= mask;
    for (unsigned w = 0; w < block->warps; w++)
        if (has_met(warp, &block->warp[w]) && !(apart && w == warp->index))
            block->warp[w].unfenced = 0;
}

bool release_publishes(const struct warp *warp, uint32_t mask, struct apart *apart) {
    const struct block *block = warp->block;
    unsigned count = 0;
    for (unsigned w = 0; w < block->warps; w++)
        if (w != warp->index && block->warp[w].unfenced && has_met(warp, &block->warp[w]))
            return false;
    if (!is_apart(warp, mask))
        return !warp->unfenced;
    if (mask & ~warp->covered || warp->stores > APART_STORES)
        return false;
    for (unsigned i = 0; i < warp->stores; i++)
        if (warp->stored[i].lanes & ~mask)
            apart->pc[count++] = warp->stored[i].pc;
    atomic_store(&apart->count, count);
    return true;
}

bool release_is_apart(const struct apart *apart, int32_t pc) {
    unsigned count = atomic_load(&apart->count);
    for (unsigned i = 0; i < count; i++)
        if (apart->pc[i] == pc)
            return true;
    return false;
}
