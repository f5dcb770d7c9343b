// How many blocks of a kernel one SM can hold at once.
#ifndef SIMULATOR_RUNTIME_OCCUPANCY_H
#define SIMULATOR_RUNTIME_OCCUPANCY_H

#include "../machine/launch.h"

#include <stddef.h>

struct function;

// Registers are handed out by ptxas when it makes machine code, and registers.h knows how many where they were written
// down. Else 32 a thread are assumed, the most that lets a GPU of 2048 threads an SM be full: occupancy is then an
// upper bound.
#define OCCUPANCY_ASSUMED_REGISTERS 32
int occupancy_registers(const struct function *function);

// threads and shared_bytes (static and dynamic) are those of one block. 0 where not even one block fits.
int occupancy_blocks(const struct sim_device *gpu, int threads, int registers_per_thread, size_t shared_bytes);

#endif
