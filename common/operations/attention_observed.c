#include "operations/attention_observed.h"

#include "host/parallel.h"
#include "operations/attention_operation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// What the kernel writes to o, and to lse where that is not NULL; problem's values of v are those given.
static bool ask(const struct diagnosed *kernel, struct host_problem *problem, const float *v, float *o, float *lse) {
    const struct host_tensor *out = &problem->tensor[O];
    struct host_tensor *values = &problem->tensor[V];
    float *outputs = host_allocate(problem_output_elements(problem), sizeof *outputs);
    memcpy(values->values, v, (size_t)(values->rows * values->columns) * sizeof *v);
    bool ran = kernel->run(kernel->context, problem, outputs);
    memcpy(o, outputs, (size_t)(out->rows * out->columns) * sizeof *o);
    if (lse)
        memcpy(lse, outputs + out->rows * out->columns, (size_t)out->rows * sizeof *lse);
    free(outputs);
    return ran;
}

// What is known of a row by now.
static void note_row(struct observed *x, int64_t row, const float *o, int columns) {
    for (int c = 0; c < columns; c++)
        if (is_poison(o[c]))
            x->lost[row] = ROW_UNWRITTEN;
        else if (!isfinite(o[c]) && !x->lost[row])
            x->lost[row] = ROW_NO_NUMBERS;
}

// Keys first .. first + head_dim: key first + c has the value 1 in column c.
static bool ask_weights(const struct diagnosed *kernel, struct host_problem *problem, struct observed *x, float *v,
                        float *o) {
    int nk = x->which.attention.nk, d = x->which.attention.head_dim;
    for (int first = 0; first < nk; first += d) {
        int64_t rows = problem->tensor[V].rows;
        for (int64_t r = 0; r < rows; r++)
            for (int c = 0; c < d; c++)
                v[r * d + c] = r % nk == first + c;
        if (!ask(kernel, problem, v, o, NULL))
            return false;
        for (int64_t r = 0; r < x->rows; r++) {
            note_row(x, r, o + r * d, d);
            for (int c = 0; c < d && first + c < nk; c++)
                x->got[r * nk + first + c] = o[r * d + c];
        }
    }
    return true;
}

static void compute_right(const struct host_problem *problem, struct observed *x) {
    const struct attention_shape *s = &x->which.attention;
    int nk = s->nk, d = s->head_dim;
    for (int64_t r = 0; r < x->rows; r++) {
        int64_t keys = shape_first_key(s, r);
        int visible = shape_visible_keys(s, (int)(r % s->nq));
        const float *q = host_row(&problem->tensor[Q], r);
        double maximum = -INFINITY, sum = 0;
        for (int j = 0; j < nk; j++) {
            const float *k = host_row(&problem->tensor[K], keys + j);
            double dot = 0;
            for (int c = 0; c < d; c++)
                dot += (double)q[c] * k[c];
            x->score[r * nk + j] = j < visible ? dot * problem->softmax_scale : -INFINITY;
            maximum = fmax(maximum, x->score[r * nk + j]);
        }
        for (int j = 0; j < nk; j++)
            sum += x->right[r * nk + j] = j < visible ? exp(x->score[r * nk + j] - maximum) : 0;
        for (int j = 0; j < visible; j++)
            x->right[r * nk + j] /= sum;
        x->right_lse[r] = visible ? maximum + log(sum) : -INFINITY;
    }
}

// Rows that are 0 although they see keys.
static void note_zeros(struct observed *x) {
    const struct attention_shape *s = &x->which.attention;
    for (int64_t r = 0; r < x->rows; r++) {
        bool zero = !x->lost[r] && shape_visible_keys(s, (int)(r % s->nq)) > 0;
        for (int j = 0; j < s->nk && zero; j++)
            zero = x->got[r * s->nk + j] == 0;
        if (zero)
            x->lost[r] = ROW_ZERO;
    }
}

// Whether o is what the weights make of the values.
static bool sums_up(const struct observed *x, const float *own, const float *o) {
    const struct attention_shape *s = &x->which.attention;
    int nk = s->nk, d = s->head_dim;
    for (int64_t r = 0; r < x->rows; r++) {
        int64_t keys = shape_first_key(s, r);
        for (int c = 0; c < d && !x->lost[r]; c++) {
            double sum = 0, sizes = 0;
            for (int j = 0; j < nk; j++) {
                double term = x->got[r * nk + j] * own[(keys + j) * d + c];
                sum += term;
                sizes += fabs(term);
            }
            if (fabs(sum - o[r * d + c]) > x->near * sizes + 1e-6)
                return false;
        }
    }
    return true;
}

// Some roundings of the type, of the weight and of the output.
static double near_of(enum attention_dtype dtype) {
    return dtype == ATTENTION_BF16 ? 1e-2 : dtype == ATTENTION_FP16 ? 2e-3 : 2e-4;
}

bool attention_observe(const struct diagnosed *kernel, const struct problem_case *which, uint64_t seed,
                       struct observed *x) {
    struct host_problem problem;
    int64_t nk = which->attention.nk;
    if (!kernel->covers(kernel->context, which))
        return false;
    attention_make(which, seed, true, &problem);
    if (!kernel->optional)
        problem_leave_optional(&problem);
    bool whole = problem.finite;
    for (int i = 0; i < problem.inputs; i++)
        whole = whole && problem.tensor[i].kept == problem.tensor[i].rows;
    int64_t rows = problem.tensor[O].rows, values = problem.tensor[V].rows * problem.tensor[V].columns;
    *x = (struct observed){.which = *which, .rows = rows, .near = near_of(which->dtype)};
    x->got = host_allocate(rows * nk, sizeof *x->got);
    x->right = host_allocate(rows * nk, sizeof *x->right);
    x->score = host_allocate(rows * nk, sizeof *x->score);
    x->lost = host_allocate(rows, sizeof *x->lost);
    memset(x->lost, 0, (size_t)rows * sizeof *x->lost);
    x->right_lse = host_allocate(rows, sizeof *x->right_lse);
    if (problem.outputs > OUTPUT_LSE)
        x->lse = host_allocate(rows, sizeof *x->lse);
    float *own = host_allocate(values, sizeof *own), *v = host_allocate(values, sizeof *v);
    float *o = host_allocate(rows * which->attention.head_dim, sizeof *o);
    if (whole)
        memcpy(own, problem.tensor[V].values, (size_t)values * sizeof *own);
    bool good = whole && ask_weights(kernel, &problem, x, v, o) && ask(kernel, &problem, own, o, x->lse);
    if (good) {
        compute_right(&problem, x);
        note_zeros(x);
        x->weighs_as_shown = sums_up(x, own, o);
    } else {
        attention_observed_free(x);
    }
    free(own);
    free(v);
    free(o);
    host_problem_free(&problem);
    return good;
}

void attention_observed_free(struct observed *x) {
    free(x->got);
    free(x->right);
    free(x->score);
    free(x->lost);
    free(x->lse);
    free(x->right_lse);
}

bool observed_near(const struct observed *x, int64_t row, double weight, double other) {
    int nk = x->which.attention.nk;
    double largest = 0;
    for (int j = 0; j < nk; j++)
        largest = fmax(largest, x->right[row * nk + j]);
    return fabs(weight - other) <= x->near * (fmax(fabs(weight), fabs(other)) + largest / 16);
}
