// Cells of the shadow of shared memory, several at a time. Those of 16 bytes are mostly alike: one copy, or one lane,
// wrote them, and one unit, or one lane, reads them.
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

CELLS_INLINE bool cells_alike(const uint32_t *cells, unsigned count) {
    return cells_are(cells, cells[0], count);
}

CELLS_INLINE void cells_fill(uint32_t *cells, uint32_t value, unsigned count) {
    for (unsigned i = 0; i < count; i++)
        cells[i] = value;
}

// Whether no copy is on its way to any of them. false, too, where another block of the cluster has been here: then each
// cell is looked at by itself (race_cluster.c).
CELLS_INLINE bool cells_at_rest(const struct block *block, size_t cell, unsigned count) {
    const struct race_shared *race = &block->race;
    return !race->pending_cells || (!block->cluster && cells_are(race->pending + cell, 0, count));
}

// Whether cells that are alike may be overwritten by what a lane asks for now; false: they have to be looked at one by
// one.
CELLS_INLINE bool cells_may_be_written(const struct warp *warp, size_t cell, int lane, unsigned count) {
    const struct race_shared *race = &warp->block->race;
    const struct shadow_cells *cells = &race->cells;
    const uint32_t *key[3] = {cells->write + cell, cells->read1 + cell, cells->read2 + cell};
    const uint32_t *by[3] = {cells->write_by + cell, cells->read1_by + cell, cells->read2_by + cell};
    bool may = !warp->cluster && cells_at_rest(warp->block, cell, count);
    for (int i = 0; i < 3 && may; i++)
        may =
            cells_alike(key[i], count) && cells_alike(by[i], count) && race_shared_ordered(warp, *key[i], *by[i], lane);
    return may;
}

#endif
