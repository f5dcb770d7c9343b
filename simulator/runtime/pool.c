// Memory pools: the device has a default pool for cudaMallocAsync, and a program can create others. A pool of a GPU
// caches freed memory for later allocations; the simulator frees it at once, so that it can detect uses after the free.
#include "device.h"
#include "device_memory.h"
#include "stream.h"

#include <stdlib.h>

#define REUSES 3 // reuse policies: attributes 1 to 3

struct CUmemPoolHandle_st {
    uint64_t release_threshold; // bytes of freed memory to cache; stored only because programs read back their setting
    int may_reuse[REUSES];
    struct CUmemPoolHandle_st *next;
};

static struct CUmemPoolHandle_st default_pool = {.may_reuse = {1, 1, 1}};
static struct CUmemPoolHandle_st *created_pools, *current = &default_pool;

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

static cudaError_t check_pool(cudaMemPool_t pool) {
    for (const struct CUmemPoolHandle_st *entry = created_pools; entry; entry = entry->next)
        if (entry == pool)
            return cudaSuccess;
    return pool == &default_pool
               ? cudaSuccess
               : api_error(cudaErrorInvalidValue, "invalid memory pool handle: never created, or already destroyed");
}

static cudaError_t set_current(int ordinal, cudaMemPool_t pool) {
    cudaError_t error = device_check_ordinal(ordinal);
    if (error == cudaSuccess)
        error = check_pool(pool);
    if (error == cudaSuccess)
        current = pool;
    return error;
}

cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool) {
    return DEVICE_CALL(set_current(device, pool));
}

static cudaError_t create(cudaMemPool_t *pool, const struct cudaMemPoolProps *properties) {
    if (!pool || !properties || properties->allocType != cudaMemAllocationTypePinned)
        return api_error(cudaErrorInvalidValue, "a pointer is NULL, or allocType is not cudaMemAllocationTypePinned");
    if (properties->handleTypes != cudaMemHandleTypeNone)
        return api_error(cudaErrorNotSupported, "memory pools for interprocess sharing are not supported");
    cudaError_t error = properties->location.type == cudaMemLocationTypeDevice
                            ? device_check_ordinal(properties->location.id)
                            : api_error(cudaErrorNotSupported, "only memory pools in device memory are supported");
    if (error != cudaSuccess)
        return error;
    struct CUmemPoolHandle_st *created = malloc(sizeof *created);
    if (!created)
        return api_error(cudaErrorMemoryAllocation, "out of host memory");
    *created = (struct CUmemPoolHandle_st){.may_reuse = {1, 1, 1}, .next = created_pools};
    *pool = created_pools = created;
    return cudaSuccess;
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t *pool, const struct cudaMemPoolProps *properties) {
    return DEVICE_CALL(create(pool, properties));
}

// Memory that was allocated from the pool stays valid.
static cudaError_t destroy(cudaMemPool_t pool) {
    cudaError_t error = pool == &default_pool ? api_error(cudaErrorInvalidValue, "the default pool cannot be destroyed")
                                              : check_pool(pool);
    if (error != cudaSuccess)
        return error;
    struct CUmemPoolHandle_st **link = &created_pools;
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
    cudaError_t error = value ? check_pool(pool) : api_error(cudaErrorInvalidValue, "the pointer to the value is NULL");
    if (error == cudaSuccess && attribute == cudaMemPoolAttrReleaseThreshold)
        pool->release_threshold = *(const uint64_t *)value;
    else if (error == cudaSuccess && attribute >= 1 && (unsigned)attribute <= REUSES)
        pool->may_reuse[attribute - 1] = *(const int *)value;
    return error; // the other attributes reset high-water marks, which the simulator does not track
}

static cudaError_t get_attribute(cudaMemPool_t pool, enum cudaMemPoolAttr attribute, void *value) {
    cudaError_t error =
        value ? check_pool(pool) : api_error(cudaErrorInvalidValue, "the pointer to the result is NULL");
    if (error != cudaSuccess)
        return error;
    if (attribute == cudaMemPoolAttrReleaseThreshold)
        *(uint64_t *)value = pool->release_threshold;
    else if (attribute >= 1 && (unsigned)attribute <= REUSES)
        *(int *)value = pool->may_reuse[attribute - 1];
    else
        return api_error(cudaErrorNotSupported, "the usage attributes of memory pools are not supported");
    return cudaSuccess;
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attribute, void *value) {
    return DEVICE_CALL(get_attribute(pool, attribute, value));
}

// Access to the pool's memory: the only device always has it.
static cudaError_t set_access(cudaMemPool_t pool, const struct cudaMemAccessDesc *list, size_t count) {
    cudaError_t error = count && !list ? api_error(cudaErrorInvalidValue, "the list is NULL") : check_pool(pool);
    for (size_t i = 0; i < count && error == cudaSuccess; i++)
        error = list[i].location.type == cudaMemLocationTypeDevice
                    ? device_check_ordinal(list[i].location.id)
                    : api_error(cudaErrorInvalidValue, "the location is not a device");
    return error;
}

cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const struct cudaMemAccessDesc *list, size_t count) {
    return DEVICE_CALL(set_access(pool, list, count));
}

static cudaError_t get_access(enum cudaMemAccessFlags *flags, cudaMemPool_t pool,
                              const struct cudaMemLocation *location) {
    cudaError_t error = flags && location ? check_pool(pool) : api_error(cudaErrorInvalidValue, "a pointer is NULL");
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
    return DEVICE_CALL(check_pool(pool));
}

static cudaError_t allocate(void **pointer, size_t size, cudaMemPool_t pool, cudaStream_t stream) {
    cudaError_t error = check_pool(pool);
    return error == cudaSuccess ? device_memory_allocate_async(pointer, size, stream) : error;
}

cudaError_t cudaMallocFromPoolAsync(void **pointer, size_t size, cudaMemPool_t pool, cudaStream_t stream) {
    return STREAM_CALL(stream, allocate(pointer, size, pool, stream));
}
