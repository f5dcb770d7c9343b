// Graph memory: its address is fixed when the node is added; the memory is allocated when the node runs, and freed when
// a free node runs or the program frees it. A captured cudaMallocAsync is such a node.
#include "device.h"
#include "graph.h"

#include "../machine/allocation.h"

#include <stdlib.h>

struct memory_operation {
    struct operation operation;
    uint64_t address;
    size_t size;
};

// Allocations of graphs, some of which may have been freed since.
struct graph_allocation {
    uint64_t address;
    unsigned id;
    struct graph_allocation *next;
};

static struct graph_allocation *graph_allocations;
static uint64_t used_bytes_high, reserved_bytes, reserved_bytes_high;

static uint64_t used_bytes(void) {
    uint64_t bytes = 0;
    for (struct graph_allocation **link = &graph_allocations; *link;) {
        struct graph_allocation *entry = *link;
        const struct sim_allocation *live = sim_memory_find(entry->address, 1);
        if (live && live->id == entry->id) {
            bytes += live->size;
            link = &entry->next;
        } else {
            *link = entry->next;
            free(entry);
        }
    }
    return bytes;
}

static cudaError_t run_allocation(const struct operation *operation, cudaStream_t stream) {
    (void)stream;
    const struct memory_operation *h = (const struct memory_operation *)operation;
    if (sim_memory_find(h->address, 1))
        return api_error(cudaErrorInvalidValue,
                         "the graph's allocation at 0x%llx is still live from its previous launch; free it, or "
                         "instantiate the graph with cudaGraphInstantiateFlagAutoFreeOnLaunch",
                         (unsigned long long)h->address);
    struct graph_allocation *created = malloc(sizeof *created);
    const struct sim_allocation *allocation = created ? sim_memory_allocate_at(h->address, h->size) : NULL;
    if (!allocation) {
        free(created);
        return api_error(cudaErrorMemoryAllocation, "out of memory for a graph's allocation of %zu bytes", h->size);
    }
    *created = (struct graph_allocation){h->address, allocation->id, graph_allocations};
    graph_allocations = created;
    uint64_t current_bytes = used_bytes();
    used_bytes_high = current_bytes > used_bytes_high ? current_bytes : used_bytes_high;
    reserved_bytes = current_bytes > reserved_bytes ? current_bytes : reserved_bytes;
    reserved_bytes_high = reserved_bytes > reserved_bytes_high ? reserved_bytes : reserved_bytes_high;
    return cudaSuccess;
}

static cudaError_t run_release(const struct operation *operation, cudaStream_t stream) {
    (void)stream;
    const struct memory_operation *h = (const struct memory_operation *)operation;
    return sim_memory_free(h->address)
               ? cudaSuccess
               : api_error(cudaErrorInvalidValue, "the graph frees 0x%llx, which is not allocated",
                           (unsigned long long)h->address);
}

cudaError_t new_allocation_operation(void **pointer, size_t size, struct operation **operation) {
    uint64_t address = pointer ? sim_memory_reserve(size) : 0;
    if (!address)
        return api_error(pointer ? cudaErrorMemoryAllocation : cudaErrorInvalidValue,
                         pointer ? "out of address space for %zu bytes" : "the pointer to the result is NULL", size);
    struct memory_operation *h = operation_new(sizeof *h, cudaGraphNodeTypeMemAlloc, run_allocation);
    if (!h)
        return api_error(cudaErrorMemoryAllocation, "out of host memory");
    h->address = address;
    h->size = size;
    *operation = &h->operation;
    *pointer = (void *)(uintptr_t)address;
    return cudaSuccess;
}

struct operation *new_free_operation(const void *pointer) {
    struct memory_operation *h = operation_new(sizeof *h, cudaGraphNodeTypeMemFree, run_release);
    if (!h)
        return NULL;
    h->address = (uint64_t)(uintptr_t)pointer;
    return &h->operation;
}

void free_live_allocation(const struct operation *operation) {
    if (operation->type == cudaGraphNodeTypeMemAlloc)
        sim_memory_free(((const struct memory_operation *)operation)->address);
}

