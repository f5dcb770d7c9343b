// cudaMemcpy and cudaMemset. A copy also propagates which bytes are initialized: bytes from the host count as
// initialized, bytes from the device keep their state.
#include "copy.h"
#include "device_memory.h"
#include "graph.h"
#include "host_memory.h"
#include "stream.h"

#include "../analyses/from_host.h"
#include "../analyses/partial.h"
#include "../analyses/race_streams.h"

#include <string.h>

// One side of a copy.
struct side {
    uint8_t *bytes;
    struct sim_allocation *allocation; // NULL: host memory, whose initialization is not tracked
    size_t offset;                     // offset of bytes in the allocation
};

// height rows of width bytes with a pitch; extent: the bytes from the first to the last.
struct region {
    size_t pitch, width, height;
};

static size_t extent(const struct region *region) {
    return region->height == 0 ? 0 : (region->height - 1) * region->pitch + region->width;
}

static cudaError_t device_side(struct side *side, const char *role, const void *address, size_t size) {
    uint64_t at = (uint64_t)(uintptr_t)address;
    struct sim_allocation *allocation = sim_memory_find(at, size);
    if (!allocation)
        return device_memory_report_invalid(role, address, size);
    side->offset = (size_t)(at - allocation->address);
    side->bytes = allocation->bytes + side->offset;
    side->allocation = allocation->kind == SIM_ALLOCATION_HOST ? NULL : allocation;
    return cudaSuccess;
}

static cudaError_t host_side(struct side *side, const char *role, const void *address, size_t size) {
    if (device_memory_find(address) || device_memory_was_freed(address))
        return api_error(cudaErrorInvalidValue,
                         "%s %p is a device pointer, but the copy direction requires a host pointer", role, address);
    if (!address)
        return api_error(cudaErrorInvalidValue, "%s is NULL", role);
    if (!host_memory_is_mapped(address, size))
        return api_error(cudaErrorInvalidValue, "%s %p does not point to %zu bytes of host memory", role, address,
                         size);
    side->bytes = (uint8_t *)address;
    side->allocation = NULL;
    side->offset = 0;
    return cudaSuccess;
}

// Finds both sides, or reports the invalid one.
static cudaError_t resolve(struct side *to, void *to_address, size_t to_size, struct side *from,
                           const void *from_address, size_t from_size, enum cudaMemcpyKind kind) {
    if ((unsigned)kind > cudaMemcpyDefault)
        return api_error(cudaErrorInvalidMemcpyDirection, "unknown copy direction %d", (int)kind);
    bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
    if (kind == cudaMemcpyDefault) {
        to_device = device_memory_find(to_address);
        from_device = device_memory_find(from_address);
    }
    cudaError_t error = to_device ? device_side(to, "the destination", to_address, to_size)
                                  : host_side(to, "the destination", to_address, to_size);
    if (error != cudaSuccess)
        return error;
    return from_device ? device_side(from, "the source", from_address, from_size)
                       : host_side(from, "the source", from_address, from_size);
}

static void copy_row(const struct side *to, size_t to_offset, const struct side *from, size_t from_offset,
                     size_t width) {
    if (from->allocation)
        partial_note_copy(from->allocation);
    memmove(to->bytes + to_offset, from->bytes + from_offset, width);
    if (to->allocation && from->allocation) {
        sim_memory_copy_written(to->allocation, to->offset + to_offset, from->allocation, from->offset + from_offset,
                                width);
    } else if (to->allocation) {
        sim_memory_mark_written(to->allocation, to->offset + to_offset, width);
        from_host_note_copy(to->allocation, to->offset + to_offset, width);
    } else if (from->allocation) {
        to_host_note_copy(from->allocation, from->offset + from_offset, width);
    }
}

// Memory that the race analyses know: that of the device, and host memory that it can access.
static struct work_rows rows_of(const void *address, const struct region *region, bool written) {
    struct work_rows rows = {(uint64_t)(uintptr_t)address, region->pitch, region->width, region->height, written};
    if (!sim_memory_find(rows.address, 1))
        rows.height = 0;
    return rows;
}

static bool is_pageable(const void *address) {
    return !sim_memory_find((uint64_t)(uintptr_t)address, 1);
}

// Adds the copy to the order of the work. A synchronous copy between host and device is waited for by the host, and so
// is a copy to pageable memory, which the driver makes in the call.
static void order_copy(unsigned timeline, bool synchronous, const void *to_address, const struct region *to,
                       const void *from_address, const struct region *from, bool within_device) {
    race_streams_copy(timeline, synchronous ? "a copy" : "an asynchronous copy", "a copy",
                      (struct work_rows[2]){rows_of(to_address, to, true), rows_of(from_address, from, false)});
    if ((synchronous && !within_device) || is_pageable(to_address))
        timeline_host_wait_for(timeline);
}

