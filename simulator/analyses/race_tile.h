// Tiles of wgmma. Copies that signal one mbarrier fill a tile, and a thread that has waited for that mbarrier may read
// it. A wgmma whose descriptor starts in such a tile and that reads bytes elsewhere, which it may not read, has a wrong
// descriptor: no wait is missing.
#ifndef SIMULATOR_ANALYSES_RACE_TILE_H
#define SIMULATOR_ANALYSES_RACE_TILE_H

#include "../lanes/wgmma.h"
#include "../machine/block.h"

void race_tile_start(struct block *block); // a block starts

// A copy to these bytes is issued, which signals the mbarrier at this offset.
void race_tile_note_copy(struct block *block, uint32_t offset, uint32_t bytes, uint32_t mbarrier);

// The wgmma reads 16 bytes at `at` for a row of the operand with this name. Returns whether the read was
// reported, so that nothing else need be said of it.
bool race_tile_read(struct warp *warp, const struct bound *bound, const struct wgmma_tile *tile, uint32_t row,
                    uint32_t at, const char *name);

// A write races with a read by the wgmma `other` of the block: reports it if the wgmma has read outside of its tile.
bool race_tile_report_write(struct warp *warp, const struct bound *bound, const struct bound *other, int lane,
                            size_t at);

#endif
