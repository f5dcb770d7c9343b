// Memory that the program asks for, on the device and on the host, and what a pointer points to.
#ifndef SIMULATOR_RUNTIME_MEMORY_H
#define SIMULATOR_RUNTIME_MEMORY_H

#include "../exec/memory.h"
#include "api.h"

// Device memory that address lies in; NULL for any host memory, pinned and managed too.
struct sim_allocation *memory_on_device(const void *address);

// True where the host may read [address, address + size) without a fault.
bool memory_is_mapped(const void *address, size_t size);

// Explains on stderr why [address, address + size) is no device memory, and returns cudaErrorInvalidValue. role is
// what the caller calls it: "the destination".
cudaError_t memory_explain(const char *role, const void *address, size_t size);

// cudaDeviceReset: gives everything back.
void memory_free_all(void);

#endif
