// Checks many cells of a shadow at once. If any lane finds a case that it does not cover, the check fails, and the
// caller processes the cells one by one.
#include "build.h"
#include "table.h"

static inline bool is_own(uint32_t key, const struct shadow_view *view) {
    return ((key ^ view->mine) & 31) == 0;
}

// Happens before this warp's access, or is by the same lane.
static inline bool is_before(uint32_t key, uint32_t by, uint32_t lane, const struct shadow_view *view) {
    return (key < view->floor) | (is_own(key, view) & ((key < view->own_floor) | ((by & 63) == lane)));
}

// Already noted: by this lane (or several lanes, or another warp that is unordered with this one).
static inline bool is_noted(uint32_t key, uint32_t by, uint32_t lane, const struct shadow_view *view) {
    return (key == view->mine) & (((by & 63) == lane) | ((by & 63) == SHADOW_MANY));
}

static inline bool is_taken(uint32_t key, const struct shadow_view *view) {
    return (key >= view->floor) & !is_own(key, view);
}

static inline __attribute__((always_inline)) bool read_cells(const struct shadow_cells *cells, size_t first,
                                                             uint32_t per_lane, const struct shadow_view *given) {
    const struct shadow_view here = *given, *view = &here;
    const uint32_t *write = cells->write + first, *write_by = cells->write_by + first;
    uint32_t *read1 = cells->read1 + first, *read1_by = cells->read1_by + first;
    uint32_t *read2 = cells->read2 + first, *read2_by = cells->read2_by + first;
    uint32_t bad = 0, news = 0;
    for (uint32_t i = 0; i < LANES * per_lane; i++) {
        uint32_t lane = i / per_lane;
        bad |= !is_before(write[i], write_by[i], lane, view) | (write[i] < view->first);
        news |=
            !(is_noted(read1[i], read1_by[i], lane, view) |
              (is_taken(read1[i], view) & (is_noted(read2[i], read2_by[i], lane, view) | is_taken(read2[i], view))));
    }
    if (bad | !news)
        return !bad;
    EACH_CELL(LANES * per_lane) {
        uint32_t lane = i / per_lane, k1 = read1[i], b1 = read1_by[i], k2 = read2[i], b2 = read2_by[i];
        uint32_t mine = view->by | lane;
        uint32_t new1 = k1 == view->mine ? ((b1 ^ lane) & 63 ? (b1 & ~63u) | SHADOW_MANY : b1) : mine;
        uint32_t new2 = k2 == view->mine ? ((b2 ^ lane) & 63 ? (b2 & ~63u) | SHADOW_MANY : b2) : mine;
        bool free1 = !is_taken(k1, view), free2 = !free1 & !is_taken(k2, view);
        read1[i] = free1 ? view->mine : k1;
        read1_by[i] = free1 ? new1 : b1;
        read2[i] = free2 ? view->mine : k2;
        read2_by[i] = free2 ? new2 : b2;
    }
    return true;
}

bool LANE(shadow_read)(const struct shadow_cells *cells, size_t first, uint32_t per_lane,
                       const struct shadow_view *view) {
    switch (per_lane) {
    case 1:
        return read_cells(cells, first, 1, view);
    case 2:
        return read_cells(cells, first, 2, view);
    default:
        return read_cells(cells, first, per_lane, view);
    }
}

bool LANE(shadow_write)(const struct shadow_cells *cells, size_t first, uint32_t per_lane,
                        const struct shadow_view *given) {
    const struct shadow_view here = *given, *view = &here;
    uint32_t *write = cells->write + first, *write_by = cells->write_by + first;
    const uint32_t *read1 = cells->read1 + first, *read1_by = cells->read1_by + first;
    const uint32_t *read2 = cells->read2 + first, *read2_by = cells->read2_by + first;
    uint32_t bad = 0;
    for (uint32_t i = 0; i < LANES * per_lane; i++) {
        uint32_t lane = i / per_lane;
        bad |= !is_before(write[i], write_by[i], lane, view) | !is_before(read1[i], read1_by[i], lane, view) |
               !is_before(read2[i], read2_by[i], lane, view);
    }
    if (bad)
        return false;
    EACH_CELL(LANES * per_lane) {
        write[i] = view->mine;
        write_by[i] = view->by | (i / per_lane);
    }
    return true;
}

// ---- Global memory: 32 * per_lane neighbouring words
// -----------------------------------------------------------------

#define ANY_LANE (63u << GLOBAL_LANE)

