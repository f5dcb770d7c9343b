#include "operations/softmax_operation.h"

#include "host/subset.h"
#include "host/tolerance.h"

#include <float.h>
#include <math.h>

// Elements of a matrix that is small enough to be computed once for each suspect.
enum { SMALL_MATRIX = 1 << 18 };
static const double widening = 8.0;

enum softmax_maximum {
    ROW_MAXIMUM,
    NO_MAXIMUM,
    AS_FACTOR, // exp(x) exp(-max)
    FROM_0,
    OF_THREAD, // in the sum, columns c % threads
};

// A row softmax with a mistake in it. All zeros is the right one.
struct softmax_variant {
    enum softmax_maximum maximum;
    bool running_sum_kept; // a thread's sum is not rescaled as its maximum grows
    bool no_division, divided_twice;
    bool first_row;    // every row is the first one
    bool over_rows;    // maximum and sum go down a column
    bool unwritten;    // where it was written, it is right
    int threads;       // a power of two
    int padded;        // the row is counted up to a multiple of this, with elements of 0
    struct subset sum; // the columns that are added up
    int longer_than;   // only on the path for rows that are longer
    bool end_skipped;  // of a row, by the warp
};

static const struct mistake maximum_not_subtracted = {
    "maximum-not-subtracted",
    {"the maximum is not subtracted before the exponential",
     "Small elements give right results; large ones give infinity, and elements far below 0 give a sum of 0, so that "
     "the quotient is NaN. fp32 holds exp(x) up to x = 88. Which value can be subtracted from every element of a row "
     "without changing the quotient, and before which step?"}};
static const struct mistake maximum_starts_at_0 = {
    "maximum-starts-at-0",
    {"the maximum starts at 0",
     "Only rows whose elements are all far below 0 are wrong: all their exponentials underflow to 0. The row max was "
     "computed as 0, although no element is that large. Which initial value is no larger than any element?"}};
static const struct mistake maximum_not_reduced = {
    "maximum-not-reduced",
    {"threads subtract different maxima",
     "The partial sums of a row cannot be added as they are: the partial sum of each thread is relative to the maximum "
     "of its own elements. By which factor must a partial sum be multiplied before it can be added to the others?"}};
static const struct mistake sum_not_rescaled = {
    "sum-not-rescaled",
    {"the sum is not rescaled",
     "Rows are right as long as their largest elements come first, and too small otherwise. The terms that a thread "
     "added before its maximum grew are still relative to the old maximum."}};
static const struct mistake padding_counted = {
    "padding-counted",
    {"elements past the end are counted",
     "Rows that fill their last vector or warp are right; the others are too small, exactly as if there were elements "
     "of 0 past their end. exp(0 - max) is not 0: which element adds nothing to the maximum, and nothing to the sum?"}};
static const struct mistake division_missing = {
    "division-missing",
    {"the division by the sum is missing", "Every row is too large by a factor of its own, and that factor is the sum "
                                           "of its exponentials. Does a row of the output add up to 1?"}};
static const struct mistake divided_twice = {
    "divided-twice",
    {"the output is divided by the sum twice",
     "Every row is too small by a factor of its own, and that factor is the sum of its exponentials. Count the "
     "divisions on the path of one element."}};
static const struct mistake elements_missing_from_sum = {
    "elements-missing-from-sum",
    {"elements are missing from the sum",
     "Rows add up to more than 1: their sum misses some elements, always the same ones. Go through the sum by hand "
     "with one value for each element: which of them reach the result?"}};
static const struct mistake first_row_for_all = {
    "first-row-for-all",
    {"every row is the first row", "All rows of the output are the softmax of the first row. Which part of the address "
                                   "changes from one block to the next?"}};
static const struct mistake softmax_over_columns = {
    "softmax-over-columns",
    {"the softmax runs over the columns", "The columns of the output add up to 1, instead of its rows. An element has "
                                          "two indices: along which one are maximum and sum computed?"}};
static const struct mistake output_unwritten = {
    "output-unwritten",
    {"part of the output is not written",
     "The written part is right, but some elements still hold their old contents. Check which elements: is there a "
     "thread for each, and how many elements does a thread process if a row is long?"}};
static const struct mistake row_end_skipped = {
    "row-end-skipped",
    {"the end of the rows is skipped",
     "Rows whose length is a multiple of a warp are right. In the others the last elements are neither in the sum nor "
     "written. How many warps does the launch assign to a row that needs one and a half?"}};

#define STRIPE(p, n)                                                                                                   \
    { SUBSET_STRIPE, p, n }

