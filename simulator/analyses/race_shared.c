// Races and uninitialised reads in shared memory.
//
// Between warps. Every warp has a clock, and remembers of every other warp the latest clock that is ordered before it
// (a vector clock). Arriving at a barrier publishes what a warp knows and moves its own clock on; leaving one takes
// over what those who arrived knew. That is right for __syncthreads() and for named barriers between some of the warps
// alike. Two accesses to a cell, one of them a write, are a race where the earlier one's clock is not known to the
// later one's warp. When all warps of the block meet at a barrier their clocks are set equal, so that one comparison
// with a floor decides nearly every access.
//
// Within a warp. Since Volta the lanes of a warp are threads of their own: what one writes another may read only after
// __syncwarp() or a barrier; a shuffle or vote orders execution but not memory (CUDA programming guide, warp shuffle
// functions). A lane has the clock at which it last synchronised; an access of another lane of its warp must be older.
// Where a mask names some lanes only, a lane that took part counts as ordered after all lanes, which may hide a
// race but never invents one.
//
// Writes of the value that is there already are no race: threads that all set the same flag do no harm. Nor are those
// of one value by several lanes in one instruction; which of them came last nobody can tell, and after it every lane of
// the warp may read the place, as each of those that wrote may. That may hide a race with a lane that did not write.
//
// Atomics and volatile accesses are how threads signal each other. They do not race among themselves, and each load of
// that kind takes over what stores have published through the word that both touch: a flag or a lock orders what it
// guards, and the flag of one pipeline stage does not order what another stage guards. Where they say nothing else they
// are relaxed (PTX manual, memory consistency model): such a store publishes what came before the last fence of its
// warp, one with .release all; from such a load the warp learns at its next fence, from one with .acquire at once. A
// barrier or __syncwarp() does for a fence there, which is more than the manual says. Which lane it was counts: what
// other lanes of its warp did since they met it, its flag says nothing of. See race_lanes.c.
//
// Asynchronous units. What wgmma and bulk stores read is read at some time before it is waited for. Each such unit is
// an agent with a clock of its own, which counts what it was given to do; waiting for it is learning its clock, and
// from the warp that has waited barriers carry it on to those who overwrite the place. What a bulk copy writes counts
// as written by the warp that waited for it first, and is read only after waiting, too. See race_proxy.c.
//
// Of the warps that read a cell since it was last written two are kept. When warps synchronise in groups, by named
// barriers, a third reader's race with a later write can go unseen.
#include "race_shared.h"
#include "cells.h"
#include "mixed.h"
#include "race_cluster.h"
#include "race_proxy.h"
#include "validity.h"

#include "../machine/access.h"
#include "../machine/block.h"
#include "../machine/places.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define ARRAYS 7
#define CLOCKS_MOST (1u << 26) // a key has 27 bits of clock