static inline bool by_own_warp(uint32_t when, const struct global_view *view) {
    return ((when ^ view->now) & 31) == 0;
}

// The access of another lane of the block at `when` happens before this one's.
static inline bool is_earlier(uint32_t when, uint32_t lane, const struct global_view *view) {
    return (when < view->floor) |
           (by_own_warp(when, view) & ((when < view->own_floor) | ((when & ANY_LANE) == lane << GLOBAL_LANE)));
}

// By no earlier launch or block, nor known to happen before.
static inline bool is_foreign(uint64_t key, uint32_t lane, const struct global_view *view) {
    return (key >= (uint64_t)view->oldest << 32) &
           ((key >> 32 != view->block) | !is_earlier((uint32_t)key, lane, view));
}

// Already noted: by several blocks, by this lane or several lanes, or by another warp that is unordered with this one.
static inline bool is_kept(uint64_t key, uint32_t lane, const struct global_view *view) {
    uint32_t when = (uint32_t)key, differs = when ^ view->now;
    bool here = ((differs & ~ANY_LANE) == 0) &
                (((when & ANY_LANE) == lane << GLOBAL_LANE) | ((when & ANY_LANE) == SHADOW_MANY << GLOBAL_LANE));
    bool taken = (when >= view->floor) & !by_own_warp(when, view);
    return (key >> 32 == view->several) | ((key >> 32 == view->block) & (here | taken));
}

static inline __attribute__((always_inline)) bool read_words(const struct global_cells *cells, size_t first,
                                                             uint32_t per_lane, const struct global_view *given) {
    const struct global_view here = *given, *view = &here;
    const uint64_t *write = cells->write + first;
    uint64_t *read = cells->read + first;
    uint32_t *read_by = cells->read_by + first;
    uint64_t others = 0;
    uint32_t bad = 0, news = 0;
    for (uint32_t i = 0; i < LANES * per_lane; i++)
        others |= read[i] ^ (uint64_t)view->several << 32;
    if (!others && view->unwritten)
        return true;
    for (uint32_t i = 0; !view->unwritten && i < LANES * per_lane; i++)
        bad |= is_foreign(write[i], i / per_lane, view);
    if (bad)
        return false;
    for (uint32_t i = 0; i < LANES * per_lane; i++)
        news |= !is_kept(read[i], i / per_lane, view);
    if (!news)
        return true;
    EACH_CELL(LANES * per_lane) {
        uint32_t lane = i / per_lane, when = (uint32_t)read[i], by = read_by[i];
        bool own = read[i] >> 32 == view->block, new = read[i] < (uint64_t)view->first << 32;
        bool together = own & (((when ^ view->now) & ~ANY_LANE) == 0) & ((when & ANY_LANE) != lane << GLOBAL_LANE) &
                        ((by & GLOBAL_BYTES) == GLOBAL_BYTES);
        uint64_t mine = (uint64_t)view->block << 32 | view->now | (together ? SHADOW_MANY : lane) << GLOBAL_LANE;
        bool kept = is_kept(read[i], lane, view);
        uint32_t of_several = (by & 15) == 15 ? by : by & ~GLOBAL_BYTES;
        read_by[i] = kept ? by : new | own ? view->by : of_several;
        read[i] = kept ? read[i] : new | own ? mine : (uint64_t)view->several << 32;
    }
    return true;
}

bool LANE(global_read)(const struct global_cells *cells, size_t first, uint32_t per_lane,
                       const struct global_view *view) {
    switch (per_lane) {
    case 1:
        return read_words(cells, first, 1, view);
    case 4:
        return read_words(cells, first, 4, view);
    default:
        return read_words(cells, first, per_lane, view);
    }
}

bool LANE(global_write)(const struct global_cells *cells, size_t first, uint32_t per_lane,
                        const struct global_view *given) {
    const struct global_view here = *given, *view = &here;
    uint64_t *write = cells->write + first;
    const uint64_t *read = cells->read + first;
    uint32_t *write_by = cells->write_by + first, bad = 0;
    for (uint32_t i = 0; i < LANES * per_lane; i++)
        bad |= is_foreign(write[i], i / per_lane, view) | is_foreign(read[i], i / per_lane, view);
    if (bad)
        return false;
    EACH_CELL(LANES * per_lane) write_by[i] = view->by;
    __atomic_thread_fence(__ATOMIC_RELEASE); // the key is stored last: race_global.c explains the reason
    EACH_CELL(LANES * per_lane) write[i] = (uint64_t)view->block << 32 | view->now | (i / per_lane) << GLOBAL_LANE;
    return true;
}
