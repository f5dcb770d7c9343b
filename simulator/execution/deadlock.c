// A deadlock: see deadlock.h.
#include "deadlock.h"

#include "../machine/block.h"
#include "../memory/mbarrier.h"

#include <stdio.h>
#include <string.h>

static void append(char *text, size_t size, size_t *length, const char *what) {
    if (*length < size)
        *length += (size_t)snprintf(text + *length, size - *length, "%s", what);
}

static void describe_split(const struct warp *warp, const struct split *split, char *text, size_t size) {
    const struct ptx_kernel *ptx = warp->run->kernel->ptx;
    char where[256];
    sim_report_place(ptx, split->pc, where, sizeof where);
    char barrier[512];
    if (mbarrier_describe(warp, split, barrier, sizeof barrier)) {
        snprintf(text, size, "%s (%s)", where, barrier);
    } else if (split->state == SPLIT_AT_BARRIER) {
        snprintf(text, size, "%s (barrier %u%s)", where, split->barrier,
                 split->arrived ? "" : ", waiting for the rest of its warp");
    } else {
        snprintf(text, size, "%s (%s)", where, ptx_opcode_name(ptx->instruction[split->pc].opcode));
    }
}

// What a warp's splits wait for, a line each.
static void describe_warp(const struct warp *warp, char *text, size_t size) {
    size_t length = 0;
    char one[1100], place[1000];
    text[0] = 0;
    for (int i = 0; i < warp->splits; i++) {
        describe_split(warp, &warp->split[i], place, sizeof place);
        snprintf(one, sizeof one, "\n    warp %%u, lanes %08x: %s", warp->split[i].mask, place);
        append(text, size, &length, one);
    }
    if (!warp->splits)
        append(text, size, &length, "\n    warp %u: has exited");
}

// Warps that wait for the same as the one before them share a line.
static void list_warps(const struct block *block, char *list, size_t size) {
    char before[2400] = "", text[2400], one[2500];
    size_t length = 0;
    unsigned first = 0;
    list[0] = 0;
    for (unsigned w = 0; w <= block->warps; w++) {
        text[0] = 0;
        if (w < block->warps)
            describe_warp(&block->warp[w], text, sizeof text);
        if (w > 0 && strcmp(text, before) == 0)
            continue;
        if (w > first + 1) {
            snprintf(one, sizeof one, w > first + 2 ? "\n    warps %u to %u: as warp %u" : "\n    warp %u: as warp %u",
                     first + 1, w > first + 2 ? w - 1 : first, first);
            append(list, size, &length, one);
        }
        for (const char *from = text; *from;) { // each line names the warp
            const char *place = strstr(from, "%u");
            size_t plain = place ? (size_t)(place - from) : strlen(from);
            snprintf(one, sizeof one, "%.*s", (int)plain, from);
            append(list, size, &length, one);
            from += plain + (place ? 2 : 0);
            if (place) {
                snprintf(one, sizeof one, "%u", w);
                append(list, size, &length, one);
            }
        }
        memcpy(before, text, sizeof before);
        first = w;
    }
}

// Why a split waits, where that is more than a deadlock.
static enum sim_finding_kind kind_of(const struct warp *warp, const struct split *split) {
    const struct mbarrier *barrier = mbarrier_of_split(warp, split);
    if (barrier && barrier->pending == 0 && barrier->bytes != 0)
        return SIM_FINDING_BYTES;
    bool wants_registers = warp->code[split->pc].ptx->opcode == PTX_OP_SETMAXNREG_INC;
    return split->state == SPLIT_AT_EVENT && wants_registers ? SIM_FINDING_REGISTER_POOL : SIM_FINDING_DEADLOCK;
}

void deadlock_report(struct block *block) {
    char list[2048];
    struct warp *culprit = NULL;
    const struct split *first = NULL;
    enum sim_finding_kind kind = SIM_FINDING_DEADLOCK;
    for (unsigned w = 0; w < block->warps; w++) {
        struct warp *warp = &block->warp[w];
        for (int i = 0; i < warp->splits; i++) {
            const struct split *split = &warp->split[i];
            enum sim_finding_kind its = kind_of(warp, split);
            bool tells = kind == SIM_FINDING_DEADLOCK && its != kind;
            bool at_sync = split->state == SPLIT_AT_SYNC && kind == SIM_FINDING_DEADLOCK;
            if (!first || tells || (at_sync && first->state != SPLIT_AT_SYNC)) {
                first = split;
                culprit = warp;
            }
            kind = tells ? its : kind;
        }
    }
    list_warps(block, list, sizeof list);
    sim_report(kind, block->run->kernel->ptx, first->pc, -1, block->index,
               warp_thread(culprit, culprit->index, first_lane(first->mask)),
               "no thread of the block can go on; see where each waits below%s", list);
    warp_fatal(culprit, SIM_LAUNCH_FAILURE);
}
