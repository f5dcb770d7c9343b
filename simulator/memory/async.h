// Asynchronous copies: a block's queue of copies to its shared memory that are in flight. A copy lands as late as the
// program allows, so that a read that is too early is detected: its bytes are written when a warp, whichever it is,
// waits for it.
#ifndef SIMULATOR_MEMORY_ASYNC_H
#define SIMULATOR_MEMORY_ASYNC_H

#include "../machine/block.h"

#define ASYNC_ALL UINT32_MAX

// A block starts: no copy is in flight. async_free: when the block is freed.
void async_start(struct block *block);
void async_free(struct block *block);

// Threads close their group of copies and open another one. false: the host has no memory left.
bool async_in_flight(const struct block *block, unsigned warp); // some copy of the warp is
bool async_commit(struct block *block, unsigned warp, uint32_t lanes);

// Lands the copies that these threads have issued, except those of the `kept` latest groups that each has committed and
// later ones; ASYNC_ALL: all copies, committed or not. epoch: of the waiting warp, see race_epoch.
void async_land(struct block *block, unsigned warp, uint32_t lanes, uint32_t kept, uint32_t epoch);

#endif
