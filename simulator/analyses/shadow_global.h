// The shadow of an allocation in global memory: which block wrote each word last, and which read it since.
#ifndef SIMULATOR_ANALYSES_SHADOW_GLOBAL_H
#define SIMULATOR_ANALYSES_SHADOW_GLOBAL_H

#include <stdint.h>

struct sim_allocation;

// A block is its key, race_global.c says which; a ..._by is instruction << 4 | which of the word's bytes.
struct shadow {
    uint32_t *write, *write_by, *read, *read_by; // [words]
    uint32_t last_written;                       // the largest key that ever wrote
};

// NULL where the host has no memory left.
struct shadow *shadow_of(struct sim_allocation *allocation);

// Larger than the keys of all blocks so far.
uint32_t shadow_next_key(void);

#endif
