// Volatile shared memory by which the lanes of a warp exchange values without __syncwarp(), as code before Volta does.
// By the memory model such a load returns the old value or the new one: if blocks and warps run in a seeded order, it
// returns the old value the first time. A lane that reads again, as one that waits for a flag does, gets the new value.
// In other runs this does nothing.
#ifndef SIMULATOR_ANALYSES_STALE_H
#define SIMULATOR_ANALYSES_STALE_H

#include "../machine/access.h"

struct block;
struct bound;
struct warp;

// Handle 4-byte words, one per lane: called before the store, and after the load, whose registers it may change.
void stale_store(struct warp *warp, const struct bound *bound, const struct access *access);
void stale_load(struct warp *warp, const struct bound *bound, const struct access *access);

void stale_free(struct block *block);

#endif
