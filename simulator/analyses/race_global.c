// Reads of uninitialised global memory, and races on it between blocks. Those between threads of one block are found
// here, too, by the rules of race_inside.c.
//
// Blocks of a launch have no order, so any two of them that touch the same bytes, one of them writing, race. A shadow
// keeps for each 4-byte word which block wrote it last and which read it (one block, or several). Each block of each
// launch has a key of its own, larger than all keys before it: what earlier launches left in the shadow is recognised
// by being smaller than the launch's first key, and never has to be cleared.
//
// Writes of the value that is there already are no race. Neither are atomics and volatile accesses among themselves,
// unless the scope of one is its block (.cta): for other blocks that one is an ordinary access.
// They are also how a block tells another that something is done ("the last block to finish adds up"). What a block did
// is ordered before what a thread of another does (PTX manual, memory consistency model), where
//   - its first atomic or volatile store is a release or comes after a fence (__threadfence()) which covers what was
//     stored before: see release.c; and
//   - the thread's atomic or volatile load came later and is an acquire, or a fence stands between it and what the
//     thread does; or the same is true of a thread that it has met at a barrier since.
// A volatile read needs no such fence here, as in the programming guide's example. Nor do CUDA's samples have one where
// a thread counts by an atomic, and all threads read after a __syncthreads(): that is a remark, which fails nothing.
// All of this may hide a race in such a kernel, and never invents one.
//
// Blocks of a cluster count as ordered as soon as one knows anything of the other (race_cluster.c), which may hide a
// race between them and never invents one.
//
// Host threads that simulate different blocks use the shadow at once and without locks. An entry is a key and an
// instruction, which is written first: who finds a new key finds no older launch's instruction. Where two threads mix
// theirs, a race may be missed or named with the wrong line. Accesses narrower than
// a word take a lock, because there a mixture could accuse a block of bytes that it never touched.
#include "race_global.h"
#include "from_host.h"
#include "global_shadow.h"
#include "mixed.h"
#include "partly.h"
#include "race_cluster.h"
#include "race_inside.h"
#include "release.h"
#include "same_value.h"
#include "validity.h"

#include "../simulator.h"

#include "../machine/access.h"
#include "../machine/block.h"
#include "../machine/control.h"
#include "../machine/places.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define HEADER 64 // bytes before the arrays in the mapping

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t narrow_lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t next_key = 1;
static enum simulator_beside beside;
static uint32_t beside_low, beside_high;

static void forget(struct sim_allocation *allocation, void *unused) {
    (void)unused;
    if (allocation->races) {
        munmap(allocation->races, allocation->races_bytes);
        allocation->races = NULL;
    }
}

void simulator_concurrent(uint64_t state) {
    if (!control_is_open())
        return;
    pthread_mutex_lock(&lock);
    beside = (enum simulator_beside)state;
    beside_low = state == SIMULATOR_BESIDE ? next_key : beside_low;
    beside_high = next_key;
    pthread_mutex_unlock(&lock);
}

bool race_global_begin(struct run *run) {
    if (run->blocks >= UINT32_MAX - 2) {
        run->options.races = false; // more blocks than keys
        return true;
    }
    pthread_mutex_lock(&lock);
    if (run->blocks + 1 > UINT32_MAX - next_key) {
        sim_memory_each(forget, NULL);
        next_key = 1;
        beside = SIMULATOR_ALONE;
    }
    run->first_key = next_key;
    run->beside_low = beside == SIMULATOR_BESIDE_OVER ? beside_low : 0;
    run->beside_high = beside == SIMULATOR_BESIDE_OVER ? beside_high : 0;
    run->oldest_key = run->beside_high > run->beside_low ? run->beside_low : run->first_key;
    next_key += (uint32_t)run->blocks + 1; // the last one stands for "several blocks"
    pthread_mutex_unlock(&lock);
    if (run->options.races && run->blocks > 1 && run->kernel->signals) {
        run->released = calloc(run->blocks, sizeof *run->released);
        run->apart = calloc(run->blocks, sizeof *run->apart);
        return run->released && run->apart;
    }
    return true;
}

void race_global_end(struct run *run) {
    free(run->released);
    free(run->apart);
}

