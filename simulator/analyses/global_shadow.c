// Updates the shadow of global memory word by word; lanes/shadow.c updates rows of words.
#include "global_shadow.h"

#include "race_inside.h"
#include "race_shared.h"

// The key is stored after the instruction: another host thread that reads the key may then read its instruction.
static void note_key(uint64_t *key, uint64_t value) {
    __atomic_store_n(key, value, __ATOMIC_RELEASE);
}

void shadow_note_read(const struct warp *warp, const struct global_view *view, struct global_shadow *shadow,
                      size_t word, uint32_t by, uint32_t lane) {
    uint64_t *read = &shadow->cells.read[word];
    uint32_t *read_by = &shadow->cells.read_by[word];
    uint32_t block = shadow_block(*read), when = shadow_when(*read), mine = inside_when(view->now, lane);
    uint32_t then = when ? shadow_bytes_then(*read_by) : 0;
    bool own = block == view->block, of_warp = ((when ^ mine) & 31) == 0;
    if (block >= view->first && !own) {
        // The shadow does not keep which of several blocks read which byte: it ignores reads of different bytes.
        *read_by &= (*read_by & 15) == (by & 15) ? ~0u : ~GLOBAL_BYTES;
        note_key(read, shadow_key(view->several, 0));
    } else if (own && when >> GLOBAL_CLOCK == mine >> GLOBAL_CLOCK && of_warp && then & by) {
        if (when == mine) {
            *read_by |= by & GLOBAL_BYTES;
        } else if (shadow_lane(when) != SHADOW_MANY) { // which lane read which byte is not kept: the bytes of both
            *read_by &= by | ~(15u << 4);
            note_key(read, shadow_key(block, inside_when(view->now, SHADOW_MANY)));
        }
    } else if (own && then && !of_warp && when >= view->floor &&
               (!mine || !race_happens_before(warp, inside_epoch(warp, when), shadow_lane(when), 0))) {
        *read_by |= by & 15;
    } else {
        *read_by = own ? by | (*read_by & 15) : by;
        note_key(read, shadow_key(view->block, mine));
    }
}

bool shadow_just_written(const struct global_view *view, uint64_t key, uint32_t by) {
    return shadow_block(key) == view->block && view->now &&
           ((shadow_when(key) ^ view->now) & ~(63u << GLOBAL_LANE)) == 0 && shadow_pc(by) == shadow_pc(view->by);
}

void shadow_note_write(const struct global_view *view, struct global_shadow *shadow, size_t word, uint32_t by,
                       uint32_t lane) {
    uint64_t *write = &shadow->cells.write[word], key = shadow_key(view->block, inside_when(view->now, lane));
    uint32_t *write_by = &shadow->cells.write_by[word];
    by |= shadow_block(*write) == view->block ? *write_by & (*write == key ? GLOBAL_BYTES : 15) : 0;
    *write_by = by;
    note_key(write, key);
}

bool shadow_has_own_writes(const struct global_view *view, const struct global_shadow *shadow, size_t offset,
                           uint32_t bytes) {
    bool holds = false;
    for (size_t word = offset / 4; !view->unwritten && 4 * word < offset + bytes; word++) {
        uint64_t key = shadow->cells.write[word];
        holds |= shadow_block(key) == view->block && ((shadow_when(key) ^ view->now) & 31) == 0 &&
                 shadow_when(key) >= view->own_floor;
    }
    return holds;
}
