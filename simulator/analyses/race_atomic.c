// Applies atomics, volatile accesses and asynchronous copies to the shadow of shared memory. race_shared.c has the
// rules.
#include "race_shared.h"

#include "cells.h"
#include "race_cluster.h"

#include "../machine/access.h"
#include "../machine/block.h"

#include <stdlib.h>
#include <string.h>

#define LEAST_FLAGS 64

void race_flags_reset(struct race_shared *race) {
    for (unsigned i = 0; race->flags && i < race->flag_room; i++)
        free(race->flag[i].remote);
    if (race->flags)
        memset(race->flag, 0, race->flag_room * sizeof *race->flag);
    race->flags = 0;
}

// Returns the word's slot, or the free slot for it.
static struct race_flag *find_flag(const struct race_shared *race, uint32_t word) {
    unsigned i = word * 2654435761u >> 7 & (race->flag_room - 1);
    while (race->flag[i].word && race->flag[i].word != word)
        i = (i + 1) & (race->flag_room - 1);
    return &race->flag[i];
}

static bool make_room(struct race_shared *race) {
    struct race_shared grown = *race;
    if (4 * race->flags < 3 * race->flag_room)
        return true;
    grown.flag_room = race->flag_room ? 2 * race->flag_room : LEAST_FLAGS;
    grown.flag = calloc(grown.flag_room, sizeof *grown.flag);
    if (!grown.flag)
        return false;
    for (unsigned i = 0; i < race->flag_room; i++)
        if (race->flag[i].word)
            *find_flag(&grown, race->flag[i].word) = race->flag[i];
    free(race->flag);
    *race = grown;
    return true;
}

// NULL if the host has no memory left.
static struct race_flag *flag_at(struct race_shared *race, uint64_t offset) {
    uint32_t word = (uint32_t)(offset / 4) + 1;
    if (!make_room(race))
        return NULL;
    struct race_flag *flag = find_flag(race, word);
    race->flags += flag->word == 0;
    flag->word = word;
    return flag;
}

// Acquires from the flags that the access reads, or releases to those that it writes. false: the host has no memory
// left.
static bool synchronize_flags(struct warp *warp, const struct bound *bound, struct block *target,
                              const struct access *filled, bool releases) {
    uint64_t before = UINT64_MAX;
    bool own = target == warp->block, others = !(bound->order & ORDER_CTA);
    for (uint32_t left = filled->mask; left; left &= left - 1) {
        uint64_t from = filled->address[first_lane(left)] & ~(uint64_t)3, end = from + filled->bytes;
        for (uint64_t at = from; at < end && from != before; at += 4) {
            struct race_flag *flag = flag_at(&target->race, at);
            if (!flag)
                return false;
            if (others && releases && bound->order & ORDER_RELEASE)
                race_cluster_release(warp, &flag->remote);
            else if (others && releases)
                race_cluster_release_fenced(warp, &flag->remote);
            else if (others)
                race_cluster_acquire(warp, flag->remote, bound->order & ORDER_ACQUIRE);
            if (!own)
                continue;
            if (releases && bound->order & ORDER_RELEASE)
                race_release_lanes(warp, filled->mask, flag->clock);
            else if (releases)
                race_release_fenced(warp, filled->mask, flag->clock);
            else if (bound->order & ORDER_ACQUIRE)
                race_acquire(warp, flag->clock);
            else
                race_acquire_at_fence(warp, flag->clock);
        }
        before = from;
    }
    return true;
}

void race_flags_synchronize(struct warp *warp, const struct bound *bound, struct block *target,
                            const struct access *filled) {
    bool reads = !access_writes(filled) && filled->kind != ACCESS_REDUCTION;
    bool writes = access_writes(filled) || access_is_atomic(filled);
    if ((reads && !synchronize_flags(warp, bound, target, filled, false)) ||
        (writes && !synchronize_flags(warp, bound, target, filled, true)))
        warp_fatal(warp, SIM_OUT_OF_HOST_MEMORY);
    warp->last_signal_read = reads ? warp->clock[warp->index] : warp->last_signal_read;
    race_advance_clock(warp, reads, writes);
}

void race_shared_atomic(struct warp *warp, const struct bound *bound, const struct access *access) {
    int shift = warp->run->kernel->shadow_shift;
    // An exchange may initialize a word.
    bool reads = !access_writes(access) && bound->ptx->variant != PTX_V_EXCH;
    bool writes = access_writes(access) || access_is_atomic(access);
    struct access filled = *access;
    access_fill(&filled);
    for (uint32_t left = access->mask; left; left &= left - 1) {
        int lane = first_lane(left);
        for (size_t i = 0; i < access->bytes >> shift; i++) {
            size_t cell = (filled.address[lane] >> shift) + i;
            race_shared_check_atomic(warp, bound, cell, lane, reads, writes);
        }
    }
    race_flags_synchronize(warp, bound, warp->block, &filled);
}

// The copy may write at any time from now on, so all earlier accesses must be ordered before its issue.
void race_async_issue(struct warp *warp, const struct bound *bound, const struct access *access) {
    struct race_shared *race = &warp->block->race;
    int shift = warp->run->kernel->shadow_shift;
    struct access filled = *access;
    access_fill(&filled);
    for (uint32_t left = access->mask; left; left &= left - 1) {
        int lane = first_lane(left);
        uint32_t pending = ((uint32_t)pc_of(warp, bound) << 6 | (uint32_t)lane) + 1;
        size_t first = filled.address[lane] >> shift;
        unsigned count = (unsigned)(access->bytes >> shift);
        if (cells_can_be_overwritten(warp, first, lane, count)) {
            race->pending_cells += count;
            cells_fill(race->pending + first, pending, count);
            continue;
        }
        for (size_t cell = first; cell < first + count; cell++) {
            race_shared_check_write(warp, bound, cell, lane, false);
            race->pending_cells += race->pending[cell] == 0;
            race->pending[cell] = pending;
        }
    }
}

void race_async_land(struct block *block, uint32_t epoch, int32_t pc, int lane, uint32_t offset, uint32_t bytes) {
    struct race_shared *race = &block->race;
    int shift = block->run->kernel->shadow_shift;
    for (size_t cell = offset >> shift; race->on && cell < (offset + bytes) >> shift; cell++) {
        race->pending_cells -= race->pending[cell] != 0;
        race->pending[cell] = 0;
        race->cells.write[cell] = epoch;
        race->cells.write_by[cell] = (uint32_t)pc << 6 | (uint32_t)lane;
    }
}
