// Device memory: what the program asked for, and what a pointer points to.
#ifndef SIMULATOR_RUNTIME_DEVICE_MEMORY_H
#define SIMULATOR_RUNTIME_DEVICE_MEMORY_H

#include "../machine/allocation.h"
#include "api.h"

// cudaMalloc.
cudaError_t device_memory_allocate(void **pointer, size_t size);
// In a stream's order: while it is captured, a node of its graph.
cudaError_t device_memory_allocate_in(void **pointer, size_t size, cudaStream_t stream);

// Device memory that address lies in; NULL for any host memory, pinned and managed too.
struct sim_allocation *device_memory_find(const void *address);

// Whether address is in device memory that was freed. Where pinned or managed memory was freed, the program may have
// put memory of its own by now.
bool device_memory_was_freed(const void *address);

// Explains on stderr why [address, address + size) is no device memory, and returns cudaErrorInvalidValue. role is
// what the caller calls it: "the destination".
cudaError_t device_memory_explain(const char *role, const void *address, size_t size);

// cudaDeviceReset: gives everything back.
void device_memory_free_all(void);

#endif
