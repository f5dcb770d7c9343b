// The memory traffic of one run, as the simulator writes it where SIMULATOR_TRACE_CSV names a file: a row for each
// instruction that reads or writes memory, of each kernel.
#ifndef TRAFFIC_H
#define TRAFFIC_H

#include "csv.h"

enum quantity { REQUESTS, LANES, BYTES, SECTORS, IDEAL_SECTORS, WAVEFRONTS, IDEAL_WAVEFRONTS, QUANTITIES };

struct traffic_access {
    int group; // rows of one kernel with one grid and block
    const char *kernel, *mangled, *grid, *block;
    double launches, shared_bytes;  // of the group
    const char *file, *outer_file;  // the line, and that of the kernel which called what was inlined
    int line, outer_line, own_line; // own_line: the innermost one of outer_file
    const char *space, *access;     // "global", "async copy"
    int bytes_a_lane;
    double quantity[QUANTITIES]; // of all launches
    const char *note;
    int copies; // of the instruction, from unrolling or inlining
};

struct traffic {
    struct csv csv;
    struct traffic_access *access; // [count]
    int count;
};

// False where the file cannot be read or holds no access.
bool traffic_read(const char *path, struct traffic *traffic);
void traffic_free(struct traffic *traffic);

// Makes one of the copies of an access whose requests cost the same.
void traffic_merge(struct traffic *traffic);

// "ideal_sectors"; false where there is no such quantity.
bool traffic_quantity(const char *name, enum quantity *quantity);

#endif
