// Host memory that the runtime tracks: pinned, managed and registered.
#ifndef SIMULATOR_RUNTIME_HOST_MEMORY_H
#define SIMULATOR_RUNTIME_HOST_MEMORY_H

#include "api.h"

enum host_memory_kind {
    HOST_PLAIN,      // pageable memory, which the runtime does not track; also device memory
    HOST_PINNED,     // cudaMallocHost, cudaHostAlloc
    HOST_MANAGED,    // cudaMallocManaged, __managed__
    HOST_REGISTERED, // cudaHostRegister
};

enum host_memory_kind host_memory_kind(const void *address);

// Whether [address, address + size) is mapped in the host process.
bool host_memory_is_mapped(const void *address, size_t size);

// False if pointer is not the start of a block of that kind.
bool host_memory_free(void *pointer, enum host_memory_kind kind);

// cudaDeviceReset: frees allocations and unregisters registered memory.
void host_memory_free_all(void);

#endif
