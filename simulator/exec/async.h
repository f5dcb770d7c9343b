// cp.async: copies from global to shared memory that land as late as the program's waits allow, so that reading too
// early is seen.
#ifndef SIMULATOR_EXEC_ASYNC_H
#define SIMULATOR_EXEC_ASYNC_H

#include "bind.h"

void async_start(struct warp *warp);
void async_free(struct warp *warp);
bool bind_async(struct binder *binder, const struct ptx_instruction *ptx, struct bound *bound);

#endif
