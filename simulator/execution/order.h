// In which order blocks and warps begin, which warps lag behind, when copies land, and how much of a launch runs at
// all.
//
// A GPU promises none of this. Here it follows from a seed, so that what went wrong can be run again. Half of all seeds
// leave blocks or warps in their order, since that is what most kernels meet on a GPU.
#ifndef SIMULATOR_EXECUTION_ORDER_H
#define SIMULATOR_EXECUTION_ORDER_H

#include "../machine/cluster.h"

// Of a launch of which a sample is run (SIMULATOR_SAMPLE=blocks) each block stands for as many as there are for each of
// the sample: what it adds to a counter in global memory they have added, too, so that work which blocks take from a
// counter is shared out as among all of them. Its results are worth nothing.
void order_begin(struct run *run);

// Where a launch is run in part, blocks with the same blockIdx.x come one after the other, neighbours together, and
// first those that are last, each with the block that lies a power of two before it: where a row's number has lost its
// upper bits, both write the same row.

// Which of the grid's blocks, or of its clusters, is the number-th to begin, and which of a block's warps is.
uint64_t order_block(const struct run *run, uint64_t number);
unsigned order_warp(const struct block *block, unsigned number);

// The rank of the number-th of a cluster's blocks to have a turn.
unsigned order_in_cluster(const struct cluster *cluster, unsigned number);

// A block begins: what its chances follow from, and which of its warps are held back (block.h).
void order_start(struct block *block);

// Whether the launch has executed as much as it is to: no block begins then, and those that have begun are left where
// they are.
bool order_spent(const struct run *run);

#endif
