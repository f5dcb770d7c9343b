// The order in which blocks and warps start, which warps are deferred, when copies land, and which part of a launch is
// run.
//
// A GPU guarantees none of this. Here it follows from a seed, so that a failure is reproducible. Half of all seeds keep
// the ascending order of blocks or of warps, which is what most kernels encounter on a GPU.
#ifndef SIMULATOR_EXECUTION_ORDER_H
#define SIMULATOR_EXECUTION_ORDER_H

#include "../machine/cluster.h"

// If only a sample of a launch is run (SIMULATOR_SAMPLE=blocks), each block represents a number of blocks: its updates
// of a counter in global memory are multiplied, so that work which blocks take from a counter is distributed as among
// all of them. The results of the launch are meaningless.
void order_begin(struct run *run);

// If a launch is run partially, blocks with the same blockIdx.x run one after the other, neighbours together. The last
// ones run first, each with the block at a distance of a power of two before it: if a row index is truncated, both
// write the same row.

// The index of the number-th block (or cluster) of the grid to start, and of the number-th warp of a block.
uint64_t order_block(const struct run *run, uint64_t number);
unsigned order_warp(const struct block *block, unsigned number);

// The rank of the number-th block of a cluster to have a turn.
unsigned order_in_cluster(const struct cluster *cluster, unsigned number);

// A block starts: seeds its random numbers, and chooses its deferred warps (block.h).
void order_start(struct block *block);

// Returns whether the launch has executed its budget: no further block starts, and the running ones are abandoned.
bool order_budget_spent(const struct run *run);

#endif