// In the timeline, and, if synchronous, so that the host waits.
static cudaError_t copy_rows(unsigned timeline, bool synchronous, void *to_address, size_t to_pitch,
                             const void *from_address, size_t from_pitch, size_t width, size_t height,
                             enum cudaMemcpyKind kind) {
    if (width > to_pitch || width > from_pitch) {
        return api_error(cudaErrorInvalidPitchValue,
                         "rows of %zu bytes are wider than a pitch: %zu bytes (destination), %zu bytes (source)", width,
                         to_pitch, from_pitch);
    }
    if (width == 0 || height == 0)
        return cudaSuccess;
    struct region to_region = {to_pitch, width, height}, from_region = {from_pitch, width, height};
    struct side to = {0}, from = {0};
    cudaError_t error = resolve(&to, to_address, extent(&to_region), &from, from_address, extent(&from_region), kind);
    if (error == cudaSuccess)
        order_copy(timeline, synchronous, to_address, &to_region, from_address, &from_region,
                   to.allocation && from.allocation);
    for (size_t row = 0; row < height && error == cudaSuccess; row++)
        copy_row(&to, row * to_pitch, &from, row * from_pitch, width);
    return error;
}

// Sets rows of width elements of 1, 2 or 4 bytes; the pitch is in bytes.
static cudaError_t set_rows(unsigned timeline, void *address, int value, size_t element, const struct region *region) {
    struct region bytes = {region->pitch, region->width * element, region->height};
    if (bytes.width > bytes.pitch) {
        return api_error(cudaErrorInvalidValue, "rows of %zu bytes are wider than the pitch of %zu bytes", bytes.width,
                         bytes.pitch);
    }
    if (extent(&bytes) == 0)
        return cudaSuccess;
    struct side side = {0};
    cudaError_t error = device_side(&side, "the memory", address, extent(&bytes));
    if (error == cudaSuccess)
        race_streams_copy(timeline, "a memset", "a memset", (struct work_rows[2]){rows_of(address, &bytes, true)});
    for (size_t row = 0; row < bytes.height && error == cudaSuccess; row++) {
        uint8_t *to = side.bytes + row * bytes.pitch;
        for (size_t i = 0; element > 1 && i < region->width; i++)
            memcpy(to + i * element, &value, element); // the low bytes: the host is little-endian
        if (element == 1)
            memset(to, value, bytes.width);
        if (side.allocation)
            sim_memory_mark_written(side.allocation, side.offset + row * bytes.pitch, bytes.width);
    }
    return error;
}

// ---- The same as operations of a graph

struct memcpy_operation {
    struct operation operation;
    void *to;
    const void *from;
    size_t to_pitch, from_pitch, width, height;
    enum cudaMemcpyKind kind;
};

static cudaError_t run_copy(const struct operation *operation, cudaStream_t stream) {
    const struct memcpy_operation *c = (const struct memcpy_operation *)operation;
    return copy_rows(stream_timeline(stream), false, c->to, c->to_pitch, c->from, c->from_pitch, c->width, c->height,
                     c->kind);
}

struct operation *new_memcpy_operation(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                                       size_t height, enum cudaMemcpyKind kind) {
    struct memcpy_operation *c = operation_new(sizeof *c, cudaGraphNodeTypeMemcpy, run_copy);
    if (!c)
        return NULL;
    *c = (struct memcpy_operation){c->operation, to, from, to_pitch, from_pitch, width, height, kind};
    return &c->operation;
}

struct memset_operation {
    struct operation operation;
    void *address;
    int value;
    size_t element;
    struct region region;
};

static cudaError_t run_set(const struct operation *operation, cudaStream_t stream) {
    const struct memset_operation *s = (const struct memset_operation *)operation;
    return set_rows(stream_timeline(stream), s->address, s->value, s->element, &s->region);
}

struct operation *new_memset_operation(void *address, size_t pitch, int value, size_t element, size_t width,
                                       size_t height) {
    struct memset_operation *s = operation_new(sizeof *s, cudaGraphNodeTypeMemset, run_set);
    if (!s)
        return NULL;
    *s = (struct memset_operation){s->operation, address, value, element, {pitch, width, height}};
    return &s->operation;
}

// ---- The calls

cudaError_t copy_bytes_unordered(void *to_address, const void *from_address, size_t size) {
    struct side to = {0}, from = {0};
    cudaError_t error = resolve(&to, to_address, size, &from, from_address, size, cudaMemcpyDeviceToDevice);
    if (error == cudaSuccess)
        copy_row(&to, 0, &from, 0, size);
    return error;
}

