// Races and uninitialized reads in shared memory.
//
// Between warps. Every warp has a vector clock: its own clock, and for every other warp the latest clock that it has
// acquired. Arriving at a barrier releases the warp's vector clock and advances its own clock; leaving a barrier
// acquires the clocks of the warps that arrived. This covers both __syncthreads() and named barriers of some of the
// warps. The shadow of a cell has the epoch (clock and warp) of its last write and of two reads. Two accesses to a
// cell, one of them a write, are a race if the later warp has not acquired the earlier one's epoch. When all warps of
// the block synchronize at a barrier, their clocks are set equal, so that one comparison with a floor decides nearly
// every access.
//
// Within a warp. Since Volta the lanes of a warp are independent threads: a lane may read another lane's write only
// after __syncwarp() or a barrier; a shuffle or vote orders execution but not memory (CUDA programming guide, warp
// shuffle functions). Each lane has the clock of its last synchronization; an access by another lane of its warp must
// be older. If a mask names some lanes only, a participating lane counts as ordered after all lanes, which may hide a
// race but never reports a false one.
//
// A write of the value that memory already holds is no race: threads that all set the same flag do no harm. Neither are
// writes of one value by several lanes in one instruction; any of them may be the last one, and after the instruction
// every lane of the warp may read the value, as each writing lane may. This may hide a race with a lane that did not
// write.
//
// Threads synchronize by atomics and volatile accesses. These do not race with each other, and each such load acquires
// what stores have released through the same word: a flag or a lock orders the accesses that it guards, and the flag of
// one pipeline stage does not order the accesses to another stage. Without an explicit order they are relaxed (PTX ISA,
// memory consistency model): a relaxed store releases the accesses before its warp's last fence, a .release store all
// earlier ones; after a relaxed load the warp acquires at its next fence, after an .acquire load at once. A barrier or
// __syncwarp() also counts as that fence, which is more than the PTX ISA guarantees. The signalling lane matters: its
// flag does not release accesses of other lanes since their last synchronization. See race_lanes.c. Exchanges between
// lanes of one warp by volatile memory are no race: see stale.c.
//
// Asynchronous operations. wgmma and bulk stores read their operands at some time before their completion is waited
// for. Each such unit is an agent with its own clock, which counts its operations; a warp that waits for the agent
// acquires this clock, and barriers carry it to the warps that overwrite the operands. The write of a bulk copy has the
// epoch of the first warp that waits for it, and other warps also read it only after waiting. See race_proxy.c.
//
// Two of the warps that read a cell since its last write are kept. If warps synchronize in groups, by named barriers, a
// third reader's race with a later write can be missed.
#include "race_shared.h"
#include "cells.h"
#include "race_cluster.h"
#include "race_proxy.h"
#include "race_report.h"
#include "race_tile.h"
#include "same_value.h"
#include "stale.h"
#include "validity.h"

#include "../machine/access.h"
#include "../machine/block.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define ARRAYS 7
#define CLOCKS_MOST (1u << 26) // an epoch has 27 bits of clock

bool race_shared_create(struct block *block) {
    struct race_shared *race = &block->race;
    const struct run *run = block->run;
    race->on = run->options.races || run->options.uninitialized;
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
    race->swizzle = calloc(run->shared_bytes / SWIZZLE_GRANULE + 1, 1);
    race->guard = calloc(run->shared_bytes / SWIZZLE_GRANULE + 1, sizeof *race->guard);
    return race->swizzle && race->guard;
}

void race_shared_free(struct block *block) {
    if (block->race.cells.write)
        munmap(block->race.cells.write, ARRAYS * block->race.count * 4);
    race_flags_reset(&block->race);
    free(block->race.flag);
    stale_free(block);
    free(block->race.swizzle);
    free(block->race.guard);
    free(block->race.outside);
}

// Computes the floors from the clocks.
static void set_floors(struct warp *warp) {
    uint32_t own = warp->lane_clock[0], known = UINT32_MAX;
    for (int i = 1; i < LANES; i++)
        own = warp->lane_clock[i] < own ? warp->lane_clock[i] : own;
    const struct block *block = warp->block;
    for (unsigned w = 0; w < block->agents; w++) {
        bool counts = w < block->warps ? w != warp->index : warp->clock[w] < block->race.issued[w];
        known = counts && warp->clock[w] + 1 < known ? warp->clock[w] + 1 : known;
    }
    warp->own_floor_epoch = own << 5;
    warp->floor_epoch = (own < known ? own : known) << 5;
}

