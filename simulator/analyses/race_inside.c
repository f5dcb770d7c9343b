// Races in global memory between the threads of one block.
//
// The rules and the clocks are those of shared memory (race_shared.c): barriers, __syncwarp() and mbarriers order the
// accesses of warps and lanes in both memories. In addition to the block's key, the shadow of a word has the time of
// its last write and read within the block: a clock, counted from the block's start, the lane and the warp. Of the
// warps that read a word since it was written, one is kept. A word that several blocks have read is not checked within
// them.
//
// An atomic or volatile store to global memory releases its thread's clock, as a flag in shared memory does; but all
// such words of a block share one clock, which may hide a race and never reports a false one. Nor are the lanes of a
// warp distinguished here: a lane that has read a flag or taken a lock has acquired the accesses of all lanes of the
// signalling warp.
//
// Accesses of bulk copies to global memory are checked against earlier accesses, but not kept. A bulk copy sees what
// its block has written by ordinary accesses only after a proxy fence, as in shared memory (race_proxy.c).
#include "race_inside.h"
#include "global_shadow.h"
#include "mixed.h"
#include "race_proxy.h"
#include "race_report.h"
#include "race_shared.h"

#include "../machine/access.h"
#include "../machine/block.h"
#include "../machine/element_names.h"

#include <stdio.h>

#define CLOCKS_MOST ((1u << (32 - GLOBAL_CLOCK)) - 1)

static uint32_t base_of(const struct block *block) {
    return (block->race.first_epoch >> 5) - 1;
}

uint32_t inside_now(const struct warp *warp, const struct bound *bound) {
    uint32_t clock = warp->clock[warp->index] - base_of(warp->block);
    return clock >= CLOCKS_MOST || race_uses_async_proxy(bound) ? 0 : clock << GLOBAL_CLOCK | warp->index;
}

static uint32_t floor_of(const struct warp *warp, uint32_t epoch) {
    uint32_t clock = epoch >> 5, base = base_of(warp->block);
    if (clock <= base)
        return 1;
    return (clock - base < CLOCKS_MOST ? clock - base : CLOCKS_MOST) << GLOBAL_CLOCK;
}

void inside_view(const struct warp *warp, const struct bound *bound, struct global_view *view) {
    view->floor = floor_of(warp, warp->floor_epoch);
    view->own_floor = floor_of(warp, warp->own_floor_epoch);
    view->now = inside_now(warp, bound);
}

uint32_t inside_epoch(const struct warp *warp, uint32_t when) {
    return ((when >> GLOBAL_CLOCK) + base_of(warp->block)) << 5 | (when & 31);
}

bool inside_happens_before(const struct warp *warp, const struct bound *bound, const struct access *access,
                           uint32_t when, int lane) {
    bool strong = access_is_atomic(access) || bound->is_volatile, own = (when & 31) == warp->index;
    uint32_t epoch = inside_epoch(warp, when), clock = epoch >> 5;
    if (when == 0 || (own && clock < warp->last_signal_read) ||
        race_happens_before(warp, epoch, shadow_lane(when), lane))
        return true;
    if (!strong)
        return false;
    return own || shadow_lane(when) == SHADOW_ATOMIC ||
           (!access_writes(access) && clock <= warp->pending_acquire[when & 31]);
}

void inside_report(struct warp *warp, const struct bound *bound, const struct access *access, int lane, size_t word,
                   uint32_t when, const struct bound *other, bool writes, bool other_wrote) {
    bool within = (when & 31) == warp->index;
    bool mixed = writes != other_wrote && is_mixed_access(writes ? other : bound, writes ? bound : other);
    enum sim_finding_kind kind = mixed    ? SIM_FINDING_MIXED_ACCESS
                                 : within ? SIM_FINDING_RACE_WARP
                                          : SIM_FINDING_RACE_BLOCK;
    char accessor[64], element[ELEMENT_NAME_TEXT], order[RACE_ORDER_TEXT];
    if (warp_reported(warp, kind, bound, other))
        return;
    if (shadow_lane(when) < LANES) {
        struct sim_dim thread = warp_thread(warp, when & 31, (int)shadow_lane(when));
        snprintf(accessor, sizeof accessor, "thread (%u,%u,%u) of the same block", thread.x, thread.y, thread.z);
    } else {
        snprintf(accessor, sizeof accessor, "a thread of warp %u of the same block", when & 31);
    }
    element_name_global(access->allocation, 4 * word, element);
    race_missing_order(warp, inside_epoch(warp, when), writes, other_wrote, order);
    warp_report(warp, kind, bound, other, lane, "{here} %s %s, which %s %s at {there}, with no %s (%s)",
                writes ? "writes" : "reads", element, accessor, other_wrote ? "wrote" : "read", order,
                race_hazard(writes, other_wrote));
}

void inside_check_proxy(struct warp *warp, const struct bound *bound, const struct access *access, int lane,
                        size_t word, uint32_t when, const struct bound *writer) {
    uint32_t epoch = inside_epoch(warp, when);
    char element[ELEMENT_NAME_TEXT];
    if (when == 0 || epoch >> 5 <= warp->clock[CLOCK_VISIBLE + (epoch & 31)] ||
        warp_reported(warp, SIM_FINDING_PROXY_FENCE, bound, writer))
        return;
    element_name_global(access->allocation, 4 * word, element);
    warp_report(warp, SIM_FINDING_PROXY_FENCE, bound, writer, lane,
                "{op} reads %s through the async proxy, which the {other} wrote through the generic proxy, with no "
                "fence.proxy.async after that write",
                element);
}

void inside_synchronize(struct warp *warp, const struct bound *bound, const struct access *access) {
    struct block *block = warp->block;
    bool reads = !access_writes(access) && access->kind != ACCESS_REDUCTION;
    bool releases_now = access_writes(access) || access_is_atomic(access);
    bool acquires = bound->order & ORDER_ACQUIRE,
         acquires_now = reads && (acquires ? block->releases : block->releases != warp->releases_acquired);
    if (acquires_now && acquires)
        race_acquire(warp, block->release_clock);
    else if (acquires_now)
        race_acquire_at_fence(warp, block->release_clock);
    if (reads) {
        warp->releases_acquired = block->releases;
        warp->last_signal_read = warp->clock[warp->index];
    }
    if (releases_now && bound->order & ORDER_RELEASE)
        race_release_lanes(warp, access->mask, block->release_clock);
    else if (releases_now)
        race_release_fenced(warp, access->mask, block->release_clock);
    block->releases += releases_now;
    race_advance_clock(warp, acquires_now, releases_now);
}
