// Names of elements in memory for messages: "k[0][2][40][8]", "P_smem[3][17]"; without a known name, the number of the
// byte.
#ifndef SIMULATOR_MACHINE_ELEMENT_NAMES_H
#define SIMULATOR_MACHINE_ELEMENT_NAMES_H

#include "allocation.h"
#include "launch.h"

enum { ELEMENT_NAME_TEXT = 192 };

// Names the element of the allocation at offset.
void element_name_global(const struct sim_allocation *allocation, size_t offset, char text[ELEMENT_NAME_TEXT]);

// Names the tensor or variable that the allocation contains.
void element_name_allocation(const struct sim_allocation *allocation, char text[ELEMENT_NAME_TEXT]);

// Names the element at offset of a block's shared memory, which has this many bytes.
void element_name_shared(const struct ptx_kernel *kernel, size_t bytes, size_t offset, char text[ELEMENT_NAME_TEXT]);

// Names the mbarrier at offset, for "the mbarrier %s": "Q_full", "full[1]", "at byte 16 of shared memory".
void element_name_mbarrier(const struct ptx_kernel *kernel, size_t bytes, size_t offset, char text[ELEMENT_NAME_TEXT]);

// Describes the tensor at address, as simulator_describe_memory() does.
void element_names_describe(uint64_t address, const char *name, unsigned element_bytes, int dimensions,
                            const int64_t *size, const int64_t *stride);

// Extracts the last identifier of a mangled name: "_ZZ6kernelvE6Q_smem" becomes Q_smem.
void element_name_demangle(const char *mangled, char *text, size_t size);

#endif