static uint32_t several(const struct run *run) {
    return run->first_key + (uint32_t)run->blocks;
}

struct global_shadow *global_shadow_of(struct sim_allocation *allocation) {
    struct global_shadow *shadow = __atomic_load_n((struct global_shadow **)&allocation->races, __ATOMIC_ACQUIRE);
    if (shadow)
        return shadow;
    pthread_mutex_lock(&lock);
    shadow = allocation->races;
    size_t words = allocation->size / 4 + 1, bytes = HEADER + 24 * words;
    if (!shadow) {
        void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory != MAP_FAILED) {
            shadow = memory;
            uint64_t *keys = (uint64_t *)memory + HEADER / 8;
            uint32_t *by = (uint32_t *)(keys + 2 * words);
            shadow->cells = (struct global_cells){keys, keys + words, by, by + words};
            allocation->races_bytes = bytes;
            __atomic_store_n((struct global_shadow **)&allocation->races, shadow, __ATOMIC_RELEASE);
        }
    }
    pthread_mutex_unlock(&lock);
    return shadow;
}

uint32_t shadow_next_key(void) {
    return next_key;
}

static void check_written(struct warp *warp, const struct bound *bound, const struct access *access) {
    struct sim_allocation *allocation = access->allocation;
    size_t low = access->span.low - allocation->address;
    if (access->span.pattern != LANES_SCATTERED &&
        sim_memory_is_written(allocation, low, access->span.high - access->span.low + access->bytes))
        return;
    if (validity_defers(warp, bound)) {
        warp->met_uninitialised = true; // perhaps: between scattered lanes
        return;
    }
    struct access filled = *access;
    access_fill(&filled);
    for (uint32_t left = access->mask; left; left &= left - 1) {
        int lane = first_lane(left);
        size_t offset = filled.address[lane] - allocation->address;
        if (!sim_memory_is_written(allocation, offset, access->bytes)) {
            char place[PLACE_TEXT];
            place_global(allocation, offset, place);
            warp_report(warp, SIM_FINDING_UNINITIALISED_GLOBAL, bound, NULL, lane,
                        "{here} reads %s, which nothing has written", place);
        }
    }
}

static void mark_written(const struct access *access) {
    struct sim_allocation *allocation = access->allocation;
    if (access->span.pattern != LANES_SCATTERED) {
        sim_memory_mark_written(allocation, access->span.low - allocation->address,
                                access->span.high - access->span.low + access->bytes);
        return;
    }
    for (uint32_t left = access->mask; left; left &= left - 1)
        sim_memory_mark_written(allocation, access->address[first_lane(left)] - allocation->address, access->bytes);
}

// Whether the warp has done this before: it waits, and does not count.
static bool is_polling(const struct warp *warp, const struct bound *bound, const struct access *access) {
    for (int i = 0; i < RECENT_POLLS; i++)
        if (warp->poll[i].pc == pc_of(warp, bound) && warp->poll[i].address == access->span.low)
            return true;
    return false;
}

// An atomic or volatile access: the block tells others something.
static void signal_others(struct warp *warp, const struct bound *bound, const struct access *access) {
    struct run *run = warp->run;
    bool writes = access_writes(access) || access_is_atomic(access);
    if (!run->released || !writes || bound->order & ORDER_CTA)
        return;
    uint32_t now = atomic_fetch_add(&run->signal_clock, 1) + 1;
    uint32_t never = 0;
    struct apart apart = {0}, *kept = &run->apart[warp->block->number];
    if (!(bound->order & ORDER_RELEASE) && !(warp->block->fenced && release_publishes(warp, access->mask, &apart)))
        return;
    if (atomic_load(&run->released[warp->block->number]) == 0)
        memcpy(kept->pc, apart.pc, sizeof kept->pc);
    if (apart.count == 0 || atomic_load(&run->released[warp->block->number]) == 0)
        atomic_store(&kept->count, apart.count);
    atomic_compare_exchange_strong(&run->released[warp->block->number], &never, now);
}

