// What starts together and is resident together: a block, or the blocks of a cluster. It is known by its first block.
#ifndef SIMULATOR_EXECUTION_CLUSTER_H
#define SIMULATOR_EXECUTION_CLUSTER_H

#include "block.h"

// Of a launch: blocks that start together.
unsigned unit_blocks(const struct run *run);

struct block *unit_create(struct run *run); // NULL: the host has no memory left
void unit_free(struct block *first);
void unit_start(struct block *first, uint64_t number); // of run->units
enum turn unit_turn(struct block *first);

// The i-th of its blocks, and one that has threads left.
struct block *unit_block(struct block *first, unsigned i);
struct block *unit_alive(struct block *first);

#endif
