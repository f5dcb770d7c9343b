// A cluster: blocks that one host thread runs together and that access each other's shared memory.
//
// A shared-memory address that mapa returns has the rank of its block, plus 1, above the offset; an address without a
// rank is in the block's own memory. So the same 32 bits denote the same location in each block of the cluster.
#ifndef SIMULATOR_MACHINE_CLUSTER_H
#define SIMULATOR_MACHINE_CLUSTER_H

#include "block.h"

#define MAX_CLUSTER_BLOCKS 16 // blocks
#define CLUSTER_SHIFT 24
#define CLUSTER_OFFSET ((UINT64_C(1) << CLUSTER_SHIFT) - 1)

// The clocks of the cluster that a warp has acquired, and its state at barrier.cluster.
struct cluster_warp {
    uint32_t arrived; // lanes that have arrived in the current phase
    uint32_t due;     // lanes that have arrived in any phase and not waited since
    int32_t arrive_pc;
    uint32_t waited;          // the latest phase that it has waited for, plus 1
    uint32_t *known, *fenced; // [blocks][CLOCKS], the counterparts of warp->clock and warp->fenced
};

// The latest access of a warp to another block's shared memory.
struct cluster_access_record {
    uint32_t clock; // of the warp, 0: no access
    int32_t pc;
};

struct cluster {
    struct run *run;
    uint64_t number; // linear index in the grid
    struct sim_dim index;
    unsigned blocks;
    struct block *block[MAX_CLUSTER_BLOCKS]; // by rank
    uint32_t phase;                          // the number of completed phases of barrier.cluster
    uint32_t *arriving,
        *completed; // [blocks][CLOCKS], clocks released by arrivals of the current phase, and of the last one
    struct cluster_warp warp[MAX_CLUSTER_BLOCKS][MAX_WARPS];
    uint32_t *clocks;                      // of all warps
    struct cluster_access_record *reached; // [accessed block][blocks][warps]
};

// The number of clocks of all warps of a cluster.
static inline size_t cluster_clocks(const struct cluster *cluster) {
    return (size_t)cluster->blocks * CLOCKS;
}

static inline struct cluster_access_record *cluster_latest_access(const struct cluster *cluster, unsigned there,
                                                                  unsigned rank, unsigned warp) {
    return &cluster->reached[(there * cluster->blocks + rank) * cluster->block[0]->warps + warp];
}

// The block that contains a shared-memory address (without its window): the warp's own, or another one of its cluster.
// NULL if the cluster has no block of that rank.
static inline struct block *cluster_block_of(struct block *own, uint64_t address) {
    uint64_t rank = (address >> CLUSTER_SHIFT) - 1;
    if (address <= CLUSTER_OFFSET)
        return own;
    if (!own->cluster)
        return rank == 0 ? own : NULL;
    return rank < own->cluster->blocks ? own->cluster->block[rank] : NULL;
}

#endif
