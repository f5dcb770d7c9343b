// How many blocks of a kernel one SM can hold at once.
#ifndef SIMULATOR_RUNTIME_OCCUPANCY_H
#define SIMULATOR_RUNTIME_OCCUPANCY_H

#include "../machine/launch.h"

#include <stddef.h>

// Registers are handed out by ptxas when it makes machine code, which never happens here. 32 a thread is assumed, the
// most that lets a GPU of 2048 threads an SM be full: occupancy by the simulator is an upper bound. `nvcc -Xptxas -v`
// prints the true number.
#define OCCUPANCY_ASSUMED_REGISTERS 32

// threads and shared_bytes (static and dynamic) are those of one block. 0 where not even one block fits.
int occupancy_blocks(const struct sim_device *gpu, int threads, int registers_per_thread, size_t shared_bytes);

#endif