static const struct model {
    const struct mistake *mistake;
    struct softmax_variant variant;
} model_list[] = {
    {&maximum_not_subtracted, {.maximum = NO_MAXIMUM}},
    {&maximum_not_subtracted, {.maximum = AS_FACTOR}},
    {&maximum_starts_at_0, {.maximum = FROM_0}},
    {&maximum_not_reduced, {.maximum = OF_THREAD, .threads = 32}},
    {&maximum_not_reduced, {.maximum = OF_THREAD, .threads = 128}},
    {&maximum_not_reduced, {.maximum = OF_THREAD, .threads = 256}},
    {&maximum_not_reduced, {.maximum = OF_THREAD, .threads = 1024}},
    {&maximum_not_reduced, {.maximum = OF_THREAD, .threads = 1024, .longer_than = 32768}},
    {&sum_not_rescaled, {.running_sum_kept = true, .threads = 1024, .longer_than = 32768}},
    {&sum_not_rescaled, {.running_sum_kept = true, .threads = 1}},
    {&sum_not_rescaled, {.running_sum_kept = true, .threads = 32}},
    {&sum_not_rescaled, {.running_sum_kept = true, .threads = 256}},
    {&sum_not_rescaled, {.running_sum_kept = true, .threads = 1024}},
    {&padding_counted, {.padded = 4}},
    {&padding_counted, {.padded = 32}},
    {&padding_counted, {.padded = 128}},
    {&padding_counted, {.padded = 256}},
    {&padding_counted, {.padded = 512}},
    {&padding_counted, {.padded = 1024}},
    {&padding_counted, {.padded = -1}}, // as wide as lesson 03's blocks are for the row
    {&division_missing, {.no_division = true}},
    {&divided_twice, {.divided_twice = true}},
    {&elements_missing_from_sum, {.sum = STRIPE(4, 3)}},
    {&elements_missing_from_sum, {.sum = STRIPE(4, 1)}},
    {&elements_missing_from_sum, {.sum = STRIPE(32, 31)}},
    {&elements_missing_from_sum, {.sum = STRIPE(32, 16)}},
    {&elements_missing_from_sum, {.sum = STRIPE(128, 64)}},
    {&elements_missing_from_sum, {.sum = STRIPE(128, 124)}},
    {&elements_missing_from_sum, {.sum = STRIPE(128, 4)}},
    {&elements_missing_from_sum, {.sum = {.kind = SUBSET_NOT_LAST}}},
    {&elements_missing_from_sum, {.sum = {.kind = SUBSET_NOT_FIRST}}},
    {&first_row_for_all, {.first_row = true}},
    {&softmax_over_columns, {.over_rows = true}},
    {&output_unwritten, {.unwritten = true}},
    {&row_end_skipped, {.unwritten = true, .end_skipped = true}},
};

static const struct mistake *mistake_of(int model) {
    return model_list[model].mistake;
}

// exp() with the range of fp32.
static double exponential(double x) {
    double y = exp(x);
    return y > FLT_MAX ? INFINITY : y < 0x1p-149 ? 0 : y;
}

// How many elements a warp of lesson 03 takes: 128 for each float4 of a thread.
static int warp_columns(int columns) {
    return columns <= 512 ? 128 : columns <= 2048 ? 256 : columns <= 16384 ? 512 : 1024;
}

// What is counted of a row, which may be more than its elements, or less.
static int width_of(const struct softmax_variant *v, int columns) {
    int warp = warp_columns(columns);
    if (v->end_skipped) {
        int whole = (columns + 3) / 4 * 4 / warp * warp; // a float4 is taken whole
        return whole && whole < columns ? whole : columns;
    }
    int to = v->padded < 0 ? warp : v->padded > 0 ? v->padded : 1;
    return (columns + to - 1) / to * to;
}

struct line {
    const float *in;
    int size, step;
};

static double at(const struct line *l, int c) {
    return l->in[(int64_t)c * l->step];
}

static double maximum_of(const struct line *l, int first, int step) {
    double maximum = -INFINITY;
    for (int c = first; c < l->size; c += step)
        maximum = fmax(maximum, at(l, c));
    return maximum;
}

// Of exp(x - maximum of the thread so far), over the columns first, first + threads, ...
static double running_sum(const struct line *l, int first, int threads) {
    double sum = 0, seen = -INFINITY;
    for (int c = first; c < l->size; c += threads) {
        seen = fmax(seen, at(l, c));
        sum += seen == -INFINITY ? 0 : exponential(at(l, c) - seen);
    }
    return sum;
}

