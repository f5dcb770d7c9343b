// A tensor on the device, with poison around it.
#ifndef RUNNER_TENSOR_H
#define RUNNER_TENSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct device_tensor {
    char *data; // device pointer
    size_t bytes;
    char *allocation;
    size_t before, after; // bytes of poison around data
    bool sparse;          // only its rows are ever written: see problem.c
    // Of a tensor that is split over devices, the part on the next device; NULL: this is the last one. Each function
    // below takes all parts.
    struct device_tensor *next;
};

// On a GPU the tensor is inside a larger allocation, between guard zones of NaN: a kernel that reads them gets wrong
// results, and tensor_guards_intact() detects a write. On the simulator the allocation has the exact size, so that the
// simulator detects out-of-bounds accesses, except for `offset` bytes of poison before the tensor, which starts at a
// multiple of 256 bytes plus offset.
struct device_tensor tensor_create(size_t bytes, bool guarded, size_t offset);

// parts of as many bytes each, on devices 0 to parts - 1.
struct device_tensor tensor_create_parts(size_t bytes, bool guarded, size_t offset, int parts);
void tensor_free(struct device_tensor *tensor);

// The size of an allocation for a tensor of this size.
size_t tensor_allocation_bytes(size_t bytes, bool guarded);

// Fills the tensor with repetitions of the `period` bytes at host; one that is split with all its bytes.
void tensor_fill(const struct device_tensor *tensor, const void *host, size_t period);

// Copies all bytes, one part after the other.
void tensor_read(const struct device_tensor *tensor, void *host);
size_t tensor_bytes(const struct device_tensor *tensor);

// Makes every byte POISON_BYTE.
void tensor_poison(const struct device_tensor *tensor);

// False if a guard zone has changed.
bool tensor_guards_intact(const struct device_tensor *tensor);

#endif
