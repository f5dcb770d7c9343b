// The resources of a kernel by ptxas, and its theoretical occupancy on an H200.
#ifndef OCCUPANCY_H
#define OCCUPANCY_H

#include <stdbool.h>

struct resources {
    int registers;                        // per thread
    int spill_stores, spill_loads, stack; // bytes per thread
};

// From the log of ptxas -v, by a kernel's mangled name. False if the log has no entry for it.
bool resources_read(const char *log, const char *mangled, struct resources *resources);

struct occupancy {
    int blocks, warps_per_block; // resident per SM
    int max_warps;
    const char *limited_by; // the resource that limits the number of resident blocks: "registers"
};

struct occupancy occupancy(const struct resources *resources, int threads, double shared_bytes);

#endif