static double sum_of(const struct softmax_variant *v, const struct line *l, double maximum, int padding) {
    double sum = padding ? padding * exponential(-maximum) : 0;
    if (v->maximum == OF_THREAD || v->running_sum_kept) {
        for (int t = 0; t < v->threads && t < l->size; t++) {
            double own = maximum_of(l, t, v->threads);
            if (v->running_sum_kept) { // in the end relative to the thread's own maximum, and rescaled from there
                sum += own == -INFINITY ? 0 : running_sum(l, t, v->threads) * exponential(own - maximum);
                continue;
            }
            for (int c = t; c < l->size; c += v->threads)
                sum += own == -INFINITY ? 0 : exponential(at(l, c) - own);
        }
        return sum;
    }
    int end = width_of(v, l->size) < l->size ? width_of(v, l->size) : l->size;
    for (int c = 0; c < end; c++)
        if (subset_has(v->sum, c, l->size))
            sum += v->maximum == AS_FACTOR ? exponential(at(l, c)) * exponential(-maximum)
                                           : exponential(at(l, c) - maximum);
    return sum;
}

static void predict_line(const struct softmax_variant *v, const struct line *l, double *value, double *bound) {
    int width = width_of(v, l->size);
    double maximum = maximum_of(l, 0, 1);
    if (v->maximum == FROM_0 || width > l->size)
        maximum = fmax(maximum, 0);
    if (v->maximum == NO_MAXIMUM)
        maximum = 0;
    double sum = sum_of(v, l, maximum, width > l->size ? width - l->size : 0);
    double by = v->no_division ? 1 : v->divided_twice ? sum * sum : sum;
    for (int c = 0; c < l->size; c++) {
        double *y = value + (int64_t)c * l->step;
        *y = (v->maximum == AS_FACTOR ? exponential(at(l, c)) * exponential(-maximum)
                                      : exponential(at(l, c) - maximum)) /
             by;
        bound[(int64_t)c * l->step] =
            by > 0 && by < 1e-30 ? INFINITY : widening * tolerance_softmax(*y, at(l, c), maximum, l->size, 0);
    }
}

static void predict(int model, const struct host_problem *problem, struct prediction *p) {
    static const struct softmax_variant right = {0};
    const struct softmax_variant *v = model == NO_MISTAKE ? &right : &model_list[model].variant;
    const float *in = problem->tensor[0].values; // [rows][columns], all of them: the matrix is small
    int columns = problem->which.matrix.columns, rows = (int)problem->which.matrix.rows;
    if (columns <= v->longer_than)
        v = &right;
    p->unwritten_fits = v->unwritten;
    for (int c = 0; c < columns && v->over_rows; c++)
        predict_line(v, &(struct line){in + c, rows, columns}, p->value + c, p->bound + c);
    for (int r = 0; r < rows && !v->over_rows; r++) {
        int64_t at_row = (int64_t)r * columns;
        predict_line(v, &(struct line){v->first_row ? in : in + at_row, columns, 1}, p->value + at_row,
                     p->bound + at_row);
    }
}

// -infinity is a number to a softmax: its weight is 0.
static bool is_finite(const struct host_problem *problem) {
    const struct host_tensor *in = &problem->tensor[0];
    for (int64_t i = 0; i < in->kept * in->columns; i++)
        if (isnan(in->values[i]) || in->values[i] == INFINITY)
            return false;
    return true;
}

static double work(const struct problem_case *which) {
    return (double)which->matrix.rows * which->matrix.columns;
}

static bool is_usable(const struct problem_case *which) {
    return work(which) <= SMALL_MATRIX;
}

static bool reduce(struct problem_case *which) {
    (void)which;
    return false;
}

static bool is_discriminating(const struct problem_case *which) {
    (void)which;
    return false;
}

const struct mistake_models *softmax_models(void) {
    // Every path of a kernel that chooses by the length of a row, a row that rises, one of large elements.
    static const struct problem_case probes[] = {
        {.matrix = {3, 37}},
        {.matrix = {2, 1030}},
        {.matrix = {3, 133}, .family = INPUTS_RISING},
        {.matrix = {3, 70}, .family = INPUTS_OFFSET},
        {.matrix = {2, 4099}},
        {.matrix = {1, 33000}},
    };
    static const struct mistake_models mistake_models = {.count = sizeof model_list / sizeof *model_list,
                                                         .mistake = mistake_of,
                                                         .predict = predict,
                                                         .finite = is_finite,
                                                         .usable = is_usable,
                                                         .reduce = reduce,
                                                         .work = work,
                                                         .work_of_right = INFINITY,
                                                         .probe = probes,
                                                         .probes = sizeof probes / sizeof *probes,
                                                         .discriminates = is_discriminating};
    return &mistake_models;
}
