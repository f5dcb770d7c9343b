// The memory traffic of one run, from the file that the simulator writes to SIMULATOR_TRACE_CSV: one row per load or
// store instruction of each kernel.
#ifndef TRAFFIC_H
#define TRAFFIC_H

#include "csv.h"

enum quantity { REQUESTS, LANES, BYTES, SECTORS, IDEAL_SECTORS, WAVEFRONTS, IDEAL_WAVEFRONTS, QUANTITIES };

struct traffic_access {
    int group; // index of a kernel with one grid and block size
    const char *kernel, *mangled, *grid, *block;
    double launches, shared_bytes;  // of the group
    const char *file, *outer_file;  // of the line, and of the kernel's line that calls an inlined function
    int line, outer_line, own_line; // own_line: the innermost line in outer_file
    const char *space, *access;     // "global", "async copy"
    int bytes_a_lane;
    double quantity[QUANTITIES]; // of all launches
    const char *note;
    int copies; // of the instruction, due to unrolling or inlining
};

struct traffic {
    struct csv csv;
    struct traffic_access *access; // [count]
    int count;
};

// False if the file cannot be read or has no access.
bool traffic_read(const char *path, struct traffic *traffic);
void traffic_free(struct traffic *traffic);

// Merges copies of an instruction that have the same cost per request.
void merge_copies(struct traffic *traffic);

// "ideal_sectors", ...; false if there is no such quantity.
bool quantity_of_name(const char *name, enum quantity *quantity);

#endif
