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

void tensor_free(struct device_tensor *tensor) {
    if (tensor->allocation)
        CUDA(cudaFree(tensor->allocation));
    memset(tensor, 0, sizeof *tensor);
}

void tensor_fill(const struct device_tensor *tensor, const void *host, size_t period) {
    size_t filled = period < tensor->bytes ? period : tensor->bytes;
    CUDA(cudaMemcpy(tensor->data, host, filled, cudaMemcpyHostToDevice));
    // What is filled is a whole number of periods, so it can be doubled on the device.
    while (filled < tensor->bytes) {
        size_t more = filled < tensor->bytes - filled ? filled : tensor->bytes - filled;
        CUDA(cudaMemcpy(tensor->data + filled, tensor->data, more, cudaMemcpyDeviceToDevice));
        filled += more;
    }
}

void tensor_poison(const struct device_tensor *tensor) {
    CUDA(cudaMemset(tensor->data, POISON_BYTE, tensor->bytes));
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
    return (!tensor->before || is_poisoned(tensor->allocation, tensor->before)) &&
           (!tensor->after || is_poisoned(tensor->data + tensor->bytes, tensor->after));
}
