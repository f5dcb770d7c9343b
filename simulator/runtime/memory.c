// cudaMalloc and its relatives. Device memory lies in an address range of its own that the host cannot touch, so that
// a mix-up of host and device pointers shows as it does on a GPU. Pinned and managed memory is memory of the host that
// kernels may use under the same address.
#include "memory.h"
#include "device.h"
#include "stream.h"

#include <inttypes.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define PITCH_ALIGNMENT 512

// Host memory that the runtime knows of.
struct host_block {
    uint8_t *bytes; // [size]
    size_t size;
    enum { PINNED, MANAGED, REGISTERED } kind;
    unsigned flags;
    struct host_block *next;
};

static struct host_block *host_blocks;

static struct host_block **find_host_block(const void *address) {
    struct host_block **link = &host_blocks;
    while (*link != NULL &&
           !((uint8_t *)address >= (*link)->bytes && (size_t)((uint8_t *)address - (*link)->bytes) < (*link)->size)) {
        link = &(*link)->next;
    }
    return link;
}

struct sim_allocation *memory_on_device(const void *address) {
    struct sim_allocation *allocation = sim_memory_find((uint64_t)(uintptr_t)address, 1);
    return allocation != NULL && allocation->kind != SIM_ALLOCATION_HOST ? allocation : NULL;
}

// msync with MS_ASYNC does nothing on Linux but walk the mappings, and fails with ENOMEM where one is missing.
bool memory_is_mapped(const void *address, size_t size) {
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t first = (uintptr_t)address & ~(page - 1);
    uintptr_t end = (uintptr_t)address + size;
    return end >= (uintptr_t)address && msync((void *)first, end - first, MS_ASYNC) == 0;
}

cudaError_t memory_explain(const char *role, const void *address, size_t size) {
    uint64_t at = (uint64_t)(uintptr_t)address;
    struct sim_allocation *allocation = sim_memory_find(at, 1);
    if (allocation != NULL) {
        return api_error(cudaErrorInvalidValue,
                         "%s, %p, has %zu bytes left of the %zu that were allocated; %zu are needed", role, address,
                         allocation->size - (size_t)(at - allocation->address), allocation->size, size);
    }
    if (sim_memory_find_freed(at) != NULL) {
        return api_error(cudaErrorInvalidValue, "%s, %p, is in device memory that was freed", role, address);
    }
    if (memory_is_mapped(address, 1)) {
        return api_error(cudaErrorInvalidValue, "%s, %p, is a host pointer; it must be a device pointer", role,
                         address);
    }
    int64_t distance;
    struct sim_allocation *nearest = sim_memory_nearest(at, &distance);
    if (nearest == NULL) {
        return api_error(cudaErrorInvalidValue, "%s, %p, is no device memory; none is allocated", role, address);
    }
    return api_error(cudaErrorInvalidValue,
                     "%s, %p, is no device memory; it is %" PRIu64 " bytes %s the nearest allocation, of %zu bytes",
                     role, address, (uint64_t)(distance < 0 ? -distance : distance),
                     distance < 0 ? "before" : "past the end of", nearest->size);
}

static cudaError_t allocate(void **pointer, size_t size) {
    if (pointer == NULL) {
        return api_error(cudaErrorInvalidValue, "the pointer to the result is NULL");
    }
    *pointer = NULL;
    if (size == 0) {
        return cudaSuccess;
    }
    struct sim_allocation *allocation = sim_memory_allocate(size, SIM_ALLOCATION_HEAP, NULL);
    if (allocation == NULL) {
        size_t used, capacity;
        sim_memory_usage(&used, &capacity);
        return api_error(cudaErrorMemoryAllocation,
                         "%zu bytes asked for; %zu of the device's %zu are in use, and the host must have them too",
                         size, used, capacity);
    }
    *pointer = (void *)(uintptr_t)allocation->address;
    return cudaSuccess;
}

cudaError_t cudaMalloc(void **pointer, size_t size) {
    return DEVICE_CALL(allocate(pointer, size));
}

cudaError_t cudaMallocAsync(void **pointer, size_t size, cudaStream_t stream) {
    return STREAM_CALL(stream, allocate(pointer, size));
}

static cudaError_t allocate_pitched(void **pointer, size_t *pitch, size_t width, size_t height) {
    if (pitch == NULL || width > SIZE_MAX - PITCH_ALIGNMENT) {
        return api_error(cudaErrorInvalidValue, "the pointer to the pitch is NULL or the width is too large");
    }
    *pitch = (width + PITCH_ALIGNMENT - 1) / PITCH_ALIGNMENT * PITCH_ALIGNMENT;
    if (height != 0 && *pitch > SIZE_MAX / height) {
        return api_error(cudaErrorMemoryAllocation, "%zu rows of %zu bytes are more than fit", height, *pitch);
    }
    return allocate(pointer, *pitch * height);
}

