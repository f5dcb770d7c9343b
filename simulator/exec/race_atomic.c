// What atomics, volatile accesses and asynchronous copies do to the shadow of shared memory. The rules are in
// race_shared.c.
#include "access.h"
#include "block.h"

void race_shared_atomic(struct warp *warp, const struct bound *bound, const struct access *access) {
    struct race_shared *race = &warp->block->race;
    int shift = warp->run->kernel->shadow_shift;
    bool reads = !access_writes(access), writes = access_writes(access) || access_is_atomic(access);
    struct access filled = *access;
    access_fill(&filled);
    for (uint32_t left = access->mask; left; left &= left - 1) {
        int lane = first_lane(left);
        for (size_t i = 0; i < access->bytes >> shift; i++) {
            size_t cell = (filled.address[lane] >> shift) + i;
            race_shared_touch(warp, bound, cell, lane, reads, writes);
        }
    }
    if (reads) {
        race_acquire(warp, race->atomic_clock);
    }
    if (writes) {
        race_publish(warp, race->atomic_clock);
    }
}

// The copy may write at any time from now on, so what is there must be read and written by now.
void race_async_issue(struct warp *warp, const struct bound *bound, const struct access *access) {
    struct race_shared *race = &warp->block->race;
    int shift = warp->run->kernel->shadow_shift;
    struct access filled = *access;
    access_fill(&filled);
    for (uint32_t left = access->mask; left; left &= left - 1) {
        int lane = first_lane(left);
        for (size_t i = 0; i < access->bytes >> shift; i++) {
            size_t cell = (filled.address[lane] >> shift) + i;
            race_shared_check_write(warp, bound, cell, lane, false);
            race->pending_cells += race->pending[cell] == 0;
            race->pending[cell] = ((uint32_t)pc_of(warp, bound) << 6 | (uint32_t)lane) + 1;
        }
    }
}

void race_async_land(struct warp *warp, int32_t pc, int lane, uint32_t offset, uint32_t bytes) {
    struct race_shared *race = &warp->block->race;
    int shift = warp->run->kernel->shadow_shift;
    uint32_t by = (uint32_t)pc << 6 | (uint32_t)lane;
    for (size_t cell = offset >> shift; race->on && cell < (offset + bytes) >> shift; cell++) {
        race->pending_cells -= race->pending[cell] != 0;
        race->pending[cell] = 0;
        race->cells.write[cell] = warp->clock[warp->index] << 5 | warp->index;
        race->cells.write_by[cell] = by;
    }
}
