// Host memory that the device can access. Pinned and managed memory has the same address on both sides; in the
// simulator it is one allocation, so no page migrates and neither side waits for the other.
#include "host_memory.h"
#include "device_memory.h"
#include "stream.h"

#include "../analyses/host_access.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

// A block of host memory that the runtime tracks.
struct host_block {
    uint8_t *bytes; // [size]
    size_t size;
    enum host_memory_kind kind;
    unsigned flags;
    struct host_block *next;
};

static struct host_block *host_blocks;

static struct host_block **find_host_block(const void *address) {
    struct host_block **link = &host_blocks;
    while (*link &&
           !((uint8_t *)address >= (*link)->bytes && (size_t)((uint8_t *)address - (*link)->bytes) < (*link)->size))
        link = &(*link)->next;
    return link;
}

// msync with MS_ASYNC only walks the mappings on Linux, and fails with ENOMEM if a page is not mapped.
bool host_memory_is_mapped(const void *address, size_t size) {
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t first = (uintptr_t)address & ~(page - 1);
    uintptr_t end = (uintptr_t)address + size;
    return end >= (uintptr_t)address && msync((void *)first, end - first, MS_ASYNC) == 0;
}

enum host_memory_kind host_memory_kind(const void *address) {
    const struct host_block *block = *find_host_block(address);
    if (block)
        return block->kind;
    // Accessible memory without a block is a __managed__ variable.
    const struct sim_allocation *allocation = sim_memory_find((uint64_t)(uintptr_t)address, 1);
    return allocation && allocation->kind == SIM_ALLOCATION_HOST ? HOST_MANAGED : HOST_PLAIN;
}

static cudaError_t allocate_host(void **pointer, size_t size, enum host_memory_kind kind, unsigned flags) {
    if (!pointer || (kind == HOST_MANAGED && size == 0))
        return api_error(cudaErrorInvalidValue, "the pointer to the result is NULL or the size is 0");
    *pointer = NULL;
    if (size == 0)
        return cudaSuccess;
    struct host_block *block = calloc(1, sizeof *block);
    struct sim_allocation *allocation = block ? sim_memory_allocate(size, SIM_ALLOCATION_HOST, NULL) : NULL;
    if (!allocation) {
        free(block);
        return api_error(cudaErrorMemoryAllocation, "out of host memory for %zu bytes", size);
    }
    *block = (struct host_block){allocation->bytes, size, kind, flags, host_blocks};
    host_blocks = block;
    *pointer = block->bytes;
    return cudaSuccess;
}

cudaError_t cudaMallocHost(void **pointer, size_t size) {
    return DEVICE_CALL(allocate_host(pointer, size, HOST_PINNED, cudaHostAllocDefault));
}

cudaError_t cudaHostAlloc(void **pointer, size_t size, unsigned int flags) {
    return DEVICE_CALL(allocate_host(pointer, size, HOST_PINNED, flags));
}

cudaError_t cudaMallocManaged(void **pointer, size_t size, unsigned int flags) {
    return DEVICE_CALL(allocate_host(pointer, size, HOST_MANAGED, flags));
}

static void forget_host_block(struct host_block **link) {
    struct host_block *block = *link;
    struct sim_allocation *allocation = sim_memory_find((uint64_t)(uintptr_t)block->bytes, 1);
    *link = block->next;
    if (allocation)
        host_access_forget(allocation);
    sim_memory_free((uint64_t)(uintptr_t)block->bytes);
    free(block);
}

bool host_memory_free(void *pointer, enum host_memory_kind kind) {
    struct host_block **link = find_host_block(pointer);
    if (!*link || (*link)->bytes != pointer || (*link)->kind != kind)
        return false;
    forget_host_block(link);
    return true;
}

void host_memory_free_all(void) {
    while (host_blocks)
        forget_host_block(&host_blocks);
}

static cudaError_t release_host(void *pointer) {
    if (!pointer)
        return cudaSuccess;
    return host_memory_free(pointer, HOST_PINNED)
               ? cudaSuccess
               : api_error(cudaErrorInvalidValue, "%p was not allocated by cudaMallocHost or cudaHostAlloc", pointer);
}

