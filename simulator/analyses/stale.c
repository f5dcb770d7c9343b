#include "stale.h"

#include "../machine/block.h"
#include "../machine/warp.h"

#include <stdlib.h>
#include <string.h>

enum { STALE_WORDS = 512 };

// The old value of a word of shared memory that a volatile store has overwritten.
struct stale_word {
    uint32_t key, old, clock; // key: word and warp, plus 1; clock: of the warp when it stored
    uint32_t served_lanes;    // lanes that have read the old value, or cannot read it any more
};

static struct stale_word *find_word(const struct warp *warp, uint64_t address, uint32_t *key) {
    *key = (uint32_t)(address / 4 * LANES + warp->index + 1);
    return &warp->block->race.stale[address / 4 % STALE_WORDS];
}

static bool applies(const struct warp *warp, const struct bound *bound, const struct access *access) {
    return warp->run->options.order && bound->is_volatile && !(bound->order & (ORDER_ACQUIRE | ORDER_RELEASE)) &&
           !access_is_atomic(access) && bound->bytes == 4 && bound->width == 32 && bound->vector == 1 &&
           bound->elements[0] != NO_OPERAND;
}

void stale_store(struct warp *warp, const struct bound *bound, const struct access *access) {
    struct race_shared *race = &warp->block->race;
    if (!applies(warp, bound, access) || (!race->stale && !(race->stale = calloc(STALE_WORDS, sizeof *race->stale))))
        return;
    struct access filled = *access;
    access_fill(&filled);
    for (uint32_t left = access->mask; left; left &= left - 1) {
        int lane = first_lane(left);
        uint32_t key;
        struct stale_word *word = find_word(warp, filled.address[lane], &key);
        *word = (struct stale_word){.key = key, .clock = warp->clock[warp->index], .served_lanes = 1u << lane};
        memcpy(&word->old, warp->block->shared + filled.address[lane], 4);
    }
}

void stale_load(struct warp *warp, const struct bound *bound, const struct access *access) {
    if (!warp->block->race.stale || !applies(warp, bound, access))
        return;
    struct access filled = *access;
    access_fill(&filled);
    for (uint32_t left = access->mask; left; left &= left - 1) {
        int lane = first_lane(left);
        uint32_t key, *value = &cells32(warp, bound->elements[0])[lane];
        struct stale_word *word = find_word(warp, filled.address[lane], &key);
        bool may = word->key == key && !(word->served_lanes >> lane & 1) && word->clock >= warp->lane_clock[lane];
        word->served_lanes |= word->key == key ? 1u << lane : 0;
        if (!may || *value == word->old)
            continue;
        *value = word->old;
        warp_report(
            warp, SIM_FINDING_MISSING_SYNCWARP, bound, NULL, lane,
            "{here} reads volatile shared memory that another lane of the warp has stored to, with no __syncwarp() "
            "between the store and the read; the read returns the old value");
    }
}

void stale_free(struct block *block) {
    free(block->race.stale);
    block->race.stale = NULL;
}
