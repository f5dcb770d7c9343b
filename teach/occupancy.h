// What ptxas says of a kernel, and how much of an SM of the simulated GPU, an H200, it can fill.
#ifndef OCCUPANCY_H
#define OCCUPANCY_H

#include <stdbool.h>

struct resources {
    int registers;                        // a thread
    int spill_stores, spill_loads, stack; // bytes a thread
};

// From the log of ptxas -v, by a kernel's mangled name. False where the log does not name it.
bool resources_read(const char *log, const char *mangled, struct resources *resources);

struct occupancy {
    int blocks, warps_a_block; // on an SM at once
    int most_warps;
    const char *limit; // what keeps more away: "registers"
};

struct occupancy occupancy(const struct resources *resources, int threads, double shared_bytes);

#endif
