// Races through the shared memory that blocks of a cluster reach in each other, and whether it is there at all.
// race_cluster.c explains the rules. All of it does nothing in a kernel without clusters.
#ifndef SIMULATOR_ANALYSES_RACE_CLUSTER_H
#define SIMULATOR_ANALYSES_RACE_CLUSTER_H

#include "../machine/cluster.h"

struct access;

// The clocks of all warps of a cluster, [blocks][CLOCKS], of a barrier or a flag: NULL until somebody tells it
// something. What a warp knows goes there, or what it knew at its last fence; what is there a warp learns. race_step()
// ends it. own_too: of its own block as well, where nothing else carries that.
void race_cluster_tell(struct warp *warp, uint32_t **far);
void race_cluster_tell_fenced(struct warp *warp, uint32_t **far);
void race_cluster_learn(struct warp *warp, const uint32_t *far, bool own_too);
void race_cluster_forget(const struct block *block, uint32_t *far); // nobody has told it anything

// The clock of one agent, or of one warp.
void race_cluster_raise(struct warp *warp, uint32_t **far, unsigned rank, unsigned agent, uint32_t clock);

void race_cluster_fence(struct warp *warp);       // membar, fence
void race_cluster_proxy_fence(struct warp *warp); // fence.proxy.async

// The warp accesses shared memory of another block: access->address are offsets there. The block must be there.
void race_cluster_access(struct warp *warp, const struct bound *bound, struct block *there,
                         const struct access *filled);

// The same for an asynchronous copy to these bytes, which lands there later.
void race_cluster_issue(struct warp *warp, const struct bound *bound, int lane, struct block *there, uint32_t offset,
                        uint32_t bytes);

// One cell of the warp's own shared memory, which other blocks have accessed, too. atomic: so are volatile accesses.
void race_cluster_look(struct warp *warp, const struct bound *bound, size_t cell, int lane, bool writes, bool atomic);

static inline void race_cluster_own(struct warp *warp, const struct bound *bound, size_t cell, int lane, bool writes,
                                    bool atomic) {
    if (warp->block->race.far)
        race_cluster_look(warp, bound, cell, lane, writes, atomic);
}

// The warp is about to do something to another block's shared memory. false: that block is not there any more;
// reported, and the launch has ended.
bool race_cluster_reach(struct warp *warp, const struct bound *bound, int lane, struct block *there);

// It does it now, and the block has to wait for that before it ends: an arrival at a barrier, say. What lands there
// later the block waits for by its barrier.
void race_cluster_note(struct warp *warp, const struct bound *bound, const struct block *there);

// Whether the warp knows what a warp of another block did at that clock: key, as race_shared.c makes it.
bool race_cluster_knows(const struct warp *warp, const struct block *of, uint32_t key);

// Whether it knows anything at all of that block, or has waited at barrier.cluster.
bool race_cluster_has_met(const struct warp *warp, const struct block *there);

void race_cluster_start(struct block *block);
void race_cluster_end(struct block *block); // its last thread has exited
void race_cluster_free(struct block *block);

#endif
