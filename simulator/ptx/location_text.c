// Source locations in the .cu files, for messages.
#include "linker.h"

const char *location_text(struct arena *arena, const struct ptx_module *module, int32_t location) {
    const struct ptx_location *inner = &module->location[location], *outer = inner;
    if (inner->line == 0)
        return "";
    while (outer->inlined_at >= 0)
        outer = &module->location[outer->inlined_at];
    if (inner == outer)
        return arena_format(arena, "%s:%d: ", module->file[inner->file], inner->line);
    return arena_format(arena, "%s:%d (inlined at %s:%d): ", module->file[inner->file], inner->line,
                        module->file[outer->file], outer->line);
}
