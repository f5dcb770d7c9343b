// Shared memory that other blocks of the cluster reach.
//
// A warp of a cluster knows, beside the clocks of its own block (race_shared.c), those of all warps of the other
// blocks. Whatever carries clocks inside a block carries these, too: barriers, mbarriers, flags. barrier.cluster and an
// arrival at another block's mbarrier carry them from block to block.
//
// What other blocks do to a block's shared memory stands in a shadow beside its own, made at the first such access. For
// each cell it says who of the others wrote it last, and two of them that have read it since. Each side looks at both
// shadows: an access is a race where the earlier one's clock is not known to it. A cell that another block has written
// counts in the block's own shadow as written before it began. Atomics do not race among themselves, and lanes of one
// warp are not told apart here.
//
// A block's shared memory is there from its first instruction to its last. So who reaches for it must know something of
// that block, or have waited at barrier.cluster; and at its end the block must know of all that others have done there.
#include "race_cluster.h"

#include "../machine/access.h"
#include "../machine/places.h"
#include "race_proxy.h"
#include "race_shared.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { READERS = 2 };

struct far_access {
    uint32_t clock; // 0: nobody
    uint16_t rank, warp;
    uint32_t by; // as in race_shared.c: instruction << 6 | lane, or SHADOW_ATOMIC
};

struct far_cell {
    struct far_access write, read[READERS];
};

struct far_shadow {
    size_t count;
    struct far_cell cell[]; // [count]
};

// ---- Clocks --------------------------------------------------------------------------------------------------------

static void join(uint32_t *to, const uint32_t *from, size_t count) {
    for (size_t i = 0; i < count; i++)
        to[i] = from[i] > to[i] ? from[i] : to[i];
}

static bool make(struct warp *warp, uint32_t **far) {
    if (!warp->cluster || !warp->block->race.on)
        return false;
    if (!*far)
        *far = calloc(cluster_clocks(warp->block->cluster), sizeof **far);
    if (!*far)
        warp_fatal(warp, SIM_OUT_OF_HOST_MEMORY);
    return *far;
}

// Of a block's clocks; what single lanes know is not kept apart here.
static void join_block(uint32_t *to, const uint32_t *from) {
    join(to, from, CLOCK_PART);
    join(to + CLOCK_ACQUIRED, from + CLOCK_ACQUIRED, CLOCK_PARTS - CLOCK_ACQUIRED);
}

static void tell(const struct warp *warp, uint32_t *far, const uint32_t *others, const uint32_t *own) {
    join(far, others, cluster_clocks(warp->block->cluster));
    join_block(far + warp->block->rank * CLOCKS, own);
}

void race_cluster_tell(struct warp *warp, uint32_t **far) {
    if (make(warp, far))
        tell(warp, *far, warp->cluster->known, warp->clock);
}

void race_cluster_tell_fenced(struct warp *warp, uint32_t **far) {
    if (make(warp, far))
        tell(warp, *far, warp->cluster->fenced, warp->fenced);
}

// What is known of other launches' and clusters' blocks goes with what is known of the cluster's own.
void race_cluster_learn(struct warp *warp, const uint32_t *far, bool own_too) {
    if (!warp->cluster || !far)
        return;
    const struct block *block = warp->block;
    const uint32_t *own = far + block->rank * CLOCKS;
    join(warp->cluster->known, far, cluster_clocks(block->cluster));
    for (unsigned r = 0; r < block->cluster->blocks; r++)
        join(warp->clock + CLOCK_ACQUIRED, far + r * CLOCKS + CLOCK_ACQUIRED, CLOCK_PARTS - CLOCK_ACQUIRED);
    for (unsigned i = 0; i < CLOCK_PART && own_too; i++)
        if (i != warp->index && own[i] > warp->clock[i])
            warp->clock[i] = own[i];
}

void race_cluster_raise(struct warp *warp, uint32_t **far, unsigned rank, unsigned agent, uint32_t clock) {
    if (make(warp, far) && (*far)[rank * CLOCKS + agent] < clock)
        (*far)[rank * CLOCKS + agent] = clock;
}

