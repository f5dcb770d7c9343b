#include "validation.h"

#include "commands.h"
#include "estimate.h"
#include "files.h"
#include "results.h"
#include "sources.h"

#include <glob.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RELATIVE_TOLERANCE 0.25

// The solution itself, not one of its ablations.
static bool is_solution(const struct validated_case *c) {
    return !strcmp(c->kernel, "solution");
}

// ---- Recorded work (work.csv)
// ----------------------------------------------------------------------------------------------

static bool same_case(const struct csv *csv, int a, int b) {
    static const char *const key[] = {"kernel", "dtype", "shape", "causal"};
    for (size_t i = 0; i < sizeof key / sizeof *key; i++)
        if (strcmp(csv_text(csv, a, key[i]), csv_text(csv, b, key[i])))
            return false;
    return true;
}

// The launches of a case are consecutive rows. Returns the row after them.
static int read_case(const struct csv *csv, int row, struct validated_case *c) {
    int first = row;
    snprintf(c->kernel, sizeof c->kernel, "%s", csv_text(csv, row, "kernel"));
    snprintf(c->run_work.dtype, sizeof c->run_work.dtype, "%s", csv_text(csv, row, "dtype"));
    snprintf(c->run_work.shape, sizeof c->run_work.shape, "%s", csv_text(csv, row, "shape"));
    c->run_work.causal = csv_number(csv, row, "causal") != 0;
    for (; row < csv->rows && same_case(csv, first, row) && c->run_work.launches < MAX_LAUNCHES; row++)
        c->run_work.launch[c->run_work.launches++] = work_from_row(csv, row);
    return row;
}

// ---- Measured times (results/)
// ----------------------------------------------------------------------------------------------

struct timings {
    struct csv attention, ablations, softmax;
};

static bool column_equals(const struct csv *csv, int row, const char *column, const char *text, const char *otherwise) {
    const char *is = csv_column(csv, column) < 0 ? otherwise : csv_text(csv, row, column);
    return !strcmp(is, text);
}

static bool shape_equals(const struct csv *csv, int row, const char *shape) {
    double is[4] = {0};
    int numbers = sscanf(shape, "%lf,%lf,%lf,%lf", &is[0], &is[1], &is[2], &is[3]);
    if (numbers == 2)
        return csv_number(csv, row, "rows") == is[0] && csv_number(csv, row, "columns") == is[1];
    return csv_number(csv, row, "B") == is[0] && csv_number(csv, row, "H") == is[1] &&
           csv_number(csv, row, "Nq") == is[2] && csv_number(csv, row, "Nk") == is[2] &&
           csv_number(csv, row, "D") == is[3];
}

// The time in the last matching row, 0 if no row matches. A column that the file lacks has the default value.
static double measured_us(const struct timings *measured, const struct validated_case *c) {
    bool matrix = is_solution(c) && strchr(c->run_work.shape, ',') == strrchr(c->run_work.shape, ',');
    const struct csv *csv = matrix ? &measured->softmax : is_solution(c) ? &measured->attention : &measured->ablations;
    double us = 0;
    // The most selective columns come first, numbers last: parsing a number takes as long as twenty comparisons.
    for (int row = 0; row < csv->rows; row++)
        if (column_equals(csv, row, "lesson", c->lesson, "solution-08_even_shares") &&
            column_equals(csv, row, "ablation", c->kernel, "solution") &&
            column_equals(csv, row, "dtype", c->run_work.dtype, "fp32") &&
            column_equals(csv, row, "causal", c->run_work.causal ? "1" : "0", "0") &&
            column_equals(csv, row, "cache", "cold", "cold") && column_equals(csv, row, "layout", "bhnd", "bhnd") &&
            column_equals(csv, row, "lse", "0", "0") && shape_equals(csv, row, c->run_work.shape))
            us = csv_number(csv, row, "median_us");
    return us;
}

static void read_timings(const char *results, const char *file, struct csv *csv) {
    char path[PATH_TEXT];
    snprintf(path, sizeof path, "%s/%s", results, file);
    if (!csv_read(path, csv))
        *csv = (struct csv){.rows = 0};
}

static bool is_within_tolerance(const struct validated_case *c) {
    return fabs(c->estimated_us - c->measured_us) <= RELATIVE_TOLERANCE * c->measured_us;
}