// What it has learnt, when it has looked: had it taken the time before, another host thread's block could signal
// between the two, and be seen without being known.
void race_global_accessed(struct warp *warp, const struct bound *bound, const struct access *access) {
    struct run *run = warp->run;
    bool looks = !access_writes(access) && access->kind != ACCESS_REDUCTION;
    if (run->options.races && (access_is_atomic(access) || bound->is_volatile))
        inside_signal(warp, bound, access);
    if (!run->released || !looks || !(access_is_atomic(access) || bound->is_volatile) || bound->order & ORDER_CTA)
        return;
    uint32_t now = atomic_fetch_add(&run->signal_clock, 1) + 1;
    warp->clock[CLOCK_SAW] = now;
    if (bound->order & ORDER_ACQUIRE)
        warp->clock[CLOCK_ACQUIRED] = now;
    else if (access->kind == ACCESS_ATOMIC && !is_polling(warp, bound, access))
        warp->ticket = now;
}

// Whether the key is of a launch in another stream, which may run at the same time.
static bool is_beside(const struct run *run, uint32_t key) {
    return key >= run->beside_low && key < run->beside_high;
}

// A block of the same cluster that the warp has met since: what the two did has an order, though which is not kept.
static bool in_cluster(const struct warp *warp, uint32_t key) {
    const struct cluster *cluster = warp->block->cluster;
    bool met = false;
    for (unsigned r = 0; cluster && r < cluster->blocks; r++)
        if (cluster->block[r] != warp->block && (key == several(warp->run) || key == cluster->block[r]->key))
            met |= race_cluster_has_met(warp, cluster->block[r]);
    return met;
}

// What the warp knows of others by one of its clocks: whether that is after what the block with this key did by the
// instruction in by.
static bool is_after(const struct warp *warp, uint32_t key, uint32_t by, unsigned clock) {
    const struct run *run = warp->run;
    if (!run->released || !warp->clock[clock])
        return false;
    if (key == several(run))
        return true;
    uint32_t released = atomic_load(&run->released[key - run->first_key]);
    return released && released < warp->clock[clock] &&
           !release_is_apart(&run->apart[key - run->first_key], shadow_pc(by));
}

// Whether what the block with this key did may be before what this one does. strong: it does so by an atomic or a
// volatile access.
static bool ordered(const struct warp *warp, uint32_t key, uint32_t by, bool strong) {
    const struct run *run = warp->run;
    if (is_beside(run, key))
        return false;
    return key < run->first_key || key == warp->block->key || in_cluster(warp, key) ||
           is_after(warp, key, by, strong ? CLOCK_SAW : CLOCK_ACQUIRED);
}

// An atomic or a volatile access that is one for its own block only.
static bool is_of_block(const struct bound *bound) {
    return bound->is_volatile && bound->order & ORDER_CTA;
}

// One that other blocks' do not race with.
static bool is_strong(const struct bound *bound) {
    return bound->is_volatile && !(bound->order & ORDER_CTA);
}

static void report_race(struct warp *warp, const struct bound *bound, const struct access *access, int lane,
                        size_t word, uint32_t key, uint32_t by, bool writes, bool it_wrote) {
    const struct run *run = warp->run;
    struct sim_dim grid = run->launch->grid;
    char who[64] = "other blocks", place[PLACE_TEXT];
    place_global(access->allocation, 4 * word, place);
    if (is_beside(run, key)) {
        warp_report(warp, SIM_FINDING_RACE_STREAMS, bound, NULL, lane,
                    "{here} %s %s, which a call in another stream %s", writes ? "writes" : "reads", place,
                    it_wrote ? "wrote" : "read");
        return;
    }
    const struct bound *other = &warp->code[shadow_pc(by)];
    bool counted = is_after(warp, key, by, CLOCK_TICKET), seen = is_after(warp, key, by, CLOCK_SAW);
    bool mixed = writes != it_wrote && is_mixed(writes ? other : bound, writes ? bound : other);
    enum sim_finding_kind kind = mixed     ? SIM_FINDING_MIXED
                                 : counted ? SIM_FINDING_REMARK_FENCE
                                           : SIM_FINDING_RACE_GLOBAL;
    if (warp_reported(warp, kind, bound, other))
        return;
    if (key != several(run)) {
        uint32_t number = key - run->first_key;
        snprintf(who, sizeof who, "block (%u,%u,%u)", number % grid.x, number / grid.x % grid.y,
                 number / grid.x / grid.y);
    }
    bool unpublished = warp->clock[CLOCK_SAW] && it_wrote && key != several(run);
    warp_report(warp, kind, bound, other, lane, "{here} %s %s, which %s %s at {there} in the same launch%s",
                writes ? "writes" : "reads", place, who, it_wrote ? "wrote" : "read",
                mixed                                      ? ""
                : is_of_block(bound) || is_of_block(other) ? "; the scope of one of the two is its own block"
                : counted     ? "; this block has counted by an atomic since, with no __threadfence() after it"
                : seen        ? "; this block has looked at a flag or a counter since, with no __threadfence() after it"
                : unpublished ? " and did not publish by a __threadfence() between that and its atomic: of each thread "
                                "that wrote, with a barrier after it"
                              : "");
}

