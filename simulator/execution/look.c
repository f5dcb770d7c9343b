#include "look.h"

#include "../machine/block.h"
#include "../machine/places.h"

#include <stdio.h>
#include <string.h>

void look_describe(const struct warp *warp, char text[LOOK_TEXT]) {
    const uint64_t address = warp->look.address;
    const uint32_t bytes = warp->look.bytes < 8 ? warp->look.bytes : 8;
    const struct run *run = warp->run;
    char place[PLACE_TEXT], where[32] = "";
    uint64_t value = 0;
    text[0] = '\0';
    if (!bytes)
        return;
    if (warp->look.shared) {
        place_shared(run->kernel->ptx, run->own_shared, address, place);
        memcpy(&value, warp->block->shared + address, bytes);
    } else {
        const struct sim_allocation *allocation = sim_memory_find(address, bytes);
        if (!allocation)
            return;
        place_global(allocation, address - allocation->address, place);
        snprintf(where, sizeof where, " (address 0x%llx)", (unsigned long long)address);
        memcpy(&value, allocation->bytes + (address - allocation->address), bytes);
    }
    snprintf(text, LOOK_TEXT, "; it last looked at %s%s, which holds %llu", place, where, (unsigned long long)value);
}
