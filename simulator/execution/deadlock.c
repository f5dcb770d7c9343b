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

static void describe_barrier(const struct warp *warp, const struct split *split, char *text, size_t size) {
    const struct barrier *barrier = &warp->block->barrier[split->barrier];
    if (!split->arrived)
        snprintf(text, size, "named barrier %u, waiting for the other lanes of the warp", split->barrier);
    else if (barrier->expected)
        snprintf(text, size, "named barrier %u, which %u of %u threads have reached", split->barrier, barrier->arrivals,
                 barrier->expected);
    else
        snprintf(text, size, "named barrier %u, which %u of all threads of the block have reached", split->barrier,
                 barrier->arrivals);
}

// What the split waits for; "" if there is no more to say than the instruction.
static void describe_wait(const struct warp *warp, const struct split *split, char *text, size_t size) {
    *text = 0;
    if (mbarrier_describe(warp, split, text, size) || cluster_describe(warp, split, text, size))
        return;
    if (split->state == SPLIT_AT_BARRIER)
        describe_barrier(warp, split, text, size);
}

static void describe_split(const struct warp *warp, const struct split *split, char *text, size_t size) {
    const struct ptx_kernel *ptx = warp->run->kernel->ptx;
    char where[256], waits[512];
    sim_report_location(ptx, split->pc, where, sizeof where);
    describe_wait(warp, split, waits, sizeof waits);
    snprintf(text, size, "%s (%s)", where, *waits ? waits : ptx_opcode_name(ptx->instruction[split->pc].opcode));
}

// Lists what a warp's splits wait for, one line per split.
static void describe_warp(const struct warp *warp, char *text, size_t size) {
    size_t length = 0;
    char one[1100], location[1000];
    text[0] = 0;
    for (int i = 0; i < warp->splits; i++) {
        describe_split(warp, &warp->split[i], location, sizeof location);
        snprintf(one, sizeof one, "\n    warp %%u, lanes %08x: %s", warp->split[i].mask, location);
        append(text, size, &length, one);
    }
    if (!warp->splits)
        append(text, size, &length, "\n    warp %u: has exited");
}

// Lists the warps; warps that wait for the same as the previous one share a line.
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
            snprintf(one, sizeof one,
                     w > first + 2 ? "\n    warps %u to %u: same as warp %u" : "\n    warp %u: same as warp %u",
                     first + 1, w > first + 2 ? w - 1 : first, first);
            append(list, size, &length, one);
        }
        for (const char *from = text; *from;) { // each line names the warp
            const char *location = strstr(from, "%u");
            size_t plain = location ? (size_t)(location - from) : strlen(from);
            snprintf(one, sizeof one, "%.*s", (int)plain, from);
            append(list, size, &length, one);
            from += plain + (location ? 2 : 0);
            if (location) {
                snprintf(one, sizeof one, "%u", w);
                append(list, size, &length, one);
            }
        }
        memcpy(before, text, sizeof before);
        first = w;
    }
}

// The kind of the finding, if a split waits for a more specific reason than a deadlock.
static enum sim_finding_kind kind_of(const struct warp *warp, const struct split *split) {
    const struct mbarrier *barrier = mbarrier_of_split(warp, split);
    if (barrier && barrier->pending == 0 && barrier->bytes != 0)
        return SIM_FINDING_TRANSACTION_BYTES;
    bool wants_registers = warp->code[split->pc].ptx->opcode == PTX_OP_SETMAXNREG_INC;
    return split->state == SPLIT_AT_EVENT && wants_registers ? SIM_FINDING_REGISTER_BUDGET : SIM_FINDING_DEADLOCK;
}

// The split whose wait explains best why no thread continues.
struct culprit {
    struct warp *warp;
    const struct split *split;
    enum sim_finding_kind kind;
};

static void find_culprit(struct block *block, struct culprit *found) {
    for (unsigned w = 0; w < block->warps; w++) {
        struct warp *warp = &block->warp[w];
        for (int i = 0; i < warp->splits; i++) {
            const struct split *split = &warp->split[i];
            enum sim_finding_kind kind = kind_of(warp, split);
            bool is_specific = found->kind == SIM_FINDING_DEADLOCK && kind != found->kind;
            bool at_sync = split->state == SPLIT_AT_SYNC && found->kind == SIM_FINDING_DEADLOCK;
            if (!found->split || is_specific || (at_sync && found->split->state != SPLIT_AT_SYNC)) {
                found->split = split;
                found->warp = warp;
            }
            found->kind = is_specific ? kind : found->kind;
        }
    }
}

// Lists the blocks, except those that wait or have exited like the previous one.
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
                 same ? ": same as the block above" : ":");
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
            find_culprit(cluster->block[r], &found);
    } else {
        list_warps(block, list, sizeof list);
        find_culprit(block, &found);
    }
    struct warp *warp = found.warp;
    char waits[1100];
    describe_wait(warp, found.split, waits, sizeof waits);
    sim_report(found.kind, block->run->kernel->ptx, found.split->pc, -1, warp->block->index,
               warp_thread(warp, warp->index, first_lane(found.split->mask)),
               "the %s at {here} %s%s%snever completes: no thread of the %s can make progress; the list below shows "
               "where each warp waits%s",
               sim_report_operation(warp->code[found.split->pc].ptx), *waits ? "(" : "", waits, *waits ? ") " : "",
               cluster && cluster->blocks > 1 ? "cluster" : "block", list);
    warp_fatal(warp, SIM_LAUNCH_FAILURE);
}
