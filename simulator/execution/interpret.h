// The interpreter's loop.
#ifndef SIMULATOR_EXECUTION_INTERPRET_H
#define SIMULATOR_EXECUTION_INTERPRET_H

#include "../machine/warp.h"

// Runs until no split can continue, the turn ends, or the launch stops. false: the launch stops.
bool warp_run(struct warp *warp);

#endif
