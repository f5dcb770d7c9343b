#include "invalid_address.h"

#include "../machine/block.h"
#include "../machine/element_names.h"
#include "../machine/warp.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

enum { LEAST_ADDRESS = 1 << 16, NEAR = 1 << 20, CAUSE_TEXT = 320 };

static bool is_host_memory(uint64_t address) {
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    return msync((void *)(uintptr_t)(address & ~(page - 1)), page, MS_ASYNC) == 0; // only looks at the mappings
}

// The cause that the address or the history of its allocation proves; "": none.
static void find_cause(uint64_t address, bool freed, const struct sim_allocation *nearest, int64_t distance,
                       char cause[CAUSE_TEXT]) {
    *cause = 0;
    if (freed) {
        snprintf(cause, CAUSE_TEXT,
                 "cudaFree() comes before the last use of the memory, or a pointer to it was kept after that.");
        return;
    }
    // The size of the element is said where only one leads back to memory.
    const struct sim_allocation *meant = NULL;
    uint64_t element = 0;
    for (uint64_t size = 1; size <= 16 && address >= LEAST_ADDRESS; size *= 2) {
        const struct sim_allocation *there = sim_memory_find(address + (size << 32), 1);
        element = !there ? element : meant ? 0 : size;
        meant = there ? there : meant;
    }
    if (meant) {
        char owner[ELEMENT_NAME_TEXT], of_size[32] = "";
        element_name_allocation(meant, owner);
        if (element)
            snprintf(of_size, sizeof of_size, " of %d byte%s", (int)element, element == 1 ? "" : "s");
        snprintf(
            cause, CAUSE_TEXT,
            "an index of 32 bits has wrapped around: 2^32 elements%s further on lies %.120s. Compute the product in "
            "64 bits: (int64_t)row * stride.",
            of_size, owner);
        return;
    }
    if (address < LEAST_ADDRESS)
        snprintf(cause, CAUSE_TEXT, "the pointer is null: an allocation failed, or an argument is missing.");
    else if (nearest && distance >= 0 && distance < NEAR)
        snprintf(cause, CAUSE_TEXT, "an index is not checked against the size when n is not a multiple of the tile.");
    else if (nearest && distance < 0 && distance > -NEAR)
        snprintf(cause, CAUSE_TEXT, "an index is negative: the first rows or elements have no neighbour before them.");
    else if (is_host_memory(address))
        snprintf(cause, CAUSE_TEXT,
                 "a pointer to the program's own memory was passed to the kernel, instead of one from cudaMalloc().");
}

enum step peer_access_report(struct warp *warp, const struct bound *bound, const struct sim_allocation *allocation,
                             bool writes, int lane) {
    char owner[ELEMENT_NAME_TEXT];
    int device = warp->run->launch->ordinal;
    element_name_allocation(allocation, owner);
    warp_report(warp, SIM_FINDING_PEER_ACCESS, bound, NULL, lane,
                "{here} %s %s, which is in the memory of device %d, but the kernel runs on device %d",
                writes ? "writes" : "reads", owner, allocation->device, device);
    return warp_fatal(warp, SIM_ILLEGAL_ADDRESS);
}

enum step invalid_address_report(struct warp *warp, const struct bound *bound, const struct access *access, int lane) {
    uint64_t address = access->address[lane];
    int64_t distance = 0;
    const struct sim_allocation *freed = sim_memory_find_freed(address);
    const struct sim_allocation *nearest = sim_memory_nearest(address, &distance);
    char text[256 + ELEMENT_NAME_TEXT];
    if (freed && freed->kind == SIM_ALLOCATION_HOST) {
        snprintf(text, sizeof text, "in pinned or managed memory of %zu bytes that was freed [use-after-free]",
                 freed->size);
    } else if (freed) {
        snprintf(text, sizeof text, "in allocation %u of %zu bytes that was freed [use-after-free]", freed->id,
                 freed->size);
    } else if (!nearest) {
        snprintf(text, sizeof text, "but no device memory is allocated [invalid-address]");
    } else if (distance > (1ll << 30) || distance < -(1ll << 30)) {
        snprintf(text, sizeof text, "which is not in device memory%s [invalid-address]",
                 address < LEAST_ADDRESS   ? ": a null pointer"
                 : is_host_memory(address) ? ": a host pointer"
                                           : "");
    } else {
        uint64_t inside = address - nearest->address;
        bool straddles = distance == 0; // starts inside the allocation, ends outside
        long long away = straddles      ? (long long)(inside + access->bytes - nearest->size)
                         : distance < 0 ? -distance
                                        : distance;
        char owner[ELEMENT_NAME_TEXT];
        element_name_allocation(nearest, owner);
        snprintf(text, sizeof text, "%lld byte%s %s %s", away, away == 1 ? "" : "s",
                 distance < 0 ? "before" : "past the last byte of", owner);
    }
    warp_report(warp, SIM_FINDING_OUT_OF_BOUNDS, bound, NULL, lane, "{here} %s %u bytes at address 0x%llx, %s",
                access_verb(access), access->bytes, (unsigned long long)address, text);
    char cause[CAUSE_TEXT];
    find_cause(address, freed, nearest, distance, cause);
    sim_report_cause(SIM_FINDING_OUT_OF_BOUNDS, bound->line, cause);
    return warp_fatal(warp, SIM_ILLEGAL_ADDRESS);
}
