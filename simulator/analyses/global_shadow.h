// The shadow of an allocation in global memory: for each 4-byte word the last writer and the last reader, as a key that
// consists of a block and of a time within the block. A key is one host word, so that two host threads never mix parts
// of their keys; the instruction, which is stored separately, may be another thread's.
#ifndef SIMULATOR_ANALYSES_GLOBAL_SHADOW_H
#define SIMULATOR_ANALYSES_GLOBAL_SHADOW_H

#include "../lanes/lanes.h"

struct global_shadow {
    struct global_cells cells; // [words]
    uint32_t last_written;     // the key of the latest block that has written
};

static inline uint32_t shadow_block(uint64_t key) {
    return (uint32_t)(key >> 32);
}

static inline uint32_t shadow_when(uint64_t key) {
    return (uint32_t)key;
}

static inline uint64_t shadow_key(uint32_t block, uint32_t when) {
    return (uint64_t)block << 32 | when;
}

static inline uint32_t shadow_lane(uint32_t when) {
    return when >> GLOBAL_LANE & 63;
}

static inline int32_t shadow_pc(uint32_t by) {
    return (int32_t)(by >> 8);
}

// The bytes that were accessed at time `when`.
static inline uint32_t shadow_bytes_then(uint32_t by) {
    return by >> 4 & 15;
}

struct warp;
struct sim_allocation;

// Returns the shadow of the allocation; NULL if the host has no memory left.
struct global_shadow *global_shadow_of(struct sim_allocation *allocation);

// Returns a key that is larger than the keys of all blocks so far.
uint32_t shadow_next_key(void);

// Returns whether the shadow already covers a read by this lane (SHADOW_MANY: by several lanes): it holds several
// blocks, or this lane, or another warp of the block that is unordered with this one.
static inline bool shadow_is_noted(const struct global_view *view, uint64_t key, uint32_t lane) {
    uint32_t when = shadow_when(key), differs = when ^ view->now;
    bool of_warp = (differs & 31) == 0;
    if (shadow_block(key) != view->block)
        return shadow_block(key) == view->several;
    if (!view->now)
        return true;
    return of_warp ? when >> GLOBAL_CLOCK == view->now >> GLOBAL_CLOCK &&
                         (shadow_lane(when) == lane || shadow_lane(when) == SHADOW_MANY)
                   : when >= view->floor;
}

void shadow_note_read(const struct warp *warp, const struct global_view *view, struct global_shadow *shadow,
                      size_t word, uint32_t by, uint32_t lane);
void shadow_note_write(const struct global_view *view, struct global_shadow *shadow, size_t word, uint32_t by,
                       uint32_t lane);

// Returns whether an earlier lane of the same store has written the word.
bool shadow_just_written(const struct global_view *view, uint64_t key, uint32_t by);

// Returns whether the warp itself has written any of these bytes since its lanes synchronized last.
bool shadow_has_own_writes(const struct global_view *view, const struct global_shadow *shadow, size_t offset,
                           uint32_t bytes);

#endif
