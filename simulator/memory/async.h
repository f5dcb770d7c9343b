// Asynchronous copies: a block's queue of what is on its way to its shared memory. A copy lands as late as the program
// allows, so that reading too early is seen: its bytes are written when someone waits for it, whichever warp that is.
#ifndef SIMULATOR_MEMORY_ASYNC_H
#define SIMULATOR_MEMORY_ASYNC_H

#include "../machine/block.h"

#define ASYNC_ALL UINT32_MAX

// A block begins: nothing is on its way. async_free: with the block.
void async_start(struct block *block);
void async_free(struct block *block);

// Threads close their group of copies and begin another one. false: the host has no memory left.
bool async_commit(struct block *block, unsigned warp, uint32_t lanes);

// Lands what these threads have issued, but for the `kept` groups that each committed last and what came after them;
// ASYNC_ALL: all, committed or not. key: who has waited, see race_key.
void async_land(struct block *block, unsigned warp, uint32_t lanes, uint32_t kept, uint32_t key);

#endif
