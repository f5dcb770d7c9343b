// A deadlock: see deadlock.h.
#include "deadlock.h"

#include "../instructions/cluster.h"
#include "../machine/cluster.h"
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
    if (mbarrier_describe(warp, split, barrier, sizeof barrier) ||
        cluster_describe(warp, split, barrier, sizeof barrier)) {
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
    if (block->ended)
        return;
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

// What is worth a line of its own in the report: whose split tells most of why nobody goes on.
struct culprit {
    struct warp *warp;
    const struct split *split;
    enum sim_finding_kind kind;
};

static void look_for_culprit(struct block *block, struct culprit *found) {
    for (unsigned w = 0; w < block->warps; w++) {
        struct warp *warp = &block->warp[w];
        for (int i = 0; i < warp->splits; i++) {
            const struct split *split = &warp->split[i];
            enum sim_finding_kind its = kind_of(warp, split);
            bool tells = found->kind == SIM_FINDING_DEADLOCK && its != found->kind;
            bool at_sync = split->state == SPLIT_AT_SYNC && found->kind == SIM_FINDING_DEADLOCK;
            if (!found->split || tells || (at_sync && found->split->state != SPLIT_AT_SYNC)) {
                found->split = split;
                found->warp = warp;
            }
            found->kind = tells ? its : found->kind;
        }
    }
}

// Blocks that wait for the same as the one before them, or have exited like it, are left out.
static void list_blocks(const struct cluster *cluster, char *list, size_t size) {
    char before[2048] = "", warps[2048], one[96];
    size_t length = 0;
    list[0] = 0;
    for (unsigned r = 0; r < cluster->blocks; r++) {
        const struct block *block = cluster->block[r];
        snprintf(warps, sizeof warps, "\n    has exited");
        list_warps(block, warps, sizeof warps);
        bool same = r > 0 && strcmp(warps, before) == 0;
        snprintf(one, sizeof one, "\n  block (%u,%u,%u)%s", block->index.x, block->index.y, block->index.z,
                 same ? ": as the one before it" : ":");
        append(list, size, &length, one);
        if (!same)
            append(list, size, &length, warps);
        memcpy(before, warps, sizeof before);
    }
}

void deadlock_report(struct block *block) {
    char list[2048];
    const struct cluster *cluster = block->cluster;
    struct culprit found = {.kind = SIM_FINDING_DEADLOCK};
    if (cluster && cluster->blocks > 1) {
        list_blocks(cluster, list, sizeof list);
        for (unsigned r = 0; r < cluster->blocks; r++)
            look_for_culprit(cluster->block[r], &found);
    } else {
        list_warps(block, list, sizeof list);
        look_for_culprit(block, &found);
    }
    struct warp *warp = found.warp;
    sim_report(found.kind, block->run->kernel->ptx, found.split->pc, -1, warp->block->index,
               warp_thread(warp, warp->index, first_lane(found.split->mask)),
               "no thread of the %s can go on; see where each waits below%s",
               cluster && cluster->blocks > 1 ? "cluster" : "block", list);
    warp_fatal(warp, SIM_LAUNCH_FAILURE);
}
