#include "stale.h"

#include "../machine/block.h"
#include "../machine/warp.h"

#include <stdlib.h>
#include <string.h>

enum { STALE_WORDS = 512 };

// A word of shared memory as it was before its last volatile store.
struct stale_word {
    uint32_t key, old, clock; // key: word and warp, plus 1; clock: of the warp when it stored
    uint32_t seen;            // lanes that have had the old value, or may not have it
};

static struct stale_word *word_at(const struct warp *warp, uint64_t address, uint32_t *key) {
    *key = (uint32_t)(address / 4 * LANES + warp->index + 1);
    return &warp->block->race.stale[address / 4 % STALE_WORDS];
}

static bool concerns(const struct warp *warp, const struct bound *bound, const struct access *access) {
    return warp->run->options.order && bound->is_volatile && !(bound->order & (ORDER_ACQUIRE | ORDER_RELEASE)) &&
           !access_is_atomic(access) && bound->bytes == 4 && bound->width == 32 && bound->vector == 1 &&
           bound->elements[0] != NO_PLACE;
}

void stale_store(struct warp *warp, const struct bound *bound, const struct access *access) {
    struct race_shared *race = &warp->block->race;
    if (!concerns(warp, bound, access) || (!race->stale && !(race->stale = calloc(STALE_WORDS, sizeof *race->stale))))
        return;
    struct access filled = *access;
    access_fill(&filled);
    for (uint32_t left = access->mask; left; left &= left - 1) {
        int lane = first_lane(left);
        uint32_t key;
        struct stale_word *word = word_at(warp, filled.address[lane], &key);
        *word = (struct stale_word){.key = key, .clock = warp->clock[warp->index], .seen = 1u << lane};
        memcpy(&word->old, warp->block->shared + filled.address[lane], 4);
    }
}

void stale_load(struct warp *warp, const struct bound *bound, const struct access *access) {
    if (!warp->block->race.stale || !concerns(warp, bound, access))
        return;
    struct access filled = *access;
    access_fill(&filled);
    for (uint32_t left = access->mask; left; left &= left - 1) {
        int lane = first_lane(left);
        uint32_t key, *value = &cells32(warp, bound->elements[0])[lane];
        struct stale_word *word = word_at(warp, filled.address[lane], &key);
        bool may = word->key == key && !(word->seen >> lane & 1) && word->clock >= warp->lane_clock[lane];
        word->seen |= word->key == key ? 1u << lane : 0;
        if (!may || *value == word->old)
            continue;
        *value = word->old;
        warp_report(
            warp, SIM_FINDING_REMARK_STALE, bound, NULL, lane,
            "{here} reads in volatile shared memory what another lane of its warp has stored, with nothing that "
            "makes it wait for that: it gets the old value");
    }
}

void stale_free(struct block *block) {
    free(block->race.stale);
    block->race.stale = NULL;
}
