// cudaMalloc and related calls. Device memory has its own address range, which the host cannot access, so that a mix-up
// of host and device pointers fails as on a GPU. host_memory.c has the memory that host and device share.
#include "device_memory.h"
#include "device.h"
#include "graph.h"
#include "host_memory.h"
#include "stream.h"

#include "../analyses/race_streams.h"
#include "../machine/timeline.h"

#include <inttypes.h>
#include <stdlib.h>

#define PITCH_ALIGNMENT 512
#define NEARBY_BYTES (1 << 26) // at a larger distance, the nearest allocation has nothing to do with an invalid pointer

struct sim_allocation *device_memory_find(const void *address) {
    struct sim_allocation *allocation = sim_memory_find((uint64_t)(uintptr_t)address, 1);
    return allocation && allocation->kind != SIM_ALLOCATION_HOST ? allocation : NULL;
}

bool device_memory_was_freed(const void *address) {
    const struct sim_allocation *freed = sim_memory_find_freed((uint64_t)(uintptr_t)address);
    return freed && (freed->kind != SIM_ALLOCATION_HOST || !host_memory_is_mapped(address, 1));
}

cudaError_t device_memory_report_invalid(const char *role, const void *address, size_t size) {
    uint64_t at = (uint64_t)(uintptr_t)address;
    if (!address)
        return api_error(cudaErrorInvalidValue, "%s is NULL", role);
    struct sim_allocation *allocation = sim_memory_find(at, 1);
    if (allocation) {
        return api_error(cudaErrorInvalidValue,
                         "%s %p is out of bounds: %zu bytes remain of the allocation of %zu, and %zu are needed", role,
                         address, allocation->size - (size_t)(at - allocation->address), allocation->size, size);
    }
    if (device_memory_was_freed(address))
        return api_error(cudaErrorInvalidValue, "%s %p points to freed device memory", role, address);
    if (host_memory_is_mapped(address, 1))
        return api_error(cudaErrorInvalidValue, "%s %p is a host pointer; a device pointer is required", role, address);
    int64_t distance;
    struct sim_allocation *nearest = sim_memory_nearest(at, &distance);
    if (!nearest || distance > NEARBY_BYTES || distance < -NEARBY_BYTES)
        return api_error(cudaErrorInvalidValue, "%s %p is not in device memory", role, address);
    return api_error(cudaErrorInvalidValue,
                     "%s %p is not in device memory; it is %" PRIu64 " bytes %s the nearest allocation, of %zu bytes",
                     role, address, (uint64_t)(distance < 0 ? -distance : distance),
                     distance < 0 ? "before" : "past the end of", nearest->size);
}

cudaError_t device_memory_allocate(void **pointer, size_t size) {
    if (!pointer)
        return api_error(cudaErrorInvalidValue, "the pointer to the result is NULL");
    *pointer = NULL;
    if (size == 0)
        return cudaSuccess;
    struct sim_allocation *allocation = sim_memory_allocate(size, SIM_ALLOCATION_HEAP, NULL);
    if (!allocation) {
        size_t used, capacity;
        sim_memory_usage(&used, &capacity);
        return api_error(cudaErrorMemoryAllocation,
                         "cannot allocate %zu bytes: %zu bytes of the device's %zu bytes are in use, and the host must "
                         "also provide the memory",
                         size, used, capacity);
    }
    *pointer = (void *)(uintptr_t)allocation->address;
    return cudaSuccess;
}

static cudaError_t allocate_sync(void **pointer, size_t size) {
    cudaError_t error =
        capture_reject_all("the call may synchronize; allocate before the capture, or use cudaMallocAsync");
    return error == cudaSuccess ? device_memory_allocate(pointer, size) : error;
}

cudaError_t cudaMalloc(void **pointer, size_t size) {
    return DEVICE_CALL(allocate_sync(pointer, size));
}

cudaError_t device_memory_allocate_async(void **pointer, size_t size, cudaStream_t stream) {
    struct operation *operation = NULL;
    if (size == 0 || !capture_is_active(stream))
        return device_memory_allocate(pointer, size);
    cudaError_t error = new_allocation_operation(pointer, size, &operation);
    return error == cudaSuccess ? capture_add(stream, operation) : error;
}

cudaError_t cudaMallocAsync(void **pointer, size_t size, cudaStream_t stream) {
    return STREAM_CALL(stream, device_memory_allocate_async(pointer, size, stream));
}

static cudaError_t allocate_pitched(void **pointer, size_t *pitch, size_t width, size_t height) {
    if (!pitch || width > SIZE_MAX - PITCH_ALIGNMENT)
        return api_error(cudaErrorInvalidValue, "the pointer to the pitch is NULL or the width is too large");
    *pitch = (width + PITCH_ALIGNMENT - 1) / PITCH_ALIGNMENT * PITCH_ALIGNMENT;
    if (height != 0 && *pitch > SIZE_MAX / height)
        return api_error(cudaErrorMemoryAllocation, "%zu rows of %zu bytes exceed the address space", height, *pitch);
    return device_memory_allocate(pointer, *pitch * height);
}

cudaError_t cudaMallocPitch(void **pointer, size_t *pitch, size_t width, size_t height) {
    return DEVICE_CALL(allocate_pitched(pointer, pitch, width, height));
}

