#include "race_report.h"

#include "../machine/block.h"
#include "../machine/element_names.h"
#include "mixed.h"
#include "race_proxy.h"
#include "race_tile.h"

#include <stdio.h>

static const char *noun(bool writes) {
    return writes ? "write" : "read";
}

void race_missing_order(const struct warp *warp, uint32_t epoch, bool writes, bool other_wrote, char *text) {
    unsigned other = epoch & 31;
    if (other == warp->index)
        snprintf(text, RACE_ORDER_TEXT, "__syncwarp() between that %s and this %s", noun(other_wrote), noun(writes));
    else if (warp->clock[CLOCK_HAS_LANES] && epoch >> 5 <= warp->clock[CLOCK_LANE + other] >> 5)
        snprintf(text, RACE_ORDER_TEXT,
                 "__syncwarp() between that %s and the arrival, or the flag, of another lane of that thread's warp",
                 noun(other_wrote));
    else if (warp->has_pending_acquire && epoch >> 5 <= warp->pending_acquire[other])
        snprintf(text, RACE_ORDER_TEXT, "fence between this warp's read of the flag or counter and this %s",
                 noun(writes));
    else
        snprintf(text, RACE_ORDER_TEXT, "barrier between that %s and this %s", noun(other_wrote), noun(writes));
}

const char *race_wait_for(const struct bound *operation, bool wrote) {
    switch (operation->ptx->opcode) {
    case PTX_OP_WGMMA_MMA_ASYNC:
        return "wgmma.wait_group";
    case PTX_OP_CP_ASYNC:
        return "cp.async.wait_group";
    case PTX_OP_CP_ASYNC_BULK_TENSOR:
    case PTX_OP_CP_REDUCE_ASYNC_BULK_TENSOR:
    case PTX_OP_CP_ASYNC_BULK:
    case PTX_OP_CP_REDUCE_ASYNC_BULK:
        if (operation->ptx->space == PTX_GLOBAL)
            return wrote ? "cp.async.bulk.wait_group" : "cp.async.bulk.wait_group.read";
        return "mbarrier.try_wait";
    default:
        return "mbarrier.try_wait";
    }
}

static void name_cell(const struct warp *warp, size_t cell, char text[ELEMENT_NAME_TEXT]) {
    const struct run *run = warp->run;
    element_name_shared(run->kernel->ptx, run->own_shared, cell << run->kernel->shadow_shift, text);
}

enum { MIXTURE_TEXT = 240 };

