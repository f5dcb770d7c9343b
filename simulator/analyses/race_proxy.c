// The asynchronous proxy in shared memory.
//
// A write by an ordinary instruction is visible to it only where a proxy fence stands on the way from the write to the
// asynchronous read, in the writer before it tells others or in a thread that knows of the write. So clocks have a
// second half: for each agent, the latest clock whose writes a fence has passed on. Barriers carry both halves.
//
// A read by an agent (wgmma, a bulk store) is noted with the agent's clock. Who overwrites the place must know that
// clock, which begins with the warp that waits for the agent. So is the write of a bulk copy that lands before anybody
// waits for it: the barrier that it signals tells its clock.
#include "race_proxy.h"

#include "../machine/block.h"
#include "cells.h"
#include "race_cluster.h"
#include "race_shared.h"

#include <string.h>

bool race_is_asynchronous(const struct bound *bound) {
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
    race_step(warp, true, false);
}

void race_proxy_fence(struct warp *warp) {
    for (unsigned w = 0; w < warp->block->agents; w++) {
        uint32_t *visible = &warp->clock[CLOCK_VISIBLE + w];
        *visible = warp->clock[w] > *visible ? warp->clock[w] : *visible;
    }
    race_cluster_proxy_fence(warp);
    race_step(warp, false, true);
}

static void look_at(struct warp *warp, const struct bound *bound, int lane, size_t cell) {
    const struct race_shared *race = &warp->block->race;
    uint32_t key = race->cells.write[cell], by = race->cells.write_by[cell];
    race_shared_check_read(warp, bound, cell, lane);
    bool written = key >= race->first_key && !(race->pending_cells && race->pending[cell]);
    if (written && (by & 63) != SHADOW_ASYNC && key >> 5 > warp->clock[CLOCK_VISIBLE + (key & 31)]) {
        warp_report(warp, SIM_FINDING_PROXY_FENCE, bound, &warp->code[by >> 6], lane,
                    "{here} reads byte %zu of shared memory through the asynchronous proxy, which {there} wrote as an "
                    "ordinary store, with no fence.proxy.async after it",
                    cell << warp->run->kernel->shadow_shift);
    }
}

// As race_shared.c notes the reads of warps: two readers are kept.
static void note(struct warp *warp, size_t cell, uint32_t key, uint32_t by) {
    const struct shadow_cells *cells = &warp->block->race.cells;
    uint32_t *place[2] = {&cells->read1[cell], &cells->read2[cell]};
    uint32_t *whose[2] = {&cells->read1_by[cell], &cells->read2_by[cell]};
    for (int i = 0; i < 2; i++) {
        uint32_t other = *place[i] & 31;
        if (other == (key & 31) || race_shared_ordered(warp, *place[i], *whose[i], first_lane(warp->now->mask))) {
            *place[i] = key;
            *whose[i] = by;
            return;
        }
    }
}

static size_t end_cell(const struct block *block, uint32_t end) {
    int shift = block->run->kernel->shadow_shift;
    return ((size_t)end + (1u << shift) - 1) >> shift;
}

// Whether a copy wrote the cell, and the warp knows of it: nearly all that wgmma reads.
static inline bool is_copied(const struct warp *warp, const struct race_shared *race, size_t cell) {
    uint32_t key = race->cells.write[cell];
    return (race->cells.write_by[cell] & 63) == SHADOW_ASYNC && key >= race->first_key &&
           key >> 5 <= warp->clock[key & 31] && !(race->pending_cells && race->pending[cell]);
}

void race_proxy_look(struct warp *warp, const struct bound *bound, int lane, uint32_t offset, uint32_t bytes) {
    if (!warp->block->race.on)
        return;
    for (size_t cell = offset >> warp->run->kernel->shadow_shift; cell < end_cell(warp->block, offset + bytes); cell++)
        look_at(warp, bound, lane, cell);
}

// note() for a unit's cells; false where they are not alike.
CELLS_INLINE bool note_unit(struct warp *warp, size_t cell, uint32_t key, uint32_t by, unsigned count) {
    const struct shadow_cells *cells = &warp->block->race.cells;
    uint32_t *place[2] = {&cells->read1[cell], &cells->read2[cell]};
    uint32_t *whose[2] = {&cells->read1_by[cell], &cells->read2_by[cell]};
    if (cells_are(place[0], key, count) || cells_are(place[1], key, count)) // by another warp of the group
        return true;
    for (int i = 0; i < 2; i++) {
        if (!cells_alike(place[i], count) || !cells_alike(whose[i], count))
            return false;
        uint32_t other = *place[i] & 31;
        if (other == (key & 31) || race_shared_ordered(warp, *place[i], *whose[i], first_lane(warp->now->mask))) {
            cells_fill(place[i], key, count);
            cells_fill(whose[i], by, count);
            return true;
        }
    }
    return true;
}

CELLS_INLINE bool read_unit(struct warp *warp, size_t cell, uint32_t key, uint32_t by, unsigned count) {
    const struct race_shared *race = &warp->block->race;
    return is_copied(warp, race, cell) && cells_alike(race->cells.write + cell, count) &&
           cells_alike(race->cells.write_by + cell, count) &&
           (!race->pending_cells || cells_are(race->pending + cell, 0, count)) && note_unit(warp, cell, key, by, count);
}

