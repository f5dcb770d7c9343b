// Blocks from their start to their end.
#ifndef SIMULATOR_EXECUTION_BLOCK_H
#define SIMULATOR_EXECUTION_BLOCK_H

#include "../machine/block.h"

struct block *block_create(struct run *run);
void block_free(struct block *block);

// The block becomes that of the grid with this number, at the kernel's first instruction.
void block_start(struct block *block, uint64_t number);

enum turn {
    TURN_DONE,    // it has come to its end
    TURN_WAITS,   // for others, as it seems
    TURN_BLOCKED, // for blocks of its cluster: no thread can go on
    TURN_STOPPED, // the launch stops
};
enum turn block_turn(struct block *block);

#endif
