// Names of elements of shared memory in the simulator's messages, from the kernel's source and the debug information of
// its library.
#ifndef RUNNER_NAMES_H
#define RUNNER_NAMES_H

#include "arguments.h"

// Registers the function that names elements. No effect on a GPU.
void names_register(const struct kernel_argument *kernel);

#endif
