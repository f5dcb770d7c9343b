#include "report.h"

#include "occupancy.h"
#include "sources.h"

#include <stdio.h>
#include <string.h>

enum { LINE_WIDTH = 100, SECTOR_BYTES = 32 };

// ---- Figures of one launch ------------------------------------------------------------------------------------------

static double of_launch(const struct traffic_access *access, enum quantity quantity) {
    return access->quantity[quantity] / access->launches;
}

static bool is_shared(const struct traffic_access *access) {
    return !strcmp(access->space, "shared");
}

// "async copy" is async_copy in names.
static bool same_access(const char *name, size_t length, const char *access) {
    if (strlen(access) != length)
        return false;
    for (size_t i = 0; i < length; i++)
        if (name[i] != (access[i] == ' ' ? '_' : access[i]))
            return false;
    return true;
}

// Whether "global_async_copy_bytes", up to `end`, is of the access, and then its quantity.
static bool named(const struct traffic_access *access, const char *name, size_t length, enum quantity *quantity) {
    char word[32];
    size_t space = strlen(access->space), kind = strlen(access->access);
    if (length < space + kind + 3 || length - space - kind - 2 >= sizeof word || strncmp(name, access->space, space) ||
        name[space] != '_' || !same_access(name + space + 1, kind, access->access) || name[space + kind + 1] != '_')
        return false;
    snprintf(word, sizeof word, "%.*s", (int)(length - space - kind - 2), name + space + kind + 2);
    return traffic_quantity(word, quantity);
}

double report_counted(const struct traffic *traffic, const char *name) {
    const char *at = strchr(name, '@');
    size_t length = at ? (size_t)(at - name) : strlen(name);
    double sum = 0;
    for (int i = 0; i < traffic->count; i++) {
        const struct traffic_access *access = &traffic->access[i];
        enum quantity quantity;
        if (named(access, name, length, &quantity) && (!at || strstr(source_line(access->file, access->line), at + 1)))
            sum += of_launch(access, quantity);
    }
    return sum;
}

// ---- Footnotes ------------------------------------------------------------------------------------------------------

struct notes {
    const char *text[16];
    int count;
};

static int footnote(struct notes *notes, const char *text) {
    int i = 0;
    while (i < notes->count && strcmp(notes->text[i], text))
        i++;
    if (i == notes->count && i < 16)
        notes->text[notes->count++] = text;
    return i + 1;
}

// ---- A kernel -------------------------------------------------------------------------------------------------------

static void print_resources(const struct traffic_access *access, const char *ptxas) {
    struct resources resources;
    int x = 1, y = 1, z = 1;
    if (!resources_read(ptxas, access->mangled, &resources)) {
        printf("  registers: ptxas's log does not name this kernel\n");
        return;
    }
    sscanf(access->block, "%dx%dx%d", &x, &y, &z);
    struct occupancy o = occupancy(&resources, x * y * z, access->shared_bytes);
    printf("  ptxas: %d registers a thread, ", resources.registers);
    if (resources.spill_stores + resources.spill_loads > 0)
        printf("spills: %d bytes stored and %d loaded a thread", resources.spill_stores, resources.spill_loads);
    else
        printf("no spills");
    if (resources.stack > 0)
        printf(", %d bytes of stack", resources.stack);
    printf("; %d blocks of %d warps an SM hold %d of %d warps (%.0f %%), limited by %s\n", o.blocks, o.warps_a_block,
           o.blocks * o.warps_a_block, o.most_warps, 100.0 * o.blocks * o.warps_a_block / o.most_warps, o.limit);
}

// A source line. One of a function that was inlined is shown with the line that called it.
static void print_line(const struct traffic_access *access, char *last, size_t size) {
    char where[512];
    int length = snprintf(where, sizeof where, "%s:%d", text_base(access->file), access->line);
    if (access->outer_line != access->line || strcmp(access->outer_file, access->file))
        length += snprintf(where + length, sizeof where - (size_t)length, ", from %s:%d", text_base(access->outer_file),
                           access->outer_line);
    if (strcmp(where, last))
        printf("  %s  %.*s\n", where, length < LINE_WIDTH ? LINE_WIDTH - length : 0,
               source_line(access->file, access->line));
    snprintf(last, size, "%s", where);
}

static void print_access(const struct traffic_access *access, const double of_all[QUANTITIES], struct notes *notes) {
    char what[96], times[16] = "", cost[64], requests[NUMBER_TEXT], bytes[NUMBER_TEXT], note[16] = "";
    enum quantity limit = is_shared(access) ? WAVEFRONTS : SECTORS;
    double count = of_launch(access, REQUESTS);
    snprintf(what, sizeof what, "%s %s, %d B a lane", access->space, access->access, access->bytes_a_lane);
    if (access->copies > 1)
        snprintf(times, sizeof times, "x%d", access->copies);
    if (is_shared(access)) {
        snprintf(cost, sizeof cost, "%-12s %7.1f", "",
                 access->quantity[WAVEFRONTS] / access->quantity[IDEAL_WAVEFRONTS]);
    } else {
        char sectors[40];
        snprintf(sectors, sizeof sectors, "%.1f (%.1f)", of_launch(access, SECTORS) / count,
                 of_launch(access, IDEAL_SECTORS) / count);
        snprintf(cost, sizeof cost, "%-12s %7s", sectors, "");
    }
    if (*access->note)
        snprintf(note, sizeof note, " [%d]", footnote(notes, access->note));
    printf("    %-32s %4s %13s %11s  %s  %6.1f %%%s\n", what, times, text_grouped(count, requests),
           text_bytes(of_launch(access, BYTES), bytes), cost,
           of_all[limit] ? 100 * of_launch(access, limit) / of_all[limit] : 0, note);
}