void race_cluster_forget(const struct block *block, uint32_t *far) {
    if (far)
        memset(far, 0, cluster_clocks(block->cluster) * sizeof *far);
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

static bool knows(const struct warp *warp, unsigned rank, unsigned agent, uint32_t clock) {
    if (rank == warp->block->rank)
        return agent == warp->index || warp->clock[agent] >= clock;
    return warp->cluster->known[rank * CLOCKS + agent] >= clock;
}

bool race_cluster_knows(const struct warp *warp, const struct block *of, uint32_t key) {
    return key <= of->race.first_key || knows(warp, of->rank, key & 31, key >> 5);
}

// ---- Whether the block is there ------------------------------------------------------------------------------------

bool race_cluster_has_met(const struct warp *warp, const struct block *there) {
    const uint32_t *known = warp->cluster->known + there->rank * CLOCKS;
    for (unsigned i = 0; i < LANES; i++)
        if (known[i])
            return true;
    return warp->cluster->waited > 0;
}

static void absent(struct warp *warp, const struct bound *bound, int lane, const struct block *there, const char *why) {
    struct sim_dim at = there->index;
    warp_report(warp, SIM_FINDING_CLUSTER_ABSENT, bound, NULL, lane,
                "{here} reaches for shared memory of block (%u,%u,%u), %s", at.x, at.y, at.z, why);
}

static struct far_shadow *shadow_of(struct warp *warp, struct block *block) {
    struct race_shared *race = &block->race;
    if (!race->far) {
        size_t bytes = sizeof *race->far + race->count * sizeof race->far->cell[0];
        struct far_shadow *far =
            mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (far == MAP_FAILED) {
            warp_fatal(warp, SIM_OUT_OF_HOST_MEMORY);
            return NULL;
        }
        far->count = race->count;
        race->far = far;
        race->pending_cells++; // from now on each cell of an access is looked at by itself
    }
    return race->far;
}

bool race_cluster_reach(struct warp *warp, const struct bound *bound, int lane, struct block *there) {
    if (there == warp->block)
        return true;
    if (there->ended) {
        absent(warp, bound, lane, there, "whose threads have all exited");
        warp_fatal(warp, SIM_LAUNCH_FAILURE);
        return false;
    }
    if (warp->block->race.on && !race_cluster_has_met(warp, there))
        absent(warp, bound, lane, there, "and nothing says that this block has begun");
    return true;
}

void race_cluster_note(struct warp *warp, const struct bound *bound, const struct block *there) {
    if (there == warp->block || !warp->block->race.on)
        return;
    struct cluster_reach *latest = cluster_reached(warp->block->cluster, there->rank, warp->block->rank, warp->index);
    latest->clock = warp->clock[warp->index];
    latest->pc = pc_of(warp, bound);
}

// ---- Races ---------------------------------------------------------------------------------------------------------

struct deed {
    unsigned rank, agent; // whose
    uint32_t by;
    bool wrote;
};

static void report(struct warp *warp, const struct bound *bound, int lane, const struct block *there, size_t cell,
                   const struct deed *earlier, bool writes) {
    char place[PLACE_TEXT], whose[64] = "", who[96];
    const struct bound *other = &warp->code[earlier->by >> 6];
    const struct block *by = warp->block->cluster->block[earlier->rank];
    const struct run *run = warp->run;
    if (warp_reported(warp, SIM_FINDING_RACE_CLUSTER, bound, other))
        return;
    place_shared(run->kernel->ptx, run->own_shared, cell << run->kernel->shadow_shift, place);
    if (there != warp->block)
        snprintf(whose, sizeof whose, " of block (%u,%u,%u)", there->index.x, there->index.y, there->index.z);
    if (earlier->agent < by->warps)
        snprintf(who, sizeof who, "warp %u of block (%u,%u,%u)", earlier->agent, by->index.x, by->index.y, by->index.z);
    else
        snprintf(who, sizeof who, "an asynchronous unit of block (%u,%u,%u)", by->index.x, by->index.y, by->index.z);
    warp_report(warp, SIM_FINDING_RACE_CLUSTER, bound, other, lane,
                "{here} %s %s%s, which %s %s at {there} with no barrier of the cluster between them",
                writes ? "writes" : "reads", place, whose, who, earlier->wrote ? "wrote" : "read");
}

static void against(struct warp *warp, const struct bound *bound, int lane, const struct block *there, size_t cell,
                    const struct far_access *earlier, bool wrote, bool writes, bool atomic) {
    bool same = earlier->rank == warp->block->rank && earlier->warp == warp->index;
    if (!earlier->clock || same || (atomic && (earlier->by & 63) == SHADOW_ATOMIC) ||
        knows(warp, earlier->rank, earlier->warp, earlier->clock))
        return;
    report(warp, bound, lane, there, cell, &(struct deed){earlier->rank, earlier->warp, earlier->by, wrote}, writes);
}

static void note(struct far_access slot[READERS], const struct warp *warp, const struct far_access *now) {
    for (int i = 0; i < READERS; i++) {
        struct far_access *old = &slot[i];
        bool same = old->rank == now->rank && old->warp == now->warp;
        if (!old->clock || same || knows(warp, old->rank, old->warp, old->clock)) {
            *old = *now;
            return;
        }
    }
}

// What the block itself has done to the cell.
static void against_own(struct warp *warp, const struct bound *bound, int lane, const struct block *there, size_t cell,
                        bool writes, bool atomic) {
    const struct shadow_cells *cells = &there->race.cells;
    const uint32_t key[3] = {cells->write[cell], cells->read1[cell], cells->read2[cell]};
    const uint32_t by[3] = {cells->write_by[cell], cells->read1_by[cell], cells->read2_by[cell]};
    for (int i = 0; i < (writes ? 3 : 1); i++) {
        bool both_atomic = atomic && i == 0 && (by[i] & 63) == SHADOW_ATOMIC;
        if (!both_atomic && !race_cluster_knows(warp, there, key[i]))
            report(warp, bound, lane, there, cell, &(struct deed){there->rank, key[i] & 31, by[i], i == 0}, writes);
    }
}

static void report_pending(struct warp *warp, const struct bound *bound, int lane, const struct block *there,
                           size_t cell, bool writes) {
    char place[PLACE_TEXT];
    const struct run *run = warp->run;
    place_shared(run->kernel->ptx, run->own_shared, cell << run->kernel->shadow_shift, place);
    warp_report(warp, SIM_FINDING_MISSING_WAIT, bound, &warp->code[(there->race.pending[cell] - 1) >> 6], lane,
                "{here} %s %s of block (%u,%u,%u), which the asynchronous copy at {there} is still on its way to",
                writes ? "writes" : "reads", place, there->index.x, there->index.y, there->index.z);
}

// Looks at one cell of another block, and notes the access there.
static void touch(struct warp *warp, const struct bound *bound, struct block *there, size_t cell,
                  const struct far_access *now, bool writes, bool atomic) {
    struct race_shared *race = &there->race;
    struct far_cell *far = &race->far->cell[cell];
    int lane = (int)(now->by & 31);
    struct far_access kept = *now;
    if (race->pending[cell])
        report_pending(warp, bound, lane, there, cell, writes);
    against_own(warp, bound, lane, there, cell, writes, atomic);
    against(warp, bound, lane, there, cell, &far->write, true, writes, atomic);
    for (int i = 0; writes && i < READERS; i++)
        against(warp, bound, lane, there, cell, &far->read[i], false, true, false);
    kept.by = atomic ? (now->by & ~63u) | SHADOW_ATOMIC : now->by;
    if (!writes) {
        if (!atomic)
            note(far->read, warp, &kept);
        return;
    }
    *far = (struct far_cell){.write = kept};
    race->cells.write[cell] = race->first_key;
    race->cells.write_by[cell] = (now->by & ~63u) | SHADOW_ASYNC;
}

static bool all_unwritten(const struct block *there, size_t first, size_t end) {
    for (size_t cell = first; cell < end; cell++)
        if (there->race.cells.write[cell] >= there->race.first_key || there->race.pending[cell])
            return false;
    return true;
}

static struct far_access access_now(const struct warp *warp, const struct bound *bound, int lane) {
    return (struct far_access){warp->clock[warp->index], (uint16_t)warp->block->rank, (uint16_t)warp->index,
                               (uint32_t)pc_of(warp, bound) << 6 | (uint32_t)lane};
}

// What nobody has written, in whole: padding that a vector takes along harms nobody.
static void check_written(struct warp *warp, const struct bound *bound, int lane, const struct block *there,
                          size_t first, size_t end) {
    char place[PLACE_TEXT];
    const struct run *run = warp->run;
    if (!all_unwritten(there, first, end))
        return;
    place_shared(run->kernel->ptx, run->own_shared, first << run->kernel->shadow_shift, place);
    warp_report(warp, SIM_FINDING_UNINITIALISED_SHARED, bound, NULL, lane,
                "{here} reads %s of block (%u,%u,%u), which no thread has written", place, there->index.x,
                there->index.y, there->index.z);
}

void race_cluster_access(struct warp *warp, const struct bound *bound, struct block *there,
                         const struct access *filled) {
    int shift = warp->run->kernel->shadow_shift;
    bool atomic = access_is_atomic(filled) || bound->is_volatile;
    bool writes = access_writes(filled) || access_is_atomic(filled), reads = !access_writes(filled);
    if (!shadow_of(warp, there))
        return;
    race_cluster_note(warp, bound, there);
    for (uint32_t left = filled->mask; left; left &= left - 1) {
        int lane = first_lane(left);
        size_t first = filled->address[lane] >> shift, end = (filled->address[lane] + filled->bytes) >> shift;
        struct far_access now = access_now(warp, bound, lane);
        if (reads)
            check_written(warp, bound, lane, there, first, end);
        for (size_t cell = first; cell < end; cell++)
            touch(warp, bound, there, cell, &now, writes, atomic);
    }
    if (atomic)
        race_flags_signal(warp, bound, there, filled);
}

void race_cluster_issue(struct warp *warp, const struct bound *bound, int lane, struct block *there, uint32_t offset,
                        uint32_t bytes) {
    struct race_shared *race = &there->race;
    int shift = warp->run->kernel->shadow_shift;
    bool adds = bound->ptx->opcode == PTX_OP_RED_ASYNC || bound->ptx->opcode == PTX_OP_CP_REDUCE_ASYNC_BULK;
    for (size_t cell = offset >> shift; race->on && cell < ((size_t)offset + bytes + (1u << shift) - 1) >> shift;
         cell++) {
        struct far_cell *far = race->far ? &race->far->cell[cell] : NULL;
        uint32_t pending = race->pending[cell];
        bool same = pending && warp->code[(pending - 1) >> 6].ptx->opcode == bound->ptx->opcode;
        if (pending && !(adds && same))
            report_pending(warp, bound, lane, there, cell, true);
        against_own(warp, bound, lane, there, cell, true, adds);
        if (far)
            against(warp, bound, lane, there, cell, &far->write, true, true, adds);
        for (int i = 0; far && i < READERS; i++)
            against(warp, bound, lane, there, cell, &far->read[i], false, true, false);
        if (far)
            *far = (struct far_cell){0}; // whoever comes before it lands lacks the wait for it
        race->pending_cells += pending == 0;
        race->pending[cell] = ((uint32_t)pc_of(warp, bound) << 6 | (uint32_t)lane) + 1;
    }
}

void race_cluster_look(struct warp *warp, const struct bound *bound, size_t cell, int lane, bool writes, bool atomic) {
    struct far_cell *far = &warp->block->race.far->cell[cell];
    const struct far_access *w = &far->write;
    against(warp, bound, lane, warp->block, cell, w, true, writes, atomic);
    if (w->clock && race_is_asynchronous(bound) && !writes && knows(warp, w->rank, w->warp, w->clock) &&
        w->rank != warp->block->rank && warp->cluster->known[w->rank * CLOCKS + CLOCK_VISIBLE + w->warp] < w->clock) {
        warp_report(warp, SIM_FINDING_PROXY_FENCE, bound, &warp->code[w->by >> 6], lane,
                    "{here} reads byte %zu of shared memory through the asynchronous proxy, which another block of the "
                    "cluster wrote at {there} as an ordinary store, with no fence.proxy.async after it",
                    cell << warp->run->kernel->shadow_shift);
    }
    for (int i = 0; writes && i < READERS; i++)
        against(warp, bound, lane, warp->block, cell, &far->read[i], false, true, false);
    if (writes)
        *far = (struct far_cell){0};
}

// ---- Blocks --------------------------------------------------------------------------------------------------------

static void drop(struct block *block) {
    struct far_shadow *far = block->race.far;
    if (far)
        munmap(far, sizeof *far + far->count * sizeof far->cell[0]);
    block->race.far = NULL;
}

void race_cluster_start(struct block *block) {
    drop(block);
    for (unsigned i = 0; block->cluster && i < BARRIERS; i++)
        race_cluster_forget(block, block->barrier_far[i]);
}

static bool block_knows(const struct block *block, unsigned rank, unsigned agent, uint32_t clock) {
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
            const struct cluster_reach *latest = cluster_reached(cluster, block->rank, r, w);
            if (latest->clock && !block_knows(block, r, w, latest->clock))
                absent(other, &other->code[latest->pc], 0, block, "which does not wait for that before it exits");
        }
    }
}

void race_cluster_free(struct block *block) {
    drop(block);
    for (unsigned i = 0; i < BARRIERS; i++)
        free(block->barrier_far[i]);
}
