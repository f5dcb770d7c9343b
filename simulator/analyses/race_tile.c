#include "race_tile.h"

#include "race_proxy.h"

#include "../machine/element_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_OUTSIDE = 8, TILE_TEXT = 512 };

// A wgmma of this block that has read bytes outside of its tile which it may read, and what to say of it.
struct outside_tile {
    int32_t pc; // -1: none
    char text[TILE_TEXT];
};

void race_tile_start(struct block *block) {
    struct race_shared *race = &block->race;
    if (race->guard)
        memset(race->guard, 0, (block->run->shared_bytes / SWIZZLE_GRANULE + 1) * sizeof *race->guard);
    for (int i = 0; race->outside && i < MOST_OUTSIDE; i++)
        race->outside[i].pc = -1;
}

void race_tile_note_copy(struct block *block, uint32_t offset, uint32_t bytes, uint32_t mbarrier) {
    if (!block->race.on || !bytes)
        return;
    for (uint32_t i = offset / SWIZZLE_GRANULE; i <= (offset + bytes - 1) / SWIZZLE_GRANULE; i++)
        block->race.guard[i] = (uint16_t)(mbarrier / 8 + 1);
}

// The descriptor's field that leads from the tile to the element outside.
static const char *wrong_field(const uint16_t *guard, const struct wgmma_tile *tile, uint32_t begin, uint32_t row) {
    uint32_t row_bytes = 16u << tile->swizzle, in_group = (tile->start - begin) % (8 * row_bytes);
    bool by_rows = guard[wgmma_unit(tile, row, 0) / SWIZZLE_GRANULE] != guard[tile->start / SWIZZLE_GRANULE];
    if (!tile->mn_major && tile->swizzle && in_group >= row_bytes)
        return "start address";
    // A swizzled K-major operand has no use for the leading dimension byte offset (PTX ISA, matrix descriptor).
    if (!tile->mn_major)
        return by_rows || tile->swizzle ? "stride byte offset" : "leading dimension byte offset";
    return by_rows == (tile->swizzle != 0) ? "leading dimension byte offset" : "stride byte offset";
}

static void describe(const struct warp *warp, const struct wgmma_tile *tile, uint32_t row, uint32_t at,
                     const char *name, char text[TILE_TEXT]) {
    const struct block *block = warp->block;
    const struct ptx_kernel *ptx = warp->run->kernel->ptx;
    const uint16_t *guard = block->race.guard;
    uint32_t first = tile->start / SWIZZLE_GRANULE, end = first + 1, mine = guard[first];
    while (first > 0 && guard[first - 1] == mine)
        first--;
    while (end * SWIZZLE_GRANULE < block->run->shared_bytes && guard[end] == mine)
        end++;
    char element[ELEMENT_NAME_TEXT], begins[ELEMENT_NAME_TEXT], barrier[ELEMENT_NAME_TEXT];
    uint32_t begin = first * SWIZZLE_GRANULE;
    element_name_shared(ptx, warp->run->own_shared, at, element);
    element_name_shared(ptx, warp->run->own_shared, begin, begins);
    element_name_mbarrier(ptx, warp->run->own_shared, (mine - 1u) * 8u, barrier);
    snprintf(
        text, TILE_TEXT,
        "%.60s for row %u of %s, outside of the tile in which its descriptor starts: the %u bytes from %.60s on, which "
        "the mbarrier %.60s guards. The %s is wrong: the descriptor has start address %u (byte %u of the tile), "
        "leading dimension byte offset %u, and stride byte offset %u",
        element, row, name, end * SWIZZLE_GRANULE - begin, begins, barrier, wrong_field(guard, tile, begin, row),
        tile->start, tile->start - begin, tile->leading, tile->stride);
}

static void keep(struct warp *warp, const struct bound *bound, const struct wgmma_tile *tile, uint32_t row, uint32_t at,
                 const char *name) {
    struct race_shared *race = &warp->block->race;
    if (!race->outside) {
        race->outside = malloc(MOST_OUTSIDE * sizeof *race->outside);
        for (int i = 0; race->outside && i < MOST_OUTSIDE; i++)
            race->outside[i].pc = -1;
    }
    for (int i = 0; race->outside && i < MOST_OUTSIDE; i++) {
        if (race->outside[i].pc == pc_of(warp, bound))
            return;
        if (race->outside[i].pc < 0) {
            race->outside[i].pc = pc_of(warp, bound);
            describe(warp, tile, row, at, name, race->outside[i].text);
            return;
        }
    }
}

bool race_tile_read(struct warp *warp, const struct bound *bound, const struct wgmma_tile *tile, uint32_t row,
                    uint32_t at, const char *name) {
    const uint16_t *guard = warp->block->race.guard;
    uint32_t mine = warp->block->race.on ? guard[tile->start / SWIZZLE_GRANULE] : 0;
    if (!mine || guard[at / SWIZZLE_GRANULE] == mine)
        return false;
    if (race_proxy_is_copied(warp, at)) {
        keep(warp, bound, tile, row, at, name);
        return false;
    }
    if (!race_proxy_is_copied(warp, tile->start))
        return false; // a wait is missing for the tile itself
    char text[TILE_TEXT];
    if (!warp_reported(warp, SIM_FINDING_WGMMA_OPERAND, bound, NULL)) {
        describe(warp, tile, row, at, name, text);
        warp_report(warp, SIM_FINDING_WGMMA_OPERAND, bound, NULL, 0, "{op} reads %s [wgmma-outside-tile]", text);
    }
    return true;
}

bool race_tile_report_write(struct warp *warp, const struct bound *bound, const struct bound *other, int lane,
                            size_t at) {
    const struct race_shared *race = &warp->block->race;
    int32_t pc = (int32_t)(other - warp->code);
    for (int i = 0; race->outside && i < MOST_OUTSIDE && race->outside[i].pc >= 0; i++) {
        if (race->outside[i].pc != pc)
            continue;
        char element[ELEMENT_NAME_TEXT];
        element_name_shared(warp->run->kernel->ptx, warp->run->own_shared, at, element);
        warp_report(warp, SIM_FINDING_WGMMA_OPERAND, other, bound, lane,
                    "{op} may still read %s when the {other} writes it; the wgmma reads %s [wgmma-outside-tile]",
                    element, race->outside[i].text);
        return true;
    }
    return false;
}
