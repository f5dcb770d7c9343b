// The async proxy in shared memory.
//
// The async proxy sees a generic-proxy write only if a proxy fence follows the write, in the writing thread before it
// releases the write, or in a thread that has acquired the write. So clocks have a second half: for each agent, the
// latest clock whose writes a proxy fence has made visible. Barriers carry both halves.
//
// A read by an agent (wgmma, a bulk store) is noted with the agent's clock. A warp that overwrites the bytes must have
// acquired that clock, directly or indirectly from a warp that has waited for the agent. The same holds for the write
// of a bulk copy that lands before any warp waits for it: the mbarrier that the copy signals releases its clock.
#include "race_proxy.h"

#include "../machine/block.h"
#include "cells.h"
#include "race_cluster.h"
#include "race_shared.h"

#include <string.h>

bool race_uses_async_proxy(const struct bound *bound) {
    enum ptx_opcode opcode = bound->ptx->opcode;
    return opcode == PTX_OP_CP_ASYNC_BULK || opcode == PTX_OP_CP_ASYNC_BULK_TENSOR ||
           opcode == PTX_OP_CP_REDUCE_ASYNC_BULK || opcode == PTX_OP_CP_REDUCE_ASYNC_BULK_TENSOR ||
           opcode == PTX_OP_WGMMA_MMA_ASYNC;
}

bool race_agent_of_wgmma(const struct block *block, unsigned warp, unsigned *agent) {
    *agent = block->warps + warp / 4;
    return block->race.on && block->agents > block->warps;
}

bool race_agent_of_bulk(const struct block *block, unsigned *agent) {
    *agent = block->agents - 1;
    return block->race.on && block->agents > block->warps;
}

bool race_agent_of_loads(const struct block *block, unsigned *agent) {
    *agent = block->agents - 2;
    return block->race.on && block->agents > block->warps;
}

uint32_t race_agent_issue(struct block *block, unsigned agent) {
    return block->race.issued[agent] = race_latest_clock(block) + 1;
}

void race_agent_wait(struct warp *warp, unsigned agent, uint32_t clock) {
    if (clock > warp->clock[agent])
        warp->clock[agent] = clock;
    race_advance_clock(warp, true, false);
}

void race_proxy_fence(struct warp *warp) {
    for (unsigned w = 0; w < warp->block->agents; w++) {
        uint32_t *visible = &warp->clock[CLOCK_VISIBLE + w];
        *visible = warp->clock[w] > *visible ? warp->clock[w] : *visible;
    }
    race_cluster_proxy_fence(warp);
    race_advance_clock(warp, false, true);
}

static void check_cell(struct warp *warp, const struct bound *bound, int lane, size_t cell) {
    const struct race_shared *race = &warp->block->race;
    uint32_t epoch = race->cells.write[cell], by = race->cells.write_by[cell];
    race_shared_check_read(warp, bound, cell, lane);
    bool written = epoch >= race->first_epoch && !(race->pending_cells && race->pending[cell]);
    if (written && (by & 63) != SHADOW_ASYNC && epoch >> 5 > warp->clock[CLOCK_VISIBLE + (epoch & 31)]) {
        warp_report(warp, SIM_FINDING_PROXY_FENCE, bound, &warp->code[by >> 6], lane,
                    "{op} reads byte %zu of shared memory through the async proxy, which the {other} wrote through the "
                    "generic proxy, with no fence.proxy.async after that write",
                    cell << warp->run->kernel->shadow_shift);
    }
}

// Keeps two readers, as race_shared.c does for warps.
static void note_read(struct warp *warp, size_t cell, uint32_t epoch, uint32_t by) {
    const struct shadow_cells *cells = &warp->block->race.cells;
    uint32_t *reader[2] = {&cells->read1[cell], &cells->read2[cell]};
    uint32_t *reader_by[2] = {&cells->read1_by[cell], &cells->read2_by[cell]};
    for (int i = 0; i < 2; i++) {
        uint32_t other = *reader[i] & 31;
        if (other == (epoch & 31) ||
            race_happens_before(warp, *reader[i], *reader_by[i], first_lane(warp->now->mask))) {
            *reader[i] = epoch;
            *reader_by[i] = by;
            return;
        }
    }
}

