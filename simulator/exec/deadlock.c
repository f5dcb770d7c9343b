// A deadlock: see deadlock.h.
#include "deadlock.h"

#include "block.h"

#include <stdio.h>

static void append(char *text, size_t size, size_t *length, const char *what) {
    if (*length < size) {
        *length += (size_t)snprintf(text + *length, size - *length, "%s", what);
    }
}

static void describe_split(const struct warp *warp, const struct split *split, char *text, size_t size) {
    const struct ptx_kernel *ptx = warp->run->kernel->ptx;
    char where[256];
    sim_report_place(ptx, split->pc, where, sizeof where);
    if (split->state == SPLIT_AT_BARRIER) {
        snprintf(text, size, "%s (barrier %u%s)", where, split->barrier,
                 split->arrived ? "" : ", waiting for the rest of its warp");
    } else {
        snprintf(text, size, "%s (%s)", where, ptx_opcode_name(ptx->instruction[split->pc].opcode));
    }
}

void deadlock_report(struct block *block) {
    char list[2048], one[512];
    size_t length = 0;
    struct warp *culprit = NULL;
    const struct split *first = NULL;
    for (unsigned w = 0; w < block->warps; w++) {
        struct warp *warp = &block->warp[w];
        for (int i = 0; i < warp->splits; i++) {
            const struct split *split = &warp->split[i];
            char place[400];
            describe_split(warp, split, place, sizeof place);
            snprintf(one, sizeof one, "\n    warp %u, lanes %08x: %s", w, split->mask, place);
            append(list, sizeof list, &length, one);
            bool at_sync = split->state == SPLIT_AT_SYNC;
            if (!first || (at_sync && first->state != SPLIT_AT_SYNC)) {
                first = split;
                culprit = warp;
            }
        }
        if (!warp->splits) {
            snprintf(one, sizeof one, "\n    warp %u: has exited", w);
            append(list, sizeof list, &length, one);
        }
    }
    sim_report(SIM_FINDING_DEADLOCK, block->run->kernel->ptx, first->pc, -1, block->index,
               warp_thread(culprit, culprit->index, first_lane(first->mask)),
               "no thread of the block can go on; see where each waits below%s", list);
    warp_fatal(culprit, SIM_LAUNCH_FAILURE);
}
