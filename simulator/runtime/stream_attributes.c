// Attributes of streams. They say how work is placed, cached and waited for, which nothing here depends on: they are
// kept, and given back.
#include "stream.h"

#include <stdlib.h>

struct kept {
    unsigned long long stream; // its id, which no later one gets
    cudaStreamAttrID id;
    cudaStreamAttrValue value;
    struct kept *next;
};

static struct kept *attributes;

static struct kept *find(unsigned long long stream, cudaStreamAttrID id) {
    struct kept *one = attributes;
    while (one && (one->stream != stream || one->id != id))
        one = one->next;
    return one;
}

static bool is_known(cudaStreamAttrID id) {
    return id == cudaLaunchAttributeAccessPolicyWindow || id == cudaLaunchAttributeSynchronizationPolicy ||
           id == cudaLaunchAttributePriority || id == cudaLaunchAttributeMemSyncDomain ||
           id == cudaLaunchAttributeMemSyncDomainMap;
}

static cudaError_t set(cudaStream_t stream, cudaStreamAttrID id, const cudaStreamAttrValue *value) {
    cudaError_t error = stream_check(stream);
    if (error != cudaSuccess)
        return error;
    if (!value || !is_known(id))
        return api_error(cudaErrorInvalidValue, "the value is NULL, or streams have no attribute %d", (int)id);
    struct kept *one = find(stream_id(stream), id);
    if (!one) {
        one = malloc(sizeof *one);
        if (!one)
            return api_error(cudaErrorMemoryAllocation, "the host has no memory left");
        *one = (struct kept){.stream = stream_id(stream), .id = id, .next = attributes};
        attributes = one;
    }
    one->value = *value;
    return cudaSuccess;
}

static cudaError_t get(cudaStream_t stream, cudaStreamAttrID id, cudaStreamAttrValue *value) {
    cudaError_t error = stream_check(stream);
    if (error != cudaSuccess)
        return error;
    if (!value || !is_known(id))
        return api_error(cudaErrorInvalidValue, "the result is NULL, or streams have no attribute %d", (int)id);
    const struct kept *one = find(stream_id(stream), id);
    *value = one ? one->value : (cudaStreamAttrValue){0};
    return cudaSuccess;
}

static cudaError_t copy(cudaStream_t to, cudaStream_t from) {
    cudaError_t error = stream_check(to);
    if (error == cudaSuccess)
        error = stream_check(from);
    for (const struct kept *one = attributes; one && error == cudaSuccess; one = one->next)
        if (one->stream == stream_id(from))
            error = set(to, one->id, &one->value);
    return error;
}

cudaError_t cudaStreamSetAttribute(cudaStream_t stream, cudaStreamAttrID id, const cudaStreamAttrValue *value) {
    return DEVICE_CALL(set(stream, id, value));
}

cudaError_t cudaStreamGetAttribute(cudaStream_t stream, cudaStreamAttrID id, cudaStreamAttrValue *value) {
    return DEVICE_CALL(get(stream, id, value));
}

cudaError_t cudaStreamCopyAttributes(cudaStream_t to, cudaStream_t from) {
    return DEVICE_CALL(copy(to, from));
}

// Managed memory is everybody's here.
cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void *memory, size_t length, unsigned int flags) {
    (void)memory;
    (void)length;
    (void)flags;
    return DEVICE_CALL(stream_check(stream));
}

cudaError_t cudaCtxResetPersistingL2Cache(void) {
    return DEVICE_CALL(cudaSuccess);
}
