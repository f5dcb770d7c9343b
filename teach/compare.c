#include "commands.h"

#include "estimate_report.h"
#include "files.h"
#include "report.h"
#include "sources.h"
#include "traced_kernel.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

// Sums of a quantity over all accesses of a kind. A kernel that needs report_ratio times the solution's sum is
// reported.
static const double report_ratio = 1.5;
static const struct counter_kind {
    const char *name, *label, *space, *access; // name: in counts.csv; access NULL: all of them
    enum quantity quantity;
} kinds[] = {
    {"shared loads", "shared loads", "shared", "load", LANES},
    {"shared stores", "shared stores", "shared", "store", LANES},
    {"wavefronts of shared memory", "shared-memory wavefronts", "shared", NULL, WAVEFRONTS},
    {"global sectors", "global sectors", "global", NULL, SECTORS},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static bool is_of_kind(const struct traffic_access *access, const struct counter_kind *kind) {
    return !strcmp(access->space, kind->space) && (!kind->access || !strcmp(access->access, kind->access));
}

static double sum_of_kind(const struct traffic *traffic, const struct counter_kind *kind) {
    double sum = 0;
    for (int i = 0; i < traffic->count; i++)
        sum += is_of_kind(&traffic->access[i], kind) ? traffic->access[i].quantity[kind->quantity] : 0;
    return sum;
}

// The line in the kernel's own file: of the access itself, or of the call of an inlined function from another file.
static int kernel_line(const struct traffic_access *access) {
    return access->own_line > 0 ? access->own_line : access->line;
}

// The line with the largest count, and that count.
static int hottest_line(const struct traffic *traffic, const struct counter_kind *kind, double *line_count) {
    int line = 0;
    double max = 0;
    for (int i = 0; i < traffic->count; i++) {
        double sum = 0;
        for (int j = 0; j < traffic->count && is_of_kind(&traffic->access[i], kind); j++)
            if (is_of_kind(&traffic->access[j], kind) &&
                kernel_line(&traffic->access[j]) == kernel_line(&traffic->access[i]))
                sum += traffic->access[j].quantity[kind->quantity];
        line = sum > max ? kernel_line(&traffic->access[i]) : line;
        max = sum > max ? sum : max;
    }
    *line_count = max;
    return line;
}

// The solution's count at the shape, from rows  shape,what,count;  -1 if none is recorded.
static double solution_count(const struct lines *rows, const char *shape, const char *what) {
    char start[128];
    snprintf(start, sizeof start, "\"%s\",%s,", shape, what);
    for (int i = 0; i < rows->count; i++) {
        const char *count = text_after_prefix(rows->line[i], start);
        if (count)
            return strtod(count, NULL);
    }
    return -1;
}

// The idea of some lessons is that work overlaps: a kernel that waits for everything is as right and lacks it. What
// must overlap a lesson declares by a row of its counts.csv that has the name of a row of the file.
static void report_missing_overlap(const char *path, const struct lines *rows, const char *shape) {
    struct lines overlap;
    if (!lines_read(path, &overlap))
        return;
    for (int i = 1; i < overlap.count; i++) {
        char what[64];
        const char *comma = strrchr(overlap.line[i], ',');
        snprintf(what, sizeof what, "%.*s", comma ? (int)(comma - overlap.line[i]) : 0, overlap.line[i]);
        double own = comma ? strtod(comma + 1, NULL) : 0, solution = solution_count(rows, shape, what);
        if (solution <= 0 || report_ratio * own > solution)
            continue;
        printf("right, but without the lesson's idea: %.0f %s, where the solution has %.0f (SHAPE=%s, counted by the "
               "simulator) [no-overlap]\n",
               own, what, solution, shape);
    }
    lines_free(&overlap);
}

int teach_compare(int count, char **word) {
    struct traced_kernel traced_kernel;
    struct lines rows;
    char path[PATH_TEXT];
    int reported = 0;
    if (!lesson_table(source_option(count, word), "counts", path) || !file_exists(path) || !lines_read(path, &rows))
        return 0;
    if (run_traced_kernel(count, word, &traced_kernel) == 0) {
        for (int k = 0; k < KINDS; k++) {
            double own = sum_of_kind(&traced_kernel.traffic, &kinds[k]), line_count;
            double solution = solution_count(&rows, traced_kernel.shape, kinds[k].name);
            if (solution <= 0 || own < report_ratio * solution)
                continue;
            int line = hottest_line(&traced_kernel.traffic, &kinds[k], &line_count);
            printf("%s%.1fx the solution's %s", reported++ ? "; " : "correct, but uses ", own / solution,
                   kinds[k].label);
            if (line_count > 0.5 * own)
                printf(", most of them at line %d", line);
        }
        if (reported)
            printf(" (SHAPE=%s, counted by the simulator) [more-traffic]\n", traced_kernel.shape);
        report_missing_overlap(traced_kernel.overlap, &rows, traced_kernel.shape);
        traffic_free(&traced_kernel.traffic);
    }
    lines_free(&rows);
    print_estimate(count, word, true);
    return 0;
}

int teach_count(int count, char **word) {
    struct traced_kernel traced_kernel;
    int status = run_traced_kernel(count, word, &traced_kernel);
    if (status)
        return status;
    for (int k = 0; k < KINDS; k++)
        printf("\"%s\",%s,%.0f\n", traced_kernel.shape, kinds[k].name, sum_of_kind(&traced_kernel.traffic, &kinds[k]));
    traffic_free(&traced_kernel.traffic);
    struct lines overlap;
    for (int i = lines_read(traced_kernel.overlap, &overlap) ? 1 : overlap.count; i < overlap.count; i++)
        printf("\"%s\",%s\n", traced_kernel.shape, overlap.line[i]);
    lines_free(&overlap);
    return 0;
}
