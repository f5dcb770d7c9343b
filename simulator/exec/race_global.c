#include "race_global.h"

#include "access.h"
#include "block.h"

bool race_global_begin(struct run *run) {
    (void)run;
    return true;
}
void race_global_end(struct run *run) {
    (void)run;
}
void race_global_access(struct warp *warp, const struct bound *bound, const struct access *access) {
    (void)warp, (void)bound;
    if (access_writes(access) || access_is_atomic(access)) {
        sim_memory_mark_written(access->allocation, 0, 0);
    }
}
