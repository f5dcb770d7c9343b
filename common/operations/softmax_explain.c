// A wrong row softmax: its output is its weights, so the passes over the weights of attention explain it.
#include "host/parallel.h"
#include "host/verdict.h"
#include "operations/attention_explain.h"
#include "operations/diagnosis_extremes.h"
#include "operations/diagnosis_report.h"
#include "operations/diagnosis_text.h"
#include "operations/softmax_operation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SEED = 4711, MOST_COLUMNS = 1000, MOST_OBSERVED = 1 << 16, ROWS = 6 };

static bool observe(const struct diagnosed *kernel, int columns, uint64_t seed, struct observed *x);

static bool observe_again(const struct observed *x, int longer, struct observed *twin) {
    return observe(x->kernel, x->which.attention.nk + longer, SEED + 1, twin);
}

// What the rows of a matrix have become, as if they were scores of attention. False if that is right, or not to be had.
static bool observe(const struct diagnosed *kernel, int columns, uint64_t seed, struct observed *x) {
    const struct problem_case which = {.matrix = {ROWS, columns}};
    struct host_problem problem;
    *x = (struct observed){.kernel = kernel,
                           .rows = ROWS,
                           .tolerance = 2e-4,
                           .again = observe_again,
                           .repeats = true,
                           .weighs_as_shown = true,
                           .column = ANY_COLUMN};
    x->which.attention =
        (struct attention_shape){.batch = 1, .heads = 1, .kv_heads = 1, .nq = ROWS, .nk = columns, .head_dim = 1};
    x->problem.softmax_scale = 1;
    softmax_make(&which, seed, true, &problem);
    const int64_t elements = (int64_t)ROWS * columns;
    float *out = host_allocate(elements, sizeof *out);
    const bool wrong = kernel->covers(kernel->context, &which) && kernel->run(kernel->context, &problem, out) &&
                       !verdict_of_all(&problem, out, seed);
    x->got = host_allocate(elements, sizeof *x->got);
    x->right = host_allocate(elements, sizeof *x->right);
    x->score = host_allocate(elements, sizeof *x->score);
    x->largest = host_zeros(ROWS, sizeof *x->largest);
    x->right_lse = host_zeros(ROWS, sizeof *x->right_lse);
    x->missing = host_zeros(ROWS, sizeof *x->missing);
    for (int64_t i = 0; i < elements; i++) {
        const int64_t row = i / columns;
        if (i % columns == 0)
            softmax_reference(host_row(&problem.tensor[0], row), columns, x->right + i);
        x->got[i] = out[i];
        x->score[i] = host_row(&problem.tensor[0], row)[i % columns];
        x->largest[row] = fmax(x->largest[row], x->right[i]);
        if (!isfinite(out[i]))
            x->missing[row] = is_poison(out[i]) ? ROW_UNWRITTEN : ROW_NOT_FINITE;
    }
    x->raw = host_allocate(elements, sizeof *x->raw);
    memcpy(x->raw, x->score, (size_t)elements * sizeof *x->raw);
    free(out);
    host_problem_free(&problem);
    if (!wrong)
        attention_observed_free(x);
    return wrong;
}

static bool run_scores(void *context, const double *score, int keys, double sums[EXTREME_SUMS]) {
    const struct diagnosed *kernel = context;
    const struct problem_case which = {.matrix = {1, keys}};
    struct host_problem problem;
    float *out = host_allocate(keys, sizeof *out);
    softmax_make(&which, SEED, true, &problem);
    for (int j = 0; j < keys; j++)
        problem.tensor[0].values[j] = (float)score[j];
    const bool ran = kernel->covers(kernel->context, &which) && kernel->run(kernel->context, &problem, out);
    for (int c = 0; c < EXTREME_SUMS; c++) {
        sums[c] = 0;
        for (int j = 0; j < keys; j++)
            sums[c] += out[j] * extreme_value(c, j, keys);
    }
    free(out);
    host_problem_free(&problem);
    return ran;
}

// Which columns are not written, or not right, in any row.
static void report_elements(const struct observed *x, FILE *out) {
    const int columns = x->which.attention.nk;
    bool *wrong = host_zeros(columns, sizeof *wrong);
    bool unwritten = false;
    char text[200];
    for (int64_t i = 0; i < x->rows * columns; i++) {
        unwritten = unwritten || is_poison((float)x->got[i]);
        wrong[i % columns] = wrong[i % columns] || !(fabs(x->got[i] - x->right[i]) <= 1e-5 + 1e-3 * x->right[i]);
    }
    if (pattern_ranges(wrong, columns, "column", "columns", text, sizeof text))
        fprintf(out, "  %s %s [wrong-columns]\n", unwritten ? "Not written, or wrong, are" : "Wrong are", text);
    free(wrong);
}

void softmax_explain(const struct diagnosed *kernel, const struct evidence *evidence, int count, FILE *out) {
    static const int lengths[] = {37, 130, 261, MOST_COLUMNS};
    struct observed x;
    bool seen = false, explained = false;
    for (int i = 0; i < (int)(sizeof lengths / sizeof *lengths) + count && !explained; i++) {
        const int of_case = i < count ? evidence[i].which.matrix.columns : lengths[i - count];
        if ((i < count && (evidence[i].outcome != OUTCOME_WRONG || evidence[i].which.family)) ||
            of_case > MOST_OBSERVED || !observe(kernel, of_case, SEED, &x))
            continue;
        struct report s = {.x = &x, .out = out};
        case_seen_of(&x, &s.seen);
        if (of_case <= MOST_COLUMNS)
            explained = diagnosis_by(&s.seen, explain_weights, NULL, out);
        if (!explained && !seen) {
            fprintf(out, "\nROWS,COLUMNS = %d,%d SEED=%d:\n", ROWS, of_case, SEED);
            report_elements(&x, out);
            if (weights_are_proportional(&s.seen))
                report_divisor(&s);
        }
        seen = true;
        case_seen_free(&s.seen);
        attention_observed_free(&x);
    }
    if (!explained)
        diagnosis_extremes(&(struct score_kernel){run_scores, (void *)kernel, ATTENTION_FP32}, out);
}
