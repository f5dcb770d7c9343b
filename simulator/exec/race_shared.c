#include "race_shared.h"

#include "access.h"
#include "block.h"

bool race_shared_create(struct block *block) {
    (void)block;
    return true;
}
void race_shared_free(struct block *block) {
    (void)block;
}
void race_shared_start(struct block *block) {
    (void)block;
}
void race_shared_read(struct warp *warp, const struct bound *bound, const struct access *access) {
    (void)warp, (void)bound, (void)access;
}
void race_shared_write(struct warp *warp, const struct bound *bound, const struct access *access) {
    (void)warp, (void)bound, (void)access;
}
void race_shared_atomic(struct warp *warp, const struct bound *bound, const struct access *access) {
    (void)warp, (void)bound, (void)access;
}
void race_sync_lanes(struct warp *warp, uint32_t mask) {
    (void)warp, (void)mask;
}
void race_publish(struct warp *warp, uint32_t clock[LANES]) {
    (void)warp, (void)clock;
}
void race_acquire(struct warp *warp, const uint32_t clock[LANES]) {
    (void)warp, (void)clock;
}
void race_align(struct block *block) {
    (void)block;
}
