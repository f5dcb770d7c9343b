#include "same_value.h"

#include "../machine/block.h"

#include <string.h>

// The value that a lane stores as its element k.
static const void *stored(const struct warp *warp, const struct bound *bound, int k, int lane) {
    return bound->width > 32 ? (const void *)&cells64(warp, bound->elements[k])[lane]
                             : (const void *)&cells32(warp, bound->elements[k])[lane];
}

bool same_value_in_memory(const struct warp *warp, const struct bound *bound, const struct access *filled, int lane) {
    if (filled->kind != ACCESS_STORE)
        return false;
    const uint8_t *bytes = warp->block->shared + filled->address[lane];
    for (int k = 0; k < bound->vector; k++)
        if (memcmp(bytes + k * bound->bytes, stored(warp, bound, k, lane), bound->bytes) != 0)
            return false;
    return true;
}

// Addresses are aligned: two lanes access the same bytes, or disjoint ones.
bool same_value_of_other_lane(const struct warp *warp, const struct bound *bound, const struct access *filled,
                              int lane) {
    if (filled->kind != ACCESS_STORE)
        return false;
    for (uint32_t left = filled->mask & ((1u << lane) - 1); left; left &= left - 1) {
        int other = first_lane(left);
        bool same = filled->address[other] == filled->address[lane];
        for (int k = 0; same && k < bound->vector; k++)
            same = !memcmp(stored(warp, bound, k, other), stored(warp, bound, k, lane), bound->bytes);
        if (same)
            return true;
    }
    return false;
}
