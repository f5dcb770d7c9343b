// Races on shared memory that other blocks of the cluster access.
//
// In addition to the clocks of its own block (race_shared.c), a warp of a cluster has the clocks of all warps of the
// other blocks. All synchronization within a block carries these clocks as well: barriers, mbarriers, flags.
// barrier.cluster and arrivals at another block's mbarrier carry them between blocks.
//
// Accesses by other blocks are kept in a second shadow of a block's shared memory, which the first such access creates.
// Each cell has the last remote writer and two remote readers since then. Both sides check both shadows: an access is a
// race if the warp has not acquired the clock of the earlier access. In the block's own shadow, a cell that another
// block has written counts as written before the block started. Atomics do not race with each other, and lanes of one
// warp are not distinguished here.
//
// A block's shared memory exists from the block's first instruction to its last. So a warp that accesses another
// block's memory must have acquired a clock of that block, or have waited at barrier.cluster; and when a block exits,
// it must have acquired the clocks of all remote accesses to its memory.
#include "race_cluster.h"

#include "../machine/access.h"
#include "../machine/element_names.h"
#include "race_proxy.h"
#include "race_report.h"
#include "race_shared.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { READERS = 2 };

struct remote_access {
    uint32_t clock; // 0: no access
    uint16_t rank, warp;
    uint32_t by; // as in race_shared.c: instruction << 6 | lane, or SHADOW_ATOMIC
};

struct remote_cell {
    struct remote_access write, read[READERS];
};

struct remote_shadow {
    size_t count;
    struct remote_cell cell[]; // [count]
};

// ---- Clocks --------------------------------------------------------------------------------------------------------

static void join(uint32_t *to, const uint32_t *from, size_t count) {
    for (size_t i = 0; i < count; i++)
        to[i] = from[i] > to[i] ? from[i] : to[i];
}

static bool make_clocks(struct warp *warp, uint32_t **remote) {
    if (!warp->cluster || !warp->block->race.on)
        return false;
    if (!*remote)
        *remote = calloc(cluster_clocks(warp->block->cluster), sizeof **remote);
    if (!*remote)
        warp_fatal(warp, SIM_OUT_OF_HOST_MEMORY);
    return *remote;
}

// Single lanes' clocks are not kept for remote blocks.
static void join_block(uint32_t *to, const uint32_t *from) {
    join(to, from, CLOCK_LANE);
    join(to + CLOCK_ACQUIRED, from + CLOCK_ACQUIRED, CLOCK_HAS_LANES - CLOCK_ACQUIRED);
}

static void release_to(const struct warp *warp, uint32_t *remote, const uint32_t *others, const uint32_t *own) {
    join(remote, others, cluster_clocks(warp->block->cluster));
    join_block(remote + warp->block->rank * CLOCKS, own);
}

void race_cluster_release(struct warp *warp, uint32_t **remote) {
    if (make_clocks(warp, remote))
        release_to(warp, *remote, warp->cluster->known, warp->clock);
}

void race_cluster_release_fenced(struct warp *warp, uint32_t **remote) {
    if (make_clocks(warp, remote))
        release_to(warp, *remote, warp->cluster->fenced, warp->fenced);
}

// The clocks that concern other launches and clusters are acquired together with those of the cluster's own blocks.
void race_cluster_acquire(struct warp *warp, const uint32_t *remote, bool own_too) {
    if (!warp->cluster || !remote)
        return;
    const struct block *block = warp->block;
    const uint32_t *own = remote + block->rank * CLOCKS;
    join(warp->cluster->known, remote, cluster_clocks(block->cluster));
    for (unsigned r = 0; r < block->cluster->blocks; r++)
        join(warp->clock + CLOCK_ACQUIRED, remote + r * CLOCKS + CLOCK_ACQUIRED, CLOCK_HAS_LANES - CLOCK_ACQUIRED);
    for (unsigned i = 0; i < CLOCK_LANE && own_too; i++)
        if (i != warp->index && own[i] > warp->clock[i])
            warp->clock[i] = own[i];
}

