#include "runner/tensor.h"

#include "host/parallel.h"
#include "host/tolerance.h"
#include "runner/cuda.h"

#include <stdlib.h>
#include <string.h>

enum { GUARD_BYTES = 256 * 1024, POISON_BYTE = 0xFF };
_Static_assert(POISON_BITS == 0xFFFFFFFFu, "cudaMemset() writes the poison byte by byte");

size_t tensor_bytes(int64_t elements, bool guarded) {
    return (size_t)elements * sizeof(float) + (guarded ? 2 * GUARD_BYTES : 0);
}

struct device_tensor tensor_create(int64_t elements, bool guarded) {
    struct device_tensor tensor = {.elements = elements, .guard_bytes = guarded ? GUARD_BYTES : 0};
    void *allocation;
    CUDA(cudaMalloc(&allocation, tensor_bytes(elements, guarded)));
    tensor.allocation = allocation;
    tensor.data = (float *)(tensor.allocation + tensor.guard_bytes);
    if (guarded) {
        CUDA(cudaMemset(tensor.allocation, POISON_BYTE, GUARD_BYTES));
        CUDA(cudaMemset(tensor.data + elements, POISON_BYTE, GUARD_BYTES));
    }
    return tensor;
}

void tensor_free(struct device_tensor *tensor) {
    if (tensor->allocation)
        CUDA(cudaFree(tensor->allocation));
    memset(tensor, 0, sizeof *tensor);
}

void tensor_fill(const struct device_tensor *tensor, const float *host, int64_t period) {
    int64_t filled = period < tensor->elements ? period : tensor->elements;
    CUDA(cudaMemcpy(tensor->data, host, (size_t)filled * sizeof *host, cudaMemcpyHostToDevice));
    // What is filled is a whole number of periods, so it can be doubled on the device.
    while (filled < tensor->elements) {
        int64_t more = filled < tensor->elements - filled ? filled : tensor->elements - filled;
        CUDA(cudaMemcpy(tensor->data + filled, tensor->data, (size_t)more * sizeof *host, cudaMemcpyDeviceToDevice));
        filled += more;
    }
}

void tensor_poison(const struct device_tensor *tensor) {
    CUDA(cudaMemset(tensor->data, POISON_BYTE, (size_t)tensor->elements * sizeof *tensor->data));
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
    return !tensor->guard_bytes || (is_poisoned(tensor->allocation, tensor->guard_bytes) &&
                                    is_poisoned(tensor->data + tensor->elements, tensor->guard_bytes));
}
