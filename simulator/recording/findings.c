// The two accesses of a finding, among the recent accesses of its two lines.
#include "record.h"

#include "../machine/report.h"

#include <stdlib.h>
#include <string.h>

static struct recording *current;

static const struct ptx_location *location_of(const struct ptx_kernel *ptx, int32_t instruction) {
    const int32_t location = ptx->instruction[instruction].location;
    return location >= 0 && location < ptx->module->locations ? &ptx->module->location[location] : NULL;
}

// A finding has the first instruction of a line; the executed one may be any of them.
static bool same_line(const struct ptx_kernel *ptx, int32_t a, int32_t b) {
    const struct ptx_location *x = location_of(ptx, a), *y = location_of(ptx, b);
    return a == b || (x && y && x->file == y->file && x->line == y->line && x->inlined_at == y->inlined_at);
}

static bool overlap(const struct recent *a, const struct recent *b) {
    for (uint32_t left = a->mask; left; left &= left - 1) {
        const uint64_t address = a->address[first_lane(left)];
        for (uint32_t rest = b->mask; rest; rest &= rest - 1) {
            const uint64_t other = b->address[first_lane(rest)];
            if (address < other + b->bytes && other < address + a->bytes)
                return true;
        }
    }
    return false;
}

// The latest access of a line that the finding may refer to: by this warp if the finding has one, else an access to the
// bytes of `with` in the same block, by another warp if there is one.
static struct recent *find(const struct recording *recording, struct found_access *access, int warp,
                           const struct recent *with, enum site_space space, struct site **where) {
    struct recent *best = NULL;
    for (int32_t i = 0; i < recording->ptx->instructions; i++) {
        for (int s = 0; s < SITE_NONE && same_line(recording->ptx, i, access->instruction); s++) {
            struct site *site = recording->site[i][s];
            const unsigned count = !site || !site->recent        ? 0
                                   : site->recent_count < RECENT ? site->recent_count
                                                                 : RECENT;
            for (unsigned r = 0; r < count; r++) {
                struct recent *one = &site->recent[r];
                if (one == with || (warp >= 0 && (one->block != access->block || one->warp != (unsigned)warp)) ||
                    (with && ((enum site_space)s != space || (s == SITE_SHARED && one->block != with->block) ||
                              !overlap(one, with))))
                    continue;
                const bool other = with && one->warp != with->warp,
                           best_other = best && with && best->warp != with->warp;
                if (!best || other > best_other || (other == best_other && one->seq > best->seq)) {
                    best = one;
                    *where = site;
                }
            }
        }
    }
    return best;
}

static void keep(struct found_access *access, struct site *site, struct recent *recent) {
    access->block = recent->block;
    access->warp = (int)recent->warp;
    access->site_instruction = site->instruction;
    access->space = site->space;
    access->sample = samples_keep(site, recent);
    site->recent[(size_t)(recent - site->recent)].sample = access->sample;
}

static void found(enum sim_finding_kind kind, const struct ptx_kernel *kernel, int32_t instruction,
                  int32_t other_instruction, struct sim_dim block, struct sim_dim thread) {
    struct recording *recording = current;
    if (!recording || kernel != recording->ptx || recording->found_count == MOST_FINDINGS)
        return;
    struct found *new = &recording->found[recording->found_count++];
    const unsigned number = thread.x + recording->block.x * (thread.y + recording->block.y * thread.z);
    const struct found_access none = {.warp = -1, .site_instruction = -1, .sample = -1};
    *new = (struct found){
        .kind = kind, .instruction = instruction, .other = other_instruction, .here = none, .there = none};
    new->here.instruction = instruction;
    new->here.block = block.x + recording->grid.x *(block.y + (uint64_t)recording->grid.y * block.z);
    new->here.warp = (int)(number / LANES);
    new->here.thread = thread;
    new->there.instruction = other_instruction;
    struct site *site = NULL, *other_site = NULL;
    struct recent *here = find(recording, &new->here, new->here.warp, NULL, SITE_NONE, &site);
    if (here)
        keep(&new->here, site, here);
    if (here && other_instruction >= 0) {
        struct recent *there = find(recording, &new->there, -1, here, site->space, &other_site);
        if (there)
            keep(&new->there, other_site, there);
    }
}

static void printed(enum sim_finding_kind kind, int32_t instruction, int32_t other_instruction, const char *text,
                    uint64_t count) {
    for (int i = 0; current && i < current->found_count; i++) {
        struct found *one = &current->found[i];
        if (one->kind == kind && one->instruction == instruction && one->other == other_instruction) {
            free(one->text);
            one->text = strdup(text ? text : sim_report_title(kind));
            one->count = count;
        }
    }
}

void findings_attach(struct recording *recording) {
    static const struct sim_report_listener listener = {found, printed};
    current = recording;
    sim_report_listen(recording ? &listener : NULL);
}
