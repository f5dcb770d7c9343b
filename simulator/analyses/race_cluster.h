// Races on shared memory that blocks of a cluster access in each other, and accesses outside a block's lifetime.
// race_cluster.c explains the rules. None of this does anything in a kernel without clusters.
#ifndef SIMULATOR_ANALYSES_RACE_CLUSTER_H
#define SIMULATOR_ANALYSES_RACE_CLUSTER_H

#include "../machine/cluster.h"

struct access;

// The clocks of all warps of a cluster, [blocks][CLOCKS], in a barrier or a flag; NULL until the first release to it. A
// warp releases its clocks, or those of its last fence, or acquires the clocks from there; race_advance_clock()
// completes the operation. own_too: also the clocks of its own block, if nothing else carries them.
void race_cluster_release(struct warp *warp, uint32_t **remote);
void race_cluster_release_fenced(struct warp *warp, uint32_t **remote);
void race_cluster_acquire(struct warp *warp, const uint32_t *remote, bool own_too);
void race_cluster_reset_clocks(const struct block *block, uint32_t *remote); // no warp has released anything

// Raises the clock of one agent or one warp.
void race_cluster_raise_clock(struct warp *warp, uint32_t **remote, unsigned rank, unsigned agent, uint32_t clock);

void race_cluster_fence(struct warp *warp);       // membar, fence
void race_cluster_proxy_fence(struct warp *warp); // fence.proxy.async

// The warp accesses shared memory of another block, which must be alive; access->address are offsets in that memory.
void race_cluster_access(struct warp *warp, const struct bound *bound, struct block *target,
                         const struct access *filled);

// The same for an asynchronous copy to these bytes, which lands later.
void race_cluster_issue(struct warp *warp, const struct bound *bound, int lane, struct block *target, uint32_t offset,
                        uint32_t bytes);

// Checks one cell of the warp's own shared memory that other blocks have accessed. atomic: an atomic or volatile
// access.
void race_cluster_check_cell(struct warp *warp, const struct bound *bound, size_t cell, int lane, bool writes,
                             bool atomic);

static inline void race_cluster_check_own(struct warp *warp, const struct bound *bound, size_t cell, int lane,
                                          bool writes, bool atomic) {
    if (warp->block->race.remote)
        race_cluster_check_cell(warp, bound, cell, lane, writes, atomic);
}

// Called before any operation on another block's shared memory. false: that block has exited; this is reported, and the
// launch has ended.
bool race_cluster_check_alive(struct warp *warp, const struct bound *bound, int lane, struct block *target);

// Notes an operation that the other block has to wait for before it exits, such as an arrival at its mbarrier. Copies
// that land later are covered by that block's mbarrier.
void race_cluster_note_access(struct warp *warp, const struct bound *bound, const struct block *target);

// Returns whether the other block's access with this epoch happens before the warp's current instruction.
bool race_cluster_is_ordered(const struct warp *warp, const struct block *of, uint32_t epoch);

// Returns whether the warp has acquired any clock of that block, or has waited at barrier.cluster.
bool race_cluster_has_synchronized(const struct warp *warp, const struct block *target);

void race_cluster_start(struct block *block);
void race_cluster_end(struct block *block); // its last thread has exited
void race_cluster_free(struct block *block);

#endif
