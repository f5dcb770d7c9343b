// Stream attributes. They control placement, caching and waiting, none of which the simulator models: it only stores
// them.
#include "stream.h"

#include <stdlib.h>

struct stream_attribute {
    unsigned long long stream; // its ID, which is never reused
    cudaStreamAttrID id;
    cudaStreamAttrValue value;
    struct stream_attribute *next;
};

static struct stream_attribute *attributes;

static struct stream_attribute *find(unsigned long long stream, cudaStreamAttrID id) {
    struct stream_attribute *entry = attributes;
    while (entry && (entry->stream != stream || entry->id != id))
        entry = entry->next;
    return entry;
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
        return api_error(cudaErrorInvalidValue, "the value is NULL, or stream attribute %d is unknown", (int)id);
    struct stream_attribute *entry = find(stream_id(stream), id);
    if (!entry) {
        entry = malloc(sizeof *entry);
        if (!entry)
            return api_error(cudaErrorMemoryAllocation, "out of host memory");
        *entry = (struct stream_attribute){.stream = stream_id(stream), .id = id, .next = attributes};
        attributes = entry;
    }
    entry->value = *value;
    return cudaSuccess;
}

static cudaError_t get(cudaStream_t stream, cudaStreamAttrID id, cudaStreamAttrValue *value) {
    cudaError_t error = stream_check(stream);
    if (error != cudaSuccess)
        return error;
    if (!value || !is_known(id))
        return api_error(cudaErrorInvalidValue, "the pointer to the result is NULL, or stream attribute %d is unknown",
                         (int)id);
    const struct stream_attribute *entry = find(stream_id(stream), id);
    *value = entry ? entry->value : (cudaStreamAttrValue){0};
    return cudaSuccess;
}

static cudaError_t copy(cudaStream_t to, cudaStream_t from) {
    cudaError_t error = stream_check(to);
    if (error == cudaSuccess)
        error = stream_check(from);
    for (const struct stream_attribute *entry = attributes; entry && error == cudaSuccess; entry = entry->next)
        if (entry->stream == stream_id(from))
            error = set(to, entry->id, &entry->value);
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

// All streams can access managed memory.
cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void *memory, size_t length, unsigned int flags) {
    (void)memory;
    (void)length;
    (void)flags;
    return DEVICE_CALL(stream_check(stream));
}

cudaError_t cudaCtxResetPersistingL2Cache(void) {
    return DEVICE_CALL(cudaSuccess);
}
