// What messages call a place in memory: "k[0][2][40][8]", "P_smem[3][17]"; where nobody knows a name, a byte's number.
#ifndef SIMULATOR_MACHINE_PLACES_H
#define SIMULATOR_MACHINE_PLACES_H

#include "allocation.h"
#include "launch.h"

enum { PLACE_TEXT = 192 };

// The element of the allocation at offset.
void place_global(const struct sim_allocation *allocation, size_t offset, char text[PLACE_TEXT]);

// The tensor or the variable that the allocation holds.
void place_owner(const struct sim_allocation *allocation, char text[PLACE_TEXT]);

// The element at offset of a block's shared memory, which has bytes in all.
void place_shared(const struct ptx_kernel *kernel, size_t bytes, size_t offset, char text[PLACE_TEXT]);

// What memory from address on is, as simulator_describe_memory() is told.
void place_describe(uint64_t address, const char *name, unsigned element_bytes, int dimensions, const int64_t *size,
                    const int64_t *stride);

// "_ZZ6kernelvE6Q_smem" is Q_smem: the last of the lengths and identifiers in it.
void place_own_name(const char *mangled, char *text, size_t size);

#endif
