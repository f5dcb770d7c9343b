// What atomics, volatile accesses and asynchronous copies do to the shadow of shared memory. The rules are in
// race_shared.c.
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
        free(race->flag[i].far);
    if (race->flags)
        memset(race->flag, 0, race->flag_room * sizeof *race->flag);
    race->flags = 0;
}

// Where the word is, or where it belongs.
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

// NULL where the host has no memory left.
static struct race_flag *flag_at(struct race_shared *race, uint64_t offset) {
    uint32_t word = (uint32_t)(offset / 4) + 1;
    if (!make_room(race))
        return NULL;
    struct race_flag *flag = find_flag(race, word);
    race->flags += flag->word == 0;
    flag->word = word;
    return flag;
}

// Learns from the flags that the access touches, or tells them. false: the host has no memory left.
static bool signal_by(struct warp *warp, const struct bound *bound, struct block *there, const struct access *filled,
                      bool tells) {
    uint64_t before = UINT64_MAX;
    bool own = there == warp->block, others = !(bound->order & ORDER_CTA);
    for (uint32_t left = filled->mask; left; left &= left - 1) {
        uint64_t from = filled->address[first_lane(left)] & ~(uint64_t)3, end = from + filled->bytes;
        for (uint64_t at = from; at < end && from != before; at += 4) {
            struct race_flag *flag = flag_at(&there->race, at);
            if (!flag)
                return false;
            if (others && tells && bound->order & ORDER_RELEASE)
                race_cluster_tell(warp, &flag->far);
            else if (others && tells)
                race_cluster_tell_fenced(warp, &flag->far);
            else if (others)
                race_cluster_learn(warp, flag->far, bound->order & ORDER_ACQUIRE);
            if (!own)
                continue;
            if (tells && bound->order & ORDER_RELEASE)
                race_tell_by(warp, filled->mask, flag->clock);
            else if (tells)
                race_tell_fenced(warp, filled->mask, flag->clock);
            else if (bound->order & ORDER_ACQUIRE)
                race_learn(warp, flag->clock);
            else
                race_see(warp, flag->clock);
        }
        before = from;
    }
    return true;
}

void race_flags_signal(struct warp *warp, const struct bound *bound, struct block *there, const struct access *filled) {
    bool looks = !access_writes(filled) && filled->kind != ACCESS_REDUCTION;
    bool writes = access_writes(filled) || access_is_atomic(filled);
    if ((looks && !signal_by(warp, bound, there, filled, false)) ||
        (writes && !signal_by(warp, bound, there, filled, true)))
        warp_fatal(warp, SIM_OUT_OF_HOST_MEMORY);
    warp->looked = looks ? warp->clock[warp->index] : warp->looked;
    race_step(warp, looks, writes);
}

void race_shared_atomic(struct warp *warp, const struct bound *bound, const struct access *access) {
    int shift = warp->run->kernel->shadow_shift;
    // An exchange sets what nobody has written, too.
    bool reads = !access_writes(access) && bound->ptx->variant != PTX_V_EXCH;
    bool writes = access_writes(access) || access_is_atomic(access);
    struct access filled = *access;
    access_fill(&filled);
    for (uint32_t left = access->mask; left; left &= left - 1) {
        int lane = first_lane(left);
        for (size_t i = 0; i < access->bytes >> shift; i++) {
            size_t cell = (filled.address[lane] >> shift) + i;
            race_shared_touch(warp, bound, cell, lane, reads, writes);
        }
    }
    race_flags_signal(warp, bound, warp->block, &filled);
}

// The copy may write at any time from now on, so what is there must be read and written by now.
void race_async_issue(struct warp *warp, const struct bound *bound, const struct access *access) {
    struct race_shared *race = &warp->block->race;
    int shift = warp->run->kernel->shadow_shift;
    struct access filled = *access;
    access_fill(&filled);
    for (uint32_t left = access->mask; left; left &= left - 1) {
        int lane = first_lane(left);
        uint32_t coming = ((uint32_t)pc_of(warp, bound) << 6 | (uint32_t)lane) + 1;
        size_t first = filled.address[lane] >> shift;
        unsigned count = (unsigned)(access->bytes >> shift);
        if (cells_may_be_written(warp, first, lane, count)) {
            race->pending_cells += count;
            cells_fill(race->pending + first, coming, count);
            continue;
        }
        for (size_t cell = first; cell < first + count; cell++) {
            race_shared_check_write(warp, bound, cell, lane, false);
            race->pending_cells += race->pending[cell] == 0;
            race->pending[cell] = coming;
        }
    }
}

void race_async_land(struct block *block, uint32_t key, int32_t pc, int lane, uint32_t offset, uint32_t bytes) {
    struct race_shared *race = &block->race;
    int shift = block->run->kernel->shadow_shift;
    for (size_t cell = offset >> shift; race->on && cell < (offset + bytes) >> shift; cell++) {
        race->pending_cells -= race->pending[cell] != 0;
        race->pending[cell] = 0;
        race->cells.write[cell] = key;
        race->cells.write_by[cell] = (uint32_t)pc << 6 | (uint32_t)lane;
    }
}
