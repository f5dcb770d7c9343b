#include "estimates.h"

#include "commands.h"
#include "estimate.h"
#include "files.h"
#include "measured.h"
#include "sources.h"

#include <glob.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define A_QUARTER 0.25

// Not one of its versions.
static bool is_solution(const struct compared *c) {
    return !strcmp(c->kernel, "solution");
}

// ---- What was recorded ----------------------------------------------------------------------------------------------

static bool same_case(const struct csv *csv, int a, int b) {
    static const char *const key[] = {"kernel", "dtype", "shape", "causal"};
    for (size_t i = 0; i < sizeof key / sizeof *key; i++)
        if (strcmp(csv_text(csv, a, key[i]), csv_text(csv, b, key[i])))
            return false;
    return true;
}

// The launches of a case are rows behind each other. Returns the row behind them.
static int read_case(const struct csv *csv, int row, struct compared *c) {
    int first = row;
    snprintf(c->kernel, sizeof c->kernel, "%s", csv_text(csv, row, "kernel"));
    snprintf(c->works.dtype, sizeof c->works.dtype, "%s", csv_text(csv, row, "dtype"));
    snprintf(c->works.shape, sizeof c->works.shape, "%s", csv_text(csv, row, "shape"));
    c->works.causal = csv_number(csv, row, "causal") != 0;
    for (; row < csv->rows && same_case(csv, first, row) && c->works.launches < MOST_LAUNCHES; row++)
        c->works.launch[c->works.launches++] = work_of_row(csv, row);
    return row;
}

// ---- What was measured ----------------------------------------------------------------------------------------------

struct measurements {
    struct csv attention, versions, softmax;
};

static bool is_text(const struct csv *csv, int row, const char *column, const char *text, const char *otherwise) {
    const char *is = csv_column(csv, column) < 0 ? otherwise : csv_text(csv, row, column);
    return !strcmp(is, text);
}

static bool is_shape(const struct csv *csv, int row, const char *shape) {
    double is[4] = {0};
    int numbers = sscanf(shape, "%lf,%lf,%lf,%lf", &is[0], &is[1], &is[2], &is[3]);
    if (numbers == 2)
        return csv_number(csv, row, "rows") == is[0] && csv_number(csv, row, "columns") == is[1];
    return csv_number(csv, row, "B") == is[0] && csv_number(csv, row, "H") == is[1] &&
           csv_number(csv, row, "Nq") == is[2] && csv_number(csv, row, "Nk") == is[2] &&
           csv_number(csv, row, "D") == is[3];
}

// Of the last row that fits, 0 where none does. Columns that a file lacks are those of all its rows.
static double measured_us(const struct measurements *measured, const struct compared *c) {
    bool matrix = is_solution(c) && strchr(c->works.shape, ',') == strrchr(c->works.shape, ',');
    const struct csv *csv = matrix ? &measured->softmax : is_solution(c) ? &measured->attention : &measured->versions;
    double us = 0;
    // What tells most rows apart comes first, numbers last: reading one takes as long as comparing twenty words.
    for (int row = 0; row < csv->rows; row++)
        if (is_text(csv, row, "lesson", c->lesson, "solution-07_even_shares") &&
            is_text(csv, row, "version", c->kernel, "solution") && is_text(csv, row, "dtype", c->works.dtype, "fp32") &&
            is_text(csv, row, "causal", c->works.causal ? "1" : "0", "0") &&
            is_text(csv, row, "cache", "cold", "cold") && is_text(csv, row, "layout", "bhnd", "bhnd") &&
            is_text(csv, row, "lse", "0", "0") && is_shape(csv, row, c->works.shape))
            us = csv_number(csv, row, "median_us");
    return us;
}

static void read_measured(const char *results, const char *file, struct csv *csv) {
    char path[PATH_TEXT];
    snprintf(path, sizeof path, "%s/%s", results, file);
    if (!csv_read(path, csv))
        *csv = (struct csv){.rows = 0};
}

static bool is_near(const struct compared *c) {
    return fabs(c->estimated_us - c->measured_us) <= A_QUARTER * c->measured_us;
}