static bool stores_the_same(const struct warp *warp, const struct bound *bound, const struct access *access, int lane) {
    if (access->kind != ACCESS_STORE)
        return false;
    const uint8_t *bytes = access->allocation->bytes + (access->address[lane] - access->allocation->address);
    for (int k = 0; k < bound->vector; k++) {
        const void *value = bound->width > 32 ? (const void *)&cells64(warp, bound->elements[k])[lane]
                                              : (const void *)&cells32(warp, bound->elements[k])[lane];
        if (memcmp(bytes + k * bound->bytes, value, bound->bytes) != 0)
            return false;
    }
    return true;
}

// Another host thread notes its block's store before it does it. Where that is of the same value it is there soon: a
// few milliseconds are enough for a thread that has to wait for a processor, and are spent on the first of two lines
// alone.
static bool comes_to_the_same(struct warp *warp, const struct bound *bound, const struct access *access, int lane,
                              uint32_t by) {
    enum { LOOKS = 50 };
    const struct timespec between = {.tv_nsec = 200000};
    if (warp->run->threads == 1 || access->kind != ACCESS_STORE ||
        warp_reported(warp, SIM_FINDING_RACE_GLOBAL, bound, &warp->code[shadow_pc(by)]))
        return false;
    for (int i = 0; i < LOOKS; i++) {
        if (stores_the_same(warp, bound, access, lane))
            return true;
        nanosleep(&between, NULL);
    }
    return false;
}

static void look_at_word(struct warp *warp, const struct bound *bound, const struct access *access,
                         const struct global_view *view, struct global_shadow *shadow, int lane, uint32_t as,
                         size_t word, uint32_t bytes, bool same) {
    bool strong = is_strong(bound), writes = access_writes(access) || access_is_atomic(access);
    uint32_t by = (view->by & ~GLOBAL_BYTES) | bytes << 4 | bytes;
    uint64_t write = __atomic_load_n(&shadow->cells.write[word], __ATOMIC_ACQUIRE);
    uint32_t block = shadow_block(write), write_by = shadow->cells.write_by[word];
    if (writes && !same && shadow_just_written(view, write, write_by) && same_value_twin(warp, bound, access, lane)) {
        same = true;
        as = SHADOW_MANY;
    }
    if (block == view->block) {
        bool many = !writes && shadow_lane(shadow_when(write)) == SHADOW_MANY && (write & 31) == warp->index;
        if (shadow_bytes_then(write_by) & bytes && !same && !many &&
            !inside_ordered(warp, bound, access, shadow_when(write), lane))
            inside_report(warp, bound, access, lane, word, shadow_when(write), &warp->code[shadow_pc(write_by)], writes,
                          true);
    } else if (write_by & 15 & bytes && !same && !ordered(warp, block, write_by, strong) &&
               (is_beside(warp->run, block) || !(strong && is_strong(&warp->code[shadow_pc(write_by)]))) &&
               !comes_to_the_same(warp, bound, access, lane, write_by)) {
        report_race(warp, bound, access, lane, word, block, write_by, writes, true);
    }
    if (!writes) {
        if (!strong)
            shadow_note_read(warp, view, shadow, word, by, as);
        return;
    }
    uint64_t read = __atomic_load_n(&shadow->cells.read[word], __ATOMIC_ACQUIRE);
    uint32_t read_by = shadow->cells.read_by[word];
    if (shadow_block(read) == view->block) {
        if (shadow_bytes_then(read_by) & bytes && !inside_ordered(warp, bound, access, shadow_when(read), lane))
            inside_report(warp, bound, access, lane, word, shadow_when(read), &warp->code[shadow_pc(read_by)], true,
                          false);
    } else if (read_by & 15 & bytes && !ordered(warp, shadow_block(read), read_by, strong)) {
        report_race(warp, bound, access, lane, word, shadow_block(read), read_by, true, false);
    }
    shadow_note_write(view, shadow, word, by, access_is_atomic(access) || bound->is_volatile ? SHADOW_ATOMIC : as);
}