// Operands that asynchronous operations still read remain in flight.
static void set_clocks(struct block *block, uint32_t clock) {
    for (unsigned w = 0; w < block->warps; w++) {
        struct warp *warp = &block->warp[w];
        uint32_t floor = clock;
        for (unsigned i = 0; i < block->agents; i++) {
            bool in_flight = i >= block->warps && block->race.issued[i] > warp->clock[i];
            warp->clock[i] = in_flight ? warp->clock[i] : clock - 1;
            floor = warp->clock[i] + 1 < floor ? warp->clock[i] + 1 : floor;
            warp->clock[CLOCK_LANE + i] = 0;
        }
        for (unsigned i = 0; i < LANES; i++)
            warp->lane_clock[i] = clock;
        warp->clock[CLOCK_HAS_LANES] = 0;
        warp->clock[w] = clock;
        warp->own_floor_epoch = clock << 5;
        warp->floor_epoch = floor << 5;
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
    race->first_epoch = clock << 5; // in a cluster: the epoch of remote writes
    race_flags_reset(race);
    block->releases = 0;
    memset(block->release_clock, 0, sizeof block->release_clock);
    race_cluster_start(block);
    race->early_reads = 0;
    race_tile_start(block);
    stale_free(block);
    if (race->pending_cells) {
        memset(race->pending, 0, race->count * 4);
        race->pending_cells = 0;
    }
}

void race_shared_end(struct block *block) {
    const struct race_shared *race = &block->race;
    for (unsigned i = 0; i < race->early_reads; i++)
        if (race->cells.write[race->early[i].cell] >= race->first_epoch)
            sim_report_cause(SIM_FINDING_UNINITIALIZED_SHARED, race->early[i].line,
                             "the element is written later in the same launch: a barrier, or the wait for a copy, is "
                             "missing before this line.");
}

void race_sync_lanes(struct warp *warp, uint32_t mask) {
    race_acquire_pending(warp);
    uint32_t clock = ++warp->clock[warp->index];
    for (int i = 0; i < LANES; i++)
        warp->lane_clock[i] = mask >> i & 1 ? clock : warp->lane_clock[i];
    set_floors(warp);
}

void race_release(const struct warp *warp, uint32_t clock[CLOCKS]) {
    for (unsigned w = 0; w < warp->block->agents; w++) {
        unsigned visible = CLOCK_VISIBLE + w;
        clock[w] = warp->clock[w] > clock[w] ? warp->clock[w] : clock[w];
        clock[visible] = warp->clock[visible] > clock[visible] ? warp->clock[visible] : clock[visible];
    }
    race_join(clock, warp->clock, 0);
}

void race_acquire(struct warp *warp, const uint32_t clock[CLOCKS]) {
    for (unsigned w = 0; w < warp->block->agents; w++) {
        unsigned visible = CLOCK_VISIBLE + w;
        if (w != warp->index && clock[w] > warp->clock[w])
            warp->clock[w] = clock[w];
        warp->clock[visible] = clock[visible] > warp->clock[visible] ? clock[visible] : warp->clock[visible];
    }
    race_join(warp->clock, clock, 0);
}

void race_publish(struct warp *warp, uint32_t clock[CLOCKS]) {
    race_acquire_pending(warp);
    race_release(warp, clock);
    warp->clock[warp->index]++;
}

void race_fence(struct warp *warp, uint32_t mask) {
    race_acquire_pending(warp);
    race_release_lanes(warp, mask, warp->fenced);
    warp->clock[warp->index]++;
}

void race_advance_clock(struct warp *warp, bool acquired, bool releases) {
    warp->clock[warp->index] += releases;
    if (acquired)
        set_floors(warp);
}

uint32_t race_epoch(const struct warp *warp) {
    return warp->clock[warp->index] << 5 | warp->index;
}

void race_align_clocks(struct block *block) {
    set_clocks(block, race_latest_clock(block) + 1);
}

void race_leave_barrier(struct warp *warp, const uint32_t clock[CLOCKS], bool everyone) {
    race_acquire(warp, clock);
    race_acquire_pending(warp);
    if (!everyone)
        race_sync_lanes(warp, ALL_LANES);
}

static struct shadow_view view_of(const struct warp *warp, const struct bound *bound) {
    return (struct shadow_view){warp->block->race.first_epoch, warp->floor_epoch, warp->own_floor_epoch,
                                race_epoch(warp), (uint32_t)pc_of(warp, bound) << 6};
}

// Returns whether the access with this epoch happens before this lane's current access.
bool race_happens_before(const struct warp *warp, uint32_t epoch, uint32_t by, int lane) {
    uint32_t other = epoch & 31, clock = epoch >> 5;
    if (epoch < warp->floor_epoch)
        return true;
    if (other != warp->index)
        return clock <= warp->clock[other] || race_covers_lane(warp->clock, epoch, by);
    uint32_t its_lane = by & 63;
    return its_lane == (uint32_t)lane || its_lane == SHADOW_ATOMIC || its_lane == SHADOW_ASYNC ||
           clock < warp->lane_clock[lane];
}

static void note_read(struct warp *warp, size_t cell, uint32_t by) {
    const struct shadow_cells *cells = &warp->block->race.cells;
    uint32_t mine = race_epoch(warp);
    uint32_t *epoch[2] = {&cells->read1[cell], &cells->read2[cell]};
    uint32_t *reader_by[2] = {&cells->read1_by[cell], &cells->read2_by[cell]};
    for (int i = 0; i < 2; i++) {
        uint32_t other = *epoch[i] & 31;
        if (*epoch[i] == mine) {
            *reader_by[i] = (*reader_by[i] ^ by) & 63 ? (*reader_by[i] & ~63u) | SHADOW_MANY : *reader_by[i];
            return;
        }
        if (*epoch[i] < warp->floor_epoch || other == warp->index || *epoch[i] >> 5 <= warp->clock[other]) {
            *epoch[i] = mine;
            *reader_by[i] = by;
            return;
        }
    }
}

void race_shared_check_read(struct warp *warp, const struct bound *bound, size_t cell, int lane) {
    struct race_shared *race = &warp->block->race;
    uint32_t epoch = race->cells.write[cell], by = race->cells.write_by[cell];
    race_cluster_check_own(warp, bound, cell, lane, false, false);
    if (race->pending_cells && race->pending[cell])
        race_report_pending(warp, bound, lane, cell, "reads");
    else if (epoch < race->first_epoch && validity_defers(warp, bound))
        warp->read_uninitialized = true;
    else if (epoch < race->first_epoch)
        race_report_uninitialized(warp, bound, lane, cell);
    else if (!race_happens_before(warp, epoch, by, lane) && !((epoch & 31) == warp->index && (by & 63) == SHADOW_MANY))
        race_report_shared(warp, bound, lane, cell, epoch, by, READ_AFTER_WRITE);
}

static void read_cell(struct warp *warp, const struct bound *bound, size_t cell, int lane, uint32_t by) {
    race_shared_check_read(warp, bound, cell, lane);
    note_read(warp, cell, by);
}

// Notes that these lanes read neighbouring cells, if all their writes happen before the accesses of the whole warp and
// no copy to them is in flight.
static bool note_plain(struct warp *warp, const struct shadow_view *view, size_t first, size_t count, uint32_t lanes) {
    const struct race_shared *race = &warp->block->race;
    uint32_t lane = lanes & (lanes - 1) ? SHADOW_MANY : (uint32_t)first_lane(lanes);
    uint32_t own_floor = race->remote ? view->floor : view->own_floor;
    if (!cells_have_no_copy_pending(warp->block, first, (unsigned)count))
        return false;
    for (size_t i = first; i < first + count; i++) {
        uint32_t epoch = race->cells.write[i], floor = (epoch ^ view->mine) & 31 ? view->floor : own_floor;
        if (epoch < view->first || epoch >= floor)
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
    if (access->span.pattern == LANES_CONTIGUOUS &&
        cells_have_no_copy_pending(warp->block, first, LANES * (unsigned)per_lane) &&
        warp->lanes->shadow_read(&race->cells, first, (uint32_t)per_lane, &view))
        return;
    if (access->span.pattern == LANES_UNIFORM && note_plain(warp, &view, first, per_lane, access->mask))
        return;
    struct access filled = *access;
    access_fill(&filled);
    uint32_t unusual = 0;
    for (uint32_t left = access->mask, same; left; left &= ~same) {
        // Addresses are aligned: two lanes access the same bytes, or disjoint ones.
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

// Returns whether an earlier lane of the same store wrote the cell last.
static bool just_written(const struct warp *warp, const struct shadow_view *view, size_t cell) {
    const struct shadow_cells *cells = &warp->block->race.cells;
    return cells->write[cell] == view->mine && !((cells->write_by[cell] ^ view->by) & ~63u);
}

void race_shared_check_write(struct warp *warp, const struct bound *bound, size_t cell, int lane, bool same) {
    const struct race_shared *race = &warp->block->race;
    const struct shadow_cells *cells = &race->cells;
    race_cluster_check_own(warp, bound, cell, lane, true, false);
    if (race->pending_cells && race->pending[cell])
        race_report_pending(warp, bound, lane, cell, "writes");
    const uint32_t epoch[3] = {cells->write[cell], cells->read1[cell], cells->read2[cell]};
    const uint32_t by[3] = {cells->write_by[cell], cells->read1_by[cell], cells->read2_by[cell]};
    for (int i = 0; i < 3; i++)
        if (!(i == 0 && same) && !race_happens_before(warp, epoch[i], by[i], lane))
            race_report_shared(warp, bound, lane, cell, epoch[i], by[i], i == 0 ? WRITE_AFTER_WRITE : WRITE_AFTER_READ);
}

void race_shared_write(struct warp *warp, const struct bound *bound, const struct access *access) {
    struct race_shared *race = &warp->block->race;
    int shift = warp->run->kernel->shadow_shift;
    size_t per_lane = access->bytes >> shift;
    struct shadow_view view = view_of(warp, bound);
    size_t first = access->span.low >> shift;
    if (access->span.pattern == LANES_CONTIGUOUS &&
        cells_have_no_copy_pending(warp->block, first, LANES * (unsigned)per_lane) &&
        warp->lanes->shadow_write(&race->cells, first, (uint32_t)per_lane, &view))
        return;
    struct access filled = *access;
    access_fill(&filled);
    for (uint32_t left = access->mask; left; left &= left - 1) {
        int lane = first_lane(left);
        bool same = same_value_in_memory(warp, bound, &filled, lane), twin = false, last_signal_read = false;
        for (size_t i = 0; i < per_lane; i++) {
            size_t cell = (filled.address[lane] >> shift) + i;
            if (!last_signal_read && just_written(warp, &view, cell)) {
                twin = same_value_of_other_lane(warp, bound, &filled, lane);
                last_signal_read = true;
            }
            race_shared_check_write(warp, bound, cell, lane, same || twin);
            race->cells.write[cell] = view.mine;
            race->cells.write_by[cell] = view.by | (twin ? SHADOW_MANY : (uint32_t)lane);
        }
    }
}

// Checks one cell of an atomic or volatile access, which does not race with accesses of the same kind, nor with other
// lanes of its warp.
void race_shared_check_atomic(struct warp *warp, const struct bound *bound, size_t cell, int lane, bool reads,
                              bool writes) {
    const struct race_shared *race = &warp->block->race;
    const struct shadow_cells *cells = &race->cells;
    uint32_t epoch = cells->write[cell], by = cells->write_by[cell];
    race_cluster_check_own(warp, bound, cell, lane, writes, true);
    bool reserved = cell << warp->run->kernel->shadow_shift >= run_reserved_shared(warp->run);
    if (reads && !reserved && epoch < race->first_epoch && !(race->pending_cells && race->pending[cell]))
        read_cell(warp, bound, cell, lane, (uint32_t)pc_of(warp, bound) << 6 | SHADOW_ATOMIC);
    bool pending_acquire =
        reads && !writes && epoch >> 5 <= warp->pending_acquire[epoch & 31]; // needs no fence, as in race_global.c
    if ((by & 63) != SHADOW_ATOMIC && (epoch & 31) != warp->index && !pending_acquire &&
        !race_happens_before(warp, epoch, by, lane))
        race_report_shared(warp, bound, lane, cell, epoch, by, reads ? READ_AFTER_WRITE : WRITE_AFTER_WRITE);
    if (!writes)
        return;
    const uint32_t read_key[2] = {cells->read1[cell], cells->read2[cell]};
    const uint32_t read_by[2] = {cells->read1_by[cell], cells->read2_by[cell]};
    for (int i = 0; i < 2; i++)
        if ((read_by[i] & 63) != SHADOW_ATOMIC && (read_key[i] & 31) != warp->index &&
            !race_happens_before(warp, read_key[i], read_by[i], lane))
            race_report_shared(warp, bound, lane, cell, read_key[i], read_by[i], WRITE_AFTER_READ);
    cells->write[cell] = race_epoch(warp);
    cells->write_by[cell] = (uint32_t)pc_of(warp, bound) << 6 | SHADOW_ATOMIC;
}