static cudaError_t allocate_3d(struct cudaPitchedPtr *pointer, struct cudaExtent extent) {
    if (!pointer || (extent.depth != 0 && extent.height > SIZE_MAX / extent.depth))
        return api_error(cudaErrorInvalidValue, "the pointer to the result is NULL, or there are too many rows");
    pointer->xsize = extent.width;
    pointer->ysize = extent.height;
    return allocate_pitched(&pointer->ptr, &pointer->pitch, extent.width, extent.height * extent.depth);
}

cudaError_t cudaMalloc3D(struct cudaPitchedPtr *pointer, struct cudaExtent extent) {
    return DEVICE_CALL(allocate_3d(pointer, extent));
}

static cudaError_t release(void *pointer) {
    if (!pointer)
        return cudaSuccess;
    if (host_memory_free(pointer, HOST_MANAGED))
        return cudaSuccess;
    uint64_t address = (uint64_t)(uintptr_t)pointer;
    struct sim_allocation *allocation = device_memory_find(pointer);
    if (!allocation) {
        if (host_memory_kind(pointer) == HOST_PINNED)
            return api_error(cudaErrorInvalidValue, "%p is pinned host memory; free it with cudaFreeHost", pointer);
        if (device_memory_was_freed(pointer))
            return api_error(cudaErrorInvalidValue, "double free: %p was already freed", pointer);
        return api_error(cudaErrorInvalidValue, "%p was not allocated by cudaMalloc", pointer);
    }
    if (allocation->kind != SIM_ALLOCATION_HEAP) {
        return api_error(cudaErrorInvalidValue, "%p is the device variable %s, which cannot be freed", pointer,
                         allocation->name);
    }
    if (allocation->address != address) {
        return api_error(cudaErrorInvalidValue,
                         "%p is %" PRIu64 " bytes inside an allocation; free the pointer that cudaMalloc returned",
                         pointer, address - allocation->address);
    }
    sim_memory_free(address);
    return cudaSuccess;
}

static cudaError_t release_sync(void *pointer) {
    cudaError_t error = pointer ? capture_reject_all("the call synchronizes with the device") : cudaSuccess;
    if (error == cudaSuccess)
        timeline_host_wait_for_device(device_ordinal()); // not promised, but so it is on all GPUs
    return error == cudaSuccess ? release(pointer) : error;
}

cudaError_t cudaFree(void *pointer) {
    return SYNCHRONIZING_CALL(release_sync(pointer));
}

static cudaError_t release_async(void *pointer, cudaStream_t stream) {
    if (!pointer || !capture_is_active(stream)) {
        const struct sim_allocation *allocation = device_memory_find(pointer);
        if (allocation)
            race_streams_free(stream_timeline(stream), allocation);
        return release(pointer);
    }
    struct operation *operation = new_free_operation(pointer);
    return operation ? capture_add(stream, operation) : api_error(cudaErrorMemoryAllocation, "out of host memory");
}

cudaError_t cudaFreeAsync(void *pointer, cudaStream_t stream) {
    return STREAM_CALL(stream, release_async(pointer, stream));
}

static void free_heap(struct sim_allocation *allocation, void *addresses) {
    if (allocation->kind == SIM_ALLOCATION_HEAP)
        *(*(uint64_t **)addresses)++ = allocation->address;
}

static void count(struct sim_allocation *allocation, void *total) {
    (void)allocation;
    ++*(size_t *)total;
}

void device_memory_free_all(void) {
    size_t total = 0;
    sim_memory_each(count, &total);
    uint64_t *addresses = calloc(total + 1, sizeof *addresses), *end = addresses;
    if (addresses) {
        sim_memory_each(free_heap, &end);
        while (end != addresses)
            sim_memory_free(*--end);
    }
    free(addresses);
}

static cudaError_t pointer_attributes(struct cudaPointerAttributes *attributes, const void *pointer) {
    if (!attributes)
        return api_error(cudaErrorInvalidValue, "the pointer to the result is NULL");
    *attributes = (struct cudaPointerAttributes){.type = cudaMemoryTypeUnregistered, .device = cudaInvalidDeviceId};
    const struct sim_allocation *allocation = device_memory_find(pointer);
    if (allocation) {
        attributes->type = cudaMemoryTypeDevice;
        attributes->device = allocation->device;
        attributes->devicePointer = (void *)pointer;
        return cudaSuccess;
    }
    enum host_memory_kind kind = host_memory_kind(pointer);
    attributes->hostPointer = (void *)pointer;
    if (kind != HOST_PLAIN) {
        attributes->type = kind == HOST_MANAGED ? cudaMemoryTypeManaged : cudaMemoryTypeHost;
        attributes->device = device_ordinal();
        attributes->devicePointer = (void *)pointer;
    }
    return cudaSuccess;
}

cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes, const void *pointer) {
    return DEVICE_CALL(pointer_attributes(attributes, pointer));
}

static cudaError_t memory_info(size_t *free_bytes, size_t *total_bytes) {
    if (!free_bytes || !total_bytes)
        return api_error(cudaErrorInvalidValue, "a pointer to a result is NULL");
    size_t used, capacity;
    sim_memory_usage(&used, &capacity);
    *free_bytes = capacity - used;
    *total_bytes = capacity;
    return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes) {
    return DEVICE_CALL(memory_info(free_bytes, total_bytes));
}