static void add_lesson(struct validation *validation, const struct timings *measured, const char *path) {
    struct csv csv;
    char folder[PATH_TEXT];
    if (!csv_read(path, &csv))
        return;
    snprintf(folder, sizeof folder, "%.*s", (int)(base_name(path) - path) - 1, path);
    for (int row = 0; row < csv.rows;) {
        struct validated_case c = {.busy = 0};
        row = read_case(&csv, row, &c);
        snprintf(c.lesson, sizeof c.lesson, "solution-%.240s", base_name(folder));
        c.measured_us = measured_us(measured, &c);
        if (c.measured_us <= 0)
            continue;
        struct estimate estimate = estimate_time(&c.run_work, work_bytes(&c.run_work));
        c.estimated_us = estimate.us;
        c.busiest = estimate.busiest;
        c.equally_busy = estimate.equally_busy;
        c.busy = estimate.busy;
        struct validated_case *grown = realloc(validation->of, ((size_t)validation->count + 1) * sizeof *grown);
        if (!grown)
            message_exit(EXIT_CHECK_FAILED, "out of memory");
        validation->of = grown;
        validation->of[validation->count++] = c;
        validation->within_tolerance += is_within_tolerance(&c);
    }
    csv_free(&csv);
}

struct validation validate_estimates(const char *results) {
    struct validation validation = {.count = 0};
    struct timings measured;
    glob_t found;
    if (glob("lessons/*/*work.csv", 0, NULL, &found))
        return validation;
    read_timings(results, "attention.csv", &measured.attention);
    read_timings(results, "ablations.csv", &measured.ablations);
    read_timings(results, "softmax.csv", &measured.softmax);
    for (size_t i = 0; i < found.gl_pathc; i++)
        add_lesson(&validation, &measured, found.gl_pathv[i]);
    globfree(&found);
    csv_free(&measured.attention);
    csv_free(&measured.ablations);
    csv_free(&measured.softmax);
    return validation;
}

void validation_free(struct validation *validation) {
    free(validation->of);
    *validation = (struct validation){.count = 0};
}

double estimate_solution_us(const char *source, const struct run_work *run_work) {
    struct csv csv;
    char path[PATH_TEXT];
    double us = 0;
    if (!lesson_table(source, "work", path) || !csv_read(path, &csv))
        return 0;
    for (int row = 0; row < csv.rows;) {
        struct validated_case c = {.busy = 0};
        row = read_case(&csv, row, &c);
        if (is_solution(&c) && !strcmp(c.run_work.dtype, run_work->dtype) &&
            !strcmp(c.run_work.shape, run_work->shape) && c.run_work.causal == run_work->causal)
            us = estimate_time(&c.run_work, work_bytes(&c.run_work)).us;
    }
    csv_free(&csv);
    return us;
}

// ---- The table ------------------------------------------------------------------------------------------------------

// A row of the table summarizes all times of a lesson's solution, or of its ablations.
static bool same_table_row(const struct validated_case *a, const struct validated_case *b) {
    return !strcmp(a->lesson, b->lesson) && is_solution(a) == is_solution(b);
}

// Number of times, number within the tolerance, geometric mean and range of estimated / measured.
static void print_table_row(const struct validation *validation, int first) {
    const struct validated_case *one = &validation->of[first];
    int count = 0, within_tolerance = 0;
    double sum = 0, min = INFINITY, max = 0;
    for (int i = 0; i < validation->count; i++) {
        const struct validated_case *c = &validation->of[i];
        if (!same_table_row(c, one))
            continue;
        double ratio = c->estimated_us / c->measured_us;
        count++;
        within_tolerance += is_within_tolerance(c);
        sum += log(ratio);
        min = fmin(min, ratio);
        max = fmax(max, ratio);
    }
    printf("| %.2s%s | %d | %d | %.2f | %.2f to %.2f |\n", one->lesson + strlen("solution-"),
           is_solution(one) ? "" : ", ablations", count, within_tolerance, exp(sum / count), min, max);
}

static bool is_first(const struct validation *validation, int i) {
    for (int j = 0; j < i; j++)
        if (same_table_row(&validation->of[j], &validation->of[i]))
            return false;
    return true;
}

// For fp32 lessons the first FP32_UNITS are read, for 16-bit lessons all from FIRST_16_BIT_UNIT on: the utilization of
// device memory needs a time at the profiled shape, which 16-bit lessons lack (and they are far from that limit).
enum { FP32_UNITS = 4, FIRST_16_BIT_UNIT = 1, PROFILED_UNITS = 6 };
static const char *const profiled_unit[PROFILED_UNITS] = {
    "device memory", "issue slots", "shared memory", "L2 cache", "tensor cores", "exponentials and conversions"};

// Utilization of each unit in percent, by Nsight Compute, for 16 heads of 4096 queries and keys. False if that was not
// profiled, and for other shapes; a 16-bit lesson is timed with more heads, at the same utilization.
static bool read_profile(const char *results, const struct validated_case *c, double percent[PROFILED_UNITS]) {
    int heads, head_dim, fp32 = !strcmp(c->run_work.dtype, "fp32");
    if (!is_solution(c) || sscanf(c->run_work.shape, fp32 ? "1,%d,4096,%d" : "4,%d,4096,%d", &heads, &head_dim) != 2 ||
        heads < 16 || c->run_work.causal)
        return false;
    for (int i = 0; i < PROFILED_UNITS; i++) {
        const char *part = strcmp(profiled_unit[i], "L2 cache") ? profiled_unit[i] : "L2";
        struct message error;
        percent[i] = 0;
        if ((fp32 ? i < FP32_UNITS : i >= FIRST_16_BIT_UNIT) &&
            !read_utilization(results, c->lesson, head_dim, part, &percent[i], &error))
            return false;
    }
    return true;
}

