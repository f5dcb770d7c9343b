#include "async.h"

#include "warp.h"

void async_start(struct warp *warp) {
    (void)warp;
}
void async_free(struct warp *warp) {
    (void)warp;
}
bool bind_async(struct binder *binder, const struct ptx_instruction *ptx, struct bound *bound) {
    (void)binder, (void)ptx, (void)bound;
    return false;
}
