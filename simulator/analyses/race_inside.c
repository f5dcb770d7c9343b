// Races in global memory between the threads of one block.
//
// The rules are those of shared memory (race_shared.c), and so are the clocks: barriers, __syncwarp() and mbarriers
// order what warps and lanes did, wherever they did it. A word's shadow keeps with the block's key when in the block it
// was written or read last: a clock, counted from the block's start, the lane and the warp. Of the warps that read a
// word since it was written one is kept. A word that several blocks have read is not watched within them.
//
// An atomic or a volatile store to global memory tells what its thread knows, as a flag in shared memory does; but for
// all such words of a block one clock is kept, which may hide a race and never invents one. Nor does it matter here
// which lane of a warp has signalled another one of it: a lane that has looked at a flag or taken a lock knows what all
// lanes of its warp did before.
//
// What bulk copies do to global memory is compared with what came before it, and is not kept.
#include "race_inside.h"
#include "global_shadow.h"
#include "mixed.h"
#include "race_proxy.h"
#include "race_shared.h"

#include "../machine/access.h"
#include "../machine/block.h"
#include "../machine/places.h"

#include <stdio.h>

#define CLOCKS_MOST ((1u << (32 - GLOBAL_CLOCK)) - 1)

static uint32_t base_of(const struct block *block) {
    return (block->race.first_key >> 5) - 1;
}

uint32_t inside_now(const struct warp *warp, const struct bound *bound) {
    uint32_t clock = warp->clock[warp->index] - base_of(warp->block);
    return clock >= CLOCKS_MOST || race_is_asynchronous(bound) ? 0 : clock << GLOBAL_CLOCK | warp->index;
}

static uint32_t floor_of(const struct warp *warp, uint32_t key) {
    uint32_t clock = key >> 5, base = base_of(warp->block);
    if (clock <= base)
        return 1;
    return (clock - base < CLOCKS_MOST ? clock - base : CLOCKS_MOST) << GLOBAL_CLOCK;
}

void inside_view(const struct warp *warp, const struct bound *bound, struct global_view *view) {
    view->floor = floor_of(warp, warp->floor_key);
    view->own_floor = floor_of(warp, warp->own_floor_key);
    view->now = inside_now(warp, bound);
}

// The key that the same would have in shared memory.
uint32_t inside_key(const struct warp *warp, uint32_t when) {
    return ((when >> GLOBAL_CLOCK) + base_of(warp->block)) << 5 | (when & 31);
}

bool inside_ordered(const struct warp *warp, const struct bound *bound, const struct access *access, uint32_t when,
                    int lane) {
    bool strong = access_is_atomic(access) || bound->is_volatile, own = (when & 31) == warp->index;
    uint32_t key = inside_key(warp, when), clock = key >> 5;
    if (when == 0 || (own && clock < warp->looked) || race_shared_ordered(warp, key, shadow_lane(when), lane))
        return true;
    if (!strong)
        return false;
    return own || shadow_lane(when) == SHADOW_ATOMIC || (!access_writes(access) && clock <= warp->seen[when & 31]);
}

void inside_report(struct warp *warp, const struct bound *bound, const struct access *access, int lane, size_t word,
                   uint32_t when, const struct bound *other, bool writes, bool it_wrote) {
    bool within = (when & 31) == warp->index;
    bool mixed = writes != it_wrote && is_mixed(writes ? other : bound, writes ? bound : other);
    enum sim_finding_kind kind = mixed ? SIM_FINDING_MIXED : within ? SIM_FINDING_RACE_WARP : SIM_FINDING_RACE_SHARED;
    char who[64], place[PLACE_TEXT];
    if (warp_reported(warp, kind, bound, other))
        return;
    if (shadow_lane(when) < LANES) {
        struct sim_dim thread = warp_thread(warp, when & 31, (int)shadow_lane(when));
        snprintf(who, sizeof who, "thread (%u,%u,%u) of the same block", thread.x, thread.y, thread.z);
    } else {
        snprintf(who, sizeof who, "a thread of warp %u of the same block", when & 31);
    }
    place_global(access->allocation, 4 * word, place);
    warp_report(warp, kind, bound, other, lane, "{here} %s %s, which %s %s at {there} with no %s",
                writes ? "writes" : "reads", place, who, it_wrote ? "wrote" : "read",
                within ? "__syncwarp() between them" : race_lacks(warp, inside_key(warp, when)));
}

void inside_signal(struct warp *warp, const struct bound *bound, const struct access *access) {
    struct block *block = warp->block;
    bool looks = !access_writes(access) && access->kind != ACCESS_REDUCTION;
    bool tells = access_writes(access) || access_is_atomic(access);
    bool acquires = bound->order & ORDER_ACQUIRE,
         learns = looks && (acquires ? block->told : block->told != warp->heard);
    if (learns && acquires)
        race_learn(warp, block->told_clock);
    else if (learns)
        race_see(warp, block->told_clock);
    if (looks) {
        warp->heard = block->told;
        warp->looked = warp->clock[warp->index];
    }
    if (tells && bound->order & ORDER_RELEASE)
        race_tell_by(warp, access->mask, block->told_clock);
    else if (tells)
        race_tell_fenced(warp, access->mask, block->told_clock);
    block->told += tells;
    race_step(warp, learns, tells);
}