// A unit this close to the busiest unit may be the bottleneck as well: repeated profiles differ by as much.
#define CLOSE_PERCENT 5 // percent of the time

// Prints nothing if there is no profile.
static void print_bottlenecks(const struct validation *validation, const char *results) {
    int count = 0, same = 0, close = 0;
    for (int i = 0; i < validation->count; i++) {
        const struct validated_case *c = &validation->of[i];
        double percent[PROFILED_UNITS], estimated = 0;
        int busiest = 0;
        if (!read_profile(results, c, percent))
            continue;
        if (!count)
            printf("\n| lesson, D | estimated | measured | busiest unit, estimated | busiest unit, Nsight Compute "
                   "|\n|---|---|---|---|---|\n");
        for (int p = 0; p < PROFILED_UNITS; p++) {
            busiest = percent[p] > percent[busiest] ? p : busiest;
            estimated = strcmp(profiled_unit[p], c->busiest) ? estimated : percent[p];
        }
        bool is_same = !strcmp(profiled_unit[busiest], c->busiest) ||
                       (c->equally_busy && !strcmp(profiled_unit[busiest], c->equally_busy) &&
                        percent[busiest] - estimated <= CLOSE_PERCENT);
        count++;
        same += is_same;
        close += !is_same && percent[busiest] - estimated <= CLOSE_PERCENT;
        printf("| %.2s, %s | %.3g ms | %.3g ms | %s%s%s, %.0f %% | %s, %.0f %%", c->lesson + strlen("solution-"),
               strrchr(c->run_work.shape, ',') + 1, c->estimated_us / 1000, c->measured_us / 1000, c->busiest,
               c->equally_busy ? "; " : "", c->equally_busy ? c->equally_busy : "", 100 * c->busy,
               profiled_unit[busiest], percent[busiest]);
        if (strcmp(profiled_unit[busiest], c->busiest))
            printf("; %s, %.0f %%", c->busiest, estimated);
        printf(" |\n");
    }
    if (count)
        printf("\nSame unit in %d of %d; in %d of the others its utilization is at most %d percentage points lower.\n",
               same, count, close, CLOSE_PERCENT);
}

static void print_outliers(const struct validation *validation) {
    printf("\n| lesson | shape | estimated, us | measured, us | ratio |\n|---|---|---|---|---|\n");
    for (int i = 0; i < validation->count; i++) {
        const struct validated_case *c = &validation->of[i];
        if (!is_within_tolerance(c))
            printf("| %.2s%s%s | %s%s | %.1f | %.1f | %.2f |\n", c->lesson + strlen("solution-"),
                   is_solution(c) ? "" : ", ", is_solution(c) ? "" : c->kernel, c->run_work.shape,
                   c->run_work.causal ? " causal" : "", c->estimated_us, c->measured_us,
                   c->estimated_us / c->measured_us);
    }
}

// The first case of work.csv has the shape at which a check estimates.
static int print_first_estimate(const char *path) {
    struct csv csv;
    struct validated_case c = {.busy = 0};
    if (!csv_read(path, &csv) || !csv.rows)
        message_exit(EXIT_BAD_INPUT, "%s holds no counts; scripts/record-work writes them [no-counts]", path);
    read_case(&csv, 0, &c);
    csv_free(&csv);
    printf("%.1f\n", estimate_time(&c.run_work, work_bytes(&c.run_work)).us);
    return 0;
}

int teach_estimates(int count, char **word) {
    const char *results = word[0];
    if (count > 1 && !strcmp(word[0], "recorded"))
        return print_first_estimate(word[1]);
    struct validation validation = validate_estimates(results);
    if (!validation.count)
        message_exit(EXIT_BAD_INPUT, "%s and lessons/*/work.csv have no shape in common [no-common-shape]", results);
    printf("| lesson | times | within 25 %% | estimated / measured | range |\n|---|---|---|---|---|\n");
    for (int i = 0; i < validation.count; i++)
        if (is_first(&validation, i))
            print_table_row(&validation, i);
    printf("\nWithin 25 %%: %d of %d.\n", validation.within_tolerance, validation.count);
    print_bottlenecks(&validation, results);
    if (count > 1 && !strcmp(word[1], "outliers"))
        print_outliers(&validation);
    validation_free(&validation);
    return 0;
}
