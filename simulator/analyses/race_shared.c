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
// other lanes of its warp did since they met it, its flag says nothing of. See race_lanes.c. What lanes of one warp
// hand each other in volatile memory is no race either: see stale.c.
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
#include "same_value.h"
#include "stale.h"
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
    race->swizzle = calloc(run->shared_bytes / SWIZZLE_PIECE + 1, 1);
    return race->swizzle;
}

void race_shared_free(struct block *block) {
    if (block->race.cells.write)
        munmap(block->race.cells.write, ARRAYS * block->race.count * 4);
    race_flags_reset(&block->race);
    free(block->race.flag);
    stale_free(block);
    free(block->race.swizzle);
}

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
static void set_clocks(struct block *block, uint32_t clock) {
    for (unsigned w = 0; w < block->warps; w++) {
        struct warp *warp = &block->warp[w];
        uint32_t floor = clock;
        for (unsigned i = 0; i < block->agents; i++) {
            bool in_flight = i >= block->warps && block->race.issued[i] > warp->clock[i];
            warp->clock[i] = in_flight ? warp->clock[i] : clock - 1;
            floor = warp->clock[i] + 1 < floor ? warp->clock[i] + 1 : floor;
            warp->clock[CLOCK_PART + i] = 0;
        }
        for (unsigned i = 0; i < LANES; i++)
            warp->lane_clock[i] = clock;
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

void race_shared_start(struct block *block) {
    struct race_shared *race = &block->race;
    uint32_t clock = race_latest_clock(block) + 1;
    memset(race->issued, 0, sizeof race->issued);
    if (clock > CLOCKS_MOST && race->on) {
        memset(race->cells.write, 0, ARRAYS * race->count * 4);
        clock = 1;
    }
    set_clocks(block, block->cluster ? clock + 1 : clock);
    race->first_key = clock << 5; // in a cluster: of what other blocks write
    race_flags_reset(race);
    block->told = 0;
    memset(block->told_clock, 0, sizeof block->told_clock);
    race_cluster_start(block);
    race->early_reads = 0;
    stale_free(block);
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

void race_sync_lanes(struct warp *warp, uint32_t mask) {
    race_learn_seen(warp);
    uint32_t clock = ++warp->clock[warp->index];
    for (int i = 0; i < LANES; i++)
        warp->lane_clock[i] = mask >> i & 1 ? clock : warp->lane_clock[i];
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
    for (unsigned w = 0; w < warp->block->agents; w++) {
        unsigned visible = CLOCK_VISIBLE + w;
        if (w != warp->index && clock[w] > warp->clock[w])
            warp->clock[w] = clock[w];
        warp->clock[visible] = clock[visible] > warp->clock[visible] ? clock[visible] : warp->clock[visible];
    }
    race_join(warp->clock, clock, 0);
}

void race_publish(struct warp *warp, uint32_t clock[CLOCKS]) {
    race_learn_seen(warp);
    race_tell(warp, clock);
    warp->clock[warp->index]++;
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
    set_clocks(block, race_latest_clock(block) + 1);
}

void race_meet(struct warp *warp, const uint32_t clock[CLOCKS], bool everyone) {
    race_learn(warp, clock);
    race_learn_seen(warp);
    if (!everyone)
        race_sync_lanes(warp, ALL_LANES);
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
    place_shared(run->kernel->ptx, run->own_shared, cell << run->kernel->shadow_shift, text);
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

static void read_cell(struct warp *warp, const struct bound *bound, size_t cell, int lane, uint32_t by) {
    race_shared_check_read(warp, bound, cell, lane);
    note_read(warp, cell, by);
}

// Notes that these lanes read neighbouring cells, where all that wrote them is ordered before the whole warp, and no
// copy is on its way there.
static bool note_plain(struct warp *warp, const struct shadow_view *view, size_t first, size_t count, uint32_t lanes) {
    const struct race_shared *race = &warp->block->race;
    uint32_t lane = lanes & (lanes - 1) ? SHADOW_MANY : (uint32_t)first_lane(lanes);
    uint32_t own_floor = race->far ? view->floor : view->own_floor;
    if (!cells_at_rest(warp->block, first, (unsigned)count))
        return false;
    for (size_t i = first; i < first + count; i++) {
        uint32_t key = race->cells.write[i], floor = (key ^ view->mine) & 31 ? view->floor : own_floor;
        if (key < view->first || key >= floor)
            return false;
    }
    for (size_t i = 0; i < count; i++)
        note_read(warp, first + i, view->by | lane);
    return true;
}

void race_shared_read(struct warp *warp, const struct bound *bound, const struct access *access) {
    struct race_shared *race = &warp->block->race;
    int shift = warp->run->kernel->shadow_shift;
    size_t first = access->span.low >> shift, per_lane = access->bytes >> shift;
    struct shadow_view view = view_of(warp, bound);
    if (access->span.pattern == LANES_CONTIGUOUS && cells_at_rest(warp->block, first, LANES * (unsigned)per_lane) &&
        warp->lanes->shadow_read(&race->cells, first, (uint32_t)per_lane, &view))
        return;
    if (access->span.pattern == LANES_UNIFORM && note_plain(warp, &view, first, per_lane, access->mask))
        return;
    struct access filled = *access;
    access_fill(&filled);
    uint32_t unusual = 0;
    for (uint32_t left = access->mask, same; left; left &= ~same) {
        // Addresses are aligned: two lanes' places are the same or apart.
        same = warp->lanes->equal64(filled.address, filled.address[first_lane(left)]) & left;
        first = filled.address[first_lane(left)] >> shift;
        if (!note_plain(warp, &view, first, per_lane, same))
            unusual |= same;
    }
    for (uint32_t left = unusual; left; left &= left - 1) {
        int lane = first_lane(left);
        for (size_t i = 0; i < per_lane; i++)
            read_cell(warp, bound, (filled.address[lane] >> shift) + i, lane, view.by | (uint32_t)lane);
    }
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
    size_t first = access->span.low >> shift;
    if (access->span.pattern == LANES_CONTIGUOUS && cells_at_rest(warp->block, first, LANES * (unsigned)per_lane) &&
        warp->lanes->shadow_write(&race->cells, first, (uint32_t)per_lane, &view))
        return;
    struct access filled = *access;
    access_fill(&filled);
    for (uint32_t left = access->mask; left; left &= left - 1) {
        int lane = first_lane(left);
        bool same = same_value_there(warp, bound, &filled, lane), twin = false, looked = false;
        for (size_t i = 0; i < per_lane; i++) {
            size_t cell = (filled.address[lane] >> shift) + i;
            if (!looked && just_written(warp, &view, cell)) {
                twin = same_value_twin(warp, bound, &filled, lane);
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
    bool reserved = cell << warp->run->kernel->shadow_shift >= run_reserved_shared(warp->run);
    if (reads && !reserved && key < race->first_key && !(race->pending_cells && race->pending[cell]))
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
