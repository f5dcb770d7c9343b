#include "occupancy.h"

#include "text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

// The number that stands before the words, as in "8 bytes stack frame"; 0 where they are not there.
static int before(const char *line, const char *words) {
    const char *at = strstr(line, words);
    if (!at)
        return 0;
    while (at > line && isspace((unsigned char)at[-1]))
        at--;
    while (at > line && isdigit((unsigned char)at[-1]))
        at--;
    return atoi(at);
}

// Whether a line names a kernel behind the words, 'kernel' or bare: 1, 0 another one, -1 none.
static int names(const char *line, const char *words, const char *mangled) {
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
        int compiled = names(line, "Compiling entry function", mangled),
            properties = names(line, "properties for", mangled);
        if (compiled >= 0 || properties >= 0) {
            here = compiled > 0 || properties > 0;
        } else if (here && strstr(line, "bytes stack frame")) {
            resources->stack = before(line, "bytes stack frame");
            resources->spill_stores = before(line, "bytes spill stores");
            resources->spill_loads = before(line, "bytes spill loads");
        } else if (here && strstr(line, "Used ") && strstr(line, " registers")) {
            resources->registers = before(line, " registers");
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
    REGISTER_UNIT = 256, // given out to a warp, so a thread's share is rounded up to a multiple of 8
    WARPS = 64,
    BLOCKS = 32,
    SHARED = 233472,
    RESERVED = 1024, // of shared memory, for each block
};

static void limit(struct occupancy *occupancy, int blocks, const char *by) {
    if (blocks < occupancy->blocks) {
        occupancy->blocks = blocks;
        occupancy->limit = by;
    }
}

struct occupancy occupancy(const struct resources *resources, int threads, double shared_bytes) {
    int warps = (threads + WARP - 1) / WARP;
    warps = warps > 0 ? warps : 1;
    int registers = (resources->registers * WARP + REGISTER_UNIT - 1) / REGISTER_UNIT * REGISTER_UNIT * warps;
    struct occupancy occupancy = {WARPS / warps, warps, WARPS, "the size of the block"};
    limit(&occupancy, BLOCKS, "the number of blocks an SM holds");
    if (registers)
        limit(&occupancy, REGISTERS / registers, "registers");
    limit(&occupancy, (int)(SHARED / (shared_bytes + RESERVED)), "shared memory");
    return occupancy;
}
