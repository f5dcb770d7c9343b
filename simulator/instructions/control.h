// Calls of the GPU's device library: vprintf, __assertfail, malloc, free; system.c.
#ifndef SIMULATOR_INSTRUCTIONS_CONTROL_H
#define SIMULATOR_INSTRUCTIONS_CONTROL_H

#include "../machine/bound.h"

enum step run_builtin(struct warp *warp, const struct bound *bound, uint32_t mask);

#endif
