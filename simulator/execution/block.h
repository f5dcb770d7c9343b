// Blocks from start to end.
#ifndef SIMULATOR_EXECUTION_BLOCK_H
#define SIMULATOR_EXECUTION_BLOCK_H

#include "../machine/block.h"

struct block *block_create(struct run *run);
void block_free(struct block *block);

// Sets the block to the grid's block with this linear index, at the kernel's first instruction.
void block_start(struct block *block, uint64_t number);

enum turn {
    TURN_DONE,    // it has ended
    TURN_WAITING, // it seems to wait for other blocks
    TURN_BLOCKED, // it waits for blocks of its cluster: no thread can continue
    TURN_STOPPED, // the launch stops
};
enum turn block_turn(struct block *block);

#endif
