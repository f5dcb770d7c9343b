// Names of kernels for people.
#ifndef SIMULATOR_MACHINE_KERNEL_NAME_H
#define SIMULATOR_MACHINE_KERNEL_NAME_H

#include <stddef.h>

// The function's own name inside the mangled one, [*length] characters of it without a 0 after them; the whole where it
// is not mangled.
const char *kernel_plain_name(const char *mangled, size_t *length);

#endif