static cudaError_t copy_rows_sync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                                  size_t height, enum cudaMemcpyKind kind) {
    cudaError_t error = capture_reject_all("the call synchronizes with the device");
    return error == cudaSuccess
               ? copy_rows(stream_timeline(NULL), true, to, to_pitch, from, from_pitch, width, height, kind)
               : error;
}

static cudaError_t copy_rows_async(cudaStream_t stream, void *to, size_t to_pitch, const void *from, size_t from_pitch,
                                   size_t width, size_t height, enum cudaMemcpyKind kind) {
    if (capture_is_active(stream))
        return capture_add(stream, new_memcpy_operation(to, to_pitch, from, from_pitch, width, height, kind));
    return copy_rows(stream_timeline(stream), false, to, to_pitch, from, from_pitch, width, height, kind);
}

cudaError_t copy_bytes_sync(void *to, const void *from, size_t size, enum cudaMemcpyKind kind) {
    return copy_rows_sync(to, size, from, size, size, 1, kind);
}

cudaError_t copy_bytes_async(cudaStream_t stream, void *to, const void *from, size_t size, enum cudaMemcpyKind kind) {
    return copy_rows_async(stream, to, size, from, size, size, 1, kind);
}

// The host waits for a memset of memory that it can access, and for no other one: "API synchronization behavior" in the
// documentation of the runtime.
static cudaError_t set_sync(void *address, int value, size_t pitch, size_t width, size_t height) {
    cudaError_t error = capture_reject_legacy();
    if (error == cudaSuccess)
        error = set_rows(stream_timeline(NULL), address, value, 1, &(struct region){pitch, width, height});
    const struct sim_allocation *allocation = sim_memory_find((uint64_t)(uintptr_t)address, 1);
    if (error == cudaSuccess && allocation && allocation->kind == SIM_ALLOCATION_HOST)
        timeline_host_wait_for(stream_timeline(NULL));
    return error;
}

static cudaError_t set_async(cudaStream_t stream, void *address, int value, size_t pitch, size_t width, size_t height) {
    if (capture_is_active(stream))
        return capture_add(stream, new_memset_operation(address, pitch, value, 1, width, height));
    return set_rows(stream_timeline(stream), address, value, 1, &(struct region){pitch, width, height});
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t size, enum cudaMemcpyKind kind) {
    return SYNCHRONIZING_CALL(copy_bytes_sync(to, from, size, kind));
}

// The asynchronous calls may complete later; the simulator completes them at once.

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t size, enum cudaMemcpyKind kind, cudaStream_t stream) {
    return STREAM_CALL(stream, copy_bytes_async(stream, to, from, size, kind));
}

cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                         enum cudaMemcpyKind kind) {
    return SYNCHRONIZING_CALL(copy_rows_sync(to, to_pitch, from, from_pitch, width, height, kind));
}

cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                              size_t height, enum cudaMemcpyKind kind, cudaStream_t stream) {
    return STREAM_CALL(stream, copy_rows_async(stream, to, to_pitch, from, from_pitch, width, height, kind));
}

cudaError_t cudaMemset(void *address, int value, size_t size) {
    return DEVICE_CALL(set_sync(address, value, size, size, 1));
}

cudaError_t cudaMemsetAsync(void *address, int value, size_t size, cudaStream_t stream) {
    return STREAM_CALL(stream, set_async(stream, address, value, size, size, 1));
}

cudaError_t cudaMemset2D(void *address, size_t pitch, int value, size_t width, size_t height) {
    return DEVICE_CALL(set_sync(address, value, pitch, width, height));
}

cudaError_t cudaMemset3D(struct cudaPitchedPtr memory, int value, struct cudaExtent extent) {
    cudaError_t error = cudaSuccess;
    for (size_t z = 0; z < extent.depth && error == cudaSuccess; z++)
        error = DEVICE_CALL(set_sync((uint8_t *)memory.ptr + z * memory.pitch * memory.ysize, value, memory.pitch,
                                     extent.width, extent.height));
    return error;
}

cudaError_t cudaMemset2DAsync(void *address, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream) {
    return STREAM_CALL(stream, set_async(stream, address, value, pitch, width, height));
}

cudaError_t cudaMemset3DAsync(struct cudaPitchedPtr memory, int value, struct cudaExtent extent, cudaStream_t stream) {
    cudaError_t error = cudaSuccess;
    for (size_t z = 0; z < extent.depth && error == cudaSuccess; z++)
        error = STREAM_CALL(stream, set_async(stream, (uint8_t *)memory.ptr + z * memory.pitch * memory.ysize, value,
                                              memory.pitch, extent.width, extent.height));
    return error;
}
