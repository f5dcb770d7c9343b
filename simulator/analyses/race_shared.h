// Races and reads of uninitialized bytes in shared memory. race_shared.c explains the rules.
#ifndef SIMULATOR_ANALYSES_RACE_SHARED_H
#define SIMULATOR_ANALYSES_RACE_SHARED_H

#include "../machine/warp.h"

struct access;
struct block;
struct race_shared;

bool race_shared_create(struct block *block);
void race_shared_free(struct block *block);
void race_shared_start(struct block *block);

// The last thread of the block has exited.
void race_shared_end(struct block *block); // a new block: shared memory is uninitialized again

void race_shared_read(struct warp *warp, const struct bound *bound, const struct access *access);
void race_shared_write(struct warp *warp, const struct bound *bound, const struct access *access);
void race_shared_atomic(struct warp *warp, const struct bound *bound, const struct access *access);

// cp.async: copies to the access's bytes are issued; one lane's copy, issued at pc, lands.
void race_async_issue(struct warp *warp, const struct bound *bound, const struct access *access);
// epoch: of the landed write.
void race_async_land(struct block *block, uint32_t epoch, int32_t pc, int lane, uint32_t offset, uint32_t bytes);
uint32_t race_epoch(const struct warp *warp); // the warp's current epoch

// No word of shared memory is used as a flag yet.
void race_flags_reset(struct race_shared *race);

// An atomic or volatile access to words of a block: the warp acquires from these flags and releases to them.
void race_flags_synchronize(struct warp *warp, const struct bound *bound, struct block *target,
                            const struct access *filled);

// Checks a read of one cell.
void race_shared_check_read(struct warp *warp, const struct bound *bound, size_t cell, int lane);

// Checks a write of one cell (same: of the value that it already holds), or an atomic or volatile access.
void race_shared_check_write(struct warp *warp, const struct bound *bound, size_t cell, int lane, bool same);
void race_shared_check_atomic(struct warp *warp, const struct bound *bound, size_t cell, int lane, bool reads,
                              bool writes);

bool race_happens_before(const struct warp *warp, uint32_t epoch, uint32_t by, int lane);
uint32_t race_latest_clock(const struct block *block);

// Returns whether a single lane's clock covers the agent's access with this epoch, which the agent's own clock does
// not.
static inline bool race_covers_lane(const uint32_t clock[CLOCKS], uint32_t epoch, uint32_t by) {
    uint32_t part = clock[CLOCK_LANE + (epoch & 31)], lane = by & 63;
    return epoch >> 5 <= part >> 5 && part && (lane == (part & 31) || lane == SHADOW_ATOMIC || lane == SHADOW_ASYNC);
}

// Order among the lanes of a warp, and between warps through a barrier's clock.
void race_sync_lanes(struct warp *warp, uint32_t mask);
void race_publish(struct warp *warp, uint32_t clock[CLOCKS]);
// Parts of these operations, for several clocks at once; race_advance_clock() completes them.
void race_release(const struct warp *warp, uint32_t clock[CLOCKS]);
void race_release_lanes(const struct warp *warp, uint32_t mask, uint32_t clock[CLOCKS]); // the clocks of these lanes
void race_release_fenced(const struct warp *warp, uint32_t mask, uint32_t clock[CLOCKS]);
void race_acquire_at_fence(struct warp *warp,
                           const uint32_t clock[CLOCKS]); // a relaxed load: acquired at the next fence or barrier
void race_acquire_pending(struct warp *warp);
void race_join(uint32_t to[CLOCKS], const uint32_t from[CLOCKS], unsigned agents);
void race_acquire(struct warp *warp, const uint32_t clock[CLOCKS]);
void race_advance_clock(struct warp *warp, bool acquired, bool released);
void race_fence(struct warp *warp, uint32_t mask); // membar, fence
void race_align_clocks(struct block *block);       // all warps of the block have synchronized: makes their clocks equal
// Leaves a barrier with the joined clocks of the warps that arrived. everyone: race_align_clocks() follows and does the
// rest.
void race_leave_barrier(struct warp *warp, const uint32_t clock[CLOCKS], bool everyone);

#endif