cudaError_t cudaMallocPitch(void **pointer, size_t *pitch, size_t width, size_t height) {
    return DEVICE_CALL(allocate_pitched(pointer, pitch, width, height));
}

static cudaError_t allocate_host(void **pointer, size_t size, int kind, unsigned flags) {
    if (pointer == NULL || (kind == MANAGED && size == 0)) {
        return api_error(cudaErrorInvalidValue, "the pointer to the result is NULL or the size is 0");
    }
    *pointer = NULL;
    if (size == 0) {
        return cudaSuccess;
    }
    struct host_block *block = calloc(1, sizeof *block);
    struct sim_allocation *allocation = block != NULL ? sim_memory_allocate(size, SIM_ALLOCATION_HOST, NULL) : NULL;
    if (allocation == NULL) {
        free(block);
        return api_error(cudaErrorMemoryAllocation, "the host has no %zu bytes left", size);
    }
    *block = (struct host_block){allocation->bytes, size, kind, flags, host_blocks};
    host_blocks = block;
    *pointer = block->bytes;
    return cudaSuccess;
}

cudaError_t cudaMallocHost(void **pointer, size_t size) {
    return DEVICE_CALL(allocate_host(pointer, size, PINNED, cudaHostAllocDefault));
}

cudaError_t cudaHostAlloc(void **pointer, size_t size, unsigned int flags) {
    return DEVICE_CALL(allocate_host(pointer, size, PINNED, flags));
}

cudaError_t cudaMallocManaged(void **pointer, size_t size, unsigned int flags) {
    return DEVICE_CALL(allocate_host(pointer, size, MANAGED, flags));
}

static void forget_host_block(struct host_block **link) {
    struct host_block *block = *link;
    *link = block->next;
    if (block->kind != REGISTERED) {
        sim_memory_free((uint64_t)(uintptr_t)block->bytes);
    }
    free(block);
}

static cudaError_t release(void *pointer) {
    if (pointer == NULL) {
        return cudaSuccess;
    }
    struct host_block **link = find_host_block(pointer);
    if (*link != NULL && (*link)->bytes == pointer && (*link)->kind == MANAGED) {
        forget_host_block(link);
        return cudaSuccess;
    }
    uint64_t address = (uint64_t)(uintptr_t)pointer;
    struct sim_allocation *allocation = memory_on_device(pointer);
    if (allocation == NULL) {
        if (*link != NULL && (*link)->kind == PINNED) {
            return api_error(cudaErrorInvalidValue,
                             "%p is host memory of cudaMallocHost or cudaHostAlloc; free it with "
                             "cudaFreeHost",
                             pointer);
        }
        if (sim_memory_find_freed(address) != NULL) {
            return api_error(cudaErrorInvalidValue, "%p was freed already", pointer);
        }
        return api_error(cudaErrorInvalidValue, "%p was not allocated by cudaMalloc", pointer);
    }
    if (allocation->kind != SIM_ALLOCATION_HEAP) {
        return api_error(cudaErrorInvalidValue, "%p is the device variable %s, which cannot be freed", pointer,
                         allocation->name);
    }
    if (allocation->address != address) {
        return api_error(cudaErrorInvalidValue,
                         "%p lies %" PRIu64 " bytes inside an allocation; free the pointer that "
                         "cudaMalloc gave",
                         pointer, address - allocation->address);
    }
    sim_memory_free(address);
    return cudaSuccess;
}

cudaError_t cudaFree(void *pointer) {
    return WAITING_CALL(release(pointer));
}

cudaError_t cudaFreeAsync(void *pointer, cudaStream_t stream) {
    return STREAM_CALL(stream, release(pointer));
}

static cudaError_t release_host(void *pointer) {
    if (pointer == NULL) {
        return cudaSuccess;
    }
    struct host_block **link = find_host_block(pointer);
    if (*link == NULL || (*link)->bytes != pointer || (*link)->kind != PINNED) {
        return api_error(cudaErrorInvalidValue, "%p was not allocated by cudaMallocHost or cudaHostAlloc", pointer);
    }
    forget_host_block(link);
    return cudaSuccess;
}

cudaError_t cudaFreeHost(void *pointer) {
    return DEVICE_CALL(release_host(pointer));
}

static void free_heap(struct sim_allocation *allocation, void *addresses) {
    if (allocation->kind == SIM_ALLOCATION_HEAP) {
        *(*(uint64_t **)addresses)++ = allocation->address;
    }
}

static void count(struct sim_allocation *allocation, void *total) {
    (void)allocation;
    ++*(size_t *)total;
}

