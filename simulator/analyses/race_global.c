// Reads of uninitialized global memory, and races on global memory between blocks. Races between threads of one block
// are also detected here, by the rules of race_inside.c.
//
// Launches that nothing orders (race_streams.c) keep their keys apart, and their blocks count as concurrent.
//
// Blocks of a launch are unordered, so two blocks race if they access the same byte and one of them writes it. A shadow
// has for each 4-byte word the block that wrote it last and the block that read it (one block, or several). Each block
// of each launch has its own key, which is larger than all keys before it: entries of earlier launches are recognized
// because they are smaller than the launch's first key, so that the shadow is never cleared.
//
// A write of the value that memory already holds is no race. Neither are atomics and volatile accesses with each other,
// unless the scope of one of them is its block (.cta), which makes it an ordinary access for other blocks. Blocks also
// synchronize by them ("the last block to finish adds up the results"). An access of one block happens before an access
// of a thread of another block (PTX ISA, memory consistency model) if
//   - the first atomic or volatile store of the former block is a release, or follows a fence (__threadfence()) that
//     covers its earlier stores: see release.c; and
//   - the thread's atomic or volatile load comes later and is an acquire, or a fence separates it from the thread's
//     access; or this holds for a thread that it has synchronized with at a barrier since.
// A volatile read needs no such fence here, as in the programming guide's example. CUDA's samples also omit it if one
// thread increments a counter by an atomic and all threads read after a __syncthreads(): that is only a warning. These
// rules may hide a race in such a kernel, but never report a false one.
//
// Blocks of a cluster count as ordered as soon as one has acquired any clock of the other (race_cluster.c), which may
// hide a race between them.
//
// Host threads that simulate different blocks use the shadow concurrently and without locks. An entry is a key and an
// instruction, which is written first: a thread that reads a new key does not read the instruction of an older launch.
// If two threads mix their entries, a race may be missed or reported with the wrong line. Accesses narrower than a word
// take a lock, because a mixture of their entries could report bytes that a block never accessed.
#include "race_global.h"
#include "from_host.h"
#include "global_shadow.h"
#include "host_access.h"
#include "mixed.h"
#include "partial.h"
#include "race_cluster.h"
#include "race_inside.h"
#include "race_proxy.h"
#include "race_reduction.h"
#include "race_streams.h"
#include "release.h"
#include "same_value.h"
#include "validity.h"

#include "../machine/access.h"
#include "../machine/block.h"
#include "../machine/element_names.h"

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

static void free_shadow(struct sim_allocation *allocation, void *unused) {
    (void)unused;
    if (allocation->races) {
        munmap(allocation->races, allocation->races_bytes);
        allocation->races = NULL;
    }
}

bool race_global_begin(struct run *run) {
    if (run->blocks >= UINT32_MAX - 2) {
        run->options.races = false; // more blocks than keys
        return true;
    }
    pthread_mutex_lock(&lock);
    if (run->blocks + 1 > UINT32_MAX - next_key) {
        sim_memory_each(free_shadow, NULL);
        next_key = 1;
        timeline_forget();
    }
    run->first_key = next_key;
    next_key += (uint32_t)run->blocks + 1; // the last one stands for "several blocks"
    pthread_mutex_unlock(&lock);
    if (run->options.races)
        race_streams_begin(run);
    if (run->options.races && run->blocks > 1 && run->kernel->signals) {
        run->released = calloc(run->blocks, sizeof *run->released);
        run->unordered = calloc(run->blocks, sizeof *run->unordered);
        return run->released && run->unordered;
    }
    return true;
}

void race_global_end(struct run *run) {
    race_streams_end(run);
    free(run->released);
    free(run->unordered);
}

