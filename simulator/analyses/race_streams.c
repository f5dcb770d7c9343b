#include "race_streams.h"

#include "global_shadow.h"
#include "host_access.h"

#include "../machine/access.h"
#include "../machine/element_names.h"
#include "../machine/kernel_name.h"

#include <stdio.h>
#include <stdlib.h>

enum { NAME_TEXT = 160 };

void race_streams_begin(struct run *run) {
    struct work work = {.timeline = run->launch->timeline,
                        .kernel = run->kernel,
                        .low = run->first_key,
                        .high = run->first_key + (uint32_t)run->blocks + 1};
    timeline_add(&work, run->launch->programmatic);
    run->concurrent = timeline_concurrent(&run->concurrent_count);
    run->oldest_key = run->first_key;
    for (size_t i = 0; i < run->concurrent_count; i++) {
        const struct work *other = &run->concurrent[i].work;
        run->concurrent_copies |= !other->kernel;
        if (other->kernel && other->low < run->oldest_key)
            run->oldest_key = other->low;
    }
}

void race_streams_end(struct run *run) {
    if (atomic_load(&run->dependency_waited))
        timeline_note_dependency_wait(run->launch->timeline);
    host_access_end_work(run->launch->timeline);
    free(run->concurrent);
    run->concurrent = NULL;
    run->concurrent_count = 0;
}

const struct concurrent_work *race_streams_find(const struct run *run, uint32_t key) {
    for (size_t i = 0; i < run->concurrent_count; i++)
        if (run->concurrent[i].work.kernel && key >= run->concurrent[i].work.low && key < run->concurrent[i].work.high)
            return &run->concurrent[i];
    return NULL;
}

bool race_streams_is_concurrent(const struct warp *warp, const struct concurrent_work *other) {
    return !(other->until_wait && warp->clock[CLOCK_DEPENDENCY]);
}

static void kernel_text(const struct sim_kernel *kernel, char text[NAME_TEXT]) {
    size_t length;
    const char *name = kernel_plain_name(kernel->ptx->name, &length);
    snprintf(text, NAME_TEXT, "kernel %.*s", (int)(length < 100 ? length : 100), name);
}

static const char *reason(const struct concurrent_work *other) {
    return other->until_wait ? "; this launch may start before that one has ended, and no griddepcontrol.wait precedes "
                               "the access [programmatic-launch-race]"
           : other->skipped  ? "; the launch between the two has not executed griddepcontrol.wait, so that waiting for "
                               "that launch does not mean waiting for this one [programmatic-launch-chain]"
           : other->in_graph ? "; nothing orders the two, which are nodes of a graph"
                             : "; nothing orders the two, which are in different streams";
}

void race_streams_report(struct warp *warp, const struct bound *bound, int lane, const char *element, bool writes,
                         const struct concurrent_work *other, uint32_t by, bool other_wrote) {
    char name[NAME_TEXT], location[256];
    if (other->declared) {
        warp_report(warp, SIM_FINDING_RACE_STREAMS, bound, NULL, lane,
                    "{here} %s %s, which a concurrent call in another stream %s", writes ? "writes" : "reads", element,
                    other_wrote ? "wrote" : "read");
        return;
    }
    kernel_text(other->work.kernel, name);
    sim_report_location(other->work.kernel->ptx, other->work.kernel->code[shadow_pc(by)].line, location,
                        sizeof location);
    warp_report(warp, SIM_FINDING_RACE_STREAMS, bound, NULL, lane, "{here} %s %s, which %s %s at %s%s",
                writes ? "writes" : "reads", element, name, other_wrote ? "writes" : "reads", location, reason(other));
}

// Calls report for an access to a concurrent copy's rows; bytes from begin on.
static bool check_copies(struct warp *warp, const struct bound *bound, const struct access *access, int lane,
                         uint64_t begin, uint64_t end) {
    const struct run *run = warp->run;
    bool writes = access_writes(access) || access_is_atomic(access);
    for (size_t i = 0; i < run->concurrent_count; i++) {
        const struct concurrent_work *other = &run->concurrent[i];
        for (int side = 0; side < 2 && !other->work.kernel; side++) {
            const struct work_rows *rows = &other->work.rows[side];
            if (!(writes || rows->written) || !work_rows_overlap(rows, begin, end) ||
                !race_streams_is_concurrent(warp, other))
                continue;
            char element[ELEMENT_NAME_TEXT];
            uint64_t at = begin > rows->address ? begin : rows->address;
            element_name_global(access->allocation, (size_t)(at - access->allocation->address), element);
            if (lane >= 0)
                warp_report(warp, SIM_FINDING_RACE_STREAMS, bound, NULL, lane, "{here} %s %s, which %s %s%s",
                            writes ? "writes" : "reads", element, other->work.what, rows->written ? "writes" : "reads",
                            other->declared ? " in a concurrent call in another stream" : reason(other));
            return true;
        }
    }
    return false;
}

