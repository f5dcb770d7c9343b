// What a kernel needs and may have.
#ifndef SIMULATOR_RUNTIME_FUNCTION_H
#define SIMULATOR_RUNTIME_FUNCTION_H

#include "module.h"

// The most threads a block of a loaded kernel may have: the device's limit, or less by __launch_bounds__.
int function_max_threads(const struct function *function);

#endif
