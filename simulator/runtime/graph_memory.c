// Memory of graphs: its address is known when the node is added, the memory is there from when the node has run until
// one that frees it has, or the program frees it. A captured cudaMallocAsync is such a node.
#include "device.h"
#include "graph.h"

#include "../machine/allocation.h"

#include <stdlib.h>

struct holding {
    struct work work;
    uint64_t address;
    size_t size;
};

// What was allocated by graphs, of which some may have been freed since.
struct held {
    uint64_t address;
    unsigned id;
    struct held *next;
};

static struct held *all_held;
static uint64_t used_high, reserved, reserved_high;

static uint64_t used(void) {
    uint64_t bytes = 0;
    for (struct held **link = &all_held; *link;) {
        struct held *one = *link;
        const struct sim_allocation *live = sim_memory_find(one->address, 1);
        if (live && live->id == one->id) {
            bytes += live->size;
            link = &one->next;
        } else {
            *link = one->next;
            free(one);
        }
    }
    return bytes;
}

static cudaError_t run_allocation(const struct work *work, cudaStream_t stream) {
    (void)stream;
    const struct holding *h = (const struct holding *)work;
    if (sim_memory_find(h->address, 1))
        return api_error(
            cudaErrorInvalidValue,
            "the graph's memory at 0x%llx is still there from its last launch: free it before, or instantiate "
            "the graph with cudaGraphInstantiateFlagAutoFreeOnLaunch",
            (unsigned long long)h->address);
    struct held *made = malloc(sizeof *made);
    const struct sim_allocation *allocation = made ? sim_memory_allocate_at(h->address, h->size) : NULL;
    if (!allocation) {
        free(made);
        return api_error(cudaErrorMemoryAllocation, "there is no memory for %zu bytes of a graph", h->size);
    }
    *made = (struct held){h->address, allocation->id, all_held};
    all_held = made;
    uint64_t now = used();
    used_high = now > used_high ? now : used_high;
    reserved = now > reserved ? now : reserved;
    reserved_high = reserved > reserved_high ? reserved : reserved_high;
    return cudaSuccess;
}

static cudaError_t run_release(const struct work *work, cudaStream_t stream) {
    (void)stream;
    const struct holding *h = (const struct holding *)work;
    return sim_memory_free(h->address)
               ? cudaSuccess
               : api_error(cudaErrorInvalidValue, "a graph frees 0x%llx, where there is no memory now",
                           (unsigned long long)h->address);
}

cudaError_t memory_work(void **pointer, size_t size, struct work **work) {
    uint64_t address = pointer ? sim_memory_reserve(size) : 0;
    if (!address)
        return api_error(pointer ? cudaErrorMemoryAllocation : cudaErrorInvalidValue,
                         pointer ? "there is no place for %zu bytes" : "the pointer to the result is NULL", size);
    struct holding *h = work_new(sizeof *h, cudaGraphNodeTypeMemAlloc, run_allocation);
    if (!h)
        return api_error(cudaErrorMemoryAllocation, "the host has no memory left");
    h->address = address;
    h->size = size;
    *work = &h->work;
    *pointer = (void *)(uintptr_t)address;
    return cudaSuccess;
}

struct work *memory_free_work(const void *pointer) {
    struct holding *h = work_new(sizeof *h, cudaGraphNodeTypeMemFree, run_release);
    if (!h)
        return NULL;
    h->address = (uint64_t)(uintptr_t)pointer;
    return &h->work;
}

void memory_work_free_again(const struct work *work) {
    if (work->type == cudaGraphNodeTypeMemAlloc)
        sim_memory_free(((const struct holding *)work)->address);
}

static cudaError_t params_of(cudaGraphNode_t node, enum cudaGraphNodeType type, const struct holding **h) {
    cudaError_t error = graph_check_node(node);
    if (error == cudaSuccess && node->work->type != type)
        error = api_error(cudaErrorInvalidValue, "the node is of another kind");
    *h = error == cudaSuccess ? (const struct holding *)node->work : NULL;
    return error;
}

static cudaError_t get_allocation(cudaGraphNode_t node, struct cudaMemAllocNodeParams *params) {
    const struct holding *h;
    cudaError_t error = params_of(node, cudaGraphNodeTypeMemAlloc, &h);
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
    const struct holding *h;
    cudaError_t error = params_of(node, cudaGraphNodeTypeMemFree, &h);
    if (error == cudaSuccess && pointer)
        *(void **)pointer = (void *)(uintptr_t)h->address;
    return error;
}

cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void *pointer) {
    return DEVICE_CALL(get_release(node, pointer));
}

// ---- What graphs take of the device. Nothing is kept that is not in use, so what is reserved is only counted.

static cudaError_t trim(int ordinal) {
    cudaError_t error = device_check_ordinal(ordinal);
    if (error == cudaSuccess)
        reserved = used();
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
        *value = used();
        return cudaSuccess;
    case cudaGraphMemAttrUsedMemHigh:
        *value = used_high;
        return cudaSuccess;
    case cudaGraphMemAttrReservedMemCurrent:
        *value = reserved;
        return cudaSuccess;
    case cudaGraphMemAttrReservedMemHigh:
        *value = reserved_high;
        return cudaSuccess;
    }
    return api_error(cudaErrorInvalidValue, "there is no attribute %d of graphs' memory", (int)attribute);
}

cudaError_t cudaDeviceGetGraphMemAttribute(int device, enum cudaGraphMemAttributeType attribute, void *value) {
    return DEVICE_CALL(get_attribute(device, attribute, value));
}

// The high-water marks can be set to 0.
static cudaError_t set_attribute(int ordinal, enum cudaGraphMemAttributeType attribute, const uint64_t *value) {
    cudaError_t error = device_check_ordinal(ordinal);
    bool high = attribute == cudaGraphMemAttrUsedMemHigh || attribute == cudaGraphMemAttrReservedMemHigh;
    if (error == cudaSuccess && (!value || *value != 0 || !high))
        error = api_error(cudaErrorInvalidValue, "only the highest values can be set, and only to 0");
    if (error == cudaSuccess)
        *(attribute == cudaGraphMemAttrUsedMemHigh ? &used_high : &reserved_high) =
            attribute == cudaGraphMemAttrUsedMemHigh ? used() : reserved;
    return error;
}

cudaError_t cudaDeviceSetGraphMemAttribute(int device, enum cudaGraphMemAttributeType attribute, void *value) {
    return DEVICE_CALL(set_attribute(device, attribute, value));
}
