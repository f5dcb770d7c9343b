// Memory pools: the device has its default one, from which cudaMallocAsync takes. A pool keeps freed memory for the
// next allocation instead of giving it back; the simulator gives it back at once, so that a use after the free is seen.
#include "device.h"
#include "device_memory.h"
#include "stream.h"

struct CUmemPoolHandle_st {
    uint64_t release_threshold; // how much freed memory to keep; remembered, because programs read back what they set
};

static struct CUmemPoolHandle_st default_pool;

static cudaError_t get(cudaMemPool_t *pool, int ordinal) {
    cudaError_t error = device_check_ordinal(ordinal);
    if (error == cudaSuccess && !pool)
        error = api_error(cudaErrorInvalidValue, "the pointer to the result is NULL");
    if (error == cudaSuccess)
        *pool = &default_pool;
    return error;
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int device) {
    return DEVICE_CALL(get(pool, device));
}

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *pool, int device) {
    return DEVICE_CALL(get(pool, device));
}

static cudaError_t check(cudaMemPool_t pool) {
    return pool == &default_pool
               ? cudaSuccess
               : api_error(cudaErrorInvalidValue, "this is not the default pool, the only one that the simulator has");
}

static cudaError_t set_attribute(cudaMemPool_t pool, enum cudaMemPoolAttr attribute, const void *value) {
    cudaError_t error = check(pool);
    if (error == cudaSuccess && attribute == cudaMemPoolAttrReleaseThreshold)
        pool->release_threshold = *(const uint64_t *)value;
    return error; // the others say in which cases freed memory may be used again: it never is
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
