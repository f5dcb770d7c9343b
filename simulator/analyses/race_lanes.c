// What a flag, a counter or an arrival tells, where one lane makes it and not the warp.
//
// A lane knows what other lanes of its warp did before it last met them, and what it did itself. So it tells two clocks
// of its warp: that of the meeting, which holds for all lanes, and its own now, a part that holds for it alone. Where
// parts of two lanes come together the later clock counts for all lanes of that warp, which may hide a race and never
// invents one.
#include "race_shared.h"

#include "../machine/block.h"

static void raise(uint32_t *clock, uint32_t to) {
    *clock = to > *clock ? to : *clock;
}

static void join_part(uint32_t to[CLOCKS], unsigned agent, uint32_t part) {
    uint32_t *mine = &to[CLOCK_PART + agent];
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
    for (unsigned i = 0; from[CLOCK_PARTS] && i < LANES; i++)
        join_part(to, i, from[CLOCK_PART + i]);
}

bool race_covers(const uint32_t clock[CLOCKS], uint32_t key, uint32_t by) {
    uint32_t part = clock[CLOCK_PART + (key & 31)], lane = by & 63;
    return clock[CLOCK_PARTS] && key >> 5 <= part >> 5 &&
           (lane == (part & 31) || lane == SHADOW_ATOMIC || lane == SHADOW_ASYNC);
}

// Tells what is known, where of the warp itself it is what it knew at the clock `now`.
static void tell(const struct warp *warp, uint32_t mask, const uint32_t known[CLOCKS], uint32_t clock[CLOCKS]) {
    unsigned own = warp->index;
    uint32_t now = known[own], met = warp->lane_clock[first_lane(mask)] - 1;
    bool alone = (mask & (mask - 1)) == 0 && mask != warp->live && met < now;
    uint32_t before = clock[own], part = clock[CLOCK_PART + own];
    race_join(clock, known, warp->block->agents);
    if (!alone)
        return;
    clock[own] = met > before ? met : before;
    clock[CLOCK_PART + own] = part;
    clock[CLOCK_PARTS] = 1;
    join_part(clock, own, now << 5 | (uint32_t)first_lane(mask));
    if ((known[CLOCK_PART + own] & 31) == (uint32_t)first_lane(mask))
        join_part(clock, own, known[CLOCK_PART + own]);
}

void race_tell_by(const struct warp *warp, uint32_t mask, uint32_t clock[CLOCKS]) {
    tell(warp, mask, warp->clock, clock);
}

void race_tell_fenced(const struct warp *warp, uint32_t mask, uint32_t clock[CLOCKS]) {
    tell(warp, mask, warp->fenced, clock);
}

void race_see(struct warp *warp, const uint32_t clock[CLOCKS]) {
    race_join(warp->seen, clock, warp->block->agents);
    warp->has_seen = true;
}

void race_learn_seen(struct warp *warp) {
    if (warp->has_seen)
        race_learn(warp, warp->seen);
    raise(&warp->clock[CLOCK_TICKET], warp->ticket);
}
