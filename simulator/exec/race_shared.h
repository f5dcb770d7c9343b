// Races and reads of uninitialised bytes in shared memory. race_shared.c explains the rules.
#ifndef SIMULATOR_EXEC_RACE_SHARED_H
#define SIMULATOR_EXEC_RACE_SHARED_H

#include "bind.h"

struct access;
struct block;

// Shared memory is watched in cells as large as the kernel's narrowest access. For each cell the shadow says who wrote
// it last, and two warps that read it since. A key is clock << 5 | warp; 0 is nobody.
struct race_shared {
    struct shadow_cells cells;
    uint32_t *pending; // [count] cp.async on its way: instruction << 6 | lane, plus 1; see async.c
    unsigned pending_cells;
    size_t count;
    uint32_t first_key; // keys below it are of blocks that ran here before
    uint32_t last_clock;
    uint32_t atomic_clock[LANES]; // joined clocks of all who did an atomic or a volatile store
    bool on;
};

bool race_shared_create(struct block *block);
void race_shared_free(struct block *block);
void race_shared_start(struct block *block); // a new block: shared memory is uninitialised again

void race_shared_read(struct warp *warp, const struct bound *bound, const struct access *access);
void race_shared_write(struct warp *warp, const struct bound *bound, const struct access *access);
void race_shared_atomic(struct warp *warp, const struct bound *bound, const struct access *access);

// cp.async: copies to the access's bytes are issued; one lane's copy, issued at pc, lands.
void race_async_issue(struct warp *warp, const struct bound *bound, const struct access *access);
void race_async_land(struct warp *warp, int32_t pc, int lane, uint32_t offset, uint32_t bytes);

// One cell: a write is about to happen (same: of the value that is there); an atomic or volatile access happens.
void race_shared_check_write(struct warp *warp, const struct bound *bound, size_t cell, int lane, bool same);
void race_shared_touch(struct warp *warp, const struct bound *bound, size_t cell, int lane, bool reads, bool writes);

// Order among the lanes of a warp, and between warps through a barrier's clock.
void race_sync_lanes(struct warp *warp, uint32_t mask);
void race_publish(struct warp *warp, uint32_t clock[LANES]);
void race_acquire(struct warp *warp, const uint32_t clock[LANES]);
void race_align(struct block *block); // all warps of the block have met: their clocks may be made equal

#endif
