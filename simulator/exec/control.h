// Branches by table, calls, returns and exits; control.c. Plain branches are in warp.c's loop.
#ifndef SIMULATOR_EXEC_CONTROL_H
#define SIMULATOR_EXEC_CONTROL_H

#include "bind.h"

bool bind_branch(struct binder *binder, const struct ptx_instruction *ptx, struct bound *bound);
bool bind_call(struct binder *binder, const struct ptx_instruction *ptx, struct bound *bound);
bool bind_exchange(struct binder *binder, const struct ptx_instruction *ptx, struct bound *bound); // shuffle.c

// Calls of what the GPU's own library gives: vprintf, __assertfail, malloc, free; system.c. parameters: for each lane
// where the arguments start.
enum step run_builtin(struct warp *warp, const struct bound *bound, uint32_t mask);

#endif