static cudaError_t check_memory_node(cudaGraphNode_t node, enum cudaGraphNodeType type,
                                     const struct memory_operation **h) {
    cudaError_t error = graph_check_node(node);
    if (error == cudaSuccess && node->operation->type != type)
        error = api_error(cudaErrorInvalidValue, "the node has another type");
    *h = error == cudaSuccess ? (const struct memory_operation *)node->operation : NULL;
    return error;
}

static cudaError_t get_allocation(cudaGraphNode_t node, struct cudaMemAllocNodeParams *params) {
    const struct memory_operation *h;
    cudaError_t error = check_memory_node(node, cudaGraphNodeTypeMemAlloc, &h);
    if (error == cudaSuccess && params) {
        *params = (struct cudaMemAllocNodeParams){.bytesize = h->size, .dptr = (void *)(uintptr_t)h->address};
        params->poolProps.allocType = cudaMemAllocationTypePinned;
        params->poolProps.location.type = cudaMemLocationTypeDevice;
    }
    return error;
}

cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node, struct cudaMemAllocNodeParams *params) {
    return DEVICE_CALL(get_allocation(node, params));
}

static cudaError_t get_release(cudaGraphNode_t node, void *pointer) {
    const struct memory_operation *h;
    cudaError_t error = check_memory_node(node, cudaGraphNodeTypeMemFree, &h);
    if (error == cudaSuccess && pointer)
        *(void **)pointer = (void *)(uintptr_t)h->address;
    return error;
}

cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void *pointer) {
    return DEVICE_CALL(get_release(node, pointer));
}

// ---- Memory usage of graphs. Unused memory is not cached, so reserved bytes are only a counter.

static cudaError_t trim(int ordinal) {
    cudaError_t error = device_check_ordinal(ordinal);
    if (error == cudaSuccess)
        reserved_bytes = used_bytes();
    return error;
}

cudaError_t cudaDeviceGraphMemTrim(int device) {
    return DEVICE_CALL(trim(device));
}

static cudaError_t get_attribute(int ordinal, enum cudaGraphMemAttributeType attribute, uint64_t *value) {
    cudaError_t error = device_check_ordinal(ordinal);
    if (error == cudaSuccess && !value)
        error = api_error(cudaErrorInvalidValue, "the pointer to the result is NULL");
    if (error != cudaSuccess)
        return error;
    switch (attribute) {
    case cudaGraphMemAttrUsedMemCurrent:
        *value = used_bytes();
        return cudaSuccess;
    case cudaGraphMemAttrUsedMemHigh:
        *value = used_bytes_high;
        return cudaSuccess;
    case cudaGraphMemAttrReservedMemCurrent:
        *value = reserved_bytes;
        return cudaSuccess;
    case cudaGraphMemAttrReservedMemHigh:
        *value = reserved_bytes_high;
        return cudaSuccess;
    }
    return api_error(cudaErrorInvalidValue, "unknown graph memory attribute %d", (int)attribute);
}

cudaError_t cudaDeviceGetGraphMemAttribute(int device, enum cudaGraphMemAttributeType attribute, void *value) {
    return DEVICE_CALL(get_attribute(device, attribute, value));
}

// The high-water marks can be reset to 0.
static cudaError_t set_attribute(int ordinal, enum cudaGraphMemAttributeType attribute, const uint64_t *value) {
    cudaError_t error = device_check_ordinal(ordinal);
    bool high = attribute == cudaGraphMemAttrUsedMemHigh || attribute == cudaGraphMemAttrReservedMemHigh;
    if (error == cudaSuccess && (!value || *value != 0 || !high))
        error = api_error(cudaErrorInvalidValue, "only high-water marks can be set, and only to 0");
    if (error == cudaSuccess)
        *(attribute == cudaGraphMemAttrUsedMemHigh ? &used_bytes_high : &reserved_bytes_high) =
            attribute == cudaGraphMemAttrUsedMemHigh ? used_bytes() : reserved_bytes;
    return error;
}

cudaError_t cudaDeviceSetGraphMemAttribute(int device, enum cudaGraphMemAttributeType attribute, void *value) {
    return DEVICE_CALL(set_attribute(device, attribute, value));
}
