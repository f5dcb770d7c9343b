#include "report.h"

#include "occupancy.h"
#include "sources.h"

#include <stdio.h>
#include <string.h>

enum { LINE_WIDTH = 100, SECTOR_BYTES = 32 };

// ---- Figures of one launch ------------------------------------------------------------------------------------------

static double per_launch(const struct traffic_access *access, enum quantity quantity) {
    return access->quantity[quantity] / access->launches;
}

static bool is_shared(const struct traffic_access *access) {
    return !strcmp(access->space, "shared");
}

// An access "async copy" is written async_copy in names.
static bool same_access(const char *name, size_t length, const char *access) {
    if (strlen(access) != length)
        return false;
    for (size_t i = 0; i < length; i++)
        if (name[i] != (access[i] == ' ' ? '_' : access[i]))
            return false;
    return true;
}

// Whether a name such as "global_async_copy_bytes" refers to the access; sets the quantity.
static bool matches_name(const struct traffic_access *access, const char *name, size_t length,
                         enum quantity *quantity) {
    char word[32];
    size_t space = strlen(access->space), kind = strlen(access->access);
    if (length < space + kind + 3 || length - space - kind - 2 >= sizeof word || strncmp(name, access->space, space) ||
        name[space] != '_' || !same_access(name + space + 1, kind, access->access) || name[space + kind + 1] != '_')
        return false;
    snprintf(word, sizeof word, "%.*s", (int)(length - space - kind - 2), name + space + kind + 2);
    return quantity_of_name(word, quantity);
}

double counted_quantity(const struct traffic *traffic, const char *name) {
    const char *at = strchr(name, '@');
    size_t length = at ? (size_t)(at - name) : strlen(name);
    double sum = 0;
    for (int i = 0; i < traffic->count; i++) {
        const struct traffic_access *access = &traffic->access[i];
        enum quantity quantity;
        if (matches_name(access, name, length, &quantity) &&
            (!at || strstr(source_line(access->file, access->line), at + 1) ||
             strstr(source_line(access->outer_file, access->outer_line), at + 1)))
            sum += access->quantity[quantity];
    }
    return sum;
}

// ---- Footnotes ------------------------------------------------------------------------------------------------------

struct footnotes {
    const char *text[16];
    int count;
};

static int footnote(struct footnotes *footnotes, const char *text) {
    int i = 0;
    while (i < footnotes->count && strcmp(footnotes->text[i], text))
        i++;
    if (i == footnotes->count && i < 16)
        footnotes->text[footnotes->count++] = text;
    return i + 1;
}

// ---- A kernel -------------------------------------------------------------------------------------------------------

static void print_resources(const struct traffic_access *access, const char *ptxas) {
    struct resources resources;
    int x = 1, y = 1, z = 1;
    if (!resources_read(ptxas, access->mangled, &resources)) {
        printf("  registers: unknown, the log of ptxas has no entry for this kernel\n");
        return;
    }
    sscanf(access->block, "%dx%dx%d", &x, &y, &z);
    struct occupancy o = occupancy(&resources, x * y * z, access->shared_bytes);
    printf("  ptxas: %d registers per thread, ", resources.registers);
    if (resources.spill_stores + resources.spill_loads > 0)
        printf("spills: %d bytes stored and %d loaded per thread", resources.spill_stores, resources.spill_loads);
    else
        printf("no spills");
    if (resources.stack > 0)
        printf(", %d bytes of stack", resources.stack);
    printf("; theoretical occupancy: %d blocks of %d warps per SM, %d of %d warps (%.0f %%), limited by %s\n", o.blocks,
           o.warps_per_block, o.blocks * o.warps_per_block, o.max_warps,
           100.0 * o.blocks * o.warps_per_block / o.max_warps, o.limited_by);
}

// A source line; for a line of an inlined function also the line that calls the function.
static void print_line(const struct traffic_access *access, char *last, size_t size) {
    char where[512];
    int length = snprintf(where, sizeof where, "%s:%d", base_name(access->file), access->line);
    if (access->outer_line != access->line || strcmp(access->outer_file, access->file))
        length += snprintf(where + length, sizeof where - (size_t)length, ", from %s:%d", base_name(access->outer_file),
                           access->outer_line);
    if (strcmp(where, last))
        printf("  %s  %.*s\n", where, length < LINE_WIDTH ? LINE_WIDTH - length : 0,
               source_line(access->file, access->line));
    snprintf(last, size, "%s", where);
}

