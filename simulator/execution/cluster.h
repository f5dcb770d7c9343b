// A unit of blocks that start together and are resident together: a single block, or the blocks of a cluster. It is
// represented by its first block.
#ifndef SIMULATOR_EXECUTION_CLUSTER_H
#define SIMULATOR_EXECUTION_CLUSTER_H

#include "block.h"

// The number of blocks per unit of a launch.
unsigned unit_blocks(const struct run *run);

struct block *unit_create(struct run *run); // NULL: the host has no memory left
void unit_free(struct block *first);
void unit_start(struct block *first, uint64_t number); // number: of run->units
enum turn unit_turn(struct block *first);

// The i-th block of the unit, and one that has threads left.
struct block *unit_block(struct block *first, unsigned i);
struct block *unit_first_running(struct block *first);

#endif
