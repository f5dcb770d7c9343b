// What warps know of each other: vector clocks, and the floors that follow from them. race_shared.c explains the rules.
#include "race_shared.h"

#include "../machine/block.h"

#include <string.h>

// The floors follow from the clocks.
static void set_floors(struct warp *warp) {
    uint32_t own = warp->lane_clock[0], known = UINT32_MAX;
    for (int i = 1; i < LANES; i++)
        own = warp->lane_clock[i] < own ? warp->lane_clock[i] : own;
    const struct block *block = warp->block;
    for (unsigned w = 0; w < block->agents; w++) {
        bool counts = w < block->warps ? w != warp->index : warp->clock[w] < block->race.issued[w];
        known = counts && warp->clock[w] + 1 < known ? warp->clock[w] + 1 : known;
    }
    warp->own_floor_key = own << 5;
    warp->floor_key = (own < known ? own : known) << 5;
}

// What asynchronous units still read stays in flight.
void race_set_clocks(struct block *block, uint32_t clock) {
    for (unsigned w = 0; w < block->warps; w++) {
        struct warp *warp = &block->warp[w];
        uint32_t floor = clock;
        for (unsigned i = block->warps; i < LANES; i++) {
            bool in_flight = block->race.issued[i] > warp->clock[i];
            warp->clock[i] = in_flight ? warp->clock[i] : clock - 1;
            floor = warp->clock[i] + 1 < floor ? warp->clock[i] + 1 : floor;
        }
        for (unsigned i = 0; i < block->warps; i++)
            warp->clock[i] = clock - 1;
        for (unsigned i = 0; i < LANES; i++)
            warp->lane_clock[i] = clock;
        memset(warp->clock + CLOCK_PART, 0, LANES * sizeof *warp->clock);
        warp->clock[CLOCK_PARTS] = 0;
        warp->clock[w] = clock;
        warp->own_floor_key = clock << 5;
        warp->floor_key = floor << 5;
    }
}

uint32_t race_latest_clock(const struct block *block) {
    uint32_t latest = 0;
    for (unsigned w = 0; w < block->warps; w++)
        latest = block->warp[w].clock[w] > latest ? block->warp[w].clock[w] : latest;
    for (unsigned i = block->warps; i < LANES; i++)
        latest = block->race.issued[i] > latest ? block->race.issued[i] : latest;
    return latest;
}

void race_sync_lanes(struct warp *warp, uint32_t mask) {
    race_learn_seen(warp);
    uint32_t clock = ++warp->clock[warp->index];
    for (uint32_t left = mask; left; left &= left - 1)
        warp->lane_clock[first_lane(left)] = clock;
    set_floors(warp);
}

void race_tell(const struct warp *warp, uint32_t clock[CLOCKS]) {
    for (unsigned w = 0; w < warp->block->agents; w++) {
        unsigned visible = CLOCK_VISIBLE + w;
        clock[w] = warp->clock[w] > clock[w] ? warp->clock[w] : clock[w];
        clock[visible] = warp->clock[visible] > clock[visible] ? warp->clock[visible] : clock[visible];
    }
    race_join(clock, warp->clock, 0);
}

void race_learn(struct warp *warp, const uint32_t clock[CLOCKS]) {
    uint32_t own = warp->clock[warp->index];
    for (unsigned i = 0; i < CLOCK_PART; i++) // the clocks of agents that there are not stay behind all others
        warp->clock[i] = clock[i] > warp->clock[i] ? clock[i] : warp->clock[i];
    warp->clock[warp->index] = own;
    race_join(warp->clock, clock, 0);
}

void race_publish(struct warp *warp, uint32_t clock[CLOCKS]) {
    race_learn_seen(warp);
    race_tell(warp, clock);
    warp->clock[warp->index]++;
}

void race_acquire(struct warp *warp, const uint32_t clock[CLOCKS]) {
    race_learn(warp, clock);
    set_floors(warp);
}

void race_meet(struct warp *warp, const uint32_t clock[CLOCKS], bool aligned) {
    race_learn(warp, clock);
    if (aligned)
        race_learn_seen(warp);
    else
        race_sync_lanes(warp, ALL_LANES);
}

void race_fence(struct warp *warp, uint32_t mask) {
    race_learn_seen(warp);
    race_tell_by(warp, mask, warp->fenced);
    warp->clock[warp->index]++;
}

void race_step(struct warp *warp, bool learnt, bool told) {
    warp->clock[warp->index] += told;
    if (learnt)
        set_floors(warp);
}

uint32_t race_key(const struct warp *warp) {
    return warp->clock[warp->index] << 5 | warp->index;
}

void race_align(struct block *block) {
    race_set_clocks(block, race_latest_clock(block) + 1);
}
