#include "partial.h"

#include "global_shadow.h"

#include "../machine/access.h"
#include "../machine/control.h"
#include "../simulator.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { COUNTERS = 4, OVERLAPS = 64, LAUNCHES_PER_CALL = 8 };

// A hash table of block keys that is at most half full.
struct keys {
    uint32_t *key;
    size_t count, room;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

// State of the current call.
static struct {
    uint64_t remaining;         // warp instructions that its launches may still execute
    uint32_t first;             // key of the first block of the first incomplete launch, 0: all are complete
    uint32_t from;              // words written by blocks with smaller keys are unreliable
    bool skipped, dependent;    // a launch was skipped; blocks depend on other blocks
    struct keys discarded;      // blocks whose words are unreliable
    uint64_t counter[COUNTERS]; // addresses that atomics changed in such a launch
    unsigned counters;
    double total_instructions; // warp instructions of all launches if complete; negative: not known
    uint64_t overlap[OVERLAPS],
        apart[OVERLAPS]; // addresses of words that two blocks wrote, and the distance of the blocks
    unsigned overlaps;
    unsigned long cut_launches; // incomplete launches since the process began
} call;

// State of the current launch.
static struct {
    struct keys unfinished, aborted;
    uint64_t counter[COUNTERS];
    unsigned counters;
} launch;

static bool keys_have(const struct keys *keys, uint32_t key) {
    if (!keys->count)
        return false;
    for (size_t i = key * 2654435761u % keys->room; keys->key[i]; i = (i + 1) % keys->room)
        if (keys->key[i] == key)
            return true;
    return false;
}

static void keys_add(struct keys *keys, uint32_t key) {
    if (2 * (keys->count + 1) > keys->room) {
        struct keys grown = {.room = keys->room ? 2 * keys->room : 64};
        grown.key = calloc(grown.room, sizeof *grown.key);
        if (!grown.key) {
            call.dependent = true;
            return;
        }
        for (size_t i = 0; i < keys->room; i++)
            if (keys->key[i])
                keys_add(&grown, keys->key[i]);
        free(keys->key);
        *keys = grown;
    }
    size_t i = key * 2654435761u % keys->room;
    while (keys->key[i] && keys->key[i] != key)
        i = (i + 1) % keys->room;
    keys->count += !keys->key[i];
    keys->key[i] = key;
}

static void keys_join(struct keys *to, const struct keys *from) {
    for (size_t i = 0; i < from->room; i++)
        if (from->key[i])
            keys_add(to, from->key[i]);
}

static void keys_clear(struct keys *keys) {
    free(keys->key);
    *keys = (struct keys){NULL, 0, 0};
}

void partial_begin_call(uint64_t warp_instructions) {
    unsigned long cut_launches = call.cut_launches;
    keys_clear(&call.discarded);
    memset(&call, 0, sizeof call);
    call.cut_launches = cut_launches;
    call.remaining =
        warp_instructions > UINT64_MAX / LAUNCHES_PER_CALL ? UINT64_MAX : LAUNCHES_PER_CALL * warp_instructions;
}

unsigned long simulator_truncated_launches(void) {
    return call.cut_launches;
}

bool partial_begin_launch(struct run *run) {
    if (!run->options.budget)
        return true;
    keys_clear(&launch.unfinished);
    keys_clear(&launch.aborted);
    launch.counters = 0;
    call.skipped |= !call.remaining;
    call.cut_launches += !call.remaining;
    if (run->options.budget > call.remaining)
        run->options.budget = call.remaining;
    return call.remaining;
}

void partial_abandon_block(const struct block *block) {
    pthread_mutex_lock(&lock);
    keys_add(block->aborted ? &launch.aborted : &launch.unfinished, block->key);
    pthread_mutex_unlock(&lock);
}

static uint64_t minimum(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

void partial_end_launch(const struct run *run) {
    if (!run->options.budget)
        return;
    uint64_t executed = atomic_load(&run->warp_instructions),
             begun = minimum(atomic_load(&run->next_block), run->units_to_run);
    uint64_t discarded = launch.unfinished.count + launch.aborted.count, blocks = begun * (run->blocks / run->units);
    uint64_t finished = blocks > discarded ? blocks - discarded : 0;
    bool whole = begun == run->units_to_run && !discarded;
    call.remaining -= minimum(executed, call.remaining);
    call.total_instructions = !finished || call.total_instructions < 0
                                  ? -1
                                  : call.total_instructions + (double)executed * (double)run->blocks / (double)finished;
    if (whole)
        return;
    call.cut_launches++;
    call.dependent |= atomic_load(&run->dependent) || !run->options.races;
    if (!call.first)
        call.first = call.from = run->first_key;
    else if (atomic_load(&run->rewrites) || !finished)
        call.from = run->first_key;
    keys_join(&call.discarded, &launch.aborted);
    if (atomic_load(&run->rereads))
        keys_join(&call.discarded, &launch.unfinished);
    for (unsigned i = 0; i < launch.counters; i++)
        if (call.counters < COUNTERS)
            call.counter[call.counters++] = launch.counter[i];
        else
            call.dependent = true;
}

// Returns whether the word's value from an earlier launch is reliable.
static bool is_reliable(const struct run *run, uint32_t key, uint64_t address) {
    for (unsigned i = 0; i < call.counters; i++)
        if (call.counter[i] == address)
            return false;
    return key >= run->first_key || (key >= call.from && !keys_have(&call.discarded, key));
}

static void note_counter(struct run *run, uint64_t address) {
    pthread_mutex_lock(&lock);
    unsigned i = 0;
    while (i < launch.counters && launch.counter[i] != address)
        i++;
    if (i == COUNTERS)
        atomic_store(&run->dependent, true);
    else if (i == launch.counters)
        launch.counter[launch.counters++] = address;
    pthread_mutex_unlock(&lock);
}

// Notes that two blocks at the distance of order.c's pairs have written the same word.
static void note_overlap(const struct warp *warp, uint32_t key, uint64_t address) {
    uint64_t other = key - warp->run->first_key, number = warp->block->number;
    uint64_t apart = other > number ? other - number : number - other;
    if (!warp->run->pair_distance || apart != warp->run->pair_distance)
        return;
    pthread_mutex_lock(&lock);
    if (call.overlaps < OVERLAPS && !(call.overlaps && call.overlap[call.overlaps - 1] == address))
        call.apart[call.overlaps] = apart, call.overlap[call.overlaps++] = address;
    pthread_mutex_unlock(&lock);
}

static void check_word(struct warp *warp, const struct access *access, const struct global_shadow *shadow,
                       size_t word) {
    struct run *run = warp->run;
    uint64_t address = access->allocation->address + 4 * word;
    uint32_t key = shadow_block(shadow->cells.write[word]), mine = warp->block->key;
    bool atomic = access_is_atomic(access);
    if (atomic)
        note_counter(run, address);
    if (!access_writes(access) && call.first && shadow->last_written >= call.first && !is_reliable(run, key, address)) {
        warp->block->aborted = true;
    } else if (access_writes(access) || atomic) {
        if (call.first && key >= call.first && key < run->first_key)
            atomic_store(&run->rewrites, true);
        if (!atomic && key >= run->first_key && key != mine)
            note_overlap(warp, key, address);
    } else if (key >= run->first_key) {
        atomic_store(key == mine ? &run->rereads : &run->dependent, true);
    }
}

void partial_check_access(struct warp *warp, const struct access *access) {
    const struct run *run = warp->run;
    const struct global_shadow *shadow = global_shadow_of(access->allocation);
    uint32_t oldest = call.first ? call.first : run->first_key;
    if (!shadow || (!access_is_atomic(access) && shadow->last_written < oldest))
        return;
    struct access filled = *access;
    access_fill(&filled);
    for (uint32_t left = access->mask; left; left &= left - 1) {
        size_t offset = filled.address[first_lane(left)] - access->allocation->address;
        for (size_t word = offset / 4; 4 * word < offset + access->bytes; word++)
            check_word(warp, access, shadow, word);
    }
}

void partial_note_copy(const struct sim_allocation *allocation) {
    const struct global_shadow *shadow = allocation->races;
    if (call.first && shadow && shadow->last_written >= call.first)
        call.dependent = true;
}

enum simulator_coverage simulator_coverage(void) {
    return call.skipped     ? SIMULATOR_SKIPPED
           : !call.first    ? SIMULATOR_COMPLETE
           : call.dependent ? SIMULATOR_DEPENDENT
                            : SIMULATOR_PARTIAL;
}

uint64_t simulator_total_instructions(void) {
    return call.total_instructions > 0 ? (uint64_t)call.total_instructions : 0;
}

void simulator_overwrite_unwritten(void *device, size_t bytes, int value) {
    struct sim_allocation *allocation = sim_memory_find((uint64_t)(uintptr_t)device, bytes);
    const struct global_shadow *shadow = allocation ? global_shadow_of(allocation) : NULL;
    if (!shadow || !call.first || !control_is_open())
        return;
    size_t begin = (uint64_t)(uintptr_t)device - allocation->address, end = begin + bytes;
    for (size_t at = begin; at < end; at = at / 4 * 4 + 4) {
        size_t next = minimum(at / 4 * 4 + 4, end);
        uint32_t key = shadow_block(shadow->cells.write[at / 4]);
        if (key < call.from || keys_have(&call.discarded, key))
            memset(allocation->bytes + at, value, next - at);
    }
}

uint64_t simulator_overlap_distance(const void *device, size_t bytes) {
    uint64_t begin = (uint64_t)(uintptr_t)device;
    for (unsigned i = 0; i < call.overlaps; i++)
        if (call.overlap[i] + 4 > begin && call.overlap[i] < begin + bytes)
            return call.apart[i];
    return 0;
}