cudaError_t cudaFreeHost(void *pointer) {
    return DEVICE_CALL(release_host(pointer));
}

// Registered memory is pageable memory of the program, which kernels access at the same address.
static cudaError_t host_register(void *pointer, size_t size, unsigned flags) {
    if (!pointer || size == 0 || !host_memory_is_mapped(pointer, size))
        return api_error(cudaErrorInvalidValue, "%zu bytes at %p are not host memory", size, pointer);
    if (*find_host_block(pointer))
        return api_error(cudaErrorHostMemoryAlreadyRegistered, "%p is already registered", pointer);
    struct host_block *block = calloc(1, sizeof *block);
    if (!block || !sim_memory_adopt(pointer, size)) {
        free(block);
        return api_error(cudaErrorMemoryAllocation, "out of host memory");
    }
    *block = (struct host_block){pointer, size, HOST_REGISTERED, flags, host_blocks};
    host_blocks = block;
    return cudaSuccess;
}

cudaError_t cudaHostRegister(void *pointer, size_t size, unsigned int flags) {
    return DEVICE_CALL(host_register(pointer, size, flags));
}

static cudaError_t host_unregister(void *pointer) {
    return host_memory_free(pointer, HOST_REGISTERED)
               ? cudaSuccess
               : api_error(cudaErrorHostMemoryNotRegistered, "%p was not registered", pointer);
}

cudaError_t cudaHostUnregister(void *pointer) {
    return DEVICE_CALL(host_unregister(pointer));
}

static cudaError_t host_device_pointer(void **device, void *host) {
    struct host_block *block = *find_host_block(host);
    if (!device || !block)
        return api_error(cudaErrorInvalidValue, "%p is not pinned memory", host);
    *device = host;
    return cudaSuccess;
}

cudaError_t cudaHostGetDevicePointer(void **device, void *host, unsigned int flags) {
    (void)flags;
    return DEVICE_CALL(host_device_pointer(device, host));
}

static cudaError_t host_flags(unsigned *flags, void *host) {
    struct host_block *block = *find_host_block(host);
    if (!flags || !block)
        return api_error(cudaErrorInvalidValue, "%p is not pinned memory", host);
    *flags = block->flags;
    return cudaSuccess;
}

cudaError_t cudaHostGetFlags(unsigned int *flags, void *host) {
    return DEVICE_CALL(host_flags(flags, host));
}

// Placement hints for managed memory, which have no effect here.
static cudaError_t check_managed(const void *pointer) {
    return host_memory_kind(pointer) == HOST_MANAGED
               ? cudaSuccess
               : api_error(cudaErrorInvalidValue, "%p is not managed memory", pointer);
}

#if CUDART_VERSION >= 13000
#define PREFETCH cudaMemPrefetchAsync
#define ADVISE cudaMemAdvise
#else
#define PREFETCH cudaMemPrefetchAsync_v2
#define ADVISE cudaMemAdvise_v2

cudaError_t cudaMemPrefetchAsync(const void *pointer, size_t size, int device, cudaStream_t stream) {
    (void)size;
    (void)device;
    return STREAM_CALL(stream, check_managed(pointer));
}

cudaError_t cudaMemAdvise(const void *pointer, size_t size, enum cudaMemoryAdvise advice, int device) {
    (void)size;
    (void)advice;
    (void)device;
    return DEVICE_CALL(check_managed(pointer));
}
#endif

cudaError_t PREFETCH(const void *pointer, size_t size, struct cudaMemLocation location, unsigned int flags,
                     cudaStream_t stream) {
    (void)size;
    (void)location;
    (void)flags;
    return STREAM_CALL(stream, check_managed(pointer));
}

cudaError_t ADVISE(const void *pointer, size_t size, enum cudaMemoryAdvise advice, struct cudaMemLocation location) {
    (void)size;
    (void)advice;
    (void)location;
    return DEVICE_CALL(check_managed(pointer));
}
