#include "spin.h"

#include "../machine/block.h"
#include "../machine/element_names.h"

#include <stdio.h>
#include <string.h>

void spin_describe(const struct warp *warp, char text[SPIN_TEXT]) {
    const uint64_t address = warp->last_observed.address;
    const uint32_t bytes = warp->last_observed.bytes < 8 ? warp->last_observed.bytes : 8;
    const struct run *run = warp->run;
    char element[ELEMENT_NAME_TEXT], where[32] = "";
    uint64_t value = 0;
    text[0] = '\0';
    if (!bytes)
        return;
    if (warp->last_observed.shared) {
        element_name_shared(run->kernel->ptx, run->own_shared, address, element);
        memcpy(&value, warp->block->shared + address, bytes);
    } else {
        const struct sim_allocation *allocation = sim_memory_find(address, bytes);
        if (!allocation)
            return;
        element_name_global(allocation, address - allocation->address, element);
        snprintf(where, sizeof where, " (address 0x%llx)", (unsigned long long)address);
        memcpy(&value, allocation->bytes + (address - allocation->address), bytes);
    }
    snprintf(text, SPIN_TEXT, "; the loop last read %s%s, which holds %llu", element, where, (unsigned long long)value);
}