void race_cluster_raise_clock(struct warp *warp, uint32_t **remote, unsigned rank, unsigned agent, uint32_t clock) {
    if (make_clocks(warp, remote) && (*remote)[rank * CLOCKS + agent] < clock)
        (*remote)[rank * CLOCKS + agent] = clock;
}

void race_cluster_reset_clocks(const struct block *block, uint32_t *remote) {
    if (remote)
        memset(remote, 0, cluster_clocks(block->cluster) * sizeof *remote);
}

void race_cluster_fence(struct warp *warp) {
    if (warp->cluster)
        join(warp->cluster->fenced, warp->cluster->known, cluster_clocks(warp->block->cluster));
}

void race_cluster_proxy_fence(struct warp *warp) {
    for (unsigned r = 0; warp->cluster && r < warp->block->cluster->blocks; r++) {
        uint32_t *known = warp->cluster->known + r * CLOCKS;
        join(known + CLOCK_VISIBLE, known, LANES);
    }
}

static bool is_ordered(const struct warp *warp, unsigned rank, unsigned agent, uint32_t clock) {
    if (rank == warp->block->rank)
        return agent == warp->index || warp->clock[agent] >= clock;
    return warp->cluster->known[rank * CLOCKS + agent] >= clock;
}

bool race_cluster_is_ordered(const struct warp *warp, const struct block *of, uint32_t epoch) {
    return epoch <= of->race.first_epoch || is_ordered(warp, of->rank, epoch & 31, epoch >> 5);
}

// ---- Lifetime of blocks ---------------------------------------------------------------------------------------------

bool race_cluster_has_synchronized(const struct warp *warp, const struct block *target) {
    const uint32_t *known = warp->cluster->known + target->rank * CLOCKS;
    for (unsigned i = 0; i < LANES; i++)
        if (known[i])
            return true;
    return warp->cluster->waited > 0;
}

static void report_lifetime(struct warp *warp, const struct bound *bound, int lane, const struct block *target,
                            const char *why) {
    struct sim_dim at = target->index;
    warp_report(warp, SIM_FINDING_CLUSTER_LIFETIME, bound, NULL, lane,
                "{op} accesses shared memory of block (%u,%u,%u), %s", at.x, at.y, at.z, why);
}

static struct remote_shadow *remote_shadow_of(struct warp *warp, struct block *block) {
    struct race_shared *race = &block->race;
    if (!race->remote) {
        size_t bytes = sizeof *race->remote + race->count * sizeof race->remote->cell[0];
        struct remote_shadow *remote =
            mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (remote == MAP_FAILED) {
            warp_fatal(warp, SIM_OUT_OF_HOST_MEMORY);
            return NULL;
        }
        remote->count = race->count;
        race->remote = remote;
        race->pending_cells++; // from now on each cell of an access is checked separately
    }
    return race->remote;
}

bool race_cluster_check_alive(struct warp *warp, const struct bound *bound, int lane, struct block *target) {
    if (target == warp->block)
        return true;
    if (target->ended) {
        report_lifetime(warp, bound, lane, target, "which has exited [cluster-exited]");
        warp_fatal(warp, SIM_LAUNCH_FAILURE);
        return false;
    }
    if (warp->block->race.on && !race_cluster_has_synchronized(warp, target))
        report_lifetime(warp, bound, lane, target,
                        "which may not have started: no cluster barrier precedes this access [cluster-not-started]");
    return true;
}

void race_cluster_note_access(struct warp *warp, const struct bound *bound, const struct block *target) {
    if (target == warp->block || !warp->block->race.on)
        return;
    struct cluster_access_record *latest =
        cluster_latest_access(warp->block->cluster, target->rank, warp->block->rank, warp->index);
    latest->clock = warp->clock[warp->index];
    latest->pc = pc_of(warp, bound);
}

// ---- Races ---------------------------------------------------------------------------------------------------------

struct earlier_access {
    unsigned rank, agent; // of the earlier access
    uint32_t by;
    bool wrote;
};

