// Slots for registers by linear scan: nvcc names a new register for each value, thousands in a large kernel, of which
// few are alive at once. Sharing slots keeps a warp's registers in the host's caches.
//
// Slots are kept apart by width, because lanes that have diverged may be in different parts of the code: lane 16 of
// a 64-bit register may only ever lie where lane 16 of another 64-bit register lies.
#include "linker.h"

#include <stdlib.h>

enum width { WIDTH_64, WIDTH_32, WIDTH_PREDICATE, WIDTHS };
enum { NO_SLOT = -1, MAX_FRAME_BYTES = 1 << 24, FRAME_ALIGN = 64 };

static const int32_t SLOT_BYTES[WIDTHS] = {32 * 8, 32 * 4, 4};

struct entry {
    struct live_range range;
    int32_t index; // of the register
};

// Registers that hold a slot, as a binary heap with the one whose range ends first on top; and slots given back, the
// latest on top, because its bytes are the likeliest to be cached.
struct pool {
    struct entry *active;
    int32_t *free;
    int actives, frees;
    int32_t slots;
};

static enum width width_of(enum ptx_type type) {
    return type == PTX_PRED ? WIDTH_PREDICATE : ptx_type_size(type) >= 8 ? WIDTH_64 : WIDTH_32;
}

static int by_start(const void *left, const void *right) {
    const struct entry *a = left, *b = right;
    if (a->range.first != b->range.first)
        return a->range.first < b->range.first ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

static void push(struct pool *pool, const struct entry *entry) {
    int child = pool->actives++;
    for (int parent; child > 0; child = parent) {
        parent = (child - 1) / 2;
        if (pool->active[parent].range.last <= entry->range.last)
            break;
        pool->active[child] = pool->active[parent];
    }
    pool->active[child] = *entry;
}

static struct entry pop(struct pool *pool) {
    struct entry top = pool->active[0], moved = pool->active[--pool->actives];
    int parent = 0;
    for (int child; (child = 2 * parent + 1) < pool->actives; parent = child) {
        if (child + 1 < pool->actives && pool->active[child + 1].range.last < pool->active[child].range.last)
            child++;
        if (pool->active[child].range.last >= moved.range.last)
            break;
        pool->active[parent] = pool->active[child];
    }
    pool->active[parent] = moved;
    return top;
}

// A slot is free again after the instruction at which its range ends, so that an instruction's results never share one
// with its sources.
static int32_t take_slot(struct pool *pool, const struct entry *entry, const int32_t *slot) {
    while (pool->actives > 0 && pool->active[0].range.last < entry->range.first)
        pool->free[pool->frees++] = slot[pop(pool).index];
    push(pool, entry);
    return pool->frees > 0 ? pool->free[--pool->frees] : pool->slots++;
}

struct register_map map_registers(struct arena *arena, const struct ptx_function *function) {
    const struct live_range *range = find_live_ranges(arena, function);
    size_t registers = (size_t)function->registers;
    struct register_map map = {.slot = arena_allocate(arena, registers * sizeof *map.slot + 1)};
    struct entry *entry = arena_allocate(arena, registers * sizeof *entry + 1);
    struct pool pool[WIDTHS] = {0};
    int entries = 0;
    for (int i = 0; i < WIDTHS; i++) {
        pool[i].active = arena_allocate(arena, registers * sizeof *pool[i].active + 1);
        pool[i].free = arena_allocate(arena, registers * sizeof *pool[i].free + 1);
    }
    for (int32_t i = 0; i < function->registers; i++) {
        map.slot[i] = NO_SLOT;
        if (range[i].first <= range[i].last)
            entry[entries++] = (struct entry){range[i], i};
    }
    qsort(entry, (size_t)entries, sizeof *entry, by_start);
    for (int i = 0; i < entries; i++)
        map.slot[entry[i].index] =
            take_slot(&pool[width_of(function->register_type[entry[i].index])], &entry[i], map.slot);

    int64_t base[WIDTHS], bytes = 0;
    for (int i = 0; i < WIDTHS; i++) {
        base[i] = bytes;
        bytes += (int64_t)pool[i].slots * SLOT_BYTES[i];
    }
    if (bytes > MAX_FRAME_BYTES)
        arena_fail(arena, "'%s' needs %lld bytes of registers a warp, which is more than the simulator has",
                   function->name, (long long)bytes);
    for (int i = 0; i < entries; i++) {
        enum width width = width_of(function->register_type[entry[i].index]);
        map.slot[entry[i].index] = (int32_t)(base[width] + map.slot[entry[i].index] * SLOT_BYTES[width]);
    }
    map.bytes = (int32_t)align_up((size_t)bytes, FRAME_ALIGN);
    return map;
}
