// Device memory: allocations, and lookup of pointers.
#ifndef SIMULATOR_RUNTIME_DEVICE_MEMORY_H
#define SIMULATOR_RUNTIME_DEVICE_MEMORY_H

#include "../machine/allocation.h"
#include "api.h"

// cudaMalloc.
cudaError_t device_memory_allocate(void **pointer, size_t size);
// Stream-ordered; a graph node if the stream is being captured.
cudaError_t device_memory_allocate_async(void **pointer, size_t size, cudaStream_t stream);

// The device allocation that contains address; NULL for host memory, including pinned and managed memory.
struct sim_allocation *device_memory_find(const void *address);

// Whether address is in freed device memory. False for addresses of freed pinned or managed memory that the program has
// mapped again.
bool device_memory_was_freed(const void *address);

// Explains on stderr why [address, address + size) is not device memory, and returns cudaErrorInvalidValue. role names
// the argument: "the destination".
cudaError_t device_memory_report_invalid(const char *role, const void *address, size_t size);

// cudaDeviceReset: frees all device memory.
void device_memory_free_all(void);

#endif
