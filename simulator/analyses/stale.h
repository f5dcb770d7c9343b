// Volatile shared memory by which the lanes of a warp hand each other numbers, with no __syncwarp() between, as was
// written before Volta. In the model such a load gives the old value or the new one: where blocks and warps are run in
// an order by a seed, it gives the old one the first time. Who looks again, as a lane that waits for a flag does, sees
// the new one. In other runs nothing is done.
#ifndef SIMULATOR_ANALYSES_STALE_H
#define SIMULATOR_ANALYSES_STALE_H

#include "../machine/access.h"

struct block;
struct bound;
struct warp;

// Of words of 4 bytes, one a lane: before the store, and after the load, whose registers it may change.
void stale_store(struct warp *warp, const struct bound *bound, const struct access *access);
void stale_load(struct warp *warp, const struct bound *bound, const struct access *access);

void stale_free(struct block *block);

#endif
