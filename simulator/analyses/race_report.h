// Reports of races and uninitialized reads in shared memory.
#ifndef SIMULATOR_ANALYSES_RACE_REPORT_H
#define SIMULATOR_ANALYSES_RACE_REPORT_H

#include "../machine/warp.h"

struct race_shared;

enum hazard { READ_AFTER_WRITE, WRITE_AFTER_READ, WRITE_AFTER_WRITE };

static inline const char *race_hazard(bool writes, bool other_wrote) {
    return !writes ? "read-after-write hazard" : other_wrote ? "write-after-write hazard" : "write-after-read hazard";
}

// The synchronization that is missing between an earlier access of another warp and this one: "barrier between that
// write and this read". RACE_ORDER_TEXT bytes.
enum { RACE_ORDER_TEXT = 160 };
void race_missing_order(const struct warp *warp, uint32_t epoch, bool writes, bool other_wrote, char *text);

// The wait that orders what follows after the asynchronous operation: "wgmma.wait_group".
const char *race_wait_for(const struct bound *operation, bool wrote);

// Reports that the lane's access to a cell races with the earlier access of the shadow's entry (epoch, by).
void race_report_shared(struct warp *warp, const struct bound *bound, int lane, size_t cell, uint32_t epoch,
                        uint32_t by, enum hazard hazard);
// Reports that a copy to the cell is in flight. does: "reads" or "writes".
void race_report_pending(struct warp *warp, const struct bound *bound, int lane, size_t cell, const char *does);
// What makes a cell uninitialized: no thread has written it, or one has written a value that was.
const char *race_uninitialized_text(const struct race_shared *race, size_t cell);
void race_report_uninitialized(struct warp *warp, const struct bound *bound, int lane, size_t cell);

#endif
