// Looking at many cells of a shadow at once. A lane that finds anything unusual makes the whole look fail, and the
// caller goes through the cells one by one.
#include "build.h"
#include "table.h"

static inline bool is_own(uint32_t key, const struct shadow_view *view) {
    return ((key ^ view->mine) & 31) == 0;
}

// Ordered before this warp, or by this very lane.
static inline bool is_before(uint32_t key, uint32_t by, uint32_t lane, const struct shadow_view *view) {
    return (key < view->floor) | (is_own(key, view) & ((key < view->own_floor) | ((by & 63) == lane)));
}

// Nothing to note: this lane (or several, or another warp that has no order with this one) is in the place already.
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

bool LANE(all_equal)(const uint32_t *cells, uint32_t count, uint32_t value) {
    uint32_t differences = 0;
    for (uint32_t i = 0; i < count; i++)
        differences |= cells[i] ^ value;
    return !differences;
}

bool LANE(all_below)(const uint32_t *cells, uint32_t count, uint32_t value) {
    uint32_t largest = 0;
    for (uint32_t i = 0; i < count; i++)
        largest = cells[i] > largest ? cells[i] : largest;
    return largest < value;
}
