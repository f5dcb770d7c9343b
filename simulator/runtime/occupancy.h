// Occupancy: how many blocks of a kernel one SM can hold.
#ifndef SIMULATOR_RUNTIME_OCCUPANCY_H
#define SIMULATOR_RUNTIME_OCCUPANCY_H

#include "../machine/launch.h"

#include <stddef.h>

struct function;

// ptxas allocates registers when it generates machine code; registers.h reads its output if there is one. Otherwise the
// runtime assumes 32 per thread, the maximum that allows full occupancy on a GPU with 2048 threads per SM: the result
// is then an upper bound.
#define OCCUPANCY_ASSUMED_REGISTERS 32
int occupancy_registers(const struct function *function);

// threads and shared_bytes (static and dynamic) are per block. Returns 0 if not even one block fits.
int occupancy_blocks(const struct sim_device *gpu, int threads, int registers_per_thread, size_t shared_bytes);

#endif
