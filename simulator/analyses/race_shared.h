// Races and reads of uninitialised bytes in shared memory. race_shared.c explains the rules.
#ifndef SIMULATOR_ANALYSES_RACE_SHARED_H
#define SIMULATOR_ANALYSES_RACE_SHARED_H

#include "../machine/warp.h"

struct access;
struct block;
struct race_shared;

bool race_shared_create(struct block *block);
void race_shared_free(struct block *block);
void race_shared_start(struct block *block);

// The block has come to its end.
void race_shared_end(struct block *block); // a new block: shared memory is uninitialised again

void race_shared_read(struct warp *warp, const struct bound *bound, const struct access *access);
void race_shared_write(struct warp *warp, const struct bound *bound, const struct access *access);
void race_shared_atomic(struct warp *warp, const struct bound *bound, const struct access *access);

// cp.async: copies to the access's bytes are issued; one lane's copy, issued at pc, lands.
void race_async_issue(struct warp *warp, const struct bound *bound, const struct access *access);
// key: of whom from now on what landed counts as written.
void race_async_land(struct block *block, uint32_t key, int32_t pc, int lane, uint32_t offset, uint32_t bytes);
uint32_t race_key(const struct warp *warp); // the warp's own, now

// No word of shared memory has been used as a flag yet.
void race_flags_reset(struct race_shared *race);

// An atomic or volatile access to words of a block: the warp learns from these flags, and tells them.
void race_flags_signal(struct warp *warp, const struct bound *bound, struct block *there, const struct access *filled);

// One cell is read.
void race_shared_check_read(struct warp *warp, const struct bound *bound, size_t cell, int lane);

// One cell: a write is about to happen (same: of the value that is there); an atomic or volatile access happens.
void race_shared_check_write(struct warp *warp, const struct bound *bound, size_t cell, int lane, bool same);
void race_shared_touch(struct warp *warp, const struct bound *bound, size_t cell, int lane, bool reads, bool writes);

bool race_shared_ordered(const struct warp *warp, uint32_t key, uint32_t by, int lane);
uint32_t race_latest_clock(const struct block *block);

// Whether a part of a clock, beyond what it says of the whole agent, is after what the agent did with this key.
static inline bool race_covers(const uint32_t clock[CLOCKS], uint32_t key, uint32_t by) {
    uint32_t part = clock[CLOCK_PART + (key & 31)], lane = by & 63;
    return key >> 5 <= part >> 5 && part && (lane == (part & 31) || lane == SHADOW_ATOMIC || lane == SHADOW_ASYNC);
}

// Order among the lanes of a warp, and between warps through a barrier's clock.
void race_sync_lanes(struct warp *warp, uint32_t mask);
void race_publish(struct warp *warp, uint32_t clock[CLOCKS]);
// The parts of the two, for what is done with several clocks at once: race_step ends it.
void race_tell(const struct warp *warp, uint32_t clock[CLOCKS]);
void race_tell_by(const struct warp *warp, uint32_t mask, uint32_t clock[CLOCKS]); // what these lanes know
void race_tell_fenced(const struct warp *warp, uint32_t mask, uint32_t clock[CLOCKS]);
void race_see(struct warp *warp, const uint32_t clock[CLOCKS]); // a relaxed load: learnt at the next fence or barrier
void race_learn_seen(struct warp *warp);
const char *race_lacks(const struct warp *warp, uint32_t key); // what stands not between two warps that race
void race_join(uint32_t to[CLOCKS], const uint32_t from[CLOCKS], unsigned agents);
void race_learn(struct warp *warp, const uint32_t clock[CLOCKS]);
void race_step(struct warp *warp, bool learnt, bool told);
void race_fence(struct warp *warp, uint32_t mask); // membar, fence
void race_align(struct block *block);              // all warps of the block have met: their clocks may be made equal
// Leaves a barrier, of which clock is what those knew who arrived. everyone: race_align follows, and does the rest.
void race_meet(struct warp *warp, const uint32_t clock[CLOCKS], bool everyone);

#endif