static void report_race(struct warp *warp, const struct bound *bound, int lane, const struct block *target, size_t cell,
                        const struct earlier_access *earlier, bool writes) {
    char element[ELEMENT_NAME_TEXT], owner_name[64] = "", accessor[96];
    const struct bound *other = &warp->code[earlier->by >> 6];
    const struct block *by = warp->block->cluster->block[earlier->rank];
    const struct run *run = warp->run;
    if (warp_reported(warp, SIM_FINDING_RACE_CLUSTER, bound, other))
        return;
    element_name_shared(run->kernel->ptx, run->own_shared, cell << run->kernel->shadow_shift, element);
    if (target != warp->block)
        snprintf(owner_name, sizeof owner_name, " of block (%u,%u,%u)", target->index.x, target->index.y,
                 target->index.z);
    if (earlier->agent < by->warps)
        snprintf(accessor, sizeof accessor, "warp %u of block (%u,%u,%u)", earlier->agent, by->index.x, by->index.y,
                 by->index.z);
    else
        snprintf(accessor, sizeof accessor, "the %s of block (%u,%u,%u)", sim_report_operation(other->ptx), by->index.x,
                 by->index.y, by->index.z);
    warp_report(warp, SIM_FINDING_RACE_CLUSTER, bound, other, lane,
                "{here} %s %s%s, which %s %s at {there}, with no cluster barrier between that %s and this %s (%s)",
                writes ? "writes" : "reads", element, owner_name, accessor, earlier->wrote ? "wrote" : "read",
                earlier->wrote ? "write" : "read", writes ? "write" : "read", race_hazard(writes, earlier->wrote));
}

static void check_against(struct warp *warp, const struct bound *bound, int lane, const struct block *target,
                          size_t cell, const struct remote_access *earlier, bool wrote, bool writes, bool atomic) {
    bool same = earlier->rank == warp->block->rank && earlier->warp == warp->index;
    if (!earlier->clock || same || (atomic && (earlier->by & 63) == SHADOW_ATOMIC) ||
        is_ordered(warp, earlier->rank, earlier->warp, earlier->clock))
        return;
    report_race(warp, bound, lane, target, cell,
                &(struct earlier_access){earlier->rank, earlier->warp, earlier->by, wrote}, writes);
}

static void note_access(struct remote_access slot[READERS], const struct warp *warp, const struct remote_access *now) {
    for (int i = 0; i < READERS; i++) {
        struct remote_access *old = &slot[i];
        bool same = old->rank == now->rank && old->warp == now->warp;
        if (!old->clock || same || is_ordered(warp, old->rank, old->warp, old->clock)) {
            *old = *now;
            return;
        }
    }
}

// Checks the access against the accesses of the block that owns the cell.
static void check_against_owner(struct warp *warp, const struct bound *bound, int lane, const struct block *target,
                                size_t cell, bool writes, bool atomic) {
    const struct shadow_cells *cells = &target->race.cells;
    const uint32_t epoch[3] = {cells->write[cell], cells->read1[cell], cells->read2[cell]};
    const uint32_t by[3] = {cells->write_by[cell], cells->read1_by[cell], cells->read2_by[cell]};
    for (int i = 0; i < (writes ? 3 : 1); i++) {
        bool both_atomic = atomic && i == 0 && (by[i] & 63) == SHADOW_ATOMIC;
        if (!both_atomic && !race_cluster_is_ordered(warp, target, epoch[i]))
            report_race(warp, bound, lane, target, cell,
                        &(struct earlier_access){target->rank, epoch[i] & 31, by[i], i == 0}, writes);
    }
}

static void report_pending(struct warp *warp, const struct bound *bound, int lane, const struct block *target,
                           size_t cell, bool writes) {
    char element[ELEMENT_NAME_TEXT];
    const struct run *run = warp->run;
    element_name_shared(run->kernel->ptx, run->own_shared, cell << run->kernel->shadow_shift, element);
    const struct bound *copy = &warp->code[(target->race.pending[cell] - 1) >> 6];
    warp_report(warp, SIM_FINDING_MISSING_PHASE_WAIT, bound, copy, lane,
                "{here} %s %s of block (%u,%u,%u), which the {other} may still write: wait for the %s first (%s)",
                writes ? "writes" : "reads", element, target->index.x, target->index.y, target->index.z,
                sim_report_operation(copy->ptx), race_wait_for(copy, true));
}