static void check_races(struct warp *warp, const struct bound *bound, const struct access *access) {
    struct global_shadow *shadow = global_shadow_of(access->allocation);
    bool atomic = access_is_atomic(access) || bound->is_volatile;
    bool writes = access_writes(access) || access_is_atomic(access);
    if (!shadow)
        return;
    if (writes && shadow->last_written < warp->block->key)
        shadow->last_written = warp->block->key;
    struct global_view view = {.oldest = warp->run->oldest_key,
                               .first = warp->run->first_key,
                               .block = warp->block->key,
                               .several = several(warp->run),
                               .by = (uint32_t)pc_of(warp, bound) << 8 | GLOBAL_BYTES};
    view.unwritten = shadow->last_written < view.oldest;
    inside_view(warp, bound, &view);
    if (access->span.pattern == LANES_CONTIGUOUS && access->bytes >= 4 && !atomic && view.now) {
        size_t word = (access->span.low - access->allocation->address) / 4;
        if ((writes ? warp->lanes->global_write : warp->lanes->global_read)(&shadow->cells, word, access->bytes / 4,
                                                                            &view))
            return;
    }
    struct access filled = *access;
    access_fill(&filled);
    bool quiet = !writes && !atomic && view.unwritten && access->bytes >= 4;
    bool uniform = access->span.pattern == LANES_UNIFORM && !atomic && !writes &&
                   !shadow_holds_own(&view, shadow, access->span.low - access->allocation->address, access->bytes);
    uint32_t left = uniform ? access->mask & (0u - access->mask) : access->mask;
    bool many = uniform && access->mask & (access->mask - 1);
    bool narrow = access->bytes < 4;
    if (narrow)
        pthread_mutex_lock(&narrow_lock);
    for (; left; left &= left - 1) {
        int lane = first_lane(left);
        size_t offset = filled.address[lane] - access->allocation->address, word = offset / 4;
        bool same = writes && !atomic && stores_the_same(warp, bound, &filled, lane);
        uint32_t bytes = access->bytes >= 4 ? 15 : ((1u << access->bytes) - 1) << offset % 4;
        uint32_t as = many ? SHADOW_MANY : (uint32_t)lane;
        for (size_t end = offset + access->bytes; 4 * word < end; word++)
            if (!quiet)
                look_at_word(warp, bound, &filled, &view, shadow, lane, as, word, bytes, same);
            else if (!shadow_is_noted(&view, shadow->cells.read[word], as))
                shadow_note_read(warp, &view, shadow, word, view.by, as);
    }
    if (narrow)
        pthread_mutex_unlock(&narrow_lock);
}

void race_global_access(struct warp *warp, const struct bound *bound, const struct access *access) {
    const struct run *run = warp->run;
    struct sim_allocation *allocation = access->allocation;
    bool writes = access_writes(access) || access_is_atomic(access), reads = !access_writes(access);
    if (run->options.budget)
        partly_access(warp, access);
    if (warp->block->given_up)
        return;
    if (run->options.uninitialised && reads && !allocation->all_written)
        check_written(warp, bound, access);
    if (run->options.races && allocation->kind != SIM_ALLOCATION_CONST_VARIABLE) {
        check_races(warp, bound, access);
        if (access_is_atomic(access) || bound->is_volatile)
            signal_others(warp, bound, access);
        else if (writes && run->released)
            release_note_write(warp, access->mask, pc_of(warp, bound));
    }
    if (writes && !allocation->all_written)
        mark_written(access);
}
