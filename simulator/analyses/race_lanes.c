// Releases by a single lane of a warp: by a flag, a counter or an arrival.
//
// A lane has acquired the accesses of the other lanes of its warp up to their last synchronization, and its own
// accesses. So it releases two clocks of its warp: the clock of that synchronization, which covers all lanes, and its
// current clock, which covers this lane only. If the clocks of two lanes are joined, the later clock counts for all
// lanes of the warp, which may hide a race and never reports a false one.
#include "race_shared.h"

#include "../machine/block.h"

static void raise(uint32_t *clock, uint32_t to) {
    *clock = to > *clock ? to : *clock;
}

static void join_part(uint32_t to[CLOCKS], unsigned agent, uint32_t part) {
    uint32_t *mine = &to[CLOCK_LANE + agent];
    if (part >> 5 <= to[agent])
        return;
    if (*mine >> 5 <= to[agent] || ((*mine ^ part) & 31) == 0) {
        raise(mine, part);
    } else {
        raise(&to[agent], part >> 5);
        raise(&to[agent], *mine >> 5);
        *mine = 0;
    }
}

void race_join(uint32_t to[CLOCKS], const uint32_t from[CLOCKS], unsigned agents) {
    for (unsigned i = 0; i < agents; i++) {
        raise(&to[i], from[i]);
        raise(&to[CLOCK_VISIBLE + i], from[CLOCK_VISIBLE + i]);
    }
    for (unsigned i = CLOCK_ACQUIRED; i < CLOCKS; i++)
        raise(&to[i], from[i]);
    for (unsigned i = 0; from[CLOCK_HAS_LANES] && i < LANES; i++)
        join_part(to, i, from[CLOCK_LANE + i]);
}

// Releases the clocks in `known`, in which the warp's own entry is its clock `now`.
static void release_to(const struct warp *warp, uint32_t mask, const uint32_t known[CLOCKS], uint32_t clock[CLOCKS]) {
    unsigned own = warp->index;
    uint32_t now = known[own], synchronized = warp->lane_clock[first_lane(mask)] - 1;
    bool alone = (mask & (mask - 1)) == 0 && mask != warp->live && synchronized < now;
    uint32_t before = clock[own], part = clock[CLOCK_LANE + own];
    race_join(clock, known, warp->block->agents);
    if (!alone)
        return;
    clock[own] = synchronized > before ? synchronized : before;
    clock[CLOCK_LANE + own] = part;
    clock[CLOCK_HAS_LANES] = 1;
    join_part(clock, own, now << 5 | (uint32_t)first_lane(mask));
    if ((known[CLOCK_LANE + own] & 31) == (uint32_t)first_lane(mask))
        join_part(clock, own, known[CLOCK_LANE + own]);
}

void race_release_lanes(const struct warp *warp, uint32_t mask, uint32_t clock[CLOCKS]) {
    release_to(warp, mask, warp->clock, clock);
}

void race_release_fenced(const struct warp *warp, uint32_t mask, uint32_t clock[CLOCKS]) {
    release_to(warp, mask, warp->fenced, clock);
}

void race_acquire_at_fence(struct warp *warp, const uint32_t clock[CLOCKS]) {
    race_join(warp->pending_acquire, clock, warp->block->agents);
    warp->has_pending_acquire = true;
}

void race_acquire_pending(struct warp *warp) {
    if (warp->has_pending_acquire)
        race_acquire(warp, warp->pending_acquire);
    raise(&warp->clock[CLOCK_COUNTED], warp->counter_clock);
}
