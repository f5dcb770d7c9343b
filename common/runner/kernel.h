// A kernel's shared library, loaded.
#ifndef RUNNER_KERNEL_H
#define RUNNER_KERNEL_H

#include "operation.h"

struct kernel {
    const struct kernel_argument *argument;
    const struct operation *operation;
    void *forward;        // the function that the operation's launch() calls
    const void *contract; // what else the library says of itself
    const char *lacking;  // one line on what this machine lacks that the kernel needs, NULL where nothing is
};

// The types that it takes.
static inline unsigned kernel_dtypes(const struct kernel *kernel) {
    return kernel->operation->dtypes(kernel->contract);
}

// Whether it gives the optional outputs.
bool kernel_gives_optional(const struct kernel *kernel);

// Whether it says that the same call gives the same bits.
bool kernel_repeats(const struct kernel *kernel);

// Device memory that it works in.
size_t kernel_workspace_bytes(const struct kernel *kernel, const struct problem_case *which);

// False and why the kernel cannot run a case on the device.
struct device;
bool kernel_covers(const struct kernel *kernel, const struct problem_case *which, const struct device *device,
                   struct obstacle *obstacle);

// Ends the process with one line where the library cannot be used.
struct kernel kernel_load(const struct kernel_argument *argument);

#endif