void race_streams_access(struct warp *warp, const struct bound *bound, const struct access *access) {
    struct access filled = *access;
    if (!check_copies(warp, bound, access, -1, access->span.low, access->span.high + access->bytes))
        return;
    access_fill(&filled);
    for (uint32_t left = access->mask; left; left &= left - 1) {
        int lane = first_lane(left);
        if (check_copies(warp, bound, access, lane, filled.address[lane], filled.address[lane] + access->bytes))
            return;
    }
}

// ---- Copies

// A word of the row that a concurrent launch accesses: reports it.
static bool check_words(const struct concurrent_work *other, const char *what, const char *verb,
                        const struct sim_allocation *allocation, size_t begin, size_t end, bool written) {
    const struct global_shadow *shadow = allocation->races;
    const struct sim_kernel *kernel = other->work.kernel;
    for (size_t word = begin / 4; shadow && 4 * word < end; word++) {
        uint32_t writer = shadow_block(shadow->cells.write[word]), reader = shadow_block(shadow->cells.read[word]);
        bool wrote = writer >= other->work.low && writer < other->work.high,
             read = written && reader >= other->work.low && reader < other->work.high;
        if (!wrote && !read)
            continue;
        char name[NAME_TEXT], location[256], element[ELEMENT_NAME_TEXT];
        uint32_t by = wrote ? shadow->cells.write_by[word] : shadow->cells.read_by[word];
        kernel_text(kernel, name);
        sim_report_location(kernel->ptx, kernel->code[shadow_pc(by)].line, location, sizeof location);
        element_name_global(allocation, 4 * word, element);
        sim_report_call(SIM_FINDING_RACE_STREAMS, "%s %s %s, which %s %s at %s%s", what, verb, element, name,
                        wrote ? "writes" : "reads", location, reason(other));
        return true;
    }
    return false;
}

// verb: what the call does with the rows.
static bool check_rows(const struct concurrent_work *other, const char *what, const char *verb,
                       const struct work_rows *rows) {
    const struct sim_allocation *allocation = sim_memory_find(rows->address, 1);
    for (size_t row = 0; row < rows->height && allocation; row++) {
        uint64_t begin = rows->address + row * rows->pitch, end = begin + rows->width;
        if (other->work.kernel) {
            const struct global_shadow *shadow = allocation->races;
            if (!shadow || (!rows->written && shadow->last_written < other->work.low))
                return false;
            if (check_words(other, what, verb, allocation, (size_t)(begin - allocation->address),
                            (size_t)(end - allocation->address), rows->written))
                return true;
            continue;
        }
        for (int side = 0; side < 2; side++) {
            const struct work_rows *its = &other->work.rows[side];
            if (!(its->written || rows->written) || !work_rows_overlap(its, begin, end))
                continue;
            char element[ELEMENT_NAME_TEXT];
            element_name_global(allocation, (size_t)(begin - allocation->address), element);
            sim_report_call(SIM_FINDING_RACE_STREAMS, "%s %s the bytes from %s on, which %s %s%s", what, verb, element,
                            other->work.what, its->written ? "writes" : "reads", reason(other));
            return true;
        }
    }
    return false;
}

static void note_host_rows(const struct work_rows *rows) {
    for (size_t row = 0; row < rows->height; row++) {
        uint64_t address = rows->address + row * rows->pitch;
        struct sim_allocation *allocation = sim_memory_find(address, rows->width);
        if (allocation && allocation->kind == SIM_ALLOCATION_HOST)
            host_access_note(allocation, (size_t)(address - allocation->address), rows->width, rows->written);
    }
}

void race_streams_copy(unsigned timeline, const char *what, const char *later, const struct work_rows rows[2]) {
    struct work work = {.what = later, .timeline = timeline, .rows = {rows[0], rows[1]}};
    size_t count;
    timeline_add(&work, false);
    struct concurrent_work *concurrent = timeline_concurrent(&count);
    bool reported = false;
    for (size_t i = 0; i < count && !reported; i++)
        for (int side = 0; side < 2 && !reported && !concurrent[i].declared; side++)
            reported = check_rows(&concurrent[i], what, rows[side].written ? "writes" : "reads", &rows[side]);
    free(concurrent);
    for (int side = 0; side < 2; side++)
        note_host_rows(&rows[side]);
    host_access_end_work(timeline);
    if (reported)
        sim_report_flush();
}

void race_streams_free(unsigned timeline, const struct sim_allocation *allocation) {
    struct work work = {.timeline = timeline};
    const struct work_rows all = {
        .address = allocation->address, .width = allocation->size, .height = 1, .written = true};
    size_t count;
    timeline_add(&work, false);
    struct concurrent_work *concurrent = timeline_concurrent(&count);
    bool reported = false;
    for (size_t i = 0; i < count && !reported; i++)
        reported = !concurrent[i].declared && check_rows(&concurrent[i], "cudaFreeAsync", "frees", &all);
    free(concurrent);
    if (reported)
        sim_report_flush();
}