void memory_free_all(void) {
    while (host_blocks != NULL) {
        forget_host_block(&host_blocks);
    }
    size_t total = 0;
    sim_memory_each(count, &total);
    uint64_t *addresses = calloc(total + 1, sizeof *addresses), *end = addresses;
    if (addresses != NULL) {
        sim_memory_each(free_heap, &end);
        while (end != addresses) {
            sim_memory_free(*--end);
        }
    }
    free(addresses);
}

// Registered memory is the program's own; copies from and to it work as ever, but kernels cannot reach it here.
static cudaError_t host_register(void *pointer, size_t size, unsigned flags) {
    if (pointer == NULL || size == 0 || !memory_is_mapped(pointer, size)) {
        return api_error(cudaErrorInvalidValue, "there are no %zu bytes of host memory at %p", size, pointer);
    }
    if (*find_host_block(pointer) != NULL) {
        return api_error(cudaErrorHostMemoryAlreadyRegistered, "%p is registered already", pointer);
    }
    struct host_block *block = calloc(1, sizeof *block);
    if (block == NULL) {
        return api_error(cudaErrorMemoryAllocation, "the host has no memory left");
    }
    *block = (struct host_block){pointer, size, REGISTERED, flags, host_blocks};
    host_blocks = block;
    return cudaSuccess;
}

cudaError_t cudaHostRegister(void *pointer, size_t size, unsigned int flags) {
    return DEVICE_CALL(host_register(pointer, size, flags));
}

static cudaError_t host_unregister(void *pointer) {
    struct host_block **link = find_host_block(pointer);
    if (*link == NULL || (*link)->bytes != pointer || (*link)->kind != REGISTERED) {
        return api_error(cudaErrorHostMemoryNotRegistered, "%p was not registered", pointer);
    }
    forget_host_block(link);
    return cudaSuccess;
}

cudaError_t cudaHostUnregister(void *pointer) {
    return DEVICE_CALL(host_unregister(pointer));
}

static cudaError_t host_device_pointer(void **device, void *host) {
    struct host_block *block = *find_host_block(host);
    if (device == NULL || block == NULL) {
        return api_error(cudaErrorInvalidValue, "%p is not pinned memory", host);
    }
    if (block->kind == REGISTERED) {
        return api_error(cudaErrorNotSupported, "the simulator's kernels cannot reach memory of cudaHostRegister; "
                                                "allocate it with cudaHostAlloc");
    }
    *device = host;
    return cudaSuccess;
}

cudaError_t cudaHostGetDevicePointer(void **device, void *host, unsigned int flags) {
    (void)flags;
    return DEVICE_CALL(host_device_pointer(device, host));
}

static cudaError_t host_flags(unsigned *flags, void *host) {
    struct host_block *block = *find_host_block(host);
    if (flags == NULL || block == NULL) {
        return api_error(cudaErrorInvalidValue, "%p is not pinned memory", host);
    }
    *flags = block->flags;
    return cudaSuccess;
}

cudaError_t cudaHostGetFlags(unsigned int *flags, void *host) {
    return DEVICE_CALL(host_flags(flags, host));
}

static cudaError_t pointer_attributes(struct cudaPointerAttributes *attributes, const void *pointer) {
    if (attributes == NULL) {
        return api_error(cudaErrorInvalidValue, "the pointer to the result is NULL");
    }
    *attributes = (struct cudaPointerAttributes){.type = cudaMemoryTypeUnregistered, .device = cudaInvalidDeviceId};
    const struct host_block *block = *find_host_block(pointer);
    if (memory_on_device(pointer) != NULL) {
        attributes->type = cudaMemoryTypeDevice;
        attributes->device = 0;
        attributes->devicePointer = (void *)pointer;
    } else if (block != NULL) {
        attributes->type = block->kind == MANAGED ? cudaMemoryTypeManaged : cudaMemoryTypeHost;
        attributes->device = 0;
        attributes->hostPointer = (void *)pointer;
        attributes->devicePointer = block->kind == REGISTERED ? NULL : (void *)pointer;
    } else {
        attributes->hostPointer = (void *)pointer;
    }
    return cudaSuccess;
}

cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes, const void *pointer) {
    return DEVICE_CALL(pointer_attributes(attributes, pointer));
}

static cudaError_t memory_info(size_t *free_bytes, size_t *total_bytes) {
    if (free_bytes == NULL || total_bytes == NULL) {
        return api_error(cudaErrorInvalidValue, "a pointer to a result is NULL");
    }
    size_t used, capacity;
    sim_memory_usage(&used, &capacity);
    *free_bytes = capacity - used;
    *total_bytes = capacity;
    return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes) {
    return DEVICE_CALL(memory_info(free_bytes, total_bytes));
}
