// Groups instructions by source line: an unrolled loop contains one load many times, and a finding at one of them is a
// finding at all.
#include "families.h"

#include <stdlib.h>

static const struct ptx_location *location_at(const struct ptx_module *module, int32_t index) {
    return index >= 0 && index < module->locations ? &module->location[index] : NULL;
}

static bool same_line(const struct ptx_module *module, int32_t a, int32_t b) {
    for (int hops = 0; hops < 32 && a != b; hops++) {
        const struct ptx_location *x = location_at(module, a), *y = location_at(module, b);
        if (!x || !y || x->file != y->file || x->line != y->line)
            return false;
        a = x->inlined_at;
        b = y->inlined_at;
    }
    return true;
}

static uint32_t hash_of(const struct ptx_module *module, int32_t index) {
    const struct ptx_location *at = location_at(module, index);
    return at ? ((uint32_t)at->line * 31 + (uint32_t)at->file) * 2654435761u : 0;
}

bool find_lines(struct sim_kernel *kernel) {
    const struct ptx_kernel *ptx = kernel->ptx;
    size_t slots = 2 * (size_t)ptx->instructions + 1;
    int32_t *table = calloc(slots, sizeof *table); // the first instruction of a line, plus 1
    if (!table)
        return false;
    for (int i = 0; i < ptx->instructions; i++) {
        int32_t location = ptx->instruction[i].location;
        size_t slot = hash_of(ptx->module, location) % slots;
        while (table[slot] && !same_line(ptx->module, ptx->instruction[table[slot] - 1].location, location))
            slot = (slot + 1) % slots;
        if (!table[slot])
            table[slot] = i + 1;
        // Without line information each instruction is a group of its own.
        kernel->code[i].line = location_at(ptx->module, location) ? table[slot] - 1 : i;
    }
    free(table);
    return true;
}
