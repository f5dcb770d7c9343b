#include "occupancy.h"

#include "text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

// The number before the words, as in "8 bytes stack frame"; 0 if the words do not occur.
static int number_before(const char *line, const char *words) {
    const char *at = strstr(line, words);
    if (!at)
        return 0;
    while (at > line && isspace((unsigned char)at[-1]))
        at--;
    while (at > line && isdigit((unsigned char)at[-1]))
        at--;
    return atoi(at);
}

// Whether a line names this kernel after the words, quoted or bare: 1 this one, 0 another one, -1 none.
static int names_kernel(const char *line, const char *words, const char *mangled) {
    const char *at = strstr(line, words);
    size_t length = strlen(mangled);
    if (!at)
        return -1;
    at += strlen(words);
    at += strspn(at, " '");
    return !strncmp(at, mangled, length) && strchr("' \r", at[length]);
}

bool resources_read(const char *log, const char *mangled, struct resources *resources) {
    struct lines lines;
    bool here = false, found = false;
    *resources = (struct resources){0};
    if (!lines_read(log, &lines))
        return false;
    for (int i = 0; i < lines.count; i++) {
        const char *line = lines.line[i];
        int compiled = names_kernel(line, "Compiling entry function", mangled),
            properties = names_kernel(line, "properties for", mangled);
        if (compiled >= 0 || properties >= 0) {
            here = compiled > 0 || properties > 0;
        } else if (here && strstr(line, "bytes stack frame")) {
            resources->stack = number_before(line, "bytes stack frame");
            resources->spill_stores = number_before(line, "bytes spill stores");
            resources->spill_loads = number_before(line, "bytes spill loads");
        } else if (here && strstr(line, "Used ") && strstr(line, " registers")) {
            resources->registers = number_before(line, " registers");
            found = true;
        }
    }
    lines_free(&lines);
    return found;
}

// CUDA C++ Programming Guide, table of technical specifications, compute capability 9.0.
enum {
    WARP = 32,
    REGISTERS = 65536,
    REGISTER_UNIT = 256, // allocated per warp, so registers per thread are rounded up to a multiple of 8
    WARPS = 64,
    BLOCKS = 32,
    SHARED = 233472,
    RESERVED = 1024, // shared memory that the driver reserves per block
};

static void limit_blocks(struct occupancy *occupancy, int blocks, const char *by) {
    if (blocks < occupancy->blocks) {
        occupancy->blocks = blocks;
        occupancy->limited_by = by;
    }
}

struct occupancy occupancy(const struct resources *resources, int threads, double shared_bytes) {
    int warps = (threads + WARP - 1) / WARP;
    warps = warps > 0 ? warps : 1;
    int registers = (resources->registers * WARP + REGISTER_UNIT - 1) / REGISTER_UNIT * REGISTER_UNIT * warps;
    struct occupancy occupancy = {WARPS / warps, warps, WARPS, "the block size"};
    limit_blocks(&occupancy, BLOCKS, "the block limit of an SM");
    if (registers)
        limit_blocks(&occupancy, REGISTERS / registers, "registers");
    limit_blocks(&occupancy, (int)(SHARED / (shared_bytes + RESERVED)), "shared memory");
    return occupancy;
}