// Checks one cell of another block, and notes the access in its shadow.
static void check_and_note_cell(struct warp *warp, const struct bound *bound, struct block *target, size_t cell,
                                const struct remote_access *now, bool writes, bool atomic) {
    struct race_shared *race = &target->race;
    struct remote_cell *remote = &race->remote->cell[cell];
    int lane = (int)(now->by & 31);
    struct remote_access kept = *now;
    if (race->pending[cell])
        report_pending(warp, bound, lane, target, cell, writes);
    check_against_owner(warp, bound, lane, target, cell, writes, atomic);
    check_against(warp, bound, lane, target, cell, &remote->write, true, writes, atomic);
    for (int i = 0; writes && i < READERS; i++)
        check_against(warp, bound, lane, target, cell, &remote->read[i], false, true, false);
    kept.by = atomic ? (now->by & ~63u) | SHADOW_ATOMIC : now->by;
    if (!writes) {
        if (!atomic)
            note_access(remote->read, warp, &kept);
        return;
    }
    *remote = (struct remote_cell){.write = kept};
    race->cells.write[cell] = race->first_epoch;
    race->cells.write_by[cell] = (now->by & ~63u) | SHADOW_ASYNC;
}

static bool all_unwritten(const struct block *target, size_t first, size_t end) {
    for (size_t cell = first; cell < end; cell++)
        if (target->race.cells.write[cell] >= target->race.first_epoch || target->race.pending[cell])
            return false;
    return true;
}

static struct remote_access access_now(const struct warp *warp, const struct bound *bound, int lane) {
    return (struct remote_access){warp->clock[warp->index], (uint16_t)warp->block->rank, (uint16_t)warp->index,
                                  (uint32_t)pc_of(warp, bound) << 6 | (uint32_t)lane};
}

// Reports a read all of whose bytes are uninitialized: padding that a vector load includes is harmless.
static void check_written(struct warp *warp, const struct bound *bound, int lane, const struct block *target,
                          size_t first, size_t end) {
    char element[ELEMENT_NAME_TEXT];
    const struct run *run = warp->run;
    if (!all_unwritten(target, first, end))
        return;
    element_name_shared(run->kernel->ptx, run->own_shared, first << run->kernel->shadow_shift, element);
    warp_report(warp, SIM_FINDING_UNINITIALIZED_SHARED, bound, NULL, lane,
                "{here} reads %s of block (%u,%u,%u), which no thread has written", element, target->index.x,
                target->index.y, target->index.z);
}

void race_cluster_access(struct warp *warp, const struct bound *bound, struct block *target,
                         const struct access *filled) {
    int shift = warp->run->kernel->shadow_shift;
    bool atomic = access_is_atomic(filled) || bound->is_volatile;
    bool writes = access_writes(filled) || access_is_atomic(filled), reads = !access_writes(filled);
    if (!remote_shadow_of(warp, target))
        return;
    race_cluster_note_access(warp, bound, target);
    for (uint32_t left = filled->mask; left; left &= left - 1) {
        int lane = first_lane(left);
        size_t first = filled->address[lane] >> shift, end = (filled->address[lane] + filled->bytes) >> shift;
        struct remote_access now = access_now(warp, bound, lane);
        if (reads)
            check_written(warp, bound, lane, target, first, end);
        for (size_t cell = first; cell < end; cell++)
            check_and_note_cell(warp, bound, target, cell, &now, writes, atomic);
    }
    if (atomic)
        race_flags_synchronize(warp, bound, target, filled);
}

