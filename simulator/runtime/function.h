// Resource limits of a kernel.
#ifndef SIMULATOR_RUNTIME_FUNCTION_H
#define SIMULATOR_RUNTIME_FUNCTION_H

#include "module.h"

// The maximum number of threads per block of a loaded kernel: the device's limit, or less by __launch_bounds__.
int function_max_threads(const struct function *function);

#endif
