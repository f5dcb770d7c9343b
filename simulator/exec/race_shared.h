// Races and reads of uninitialised bytes in shared memory. race_shared.c explains the rules.
#ifndef SIMULATOR_EXEC_RACE_SHARED_H
#define SIMULATOR_EXEC_RACE_SHARED_H

#include "bind.h"

struct access;
struct block;

// For each cell of shared memory who touched it last. A key is clock << 5 | warp, 0 is nobody; a ..._by is
// instruction << 6 | lane, lane 32 meaning several. read1 and read2 are two different warps.
struct race_shared {
    uint32_t *write, *write_by, *read1, *read1_by, *read2, *read2_by; // [cells]
    uint32_t *pending;                                                // [cells] cp.async on its way: instruction + 1
    unsigned pending_cells;
    size_t cells;
    uint32_t first_key; // keys below it are of blocks that ran here before
    uint32_t last_clock;
    uint32_t atomic_clock[LANES]; // joined clocks of all who did an atomic or volatile store
    bool on;
};

bool race_shared_create(struct block *block);
void race_shared_free(struct block *block);
void race_shared_start(struct block *block); // a new block: shared memory is uninitialised again

void race_shared_read(struct warp *warp, const struct bound *bound, const struct access *access);
void race_shared_write(struct warp *warp, const struct bound *bound, const struct access *access);
void race_shared_atomic(struct warp *warp, const struct bound *bound, const struct access *access);

// Order among the lanes of a warp, and between warps through a barrier's clock.
void race_sync_lanes(struct warp *warp, uint32_t mask);
void race_publish(struct warp *warp, uint32_t clock[LANES]);
void race_acquire(struct warp *warp, const uint32_t clock[LANES]);
void race_align(struct block *block); // all warps of the block have met: their clocks may be made equal

#endif
