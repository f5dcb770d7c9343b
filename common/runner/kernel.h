// A kernel's shared library, loaded.
#ifndef RUNNER_KERNEL_H
#define RUNNER_KERNEL_H

#include "operation.h"

struct kernel {
    const struct kernel_argument *argument;
    const struct operation *operation;
    void *forward;        // the function that the operation's launch() calls
    const void *contract; // the variable of the library that describes how it is called
    const char *lacking;  // one line on what this machine lacks for the kernel, NULL: nothing
};

// The element types that it supports.
static inline unsigned kernel_dtypes(const struct kernel *kernel) {
    return kernel->operation->dtypes(kernel->contract);
}

// Whether it writes the optional outputs.
bool kernel_writes_optional(const struct kernel *kernel);

// Whether it claims bitwise reproducible results.
bool kernel_repeats(const struct kernel *kernel);

// The size of its workspace on the device.
size_t kernel_workspace_bytes(const struct kernel *kernel, const struct problem_case *which);

// False and why the kernel cannot run a case on the device.
struct device;
bool kernel_covers(const struct kernel *kernel, const struct problem_case *which, const struct device *device,
                   struct obstacle *obstacle);

// Ends the process with one line if the library cannot be used.
struct kernel kernel_load(const struct kernel_argument *argument);

#endif
