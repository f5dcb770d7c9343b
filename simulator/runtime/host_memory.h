// Host memory that the runtime knows of: pinned, managed, and registered.
#ifndef SIMULATOR_RUNTIME_HOST_MEMORY_H
#define SIMULATOR_RUNTIME_HOST_MEMORY_H

#include "api.h"

enum host_memory_kind {
    HOST_PLAIN,      // the program's own, of which the runtime knows nothing; device memory too
    HOST_PINNED,     // cudaMallocHost, cudaHostAlloc
    HOST_MANAGED,    // cudaMallocManaged, __managed__
    HOST_REGISTERED, // cudaHostRegister
};

enum host_memory_kind host_memory_kind(const void *address);

// True where the host may read [address, address + size) without a fault.
bool host_memory_is_mapped(const void *address, size_t size);

// False where pointer is not the start of a block of that kind.
bool host_memory_free(void *pointer, enum host_memory_kind kind);

// cudaDeviceReset: gives back what was allocated, and forgets what was registered.
void host_memory_free_all(void);

#endif
