#include "runner/tensor.h"

#include "dtype.h"
#include "host/parallel.h"
#include "runner/cuda.h"

#include <stdlib.h>
#include <string.h>

enum { GUARD_BYTES = 256 * 1024 };

size_t tensor_allocation_bytes(size_t bytes, bool guarded) {
    return bytes + (guarded ? 2 * GUARD_BYTES : 0);
}

struct device_tensor tensor_create(size_t bytes, bool guarded, size_t offset) {
    struct device_tensor tensor = {
        .bytes = bytes, .before = offset + (guarded ? GUARD_BYTES : 0), .after = guarded ? GUARD_BYTES : 0};
    void *allocation;
    CUDA(cudaMalloc(&allocation, tensor.before + bytes + tensor.after));
    tensor.allocation = allocation;
    tensor.data = tensor.allocation + tensor.before;
    if (tensor.before)
        CUDA(cudaMemset(tensor.allocation, POISON_BYTE, tensor.before));
    if (tensor.after)
        CUDA(cudaMemset(tensor.data + bytes, POISON_BYTE, tensor.after));
    return tensor;
}

struct device_tensor tensor_create_parts(size_t bytes, bool guarded, size_t offset, int parts) {
    struct device_tensor first = {0}, **next = &first.next;
    for (int i = 0; i < parts; i++) {
        CUDA(cudaSetDevice(i));
        struct device_tensor part = tensor_create(bytes, guarded, offset);
        CUDA(cudaDeviceSynchronize()); // what follows comes from device 0
        if (i == 0) {
            first = part;
            continue;
        }
        *next = host_allocate(1, sizeof part);
        **next = part;
        next = &(*next)->next;
    }
    CUDA(cudaSetDevice(0));
    return first;
}

void tensor_free(struct device_tensor *tensor) {
    if (tensor->next) {
        tensor_free(tensor->next);
        free(tensor->next);
    }
    if (tensor->allocation)
        CUDA(cudaFree(tensor->allocation));
    memset(tensor, 0, sizeof *tensor);
}

void tensor_fill(const struct device_tensor *tensor, const void *host, size_t period) {
    if (tensor->next) {
        const char *from = host;
        for (const struct device_tensor *part = tensor; part; from += part->bytes, part = part->next)
            CUDA(cudaMemcpy(part->data, from, part->bytes, cudaMemcpyHostToDevice));
        return;
    }
    size_t filled = period < tensor->bytes ? period : tensor->bytes;
    CUDA(cudaMemcpy(tensor->data, host, filled, cudaMemcpyHostToDevice));
    // What is filled is a whole number of periods, so it can be doubled on the device.
    while (filled < tensor->bytes) {
        size_t more = filled < tensor->bytes - filled ? filled : tensor->bytes - filled;
        CUDA(cudaMemcpy(tensor->data + filled, tensor->data, more, cudaMemcpyDeviceToDevice));
        filled += more;
    }
}

size_t tensor_bytes(const struct device_tensor *tensor) {
    return tensor ? tensor->bytes + tensor_bytes(tensor->next) : 0;
}

void tensor_read(const struct device_tensor *tensor, void *host) {
    char *to = host;
    for (const struct device_tensor *part = tensor; part; to += part->bytes, part = part->next)
        CUDA(cudaMemcpy(to, part->data, part->bytes, cudaMemcpyDeviceToHost));
}

void tensor_poison(const struct device_tensor *tensor) {
    for (const struct device_tensor *part = tensor; part; part = part->next)
        CUDA(cudaMemset(part->data, POISON_BYTE, part->bytes));
}

static bool is_poisoned(const void *device, size_t bytes) {
    unsigned char *copy = host_allocate((int64_t)bytes, 1);
    CUDA(cudaMemcpy(copy, device, bytes, cudaMemcpyDeviceToHost));
    bool poisoned = true;
    for (size_t i = 0; i < bytes; i++)
        poisoned = poisoned && copy[i] == POISON_BYTE;
    free(copy);
    return poisoned;
}

bool tensor_guards_intact(const struct device_tensor *tensor) {
    if (tensor->next && !tensor_guards_intact(tensor->next))
        return false;
    return (!tensor->before || is_poisoned(tensor->allocation, tensor->before)) &&
           (!tensor->after || is_poisoned(tensor->data + tensor->bytes, tensor->after));
}