static size_t end_cell(const struct block *block, uint32_t end) {
    int shift = block->run->kernel->shadow_shift;
    return ((size_t)end + (1u << shift) - 1) >> shift;
}

// Returns whether a copy wrote the cell and the warp has acquired the write: this is the case of nearly all cells that
// wgmma reads.
static inline bool is_copied(const struct warp *warp, const struct race_shared *race, size_t cell) {
    uint32_t epoch = race->cells.write[cell];
    return (race->cells.write_by[cell] & 63) == SHADOW_ASYNC && epoch >= race->first_epoch &&
           epoch >> 5 <= warp->clock[epoch & 31] && !(race->pending_cells && race->pending[cell]);
}

bool race_proxy_is_copied(const struct warp *warp, uint32_t offset) {
    return is_copied(warp, &warp->block->race, offset >> warp->run->kernel->shadow_shift);
}

void race_proxy_check(struct warp *warp, const struct bound *bound, int lane, uint32_t offset, uint32_t bytes) {
    if (!warp->block->race.on)
        return;
    for (size_t cell = offset >> warp->run->kernel->shadow_shift; cell < end_cell(warp->block, offset + bytes); cell++)
        check_cell(warp, bound, lane, cell);
}

// Does the same for a unit's cells; false: the cells differ.
CELLS_INLINE bool note_unit_read(struct warp *warp, size_t cell, uint32_t epoch, uint32_t by, unsigned count) {
    const struct shadow_cells *cells = &warp->block->race.cells;
    uint32_t *reader[2] = {&cells->read1[cell], &cells->read2[cell]};
    uint32_t *reader_by[2] = {&cells->read1_by[cell], &cells->read2_by[cell]};
    if (cells_are(reader[0], epoch, count) ||
        cells_are(reader[1], epoch, count)) // noted by another warp of the warpgroup
        return true;
    for (int i = 0; i < 2; i++) {
        if (!cells_are_equal(reader[i], count) || !cells_are_equal(reader_by[i], count))
            return false;
        uint32_t other = *reader[i] & 31;
        if (other == (epoch & 31) ||
            race_happens_before(warp, *reader[i], *reader_by[i], first_lane(warp->now->mask))) {
            cells_fill(reader[i], epoch, count);
            cells_fill(reader_by[i], by, count);
            return true;
        }
    }
    return true;
}

CELLS_INLINE bool read_unit(struct warp *warp, size_t cell, uint32_t epoch, uint32_t by, unsigned count) {
    const struct race_shared *race = &warp->block->race;
    return is_copied(warp, race, cell) && cells_are_equal(race->cells.write + cell, count) &&
           cells_are_equal(race->cells.write_by + cell, count) &&
           (!race->pending_cells || cells_are(race->pending + cell, 0, count)) &&
           note_unit_read(warp, cell, epoch, by, count);
}

static void add_copy(struct race_copies *copied, uint32_t epoch) {
    for (unsigned i = 0; i < copied->count; i++) {
        if ((copied->epoch[i] & 31) == (epoch & 31)) {
            copied->epoch[i] = epoch > copied->epoch[i] ? epoch : copied->epoch[i];
            return;
        }
    }
    copied->all &= copied->count < MOST_RACE_COPIES;
    if (copied->all)
        copied->epoch[copied->count++] = epoch;
}

bool race_proxy_is_ordered(const struct warp *warp, const struct race_copies *copied) {
    bool ordered = copied->all;
    for (unsigned i = 0; i < copied->count; i++)
        ordered &= copied->epoch[i] >> 5 <= warp->clock[copied->epoch[i] & 31];
    return ordered;
}

