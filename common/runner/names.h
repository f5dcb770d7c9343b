// What the simulator's messages call an element of shared memory, by the kernel's source and the debug information of
// its library.
#ifndef RUNNER_NAMES_H
#define RUNNER_NAMES_H

#include "arguments.h"

// From now on. On a GPU this does nothing.
void names_tell(const struct kernel_argument *kernel);

#endif