// The last barrier with a count that the warp has passed counted warps of another group instead of the other warp.
static void describe_mixture(const struct warp *warp, unsigned other, char text[MIXTURE_TEXT]) {
    unsigned group = warp->passed.threads / LANES;
    uint32_t passed = warp->passed.warps;
    if (group < 2 || other / group != warp->index / group || passed >> other & 1)
        return;
    size_t length = (size_t)snprintf(text, MIXTURE_TEXT, "; named barrier %u, the last that this warp passed, counted",
                                     warp->passed.id);
    for (unsigned w = 0; w < warp->block->warps && length < MIXTURE_TEXT; w++)
        if (passed >> w & 1)
            length += (size_t)snprintf(text + length, MIXTURE_TEXT - length, "%s warp %u",
                                       passed >> w == 1           ? " and"
                                       : passed & ((1u << w) - 1) ? ","
                                                                  : "",
                                       w);
    if (length < MIXTURE_TEXT)
        snprintf(text + length, MIXTURE_TEXT - length, ", not warp %u", other);
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
    const char *actor = race_uses_async_proxy(bound) ? "{op}" : "{here}";
    char accessor[96], element[ELEMENT_NAME_TEXT], order[RACE_ORDER_TEXT];
    if (warp_reported(warp, kind, bound, other))
        return;
    if (unit && writes && !other_wrote && other->ptx->opcode == PTX_OP_WGMMA_MMA_ASYNC &&
        race_tile_report_write(warp, bound, other, lane, cell << warp->run->kernel->shadow_shift))
        return;
    if (unit) {
        name_cell(warp, cell, element);
        warp_report(
            warp, kind, bound, other, lane,
            "%s %s %s, which the {other} may still %s: wait for the %s first (%s, then a barrier if another thread "
            "waits) (%s)",
            actor, writes ? "writes" : "reads", element, noun(other_wrote), sim_report_operation(other->ptx),
            race_wait_for(other, other_wrote), race_hazard(writes, other_wrote));
        return;
    }
    race_missing_order(warp, epoch, writes, other_wrote, order);
    if ((by & 63) == SHADOW_ASYNC) {
        name_cell(warp, cell, element);
        warp_report(warp, kind, bound, other, lane,
                    "%s %s %s, which the {other} %s; %s waited for the %s, with no %s after the wait (%s)", actor,
                    writes ? "writes" : "reads", element, other_wrote ? "wrote" : "read",
                    within ? "only another lane of this warp has" : "another warp has",
                    sim_report_operation(other->ptx), within ? "__syncwarp()" : "barrier",
                    race_hazard(writes, other_wrote));
        return;
    }
    if ((by & 63) < LANES) {
        struct sim_dim thread = warp_thread(warp, epoch & 31, (int)(by & 63));
        snprintf(accessor, sizeof accessor, "thread (%u,%u,%u)", thread.x, thread.y, thread.z);
    } else {
        snprintf(accessor, sizeof accessor, "a thread of warp %u", epoch & 31);
    }
    char mixture[MIXTURE_TEXT] = "";
    name_cell(warp, cell, element);
    describe_mixture(warp, epoch & 31, mixture);
    warp_report(warp, kind, bound, other, lane, "%s %s %s, which %s %s at {there}, with no %s (%s)%s", actor,
                writes ? "writes" : "reads", element, accessor, other_wrote ? "wrote" : "read", order,
                race_hazard(writes, other_wrote), mixture);
}

void race_report_pending(struct warp *warp, const struct bound *bound, int lane, size_t cell, const char *does) {
    uint32_t by = warp->block->race.pending[cell] - 1;
    char element[ELEMENT_NAME_TEXT];
    enum sim_finding_kind kind =
        warp->code[by >> 6].ptx->opcode == PTX_OP_CP_ASYNC ? SIM_FINDING_MISSING_WAIT : SIM_FINDING_MISSING_PHASE_WAIT;
    if (warp_reported(warp, kind, bound, &warp->code[by >> 6]))
        return;
    name_cell(warp, cell, element);
    warp_report(warp, kind, bound, &warp->code[by >> 6], lane,
                "%s %s %s, which the {other} may still write: wait for the %s first (%s, then a barrier if another "
                "thread waits)",
                race_uses_async_proxy(bound) ? "{op}" : "{here}", does, element,
                sim_report_operation(warp->code[by >> 6].ptx), race_wait_for(&warp->code[by >> 6], true));
}

const char *race_uninitialized_text(const struct race_shared *race, size_t cell) {
    return race->cells.write[cell] == EPOCH_OF_UNINITIALIZED
               ? "to which a thread has written a value that results from uninitialized memory"
               : "which no thread of the block has written";
}

void race_report_uninitialized(struct warp *warp, const struct bound *bound, int lane, size_t cell) {
    struct race_shared *race = &warp->block->race;
    char element[ELEMENT_NAME_TEXT];
    if (warp_reported(warp, SIM_FINDING_UNINITIALIZED_SHARED, bound, NULL))
        return;
    name_cell(warp, cell, element);
    if (race->early_reads < sizeof race->early / sizeof *race->early)
        race->early[race->early_reads++] = (struct early_read){cell, bound->line};
    warp_report(warp, SIM_FINDING_UNINITIALIZED_SHARED, bound, NULL, lane, "{here} reads %s, %s", element,
                race_uninitialized_text(race, cell));
}