CELLS_INLINE void read_cells(struct warp *warp, const struct bound *bound, int lane, uint32_t epoch, uint32_t by,
                             size_t cell, size_t end, unsigned count, struct race_copies *copied) {
    const struct race_shared *race = &warp->block->race;
    while (cell < end) {
        if ((cell & (count - 1)) == 0 && cell + count <= end && read_unit(warp, cell, epoch, by, count)) {
            if (copied && (!copied->count || copied->epoch[0] != race->cells.write[cell]))
                add_copy(copied, race->cells.write[cell]);
            cell += count;
            continue;
        }
        if (copied)
            copied->all = false;
        if (!is_copied(warp, race, cell))
            check_cell(warp, bound, lane, cell);
        if (race->cells.read1[cell] != epoch && race->cells.read2[cell] != epoch)
            note_read(warp, cell, epoch, by);
        cell++;
    }
}

void race_proxy_read(struct warp *warp, const struct bound *bound, int lane, unsigned agent, uint32_t clock,
                     uint32_t offset, uint32_t bytes, struct race_copies *copied) {
    uint32_t by = (uint32_t)pc_of(warp, bound) << 6 | SHADOW_ASYNC, epoch = clock << 5 | agent;
    int shift = warp->run->kernel->shadow_shift;
    size_t first = offset >> shift, end = end_cell(warp->block, offset + bytes);
    if (shift == 2)
        read_cells(warp, bound, lane, epoch, by, first, end, CELLS_UNIT / 4, copied);
    else if (shift == 1)
        read_cells(warp, bound, lane, epoch, by, first, end, CELLS_UNIT / 2, copied);
    else
        read_cells(warp, bound, lane, epoch, by, first, end, CELLS_UNIT, copied);
}

void race_proxy_issue(struct warp *warp, const struct bound *bound, int lane, uint32_t offset, uint32_t bytes) {
    struct race_shared *race = &warp->block->race;
    if (!race->on)
        return;
    int shift = warp->run->kernel->shadow_shift;
    unsigned count = (unsigned)CELLS_UNIT >> shift;
    uint32_t pending = ((uint32_t)pc_of(warp, bound) << 6 | (uint32_t)lane) + 1;
    size_t cell = offset >> shift, end = end_cell(warp->block, offset + bytes);
    while (cell < end) {
        if ((cell & (count - 1)) == 0 && cell + count <= end && cells_can_be_overwritten(warp, cell, lane, count)) {
            race->pending_cells += count;
            cells_fill(race->pending + cell, pending, count);
            cell += count;
            continue;
        }
        race_shared_check_write(warp, bound, cell, lane, false);
        race->pending_cells += race->pending[cell] == 0;
        race->pending[cell] = pending;
        cell++;
    }
}

void race_proxy_land(struct block *block, uint32_t epoch, int32_t pc, uint32_t offset, uint32_t bytes) {
    struct race_shared *race = &block->race;
    if (!race->on)
        return;
    size_t first = offset >> block->run->kernel->shadow_shift, count = end_cell(block, offset + bytes) - first;
    unsigned landed = 0;
    for (size_t i = 0; i < count; i++)
        landed += race->pending[first + i] != 0;
    race->pending_cells -= landed;
    memset(race->pending + first, 0, count * sizeof *race->pending);
    cells_fill(race->cells.write + first, epoch, (unsigned)count);
    cells_fill(race->cells.write_by + first, (uint32_t)pc << 6 | SHADOW_ASYNC, (unsigned)count);
}

void race_proxy_note_swizzle(struct block *block, uint32_t offset, uint32_t bytes, int swizzle) {
    uint32_t first = offset / SWIZZLE_GRANULE, end = (offset + bytes + SWIZZLE_GRANULE - 1) / SWIZZLE_GRANULE;
    if (block->race.on && bytes)
        memset(block->race.swizzle + first, swizzle + 1, end - first);
}

int race_proxy_swizzle(const struct block *block, uint32_t offset, int32_t *pc) {
    const struct race_shared *race = &block->race;
    size_t cell = offset >> block->run->kernel->shadow_shift;
    if (!race->on || race->cells.write[cell] < race->first_epoch || (race->cells.write_by[cell] & 63) != SHADOW_ASYNC)
        return -1;
    *pc = (int32_t)(race->cells.write_by[cell] >> 6);
    return race->swizzle[offset / SWIZZLE_GRANULE] - 1;
}