static void print_access(const struct traffic_access *access, const double launch_total[QUANTITIES],
                         struct footnotes *footnotes) {
    char what[96], times[16] = "", cost[64], requests[NUMBER_TEXT], bytes[NUMBER_TEXT], note[16] = "";
    enum quantity cost_quantity = is_shared(access) ? WAVEFRONTS : SECTORS;
    double count = per_launch(access, REQUESTS);
    snprintf(what, sizeof what, "%s %s, %d B per lane", access->space, access->access, access->bytes_a_lane);
    if (access->copies > 1)
        snprintf(times, sizeof times, "x%d", access->copies);
    if (is_shared(access)) {
        snprintf(cost, sizeof cost, "%-12s %7.1f", "",
                 access->quantity[WAVEFRONTS] / access->quantity[IDEAL_WAVEFRONTS]);
    } else {
        char sectors[40];
        snprintf(sectors, sizeof sectors, "%.1f (%.1f)", per_launch(access, SECTORS) / count,
                 per_launch(access, IDEAL_SECTORS) / count);
        snprintf(cost, sizeof cost, "%-12s %7s", sectors, "");
    }
    if (*access->note)
        snprintf(note, sizeof note, " [%d]", footnote(footnotes, access->note));
    printf("    %-32s %4s %13s %11s  %s  %6.1f %%%s\n", what, times, format_grouped(count, requests),
           format_bytes(per_launch(access, BYTES), bytes), cost,
           launch_total[cost_quantity] ? 100 * per_launch(access, cost_quantity) / launch_total[cost_quantity] : 0,
           note);
}

// The sum over all accesses of one kind, for each kind once.
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
                sum[q] += per_launch(&access[j], (enum quantity)q);
        }
        if (!first)
            continue;
        snprintf(kind, sizeof kind, "all: %s %s", access[i].space, access[i].access);
        printf("  %-45s %12s %11s   ", kind, format_grouped(sum[REQUESTS], requests), format_bytes(sum[BYTES], bytes));
        if (is_shared(&access[i]))
            printf("%s wavefronts\n", format_grouped(sum[WAVEFRONTS], pieces));
        else
            printf("%s sectors, %s\n", format_grouped(sum[SECTORS], pieces),
                   format_bytes(SECTOR_BYTES * sum[SECTORS], moved));
    }
}

static void print_kernel(const struct traffic_access *access, int count, const char *ptxas,
                         struct footnotes *footnotes) {
    char bytes[NUMBER_TEXT], last[512] = "";
    double sum[QUANTITIES] = {0};
    printf("%s  grid %s, block %s, %s of shared memory per block", access->kernel, access->grid, access->block,
           format_bytes(access->shared_bytes, bytes));
    if (access->launches != 1)
        printf("; counts of one of %.0f launches", access->launches);
    putchar('\n');
    print_resources(access, ptxas);
    for (int i = 0; i < count; i++)
        for (int q = 0; q < QUANTITIES; q++)
            sum[q] += per_launch(&access[i], (enum quantity)q);
    printf("\n  %-39s %13s %11s  %-12s %7s  %8s\n", "source line and its accesses", "requests", "bytes", "sectors/req",
           "ways", "share");
    for (int i = 0; i < count; i++) {
        print_line(&access[i], last, sizeof last);
        print_access(&access[i], sum, footnotes);
    }
    putchar('\n');
    print_kinds(access, count);
    putchar('\n');
}

void report_kernels(const struct traffic *traffic, const char *ptxas) {
    struct footnotes footnotes = {.count = 0};
    for (int first = 0, last; first < traffic->count; first = last) {
        last = first + 1;
        while (last < traffic->count && traffic->access[last].group == traffic->access[first].group)
            last++;
        print_kernel(&traffic->access[first], last - first, ptxas, &footnotes);
    }
    for (int i = 0; i < footnotes.count; i++)
        printf("  [%d] %s\n", i + 1, footnotes.text[i]);
    printf(
        "  x4: sum over four copies of the instruction, from unrolling or inlining. requests: instructions executed "
        "by a warp.\n"
        "  sectors/req: 32-byte sectors per request (in parentheses: ideal, if every byte of a sector were used).\n"
        "  ways: degree of bank conflict = wavefronts / wavefronts without conflicts. share: percentage of all sectors "
        "of\n"
        "  global and local memory, or of all shared-memory wavefronts.\n"
        "  Counted on PTX: register allocation, spilling and unrolling by ptxas may add or remove accesses.\n\n");
}

void report_predictions(const struct traffic *traffic, const struct predictions *predictions) {
    if (!predictions->count)
        return;
    printf("Predictions of the lesson\n  %-56s %15s %15s %18s\n", "", "predicted", "counted", "counted/predicted");
    for (int i = 0; i < predictions->count; i++) {
        const struct prediction *p = &predictions->prediction[i];
        char name[256], value[NUMBER_TEXT], counted[NUMBER_TEXT], ratio[NUMBER_TEXT] = "-";
        double found = counted_quantity(traffic, p->name);
        snprintf(name, sizeof name, "%s (%s)", p->name, p->unit);
        if (p->value)
            snprintf(ratio, sizeof ratio, "%.3f", found / p->value);
        printf("  %-56s %15s %15s %18s\n", name, format_grouped(p->value, value), format_grouped(found, counted),
               ratio);
    }
    putchar('\n');
}