static void add_lesson(struct comparison *comparison, const struct measurements *measured, const char *path) {
    struct csv csv;
    char folder[PATH_TEXT];
    if (!csv_read(path, &csv))
        return;
    snprintf(folder, sizeof folder, "%.*s", (int)(text_base(path) - path) - 1, path);
    for (int row = 0; row < csv.rows;) {
        struct compared c = {.busy = 0};
        row = read_case(&csv, row, &c);
        snprintf(c.lesson, sizeof c.lesson, "solution-%.240s", text_base(folder));
        c.measured_us = measured_us(measured, &c);
        if (c.measured_us <= 0)
            continue;
        struct estimate estimate = estimate_of(&c.works, work_bytes(&c.works));
        c.estimated_us = estimate.us;
        c.busiest = estimate.busiest;
        c.as_busy = estimate.as_busy;
        c.busy = estimate.busy;
        struct compared *grown = realloc(comparison->of, ((size_t)comparison->count + 1) * sizeof *grown);
        if (!grown)
            message_exit(EXIT_CHECK_FAILED, "out of memory");
        comparison->of = grown;
        comparison->of[comparison->count++] = c;
        comparison->near += is_near(&c);
    }
    csv_free(&csv);
}

struct comparison comparison_read(const char *results) {
    struct comparison comparison = {.count = 0};
    struct measurements measured;
    glob_t found;
    if (glob("lessons/*/*work.csv", 0, NULL, &found))
        return comparison;
    read_measured(results, "attention.csv", &measured.attention);
    read_measured(results, "versions.csv", &measured.versions);
    read_measured(results, "softmax.csv", &measured.softmax);
    for (size_t i = 0; i < found.gl_pathc; i++)
        add_lesson(&comparison, &measured, found.gl_pathv[i]);
    globfree(&found);
    csv_free(&measured.attention);
    csv_free(&measured.versions);
    csv_free(&measured.softmax);
    return comparison;
}

void comparison_free(struct comparison *comparison) {
    free(comparison->of);
    *comparison = (struct comparison){.count = 0};
}

double recorded_us(const char *source, const struct works *works) {
    struct csv csv;
    char path[PATH_TEXT];
    double us = 0;
    if (!source_table_of_lesson(source, "work", path) || !csv_read(path, &csv))
        return 0;
    for (int row = 0; row < csv.rows;) {
        struct compared c = {.busy = 0};
        row = read_case(&csv, row, &c);
        if (is_solution(&c) && !strcmp(c.works.dtype, works->dtype) && !strcmp(c.works.shape, works->shape) &&
            c.works.causal == works->causal)
            us = estimate_of(&c.works, work_bytes(&c.works)).us;
    }
    csv_free(&csv);
    return us;
}

// ---- The table ------------------------------------------------------------------------------------------------------

// A row of the table has all times of a lesson's solution, or of its versions.
static bool share_row(const struct compared *a, const struct compared *b) {
    return !strcmp(a->lesson, b->lesson) && is_solution(a) == is_solution(b);
}

// How many there are in a row, how many are near, and the geometric mean of estimated over measured.
static void print_lesson(const struct comparison *comparison, int first) {
    const struct compared *one = &comparison->of[first];
    int count = 0, near = 0;
    double sum = 0, least = INFINITY, most = 0;
    for (int i = 0; i < comparison->count; i++) {
        const struct compared *c = &comparison->of[i];
        if (!share_row(c, one))
            continue;
        double ratio = c->estimated_us / c->measured_us;
        count++;
        near += is_near(c);
        sum += log(ratio);
        least = fmin(least, ratio);
        most = fmax(most, ratio);
    }
    printf("| %.2s%s | %d | %d | %.2f | %.2f to %.2f |\n", one->lesson + strlen("solution-"),
           is_solution(one) ? "" : ", versions", count, near, exp(sum / count), least, most);
}

static bool is_first(const struct comparison *comparison, int i) {
    for (int j = 0; j < i; j++)
        if (share_row(&comparison->of[j], &comparison->of[i]))
            return false;
    return true;
}

// Of lessons in fp32 the first are asked for, of those in 16 bits the last: how busy device memory is takes a time at
// the same shape, which they do not have, and it has little to do there.
enum { FP32_PARTS = 4, FIRST_OF_16 = 1, COUNTED = 6 };
static const char *const counted_part[COUNTED] = {"device memory", "issue slots",  "shared memory",
                                                  "L2 cache",      "tensor cores", "exponentials and conversions"};

