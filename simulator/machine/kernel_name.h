// Readable names of kernels.
#ifndef SIMULATOR_MACHINE_KERNEL_NAME_H
#define SIMULATOR_MACHINE_KERNEL_NAME_H

#include <stddef.h>

// Returns the function's own name inside the mangled one, [*length] characters without a terminating 0; the whole name
// if it is not mangled.
const char *kernel_plain_name(const char *mangled, size_t *length);

#endif
