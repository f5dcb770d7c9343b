// Memory pools: the device has its default one, from which cudaMallocAsync takes, and a program may make others. A pool
// keeps freed memory for the next allocation instead of giving it back; the simulator gives it back at once, so that a
// use after the free is seen.
#include "device.h"
#include "device_memory.h"
#include "stream.h"

#include <stdlib.h>

#define REUSES 3 // in which cases freed memory may be used again: attributes 1 to 3

struct CUmemPoolHandle_st {
    uint64_t release_threshold; // how much freed memory to keep; remembered, because programs read back what they set
    int may_reuse[REUSES];
    struct CUmemPoolHandle_st *next;
};

static struct CUmemPoolHandle_st default_pool = {.may_reuse = {1, 1, 1}};
static struct CUmemPoolHandle_st *made_pools, *current = &default_pool;

static cudaError_t get(cudaMemPool_t *pool, int ordinal, struct CUmemPoolHandle_st *which) {
    cudaError_t error = device_check_ordinal(ordinal);
    if (error == cudaSuccess && !pool)
        error = api_error(cudaErrorInvalidValue, "the pointer to the result is NULL");
    if (error == cudaSuccess)
        *pool = which;
    return error;
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int device) {
    return DEVICE_CALL(get(pool, device, &default_pool));
}

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *pool, int device) {
    return DEVICE_CALL(get(pool, device, current));
}

static cudaError_t check(cudaMemPool_t pool) {
    for (const struct CUmemPoolHandle_st *one = made_pools; one; one = one->next)
        if (one == pool)
            return cudaSuccess;
    return pool == &default_pool ? cudaSuccess
                                 : api_error(cudaErrorInvalidValue, "the pool does not exist, or was destroyed");
}

static cudaError_t set_current(int ordinal, cudaMemPool_t pool) {
    cudaError_t error = device_check_ordinal(ordinal);
    if (error == cudaSuccess)
        error = check(pool);
    if (error == cudaSuccess)
        current = pool;
    return error;
}

cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool) {
    return DEVICE_CALL(set_current(device, pool));
}

static cudaError_t create(cudaMemPool_t *pool, const struct cudaMemPoolProps *properties) {
    if (!pool || !properties || properties->allocType != cudaMemAllocationTypePinned)
        return api_error(cudaErrorInvalidValue, "a pointer is NULL, or the memory is not to be pinned");
    if (properties->handleTypes != cudaMemHandleTypeNone)
        return api_error(cudaErrorNotSupported, "the simulator has no pools that other processes share");
    cudaError_t error = properties->location.type == cudaMemLocationTypeDevice
                            ? device_check_ordinal(properties->location.id)
                            : api_error(cudaErrorNotSupported, "the simulator has pools of device memory only");
    if (error != cudaSuccess)
        return error;
    struct CUmemPoolHandle_st *made = malloc(sizeof *made);
    if (!made)
        return api_error(cudaErrorMemoryAllocation, "the host has no memory left");
    *made = (struct CUmemPoolHandle_st){.may_reuse = {1, 1, 1}, .next = made_pools};
    *pool = made_pools = made;
    return cudaSuccess;
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t *pool, const struct cudaMemPoolProps *properties) {
    return DEVICE_CALL(create(pool, properties));
}

// What was allocated from it stays.
static cudaError_t destroy(cudaMemPool_t pool) {
    cudaError_t error =
        pool == &default_pool ? api_error(cudaErrorInvalidValue, "the default pool cannot be destroyed") : check(pool);
    if (error != cudaSuccess)
        return error;
    struct CUmemPoolHandle_st **link = &made_pools;
    while (*link != pool)
        link = &(*link)->next;
    *link = pool->next;
    if (current == pool)
        current = &default_pool;
    free(pool);
    return cudaSuccess;
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
    return DEVICE_CALL(destroy(pool));
}

static cudaError_t set_attribute(cudaMemPool_t pool, enum cudaMemPoolAttr attribute, const void *value) {
    cudaError_t error = value ? check(pool) : api_error(cudaErrorInvalidValue, "the pointer to the value is NULL");
    if (error == cudaSuccess && attribute == cudaMemPoolAttrReleaseThreshold)
        pool->release_threshold = *(const uint64_t *)value;
    else if (error == cudaSuccess && attribute >= 1 && (unsigned)attribute <= REUSES)
        pool->may_reuse[attribute - 1] = *(const int *)value;
    return error; // the others set high-water marks back, which are not kept
}

static cudaError_t get_attribute(cudaMemPool_t pool, enum cudaMemPoolAttr attribute, void *value) {
    cudaError_t error = value ? check(pool) : api_error(cudaErrorInvalidValue, "the pointer to the result is NULL");
    if (error != cudaSuccess)
        return error;
    if (attribute == cudaMemPoolAttrReleaseThreshold)
        *(uint64_t *)value = pool->release_threshold;
    else if (attribute >= 1 && (unsigned)attribute <= REUSES)
        *(int *)value = pool->may_reuse[attribute - 1];
    else
        return api_error(cudaErrorNotSupported, "the simulator does not count what a pool holds");
    return cudaSuccess;
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attribute, void *value) {
    return DEVICE_CALL(get_attribute(pool, attribute, value));
}

// Who may reach its memory: the one device, always.
static cudaError_t set_access(cudaMemPool_t pool, const struct cudaMemAccessDesc *list, size_t count) {
    cudaError_t error = count && !list ? api_error(cudaErrorInvalidValue, "the list is NULL") : check(pool);
    for (size_t i = 0; i < count && error == cudaSuccess; i++)
        error = list[i].location.type == cudaMemLocationTypeDevice
                    ? device_check_ordinal(list[i].location.id)
                    : api_error(cudaErrorInvalidValue, "a place that is no device");
    return error;
}

cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const struct cudaMemAccessDesc *list, size_t count) {
    return DEVICE_CALL(set_access(pool, list, count));
}

static cudaError_t get_access(enum cudaMemAccessFlags *flags, cudaMemPool_t pool,
                              const struct cudaMemLocation *location) {
    cudaError_t error = flags && location ? check(pool) : api_error(cudaErrorInvalidValue, "a pointer is NULL");
    if (error == cudaSuccess)
        *flags = location->type == cudaMemLocationTypeDevice && location->id == 0 ? cudaMemAccessFlagsProtReadWrite
                                                                                  : cudaMemAccessFlagsProtNone;
    return error;
}

cudaError_t cudaMemPoolGetAccess(enum cudaMemAccessFlags *flags, cudaMemPool_t pool, struct cudaMemLocation *location) {
    return DEVICE_CALL(get_access(flags, pool, location));
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attribute, void *value) {
    return DEVICE_CALL(set_attribute(pool, attribute, value));
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t bytes_to_keep) {
    (void)bytes_to_keep;
    return DEVICE_CALL(check(pool));
}

static cudaError_t allocate(void **pointer, size_t size, cudaMemPool_t pool, cudaStream_t stream) {
    cudaError_t error = check(pool);
    return error == cudaSuccess ? device_memory_allocate_in(pointer, size, stream) : error;
}

cudaError_t cudaMallocFromPoolAsync(void **pointer, size_t size, cudaMemPool_t pool, cudaStream_t stream) {
    return STREAM_CALL(stream, allocate(pointer, size, pool, stream));
}
