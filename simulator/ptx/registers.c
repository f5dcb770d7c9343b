// Register slots by linear scan: nvcc names a new virtual register for each value, thousands in a large kernel, of
// which few are live at the same time. Sharing slots keeps a warp's registers in the host's caches.
//
// Registers of different widths never share a slot, because diverged lanes may execute different code: the bytes of
// lane 16 of a 64-bit register may only overlap those of lane 16 of another 64-bit register.
#include "linker.h"

#include <stdlib.h>

enum width { WIDTH_64, WIDTH_32, WIDTH_PREDICATE, WIDTHS };
enum { NO_SLOT = -1, MAX_FRAME_BYTES = 1 << 24, FRAME_ALIGN = 64 };

static const int32_t SLOT_BYTES[WIDTHS] = {32 * 8, 32 * 4, 4};

struct entry {
    struct live_range range;
    int32_t index; // of the register
};

// The registers that hold a slot, as a binary heap with the one whose range ends first on top; and the free slots as a
// stack, because the bytes of the slot freed last are likely to be cached.
struct slot_pool {
    struct entry *active;
    int32_t *free;
    int active_count, free_count;
    int32_t slots;
};

static enum width width_class(enum ptx_type type) {
    return type == PTX_PRED ? WIDTH_PREDICATE : ptx_type_size(type) >= 8 ? WIDTH_64 : WIDTH_32;
}

static int by_start(const void *left, const void *right) {
    const struct entry *a = left, *b = right;
    if (a->range.first != b->range.first)
        return a->range.first < b->range.first ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

static void push_active(struct slot_pool *slot_pool, const struct entry *entry) {
    int child = slot_pool->active_count++;
    for (int parent; child > 0; child = parent) {
        parent = (child - 1) / 2;
        if (slot_pool->active[parent].range.last <= entry->range.last)
            break;
        slot_pool->active[child] = slot_pool->active[parent];
    }
    slot_pool->active[child] = *entry;
}

static struct entry pop_active(struct slot_pool *slot_pool) {
    struct entry top = slot_pool->active[0], last_entry = slot_pool->active[--slot_pool->active_count];
    int parent = 0;
    for (int child; (child = 2 * parent + 1) < slot_pool->active_count; parent = child) {
        if (child + 1 < slot_pool->active_count &&
            slot_pool->active[child + 1].range.last < slot_pool->active[child].range.last)
            child++;
        if (slot_pool->active[child].range.last >= last_entry.range.last)
            break;
        slot_pool->active[parent] = slot_pool->active[child];
    }
    slot_pool->active[parent] = last_entry;
    return top;
}

// A slot becomes free after the last instruction of its range, so that an instruction's results never share a slot with
// its sources.
static int32_t allocate_slot(struct slot_pool *slot_pool, const struct entry *entry, const int32_t *slot) {
    while (slot_pool->active_count > 0 && slot_pool->active[0].range.last < entry->range.first)
        slot_pool->free[slot_pool->free_count++] = slot[pop_active(slot_pool).index];
    push_active(slot_pool, entry);
    return slot_pool->free_count > 0 ? slot_pool->free[--slot_pool->free_count] : slot_pool->slots++;
}

struct register_map map_registers(struct arena *arena, const struct ptx_function *function) {
    const struct live_range *range = find_live_ranges(arena, function);
    size_t registers = (size_t)function->registers;
    struct register_map map = {.slot = arena_allocate(arena, registers * sizeof *map.slot + 1)};
    struct entry *entry = arena_allocate(arena, registers * sizeof *entry + 1);
    struct slot_pool slot_pool[WIDTHS] = {0};
    int entries = 0;
    for (int i = 0; i < WIDTHS; i++) {
        slot_pool[i].active = arena_allocate(arena, registers * sizeof *slot_pool[i].active + 1);
        slot_pool[i].free = arena_allocate(arena, registers * sizeof *slot_pool[i].free + 1);
    }
    for (int32_t i = 0; i < function->registers; i++) {
        map.slot[i] = NO_SLOT;
        if (range[i].first <= range[i].last)
            entry[entries++] = (struct entry){range[i], i};
    }
    qsort(entry, (size_t)entries, sizeof *entry, by_start);
    for (int i = 0; i < entries; i++)
        map.slot[entry[i].index] =
            allocate_slot(&slot_pool[width_class(function->register_type[entry[i].index])], &entry[i], map.slot);

    int64_t base[WIDTHS], bytes = 0;
    for (int i = 0; i < WIDTHS; i++) {
        base[i] = bytes;
        bytes += (int64_t)slot_pool[i].slots * SLOT_BYTES[i];
    }
    if (bytes > MAX_FRAME_BYTES)
        arena_fail(arena, "'%s' needs %lld bytes of registers per warp, more than the simulator supports",
                   function->name, (long long)bytes);
    for (int i = 0; i < entries; i++) {
        enum width width = width_class(function->register_type[entry[i].index]);
        map.slot[entry[i].index] = (int32_t)(base[width] + map.slot[entry[i].index] * SLOT_BYTES[width]);
    }
    map.bytes = (int32_t)align_up((size_t)bytes, FRAME_ALIGN);
    return map;
}