bool race_shared_create(struct block *block) {
    struct race_shared *race = &block->race;
    const struct run *run = block->run;
    race->on = run->options.races || run->options.uninitialised;
    race->count = (run->shared_bytes >> run->kernel->shadow_shift) + 1;
    if (!race->on)
        return true;
    uint32_t *arrays = mmap(NULL, ARRAYS * race->count * 4, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (arrays == MAP_FAILED)
        return false;
    size_t count = race->count;
    race->cells = (struct shadow_cells){
        arrays, arrays + count, arrays + 2 * count, arrays + 3 * count, arrays + 4 * count, arrays + 5 * count};
    race->pending = arrays + 6 * count;
    return true;
}

void race_shared_free(struct block *block) {
    if (block->race.cells.write)
        munmap(block->race.cells.write, ARRAYS * block->race.count * 4);
    race_flags_reset(&block->race);
    free(block->race.flag);
}

void race_shared_start(struct block *block) {
    struct race_shared *race = &block->race;
    uint32_t clock = race_latest_clock(block) + 1;
    memset(race->issued, 0, sizeof race->issued);
    if (clock > CLOCKS_MOST && race->on) {
        memset(race->cells.write, 0, ARRAYS * race->count * 4);
        clock = 1;
    }
    race_set_clocks(block, block->cluster ? clock + 1 : clock);
    race->first_key = clock << 5; // in a cluster: of what other blocks write
    race_flags_reset(race);
    race_cluster_start(block);
    race->early_reads = 0;
    if (race->pending_cells) {
        memset(race->pending, 0, race->count * 4);
        race->pending_cells = 0;
    }
}

void race_shared_end(struct block *block) {
    const struct race_shared *race = &block->race;
    for (unsigned i = 0; i < race->early_reads; i++)
        if (race->cells.write[race->early[i].cell] >= race->first_key)
            sim_report_cause(SIM_FINDING_UNINITIALISED_SHARED, race->early[i].line,
                             "it is written later in the same launch: a barrier, or the wait for a copy, is missing "
                             "before this line.");
}

static struct shadow_view view_of(const struct warp *warp, const struct bound *bound) {
    return (struct shadow_view){warp->block->race.first_key, warp->floor_key, warp->own_floor_key, race_key(warp),
                                (uint32_t)pc_of(warp, bound) << 6};
}

// Whether what another thread did is ordered before what this lane does now.
bool race_shared_ordered(const struct warp *warp, uint32_t key, uint32_t by, int lane) {
    uint32_t other = key & 31, clock = key >> 5;
    if (key < warp->floor_key)
        return true;
    if (other != warp->index)
        return clock <= warp->clock[other] || race_covers(warp->clock, key, by);
    uint32_t its_lane = by & 63;
    return its_lane == (uint32_t)lane || its_lane == SHADOW_ATOMIC || its_lane == SHADOW_ASYNC ||
           clock < warp->lane_clock[lane];
}

static void place_of(const struct warp *warp, size_t cell, char text[PLACE_TEXT]) {
    const struct run *run = warp->run;
    place_shared(run->kernel->ptx, run->shared_bytes, cell << run->kernel->shadow_shift, text);
}

enum deed { READS_WRITTEN, WRITES_READ, WRITES_WRITTEN };

static void report_race(struct warp *warp, const struct bound *bound, int lane, size_t cell, uint32_t key, uint32_t by,
                        enum deed deed) {
    static const char *const here[] = {"reads", "writes", "writes"}, *const there[] = {"wrote", "read", "wrote"};
    bool within = (key & 31) == warp->index;
    bool unit = (key & 31) >= warp->block->warps;
    bool async = unit || (by & 63) == SHADOW_ASYNC || race_is_asynchronous(bound);
    const struct bound *other = &warp->code[by >> 6];
    bool mixed = deed == READS_WRITTEN ? is_mixed(bound, other) : deed == WRITES_READ && is_mixed(other, bound);
    enum sim_finding_kind kind = mixed    ? SIM_FINDING_MIXED
                                 : async  ? SIM_FINDING_RACE_ASYNC
                                 : within ? SIM_FINDING_RACE_WARP
                                          : SIM_FINDING_RACE_SHARED;
    char who[96], place[PLACE_TEXT];
    if (warp_reported(warp, kind, bound, other))
        return;
    if (unit) {
        snprintf(who, sizeof who, "an asynchronous unit, which this warp does not know to be done,");
    } else if ((by & 63) == SHADOW_ASYNC) {
        snprintf(who, sizeof who, "a bulk copy");
    } else if ((by & 63) < LANES) {
        struct sim_dim thread = warp_thread(warp, key & 31, (int)(by & 63));
        snprintf(who, sizeof who, "thread (%u,%u,%u)", thread.x, thread.y, thread.z);
    } else {
        snprintf(who, sizeof who, "a thread of warp %u", key & 31);
    }
    place_of(warp, cell, place);
    warp_report(warp, kind, bound, other, lane, "{here} %s %s that %s %s at {there} with no %s", here[deed], place, who,
                there[deed], within ? "__syncwarp() between them" : race_lacks(warp, key));
}

static void report_pending(struct warp *warp, const struct bound *bound, int lane, size_t cell, const char *does) {
    uint32_t by = warp->block->race.pending[cell] - 1;
    char place[PLACE_TEXT];
    if (warp_reported(warp, SIM_FINDING_MISSING_WAIT, bound, &warp->code[by >> 6]))
        return;
    place_of(warp, cell, place);
    warp_report(warp, SIM_FINDING_MISSING_WAIT, bound, &warp->code[by >> 6], lane,
                "{here} %s %s, which the asynchronous copy at {there} is still on its way to", does, place);
}

static void note_read(struct warp *warp, size_t cell, uint32_t by) {
    const struct shadow_cells *cells = &warp->block->race.cells;
    uint32_t mine = race_key(warp);
    uint32_t *key[2] = {&cells->read1[cell], &cells->read2[cell]};
    uint32_t *whose[2] = {&cells->read1_by[cell], &cells->read2_by[cell]};
    for (int i = 0; i < 2; i++) {
        uint32_t other = *key[i] & 31;
        if (*key[i] == mine) {
            *whose[i] = (*whose[i] ^ by) & 63 ? (*whose[i] & ~63u) | SHADOW_MANY : *whose[i];
            return;
        }
        if (*key[i] < warp->floor_key || other == warp->index || *key[i] >> 5 <= warp->clock[other]) {
            *key[i] = mine;
            *whose[i] = by;
            return;
        }
    }
}

void race_shared_check_read(struct warp *warp, const struct bound *bound, size_t cell, int lane) {
    struct race_shared *race = &warp->block->race;
    uint32_t key = race->cells.write[cell], by = race->cells.write_by[cell];
    race_cluster_own(warp, bound, cell, lane, false, false);
    if (race->pending_cells && race->pending[cell]) {
        report_pending(warp, bound, lane, cell, "reads");
    } else if (key < race->first_key && validity_defers(warp, bound)) {
        warp->met_uninitialised = true;
    } else if (key < race->first_key) {
        char place[PLACE_TEXT];
        if (warp_reported(warp, SIM_FINDING_UNINITIALISED_SHARED, bound, NULL))
            return;
        place_of(warp, cell, place);
        if (race->early_reads < sizeof race->early / sizeof *race->early)
            race->early[race->early_reads++] = (struct early_read){cell, bound->line};
        warp_report(warp, SIM_FINDING_UNINITIALISED_SHARED, bound, NULL, lane,
                    "{here} reads %s, which no thread of the block has written", place);
    } else if (!race_shared_ordered(warp, key, by, lane) && !((key & 31) == warp->index && (by & 63) == SHADOW_MANY)) {
        report_race(warp, bound, lane, cell, key, by, READS_WRITTEN);
    }
}

// As cells_at_rest(), of many cells.
static bool at_rest(const struct warp *warp, size_t first, size_t count) {
    const struct race_shared *race = &warp->block->race;
    return !race->pending_cells ||
           (!warp->cluster && warp->lanes->all_equal(race->pending + first, (uint32_t)count, 0));
}

// Whether what was written there is ordered before all of the warp's lanes.
static inline bool is_known(const struct warp *warp, const struct shadow_view *view, uint32_t key) {
    bool own = ((key ^ view->mine) & 31) == 0 && key < view->own_floor && !warp->cluster;
    return key >= view->first && (key < view->floor || own);
}

static void read_cell(struct warp *warp, const struct bound *bound, size_t cell, int lane, uint32_t by) {
    race_shared_check_read(warp, bound, cell, lane);
    note_read(warp, cell, by);
}

// note_read() for cells that are alike; false: they are not.
CELLS_INLINE bool note_unit(struct warp *warp, const struct shadow_view *view, size_t cell, uint32_t by,
                            unsigned count) {
    const struct shadow_cells *cells = &warp->block->race.cells;
    uint32_t *key[2] = {cells->read1 + cell, cells->read2 + cell};
    uint32_t *whose[2] = {cells->read1_by + cell, cells->read2_by + cell};
    for (int i = 0; i < 2; i++) {
        uint32_t was = *key[i], other = was & 31, of = *whose[i];
        if (!cells_alike(key[i], count))
            return false;
        bool mine = was == view->mine;
        if (!mine && was >= view->floor && other != warp->index && was >> 5 > warp->clock[other])
            continue;
        if (mine && !cells_alike(whose[i], count))
            return false;
        cells_fill(key[i], view->mine, count);
        cells_fill(whose[i], !mine ? by : (of ^ by) & 63 ? (of & ~63u) | SHADOW_MANY : of, count);
        return true;
    }
    return true;
}

// What a lane reads of four or eight cells, where they are alike and may be read; false: they have to be looked at one
// by one.
static bool read_unit(struct warp *warp, const struct shadow_view *view, size_t cell, uint32_t by, unsigned count) {
    const struct race_shared *race = &warp->block->race;
    const uint32_t *write = race->cells.write + cell;
    if (count == 4)
        return is_known(warp, view, *write) && cells_alike(write, 4) && cells_at_rest(warp->block, cell, 4) &&
               note_unit(warp, view, cell, by, 4);
    if (count == 8)
        return is_known(warp, view, *write) && cells_alike(write, 8) && cells_at_rest(warp->block, cell, 8) &&
               note_unit(warp, view, cell, by, 8);
    return false;
}

void race_shared_read(struct warp *warp, const struct bound *bound, const struct access *access) {
    struct race_shared *race = &warp->block->race;
    int shift = warp->run->kernel->shadow_shift;
    size_t first = access->span.low >> shift, per_lane = access->bytes >> shift;
    struct shadow_view view = view_of(warp, bound);
    if (access->span.pattern == LANES_CONTIGUOUS && at_rest(warp, first, LANES * per_lane) &&
        warp->lanes->shadow_read(&race->cells, first, (uint32_t)per_lane, &view))
        return;
    bool many = access->mask & (access->mask - 1);
    if (access->span.pattern == LANES_UNIFORM && at_rest(warp, first, per_lane)) {
        bool plain = true;
        for (size_t i = first; i < first + per_lane; i++)
            plain &= is_known(warp, &view, race->cells.write[i]);
        for (size_t i = first; plain && i < first + per_lane; i++)
            note_read(warp, i, view.by | (many ? SHADOW_MANY : (uint32_t)first_lane(access->mask)));
        if (plain)
            return;
    }
    struct access filled = *access;
    access_fill(&filled);
    for (uint32_t left = access->mask; left;) {
        int lane = first_lane(left);
        uint32_t same = 0; // neighbours that read the same place
        for (; left && filled.address[first_lane(left)] == filled.address[lane]; left &= left - 1)
            same |= left & -left;
        uint32_t by = view.by | (same & (same - 1) ? SHADOW_MANY : (uint32_t)lane);
        if (read_unit(warp, &view, filled.address[lane] >> shift, by, (unsigned)per_lane))
            continue;
        for (size_t i = 0; i < per_lane; i++) {
            size_t cell = (filled.address[lane] >> shift) + i;
            if (cells_at_rest(warp->block, cell, 1) && is_known(warp, &view, race->cells.write[cell])) {
                note_read(warp, cell, by);
                continue;
            }
            for (uint32_t each = same; each; each &= each - 1)
                read_cell(warp, bound, cell, first_lane(each), view.by | (uint32_t)first_lane(each));
        }
    }
}

// What a lane stores as its element k.
static const void *stored(const struct warp *warp, const struct bound *bound, int k, int lane) {
    return bound->width > 32 ? (const void *)&cells64(warp, bound->elements[k])[lane]
                             : (const void *)&cells32(warp, bound->elements[k])[lane];
}

// Whether the store leaves a lane's bytes as they are.
static bool stores_the_same(const struct warp *warp, const struct bound *bound, const struct access *access, int lane) {
    if (access->kind != ACCESS_STORE)
        return false;
    const uint8_t *bytes = warp->block->shared + access->address[lane];
    for (int k = 0; k < bound->vector; k++)
        if (memcmp(bytes + k * bound->bytes, stored(warp, bound, k, lane), bound->bytes) != 0)
            return false;
    return true;
}

// Whether an earlier lane of this very store writes the same value to the same place. Since addresses are aligned, two
// lanes' places are the same or apart.
static bool has_a_twin(const struct warp *warp, const struct bound *bound, const struct access *filled, int lane) {
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

// Whether a cell was last written by an earlier lane of this very store.
static bool just_written(const struct warp *warp, const struct shadow_view *view, size_t cell) {
    const struct shadow_cells *cells = &warp->block->race.cells;
    return cells->write[cell] == view->mine && !((cells->write_by[cell] ^ view->by) & ~63u);
}

void race_shared_check_write(struct warp *warp, const struct bound *bound, size_t cell, int lane, bool same) {
    const struct race_shared *race = &warp->block->race;
    const struct shadow_cells *cells = &race->cells;
    race_cluster_own(warp, bound, cell, lane, true, false);
    if (race->pending_cells && race->pending[cell])
        report_pending(warp, bound, lane, cell, "writes");
    const uint32_t key[3] = {cells->write[cell], cells->read1[cell], cells->read2[cell]};
    const uint32_t by[3] = {cells->write_by[cell], cells->read1_by[cell], cells->read2_by[cell]};
    for (int i = 0; i < 3; i++)
        if (!(i == 0 && same) && !race_shared_ordered(warp, key[i], by[i], lane))
            report_race(warp, bound, lane, cell, key[i], by[i], i == 0 ? WRITES_WRITTEN : WRITES_READ);
}

void race_shared_write(struct warp *warp, const struct bound *bound, const struct access *access) {
    struct race_shared *race = &warp->block->race;
    int shift = warp->run->kernel->shadow_shift;
    size_t per_lane = access->bytes >> shift;
    struct shadow_view view = view_of(warp, bound);
    if (access->span.pattern == LANES_CONTIGUOUS && at_rest(warp, access->span.low >> shift, LANES * per_lane) &&
        warp->lanes->shadow_write(&race->cells, access->span.low >> shift, (uint32_t)per_lane, &view))
        return;
    struct access filled = *access;
    access_fill(&filled);
    for (uint32_t left = access->mask; left; left &= left - 1) {
        int lane = first_lane(left);
        bool same = stores_the_same(warp, bound, &filled, lane), twin = false, looked = false;
        for (size_t i = 0; i < per_lane; i++) {
            size_t cell = (filled.address[lane] >> shift) + i;
            if (!looked && just_written(warp, &view, cell)) {
                twin = has_a_twin(warp, bound, &filled, lane);
                looked = true;
            }
            race_shared_check_write(warp, bound, cell, lane, same || twin);
            race->cells.write[cell] = view.mine;
            race->cells.write_by[cell] = view.by | (twin ? SHADOW_MANY : (uint32_t)lane);
        }
    }
}

// One cell of an atomic or volatile access. Others of the same kind do not count, nor do the lanes of its own warp.
void race_shared_touch(struct warp *warp, const struct bound *bound, size_t cell, int lane, bool reads, bool writes) {
    const struct race_shared *race = &warp->block->race;
    const struct shadow_cells *cells = &race->cells;
    uint32_t key = cells->write[cell], by = cells->write_by[cell];
    race_cluster_own(warp, bound, cell, lane, writes, true);
    if (reads && key < race->first_key && !(race->pending_cells && race->pending[cell]))
        read_cell(warp, bound, cell, lane, (uint32_t)pc_of(warp, bound) << 6 | SHADOW_ATOMIC);
    bool seen = reads && !writes && key >> 5 <= warp->seen[key & 31]; // needs no fence, as in race_global.c
    if ((by & 63) != SHADOW_ATOMIC && (key & 31) != warp->index && !seen && !race_shared_ordered(warp, key, by, lane))
        report_race(warp, bound, lane, cell, key, by, reads ? READS_WRITTEN : WRITES_WRITTEN);
    if (!writes)
        return;
    const uint32_t read_key[2] = {cells->read1[cell], cells->read2[cell]};
    const uint32_t read_by[2] = {cells->read1_by[cell], cells->read2_by[cell]};
    for (int i = 0; i < 2; i++)
        if ((read_by[i] & 63) != SHADOW_ATOMIC && (read_key[i] & 31) != warp->index &&
            !race_shared_ordered(warp, read_key[i], read_by[i], lane))
            report_race(warp, bound, lane, cell, read_key[i], read_by[i], WRITES_READ);
    cells->write[cell] = race_key(warp);
    cells->write_by[cell] = (uint32_t)pc_of(warp, bound) << 6 | SHADOW_ATOMIC;
}
