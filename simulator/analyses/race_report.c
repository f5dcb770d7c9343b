#include "race_report.h"

#include "../machine/block.h"
#include "../machine/element_names.h"
#include "mixed.h"
#include "race_proxy.h"

#include <stdio.h>

const char *race_missing_order(const struct warp *warp, uint32_t epoch) {
    unsigned other = epoch & 31;
    bool parts = warp->clock[CLOCK_HAS_LANES] && epoch >> 5 <= warp->clock[CLOCK_LANE + other] >> 5;
    return parts ? "__syncwarp() between this access and the signal of another lane of the same warp"
           : warp->has_pending_acquire && epoch >> 5 <= warp->pending_acquire[other]
               ? "fence between this warp's read of the flag or counter and this line"
               : "barrier between them";
}

static void name_cell(const struct warp *warp, size_t cell, char text[ELEMENT_NAME_TEXT]) {
    const struct run *run = warp->run;
    element_name_shared(run->kernel->ptx, run->own_shared, cell << run->kernel->shadow_shift, text);
}

void race_report_shared(struct warp *warp, const struct bound *bound, int lane, size_t cell, uint32_t epoch,
                        uint32_t by, enum hazard hazard) {
    bool writes = hazard != READ_AFTER_WRITE, other_wrote = hazard != WRITE_AFTER_READ;
    bool within = (epoch & 31) == warp->index;
    bool unit = (epoch & 31) >= warp->block->warps;
    bool async = unit || (by & 63) == SHADOW_ASYNC || race_uses_async_proxy(bound);
    const struct bound *other = &warp->code[by >> 6];
    bool mixed = hazard == READ_AFTER_WRITE ? is_mixed_access(bound, other)
                                            : hazard == WRITE_AFTER_READ && is_mixed_access(other, bound);
    enum sim_finding_kind kind = mixed    ? SIM_FINDING_MIXED_ACCESS
                                 : async  ? SIM_FINDING_RACE_ASYNC
                                 : within ? SIM_FINDING_RACE_WARP
                                          : SIM_FINDING_RACE_BLOCK;
    char accessor[96], element[ELEMENT_NAME_TEXT];
    if (warp_reported(warp, kind, bound, other))
        return;
    if (unit) {
        name_cell(warp, cell, element);
        warp_report(
            warp, kind, bound, other, lane,
            "{here} %s %s, which the asynchronous copy or wgmma issued at {there} may still %s: this warp has not "
            "waited for its completion (%s)",
            writes ? "writes" : "reads", element, other_wrote ? "write" : "read", race_hazard(writes, other_wrote));
        return;
    }
    if ((by & 63) == SHADOW_ASYNC) {
        snprintf(accessor, sizeof accessor, "a bulk copy");
    } else if ((by & 63) < LANES) {
        struct sim_dim thread = warp_thread(warp, epoch & 31, (int)(by & 63));
        snprintf(accessor, sizeof accessor, "thread (%u,%u,%u)", thread.x, thread.y, thread.z);
    } else {
        snprintf(accessor, sizeof accessor, "a thread of warp %u", epoch & 31);
    }
    name_cell(warp, cell, element);
    warp_report(warp, kind, bound, other, lane, "{here} %s %s, which %s %s at {there}, with no %s (%s)",
                writes ? "writes" : "reads", element, accessor, other_wrote ? "wrote" : "read",
                within ? "__syncwarp() between them" : race_missing_order(warp, epoch),
                race_hazard(writes, other_wrote));
}

void race_report_pending(struct warp *warp, const struct bound *bound, int lane, size_t cell, const char *does) {
    uint32_t by = warp->block->race.pending[cell] - 1;
    char element[ELEMENT_NAME_TEXT];
    if (warp_reported(warp, SIM_FINDING_MISSING_WAIT, bound, &warp->code[by >> 6]))
        return;
    name_cell(warp, cell, element);
    warp_report(warp, SIM_FINDING_MISSING_WAIT, bound, &warp->code[by >> 6], lane,
                "{here} %s %s, which the asynchronous copy issued at {there} is still writing", does, element);
}

void race_report_uninitialized(struct warp *warp, const struct bound *bound, int lane, size_t cell) {
    struct race_shared *race = &warp->block->race;
    char element[ELEMENT_NAME_TEXT];
    if (warp_reported(warp, SIM_FINDING_UNINITIALIZED_SHARED, bound, NULL))
        return;
    name_cell(warp, cell, element);
    if (race->early_reads < sizeof race->early / sizeof *race->early)
        race->early[race->early_reads++] = (struct early_read){cell, bound->line};
    warp_report(warp, SIM_FINDING_UNINITIALIZED_SHARED, bound, NULL, lane,
                "{here} reads %s, which no thread of the block has written", element);
}
