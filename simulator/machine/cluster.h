// A cluster: blocks that one host thread runs together and that reach each other's shared memory.
//
// An address in shared memory that mapa has made carries the rank of its block, plus 1, above the offset; one without a
// rank is the block's own. So the same 32 bits mean the same place in each block of the cluster.
#ifndef SIMULATOR_MACHINE_CLUSTER_H
#define SIMULATOR_MACHINE_CLUSTER_H

#include "block.h"

#define CLUSTER_MOST 16 // blocks
#define CLUSTER_SHIFT 24
#define CLUSTER_OFFSET ((UINT64_C(1) << CLUSTER_SHIFT) - 1)

// What a warp knows of its cluster, and where it stands at barrier.cluster.
struct cluster_warp {
    uint32_t arrived; // lanes that have, in the current phase
    uint32_t due;     // lanes that have arrived, in whatever phase, and not waited since
    int32_t arrive_pc;
    uint32_t waited;          // the latest phase that it has waited for, plus 1
    uint32_t *known, *fenced; // [blocks][CLOCKS], as warp->clock and warp->fenced are of the own block
};

// The latest that a warp has done to another block's shared memory.
struct cluster_reach {
    uint32_t clock; // of the warp, 0: nothing
    int32_t pc;
};

struct cluster {
    struct run *run;
    uint64_t number; // in the grid
    struct sim_dim index;
    unsigned blocks;
    struct block *block[CLUSTER_MOST]; // by rank
    uint32_t phase;                    // how often barrier.cluster has completed
    uint32_t *arriving, *completed;    // [blocks][CLOCKS], what those who arrived knew: in this phase, in the last one
    struct cluster_warp warp[CLUSTER_MOST][MAX_WARPS];
    uint32_t *clocks;              // of all warps
    struct cluster_reach *reached; // [blocks whose memory it is][blocks][warps]
};

// Of all warps of a cluster: how many clocks that is.
static inline size_t cluster_clocks(const struct cluster *cluster) {
    return (size_t)cluster->blocks * CLOCKS;
}

static inline struct cluster_reach *cluster_reached(const struct cluster *cluster, unsigned there, unsigned rank,
                                                    unsigned warp) {
    return &cluster->reached[(there * cluster->blocks + rank) * cluster->block[0]->warps + warp];
}

// The block that an address in shared memory, less its window, is in: the warp's own, or another one of its cluster.
// NULL where the cluster has no block of that rank.
static inline struct block *cluster_block_of(struct block *own, uint64_t address) {
    uint64_t rank = (address >> CLUSTER_SHIFT) - 1;
    if (address <= CLUSTER_OFFSET)
        return own;
    if (!own->cluster)
        return rank == 0 ? own : NULL;
    return rank < own->cluster->blocks ? own->cluster->block[rank] : NULL;
}

#endif