// What all accesses of one kind add up to, each kind once.
static void print_kinds(const struct traffic_access *access, int count) {
    for (int i = 0; i < count; i++) {
        double sum[QUANTITIES] = {0};
        char kind[96], requests[NUMBER_TEXT], bytes[NUMBER_TEXT], pieces[NUMBER_TEXT], moved[NUMBER_TEXT];
        bool first = true;
        for (int j = 0; j < count; j++) {
            if (strcmp(access[j].space, access[i].space) || strcmp(access[j].access, access[i].access))
                continue;
            first = first && j >= i;
            for (int q = 0; q < QUANTITIES; q++)
                sum[q] += of_launch(&access[j], (enum quantity)q);
        }
        if (!first)
            continue;
        snprintf(kind, sizeof kind, "all: %s %s", access[i].space, access[i].access);
        printf("  %-45s %12s %11s   ", kind, text_grouped(sum[REQUESTS], requests), text_bytes(sum[BYTES], bytes));
        if (is_shared(&access[i]))
            printf("%s wavefronts\n", text_grouped(sum[WAVEFRONTS], pieces));
        else
            printf("%s sectors, %s\n", text_grouped(sum[SECTORS], pieces),
                   text_bytes(SECTOR_BYTES * sum[SECTORS], moved));
    }
}

static void print_kernel(const struct traffic_access *access, int count, const char *ptxas, struct notes *notes) {
    char bytes[NUMBER_TEXT], last[512] = "";
    double sum[QUANTITIES] = {0};
    printf("%s  grid %s, block %s, %s of shared memory a block", access->kernel, access->grid, access->block,
           text_bytes(access->shared_bytes, bytes));
    if (access->launches != 1)
        printf("; figures of one of %.0f launches", access->launches);
    putchar('\n');
    print_resources(access, ptxas);
    for (int i = 0; i < count; i++)
        for (int q = 0; q < QUANTITIES; q++)
            sum[q] += of_launch(&access[i], (enum quantity)q);
    printf("\n  %-39s %13s %11s  %-12s %7s  %8s\n", "line, and what it loads and stores", "requests", "bytes",
           "sectors", "ways", "share");
    for (int i = 0; i < count; i++) {
        print_line(&access[i], last, sizeof last);
        print_access(&access[i], sum, notes);
    }
    putchar('\n');
    print_kinds(access, count);
    putchar('\n');
}

void report_kernels(const struct traffic *traffic, const char *ptxas) {
    struct notes notes = {.count = 0};
    for (int first = 0, last; first < traffic->count; first = last) {
        last = first + 1;
        while (last < traffic->count && traffic->access[last].group == traffic->access[first].group)
            last++;
        print_kernel(&traffic->access[first], last - first, ptxas, &notes);
    }
    for (int i = 0; i < notes.count; i++)
        printf("  [%d] %s\n", i + 1, notes.text[i]);
    printf("  x4: four copies of the access, from unrolling or inlining, added up. requests: executions by a warp. "
           "sectors:\n"
           "  32-byte pieces of memory that a request touches (and the fewest that could hold what it asks for). ways: "
           "of bank\n"
           "  conflicts, wavefronts of shared memory for each that would do without them. share: of all sectors of "
           "global and\n"
           "  local memory, or of all wavefronts of shared memory.\n"
           "  Counted on PTX: what ptxas spills, unrolls or keeps in registers may add or save accesses.\n\n");
}

void report_predictions(const struct traffic *traffic, const struct predictions *predictions) {
    if (!predictions->count)
        return;
    printf("What the lesson predicts\n  %-56s %15s %15s %18s\n", "", "predicted", "counted", "counted/predicted");
    for (int i = 0; i < predictions->count; i++) {
        const struct prediction *p = &predictions->prediction[i];
        char name[256], value[NUMBER_TEXT], counted[NUMBER_TEXT], ratio[NUMBER_TEXT] = "-";
        double found = report_counted(traffic, p->name);
        snprintf(name, sizeof name, "%s (%s)", p->name, p->unit);
        if (p->value)
            snprintf(ratio, sizeof ratio, "%.3f", found / p->value);
        printf("  %-56s %15s %15s %18s\n", name, text_grouped(p->value, value), text_grouped(found, counted), ratio);
    }
    putchar('\n');
}
