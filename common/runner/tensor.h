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
};

// On a GPU the tensor lies inside a larger allocation, and what is around it is NaN: a kernel that reads it gets wrong
// results, one that writes it is found by tensor_guards_intact(). On the simulator it is allocated exactly, so that
// the simulator itself sees a stray access; but for offset bytes of poison in front of it, so that it begins at a
// multiple of 256 bytes and offset.
struct device_tensor tensor_create(size_t bytes, bool guarded, size_t offset);
void tensor_free(struct device_tensor *tensor);

// What so many bytes take on the device.
size_t tensor_room(size_t bytes, bool guarded);

// Copies the period bytes of host to the tensor, again and again until it is full.
void tensor_fill(const struct device_tensor *tensor, const void *host, size_t period);

// Makes every byte POISON_BYTE.
void tensor_poison(const struct device_tensor *tensor);

// False where a guard zone has changed.
bool tensor_guards_intact(const struct device_tensor *tensor);

#endif
