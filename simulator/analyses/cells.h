// Handles several cells of shared memory's shadow at a time. The cells of 16 bytes are mostly equal: one copy or one
// lane wrote them, and one unit or one lane reads them.
#ifndef SIMULATOR_ANALYSES_CELLS_H
#define SIMULATOR_ANALYSES_CELLS_H

#include "../machine/block.h"
#include "race_shared.h"

#define CELLS_UNIT 16 // bytes

#define CELLS_INLINE static inline __attribute__((always_inline))

CELLS_INLINE bool cells_are(const uint32_t *cells, uint32_t value, unsigned count) {
    uint32_t differences = 0;
    for (unsigned i = 0; i < count; i++)
        differences |= cells[i] ^ value;
    return !differences;
}

CELLS_INLINE bool cells_are_equal(const uint32_t *cells, unsigned count) {
    return cells_are(cells, cells[0], count);
}

CELLS_INLINE void cells_fill(uint32_t *cells, uint32_t value, unsigned count) {
    for (unsigned i = 0; i < count; i++)
        cells[i] = value;
}

// Returns whether no copy to any of the cells is in flight. Returns false as well if another block of the cluster has
// accessed this memory: then each cell is checked separately (race_cluster.c).
CELLS_INLINE bool cells_have_no_copy_pending(const struct block *block, size_t cell, unsigned count) {
    const struct race_shared *race = &block->race;
    return !race->pending_cells || (!block->cluster && cells_are(race->pending + cell, 0, count));
}

// Returns whether the lane can overwrite equal cells without a race; false: the cells have to be checked one by one.
CELLS_INLINE bool cells_can_be_overwritten(const struct warp *warp, size_t cell, int lane, unsigned count) {
    const struct race_shared *race = &warp->block->race;
    const struct shadow_cells *cells = &race->cells;
    const uint32_t *epoch[3] = {cells->write + cell, cells->read1 + cell, cells->read2 + cell};
    const uint32_t *by[3] = {cells->write_by + cell, cells->read1_by + cell, cells->read2_by + cell};
    bool may = !warp->cluster && cells_have_no_copy_pending(warp->block, cell, count);
    for (int i = 0; i < 3 && may; i++)
        may = cells_are_equal(epoch[i], count) && cells_are_equal(by[i], count) &&
              race_happens_before(warp, *epoch[i], *by[i], lane);
    return may;
}

#endif