static void add_copy(struct race_copied *copied, uint32_t key) {
    for (unsigned i = 0; i < copied->count; i++) {
        if ((copied->key[i] & 31) == (key & 31)) {
            copied->key[i] = key > copied->key[i] ? key : copied->key[i];
            return;
        }
    }
    copied->all &= copied->count < RACE_COPIES;
    if (copied->all)
        copied->key[copied->count++] = key;
}

bool race_proxy_knows(const struct warp *warp, const struct race_copied *copied) {
    bool knows = copied->all;
    for (unsigned i = 0; i < copied->count; i++)
        knows &= copied->key[i] >> 5 <= warp->clock[copied->key[i] & 31];
    return knows;
}

CELLS_INLINE void read_cells(struct warp *warp, const struct bound *bound, int lane, uint32_t key, uint32_t by,
                             size_t cell, size_t end, unsigned count, struct race_copied *copied) {
    const struct race_shared *race = &warp->block->race;
    while (cell < end) {
        if ((cell & (count - 1)) == 0 && cell + count <= end && read_unit(warp, cell, key, by, count)) {
            if (copied && (!copied->count || copied->key[0] != race->cells.write[cell]))
                add_copy(copied, race->cells.write[cell]);
            cell += count;
            continue;
        }
        if (copied)
            copied->all = false;
        if (!is_copied(warp, race, cell))
            look_at(warp, bound, lane, cell);
        if (race->cells.read1[cell] != key && race->cells.read2[cell] != key)
            note(warp, cell, key, by);
        cell++;
    }
}

void race_proxy_read(struct warp *warp, const struct bound *bound, int lane, unsigned agent, uint32_t clock,
                     uint32_t offset, uint32_t bytes, struct race_copied *copied) {
    uint32_t by = (uint32_t)pc_of(warp, bound) << 6 | SHADOW_ASYNC, key = clock << 5 | agent;
    int shift = warp->run->kernel->shadow_shift;
    size_t first = offset >> shift, end = end_cell(warp->block, offset + bytes);
    if (shift == 2)
        read_cells(warp, bound, lane, key, by, first, end, CELLS_UNIT / 4, copied);
    else if (shift == 1)
        read_cells(warp, bound, lane, key, by, first, end, CELLS_UNIT / 2, copied);
    else
        read_cells(warp, bound, lane, key, by, first, end, CELLS_UNIT, copied);
}

void race_proxy_issue(struct warp *warp, const struct bound *bound, int lane, uint32_t offset, uint32_t bytes) {
    struct race_shared *race = &warp->block->race;
    if (!race->on)
        return;
    int shift = warp->run->kernel->shadow_shift;
    unsigned count = (unsigned)CELLS_UNIT >> shift;
    uint32_t coming = ((uint32_t)pc_of(warp, bound) << 6 | (uint32_t)lane) + 1;
    size_t cell = offset >> shift, end = end_cell(warp->block, offset + bytes);
    while (cell < end) {
        if ((cell & (count - 1)) == 0 && cell + count <= end && cells_may_be_written(warp, cell, lane, count)) {
            race->pending_cells += count;
            cells_fill(race->pending + cell, coming, count);
            cell += count;
            continue;
        }
        race_shared_check_write(warp, bound, cell, lane, false);
        race->pending_cells += race->pending[cell] == 0;
        race->pending[cell] = coming;
        cell++;
    }
}

void race_proxy_land(struct block *block, uint32_t key, int32_t pc, uint32_t offset, uint32_t bytes) {
    struct race_shared *race = &block->race;
    if (!race->on)
        return;
    size_t first = offset >> block->run->kernel->shadow_shift, count = end_cell(block, offset + bytes) - first;
    unsigned landed = 0;
    for (size_t i = 0; i < count; i++)
        landed += race->pending[first + i] != 0;
    race->pending_cells -= landed;
    memset(race->pending + first, 0, count * sizeof *race->pending);
    cells_fill(race->cells.write + first, key, (unsigned)count);
    cells_fill(race->cells.write_by + first, (uint32_t)pc << 6 | SHADOW_ASYNC, (unsigned)count);
}

void race_proxy_note_swizzle(struct block *block, uint32_t offset, uint32_t bytes, int swizzle) {
    uint32_t first = offset / SWIZZLE_PIECE, end = (offset + bytes + SWIZZLE_PIECE - 1) / SWIZZLE_PIECE;
    if (block->race.on && bytes)
        memset(block->race.swizzle + first, swizzle + 1, end - first);
}

int race_proxy_swizzle(const struct block *block, uint32_t offset, int32_t *pc) {
    const struct race_shared *race = &block->race;
    size_t cell = offset >> block->run->kernel->shadow_shift;
    if (!race->on || race->cells.write[cell] < race->first_key || (race->cells.write_by[cell] & 63) != SHADOW_ASYNC)
        return -1;
    *pc = (int32_t)(race->cells.write_by[cell] >> 6);
    return race->swizzle[offset / SWIZZLE_PIECE] - 1;
}