static uint32_t several_blocks_key(const struct run *run) {
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
        warp->read_uninitialized = true; // only a suspicion: the span of scattered lanes has gaps
        return;
    }
    struct access filled = *access;
    access_fill(&filled);
    for (uint32_t left = access->mask; left; left &= left - 1) {
        int lane = first_lane(left);
        size_t offset = filled.address[lane] - allocation->address;
        if (!sim_memory_is_written(allocation, offset, access->bytes)) {
            char element[ELEMENT_NAME_TEXT];
            element_name_global(allocation, offset, element);
            warp_report(warp, SIM_FINDING_UNINITIALIZED_GLOBAL, bound, NULL, lane,
                        "{here} reads %s, which neither the host nor a kernel has written", element);
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

// Returns whether the warp has executed this access before: it polls, and does not count.
static bool is_polling(const struct warp *warp, const struct bound *bound, const struct access *access) {
    for (int i = 0; i < MAX_RECENT_POLLS; i++)
        if (warp->poll[i].pc == pc_of(warp, bound) && warp->poll[i].address == access->span.low)
            return true;
    return false;
}

// An atomic or volatile access: the block releases its earlier stores.
static void publish_store(struct warp *warp, const struct bound *bound, const struct access *access) {
    struct run *run = warp->run;
    bool writes = access_writes(access) || access_is_atomic(access);
    if (!run->released || !writes || bound->order & ORDER_CTA)
        return;
    if (access->kind != ACCESS_BULK_REDUCTION)
        race_reduction_signal(warp, access->span.low);
    uint32_t now = atomic_fetch_add(&run->signal_clock, 1) + 1;
    uint32_t never = 0;
    struct unordered_stores unordered = {0}, *kept = &run->unordered[warp->block->number];
    if (!(bound->order & ORDER_RELEASE) && !(warp->block->fenced && release_covers(warp, access->mask, &unordered)))
        return;
    if (atomic_load(&run->released[warp->block->number]) == 0)
        memcpy(kept->pc, unordered.pc, sizeof kept->pc);
    if (unordered.count == 0 || atomic_load(&run->released[warp->block->number]) == 0)
        atomic_store(&kept->count, unordered.count);
    atomic_compare_exchange_strong(&run->released[warp->block->number], &never, now);
}

// The clock is read after the access: if it were read before, another host thread's block could store in between, and
// its value would be observed without its clock.
void race_global_accessed(struct warp *warp, const struct bound *bound, const struct access *access) {
    struct run *run = warp->run;
    bool reads = !access_writes(access) && access->kind != ACCESS_REDUCTION;
    if (run->options.races && (access_is_atomic(access) || bound->is_volatile))
        inside_synchronize(warp, bound, access);
    if (!run->released || !reads || !(access_is_atomic(access) || bound->is_volatile) || bound->order & ORDER_CTA)
        return;
    uint32_t now = atomic_fetch_add(&run->signal_clock, 1) + 1;
    warp->clock[CLOCK_OBSERVED] = now;
    race_reduction_acquire(warp, access->span.low);
    if (bound->order & ORDER_ACQUIRE)
        warp->clock[CLOCK_ACQUIRED] = now;
    else if (access->kind == ACCESS_ATOMIC && !is_polling(warp, bound, access))
        warp->counter_clock = now;
}

// Returns whether the key is one of a block of the same cluster that the warp has synchronized with: their accesses are
// ordered, but the order is not kept.
static bool in_cluster(const struct warp *warp, uint32_t key) {
    const struct cluster *cluster = warp->block->cluster;
    bool synchronized = false;
    for (unsigned r = 0; cluster && r < cluster->blocks; r++)
        if (cluster->block[r] != warp->block && (key == several_blocks_key(warp->run) || key == cluster->block[r]->key))
            synchronized |= race_cluster_has_synchronized(warp, cluster->block[r]);
    return synchronized;
}

// Returns whether the release of the block with this key, which covers its instruction in `by`, precedes the warp's
// acquire at this clock.
static bool is_acquired_after(const struct warp *warp, uint32_t key, uint32_t by, unsigned clock) {
    const struct run *run = warp->run;
    if (!run->released || !warp->clock[clock])
        return false;
    if (key == several_blocks_key(run))
        return true;
    uint32_t released = atomic_load(&run->released[key - run->first_key]);
    return released && released < warp->clock[clock] &&
           !release_is_unordered(&run->unordered[key - run->first_key], shadow_pc(by));
}

// Returns whether the access of the block with this key may happen before the warp's access. strong: the warp's access
// is atomic or volatile.
static bool happens_before(const struct warp *warp, uint32_t key, uint32_t by, bool strong) {
    const struct run *run = warp->run;
    const struct concurrent_work *other = race_streams_find(run, key);
    if (other)
        return !race_streams_is_concurrent(warp, other);
    return key < run->first_key || key == warp->block->key || in_cluster(warp, key) ||
           is_acquired_after(warp, key, by, strong ? CLOCK_OBSERVED : CLOCK_ACQUIRED);
}

// Returns whether an atomic or volatile access has block scope.
static bool is_of_block(const struct bound *bound) {
    return bound->is_volatile && bound->order & ORDER_CTA;
}

// Returns whether an access does not race with strong accesses of other blocks.
static bool is_strong(const struct bound *bound) {
    return bound->is_volatile && !(bound->order & ORDER_CTA);
}

static void report_race(struct warp *warp, const struct bound *bound, const struct access *access, int lane,
                        size_t word, uint32_t key, uint32_t by, bool writes, bool other_wrote) {
    const struct run *run = warp->run;
    struct sim_dim grid = run->launch->grid;
    char accessor[64] = "other blocks", element[ELEMENT_NAME_TEXT];
    element_name_global(access->allocation, 4 * word, element);
    const struct concurrent_work *concurrent = race_streams_find(run, key);
    if (concurrent) {
        race_streams_report(warp, bound, lane, element, writes, concurrent, by, other_wrote);
        return;
    }
    const struct bound *other = &warp->code[shadow_pc(by)];
    bool counted = is_acquired_after(warp, key, by, CLOCK_COUNTED),
         seen = is_acquired_after(warp, key, by, CLOCK_OBSERVED);
    bool mixed = writes != other_wrote && is_mixed_access(writes ? other : bound, writes ? bound : other);
    enum sim_finding_kind kind = mixed     ? SIM_FINDING_MIXED_ACCESS
                                 : counted ? SIM_FINDING_MISSING_FENCE
                                           : SIM_FINDING_RACE_GRID;
    if (warp_reported(warp, kind, bound, other))
        return;
    if (key != several_blocks_key(run)) {
        uint32_t number = key - run->first_key;
        snprintf(accessor, sizeof accessor, "block (%u,%u,%u)", number % grid.x, number / grid.x % grid.y,
                 number / grid.x / grid.y);
    }
    bool unpublished = warp->clock[CLOCK_OBSERVED] && other_wrote && key != several_blocks_key(run);
    warp_report(warp, kind, bound, other, lane, "{here} %s %s, which %s %s at {there} in the same launch%s",
                writes ? "writes" : "reads", element, accessor, other_wrote ? "wrote" : "read",
                mixed                                      ? ""
                : is_of_block(bound) || is_of_block(other) ? ": one of the two accesses has .cta scope, which orders "
                                                             "nothing between blocks [grid-race-scope]"
                : counted     ? ": this block has since incremented a counter, with no __threadfence() after the atomic"
                : seen        ? ": this block has since read a flag or a counter, with no __threadfence() after that "
                                "read [grid-race-acquire]"
                : unpublished ? ": the write is not released; each writing thread must execute __threadfence(), and a "
                                "barrier must follow, before the writing block's atomic [grid-race-release]"
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

// Another host thread notes its block's store before it performs the store. If the store has the same value, this value
// appears soon: a few milliseconds suffice for a thread that waits for a processor, and are spent once per pair of
// lines.
static bool becomes_same_value(struct warp *warp, const struct bound *bound, const struct access *access, int lane,
                               uint32_t by) {
    enum { LOOKS = 50 };
    const struct timespec between = {.tv_nsec = 200000};
    if (warp->run->threads == 1 || access->kind != ACCESS_STORE ||
        warp_reported(warp, SIM_FINDING_RACE_GRID, bound, &warp->code[shadow_pc(by)]))
        return false;
    for (int i = 0; i < LOOKS; i++) {
        if (stores_the_same(warp, bound, access, lane))
            return true;
        nanosleep(&between, NULL);
    }
    return false;
}

static void check_word(struct warp *warp, const struct bound *bound, const struct access *access,
                       const struct global_view *view, struct global_shadow *shadow, int lane, uint32_t as, size_t word,
                       uint32_t bytes, bool same) {
    bool strong = is_strong(bound), writes = access_writes(access) || access_is_atomic(access);
    uint32_t by = (view->by & ~GLOBAL_BYTES) | bytes << 4 | bytes;
    uint64_t write = __atomic_load_n(&shadow->cells.write[word], __ATOMIC_ACQUIRE);
    uint32_t block = shadow_block(write), write_by = shadow->cells.write_by[word];
    if (writes && !same && shadow_just_written(view, write, write_by) &&
        same_value_of_other_lane(warp, bound, access, lane)) {
        same = true;
        as = SHADOW_MANY;
    }
    if (block == view->block) {
        bool many = !writes && shadow_lane(shadow_when(write)) == SHADOW_MANY && (write & 31) == warp->index;
        if (shadow_bytes_then(write_by) & bytes && !same && !many &&
            !inside_happens_before(warp, bound, access, shadow_when(write), lane))
            inside_report(warp, bound, access, lane, word, shadow_when(write), &warp->code[shadow_pc(write_by)], writes,
                          true);
        else if (!writes && shadow_bytes_then(write_by) & bytes && race_uses_async_proxy(bound))
            inside_check_proxy(warp, bound, access, lane, word, shadow_when(write), &warp->code[shadow_pc(write_by)]);
    } else if (write_by & 15 & bytes && !same && !happens_before(warp, block, write_by, strong) &&
               (race_streams_find(warp->run, block) || !(strong && is_strong(&warp->code[shadow_pc(write_by)]))) &&
               !becomes_same_value(warp, bound, access, lane, write_by)) {
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
        if (shadow_bytes_then(read_by) & bytes && !inside_happens_before(warp, bound, access, shadow_when(read), lane))
            inside_report(warp, bound, access, lane, word, shadow_when(read), &warp->code[shadow_pc(read_by)], true,
                          false);
    } else if (read_by & 15 & bytes && !happens_before(warp, shadow_block(read), read_by, strong)) {
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
                               .several = several_blocks_key(warp->run),
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
    bool nothing_to_check = !writes && !atomic && view.unwritten && access->bytes >= 4;
    bool uniform = access->span.pattern == LANES_UNIFORM && !atomic && !writes &&
                   !shadow_has_own_writes(&view, shadow, access->span.low - access->allocation->address, access->bytes);
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
            if (!nothing_to_check)
                check_word(warp, bound, &filled, &view, shadow, lane, as, word, bytes, same);
            else if (!shadow_is_noted(&view, shadow->cells.read[word], as))
                shadow_note_read(warp, &view, shadow, word, view.by, as);
    }
    if (narrow)
        pthread_mutex_unlock(&narrow_lock);
}

static void note_host_access(const struct access *access, bool writes) {
    uint64_t low = access->span.low - access->allocation->address;
    if (access->span.pattern != LANES_SCATTERED) {
        host_access_note(access->allocation, low, access->span.high - access->span.low + access->bytes, writes);
        return;
    }
    for (uint32_t left = access->mask; left; left &= left - 1)
        host_access_note(access->allocation, access->address[first_lane(left)] - access->allocation->address,
                         access->bytes, writes);
}

void race_global_access(struct warp *warp, const struct bound *bound, const struct access *access) {
    const struct run *run = warp->run;
    struct sim_allocation *allocation = access->allocation;
    bool writes = access_writes(access) || access_is_atomic(access), reads = !access_writes(access);
    if (run->options.budget)
        partial_check_access(warp, access);
    if (warp->block->aborted)
        return;
    if (run->options.uninitialized && reads && !allocation->all_written)
        check_written(warp, bound, access);
    if (run->options.races && allocation->kind != SIM_ALLOCATION_CONST_VARIABLE) {
        check_races(warp, bound, access);
        if (allocation->kind == SIM_ALLOCATION_HOST)
            note_host_access(access, writes);
        if (run->concurrent_copies)
            race_streams_access(warp, bound, access);
        if (access_is_atomic(access) || bound->is_volatile)
            publish_store(warp, bound, access);
        else if (writes && run->released)
            release_note_write(warp, access->mask, pc_of(warp, bound));
    }
    if (writes && !allocation->all_written)
        mark_written(access);
}