// In percent, how busy Nsight Compute found each of these with 16 heads of 4096 queries and keys. False where it was
// not asked, and of other shapes; a lesson in 16 bits is timed with more heads, which fill the GPU as well.
static bool read_counted(const char *results, const struct compared *c, double percent[COUNTED]) {
    int heads, head_dim, fp32 = !strcmp(c->works.dtype, "fp32");
    if (!is_solution(c) || sscanf(c->works.shape, fp32 ? "1,%d,4096,%d" : "4,%d,4096,%d", &heads, &head_dim) != 2 ||
        heads < 16 || c->works.causal)
        return false;
    for (int i = 0; i < COUNTED; i++) {
        const char *part = strcmp(counted_part[i], "L2 cache") ? counted_part[i] : "L2";
        struct message error;
        percent[i] = 0;
        if ((fp32 ? i < FP32_PARTS : i >= FIRST_OF_16) &&
            !measured_busy(results, c->lesson, head_dim, part, &percent[i], &error))
            return false;
    }
    return true;
}

// What is close behind the busiest part may as well be it: counts of two days differ by as much.
#define CLOSE 5 // percent of the time

// Nothing where Nsight Compute was not asked.
static void print_limits(const struct comparison *comparison, const char *results) {
    int count = 0, same = 0, close = 0;
    for (int i = 0; i < comparison->count; i++) {
        const struct compared *c = &comparison->of[i];
        double percent[COUNTED], own = 0;
        int most = 0;
        if (!read_counted(results, c, percent))
            continue;
        if (!count)
            printf("\n| lesson, D | estimated | measured | busiest by the estimate | by Nsight Compute "
                   "|\n|---|---|---|---|---|\n");
        for (int p = 0; p < COUNTED; p++) {
            most = percent[p] > percent[most] ? p : most;
            own = strcmp(counted_part[p], c->busiest) ? own : percent[p];
        }
        bool is_same = !strcmp(counted_part[most], c->busiest) ||
                       (c->as_busy && !strcmp(counted_part[most], c->as_busy) && percent[most] - own <= CLOSE);
        count++;
        same += is_same;
        close += !is_same && percent[most] - own <= CLOSE;
        printf("| %.2s, %s | %.3g ms | %.3g ms | %s%s%s, %.0f %% | %s, %.0f %%", c->lesson + strlen("solution-"),
               strrchr(c->works.shape, ',') + 1, c->estimated_us / 1000, c->measured_us / 1000, c->busiest,
               c->as_busy ? "; " : "", c->as_busy ? c->as_busy : "", 100 * c->busy, counted_part[most], percent[most]);
        if (strcmp(counted_part[most], c->busiest))
            printf("; %s, %.0f %%", c->busiest, own);
        printf(" |\n");
    }
    if (count)
        printf("\nThe same part in %d of %d; in %d of the others it is at most %d percent of the time behind.\n", same,
               count, close, CLOSE);
}

static void print_far(const struct comparison *comparison) {
    printf("\n| lesson | shape | estimated, us | measured, us | ratio |\n|---|---|---|---|---|\n");
    for (int i = 0; i < comparison->count; i++) {
        const struct compared *c = &comparison->of[i];
        if (!is_near(c))
            printf("| %.2s%s%s | %s%s | %.1f | %.1f | %.2f |\n", c->lesson + strlen("solution-"),
                   is_solution(c) ? "" : ", ", is_solution(c) ? "" : c->kernel, c->works.shape,
                   c->works.causal ? " causal" : "", c->estimated_us, c->measured_us, c->estimated_us / c->measured_us);
    }
}

// Of the first case of a file, which is that of the shape at which check estimates.
static int print_recorded(const char *path) {
    struct csv csv;
    struct compared c = {.busy = 0};
    if (!csv_read(path, &csv) || !csv.rows)
        message_exit(EXIT_BAD_INPUT, "%s holds no counts; scripts/record-work makes them", path);
    read_case(&csv, 0, &c);
    csv_free(&csv);
    printf("%.1f\n", estimate_of(&c.works, work_bytes(&c.works)).us);
    return 0;
}

int teach_estimates(int count, char **word) {
    const char *results = word[0];
    if (count > 1 && !strcmp(word[0], "recorded"))
        return print_recorded(word[1]);
    struct comparison comparison = comparison_read(results);
    if (!comparison.count)
        message_exit(EXIT_BAD_INPUT, "%s and lessons/*/work.csv have no shape in common", results);
    printf("| lesson | times | within 25 %% | estimated / measured | from |\n|---|---|---|---|---|\n");
    for (int i = 0; i < comparison.count; i++)
        if (is_first(&comparison, i))
            print_lesson(&comparison, i);
    printf("\nWithin 25 %%: %d of %d.\n", comparison.near, comparison.count);
    print_limits(&comparison, results);
    if (count > 1 && !strcmp(word[1], "far"))
        print_far(&comparison);
    comparison_free(&comparison);
    return 0;
}