void race_cluster_issue(struct warp *warp, const struct bound *bound, int lane, struct block *target, uint32_t offset,
                        uint32_t bytes) {
    struct race_shared *race = &target->race;
    int shift = warp->run->kernel->shadow_shift;
    bool adds = bound->ptx->opcode == PTX_OP_RED_ASYNC || bound->ptx->opcode == PTX_OP_CP_REDUCE_ASYNC_BULK;
    for (size_t cell = offset >> shift; race->on && cell < ((size_t)offset + bytes + (1u << shift) - 1) >> shift;
         cell++) {
        struct remote_cell *remote = race->remote ? &race->remote->cell[cell] : NULL;
        uint32_t pending = race->pending[cell];
        bool same = pending && warp->code[(pending - 1) >> 6].ptx->opcode == bound->ptx->opcode;
        if (pending && !(adds && same))
            report_pending(warp, bound, lane, target, cell, true);
        check_against_owner(warp, bound, lane, target, cell, true, adds);
        if (remote)
            check_against(warp, bound, lane, target, cell, &remote->write, true, true, adds);
        for (int i = 0; remote && i < READERS; i++)
            check_against(warp, bound, lane, target, cell, &remote->read[i], false, true, false);
        if (remote)
            *remote = (struct remote_cell){0}; // an access before the copy lands lacks a wait
        race->pending_cells += pending == 0;
        race->pending[cell] = ((uint32_t)pc_of(warp, bound) << 6 | (uint32_t)lane) + 1;
    }
}

void race_cluster_check_cell(struct warp *warp, const struct bound *bound, size_t cell, int lane, bool writes,
                             bool atomic) {
    struct remote_cell *remote = &warp->block->race.remote->cell[cell];
    const struct remote_access *w = &remote->write;
    check_against(warp, bound, lane, warp->block, cell, w, true, writes, atomic);
    if (w->clock && race_uses_async_proxy(bound) && !writes && is_ordered(warp, w->rank, w->warp, w->clock) &&
        w->rank != warp->block->rank && warp->cluster->known[w->rank * CLOCKS + CLOCK_VISIBLE + w->warp] < w->clock) {
        warp_report(warp, SIM_FINDING_PROXY_FENCE, bound, &warp->code[w->by >> 6], lane,
                    "{op} reads byte %zu of shared memory through the async proxy, which another block of the cluster "
                    "wrote at {there} through the generic proxy, with no fence.proxy.async after that write",
                    cell << warp->run->kernel->shadow_shift);
    }
    for (int i = 0; writes && i < READERS; i++)
        check_against(warp, bound, lane, warp->block, cell, &remote->read[i], false, true, false);
    if (writes)
        *remote = (struct remote_cell){0};
}

// ---- Blocks --------------------------------------------------------------------------------------------------------

static void free_remote_shadow(struct block *block) {
    struct remote_shadow *remote = block->race.remote;
    if (remote)
        munmap(remote, sizeof *remote + remote->count * sizeof remote->cell[0]);
    block->race.remote = NULL;
}

void race_cluster_start(struct block *block) {
    free_remote_shadow(block);
    for (unsigned i = 0; block->cluster && i < BARRIERS; i++)
        race_cluster_reset_clocks(block, block->barrier_remote[i]);
}

static bool block_is_ordered(const struct block *block, unsigned rank, unsigned agent, uint32_t clock) {
    for (unsigned w = 0; w < block->warps; w++)
        if (block->warp[w].cluster->known[rank * CLOCKS + agent] >= clock)
            return true;
    return false;
}

void race_cluster_end(struct block *block) {
    const struct cluster *cluster = block->cluster;
    for (unsigned r = 0; cluster && r < cluster->blocks; r++) {
        for (unsigned w = 0; w < block->warps; w++) {
            struct warp *other = &cluster->block[r]->warp[w];
            const struct cluster_access_record *latest = cluster_latest_access(cluster, block->rank, r, w);
            if (latest->clock && !block_is_ordered(block, r, w, latest->clock))
                report_lifetime(other, &other->code[latest->pc], 0, block,
                                "which exits without waiting for this access [cluster-early-exit]");
        }
    }
}

void race_cluster_free(struct block *block) {
    free_remote_shadow(block);
    for (unsigned i = 0; i < BARRIERS; i++)
        free(block->barrier_remote[i]);
}
