#include "from_host.h"
#include "global_shadow.h"

#include "../simulator.h"

enum { MOST = 256 }; // copies of a call that are kept; further ones are ignored

static struct copied {
    uint64_t begin, end;
    uint32_t key; // blocks with this key or a larger one start after the copy
} copied[MOST], fetched[MOST];
static unsigned count, fetches;

void from_host_begin(void) {
    count = fetches = 0;
}

void from_host_note_copy(const struct sim_allocation *allocation, size_t offset, size_t bytes) {
    uint64_t begin = allocation->address + offset;
    if (count < MOST && bytes)
        copied[count++] = (struct copied){begin, begin + bytes, shadow_next_key()};
}

static bool is_from_host(const struct copied *one, uint64_t begin, uint64_t end) {
    begin = one->begin > begin ? one->begin : begin;
    end = one->end < end ? one->end : end;
    struct sim_allocation *allocation = begin < end ? sim_memory_find(begin, end - begin) : NULL;
    const struct global_shadow *shadow = allocation ? global_shadow_of(allocation) : NULL;
    for (uint64_t at = begin; shadow && at < end; at = at / 4 * 4 + 4)
        if (shadow_block(shadow->cells.write[(at - allocation->address) / 4]) < one->key)
            return true;
    return false;
}

bool simulator_copied_from_host(const void *device, size_t bytes) {
    uint64_t begin = (uint64_t)(uintptr_t)device;
    for (unsigned i = 0; i < count; i++)
        if (is_from_host(&copied[i], begin, begin + bytes))
            return true;
    return false;
}

void to_host_note_copy(const struct sim_allocation *allocation, size_t offset, size_t bytes) {
    uint64_t begin = allocation->address + offset;
    if (fetches < MOST && bytes)
        fetched[fetches++] = (struct copied){.begin = begin, .end = begin + bytes};
}

bool simulator_copied_to_host(const void *device, size_t bytes) {
    uint64_t begin = (uint64_t)(uintptr_t)device;
    for (unsigned i = 0; i < fetches; i++)
        if (fetched[i].begin < begin + bytes && begin < fetched[i].end)
            return true;
    return false;
}
