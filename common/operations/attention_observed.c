#include "operations/attention_observed.h"

#include "clock.h"
#include "host/parallel.h"
#include "operations/attention_operation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// As observed_run(), and lse where that is not NULL.
static bool run_probe(struct observed *x, const float *q, const float *v, float *o, float *lse) {
    const struct host_tensor *out = &x->problem.tensor[O];
    struct host_tensor *queries = &x->problem.tensor[Q], *values = &x->problem.tensor[V];
    float *outputs = host_allocate(problem_output_elements(&x->problem), sizeof *outputs);
    memcpy(queries->values, q ? q : x->own_q, (size_t)(queries->rows * queries->columns) * sizeof *q);
    memcpy(values->values, v ? v : x->own_v, (size_t)(values->rows * values->columns) * sizeof *v);
    double begin = processor_seconds();
    bool ran = x->kernel->run(x->kernel->context, &x->problem, outputs);
    x->seconds = processor_seconds() - begin;
    memcpy(o, outputs, (size_t)(out->rows * out->columns) * sizeof *o);
    if (lse)
        memcpy(lse, outputs + out->rows * out->columns, (size_t)out->rows * sizeof *lse);
    free(outputs);
    return ran;
}

bool observed_run(struct observed *x, const float *q, const float *v, float *o) {
    return run_probe(x, q, v, o, NULL);
}

// What is known of a row by now.
static void note_row(struct observed *x, int64_t row, const float *o, int columns) {
    int finite = 0;
    for (int c = 0; c < columns; c++)
        finite += isfinite(o[c]) && !is_poison(o[c]);
    x->missing_in_part = x->missing_in_part || (finite > 0 && finite < columns);
    for (int c = 0; c < columns; c++)
        if (is_poison(o[c]))
            x->missing[row] = ROW_UNWRITTEN;
        else if (!isfinite(o[c]) && !x->missing[row])
            x->missing[row] = ROW_NOT_FINITE;
}

// Keys first .. first + head_dim: key first + c has the value 1 in column c. The weights of one column are asked for
// one key after the other.
bool observed_weights(struct observed *x, const float *q, double *weight) {
    const int nk = x->which.attention.nk, d = x->which.attention.head_dim;
    const int keys = x->column == ANY_COLUMN ? d : 1;
    int64_t rows = x->problem.tensor[V].rows;
    float *v = host_allocate(rows * d, sizeof *v), *o = host_allocate(x->rows * d, sizeof *o);
    bool ran = true;
    for (int first = 0; first < nk && ran; first += keys) {
        for (int64_t r = 0; r < rows; r++)
            for (int c = 0; c < d; c++)
                v[r * d + c] = r % nk == first + (keys == 1 ? 0 : c);
        ran = run_probe(x, q, v, o, NULL);
        for (int64_t r = 0; r < x->rows && ran; r++) {
            if (!q)
                note_row(x, r, o + r * d, d);
            for (int c = 0; c < keys && first + c < nk; c++)
                weight[r * nk + first + c] = o[r * d + (keys == 1 ? x->column : c)];
        }
    }
    free(v);
    free(o);
    return ran;
}

void observed_reference(const struct host_problem *problem, struct observed *x) {
    const struct attention_shape *s = &x->which.attention;
    int nk = s->nk, d = s->head_dim;
    for (int64_t r = 0; r < x->rows; r++) {
        int64_t keys = shape_first_key(s, r);
        int attended = shape_attended_keys(s, (int)(r % s->nq));
        const float *q = host_row(&problem->tensor[Q], r);
        double maximum = -INFINITY, sum = 0;
        for (int j = 0; j < nk; j++) {
            const float *k = host_row(&problem->tensor[K], keys + j);
            double dot = 0;
            for (int c = 0; c < d; c++)
                dot += (double)q[c] * k[c];
            x->raw[r * nk + j] = dot * problem->softmax_scale;
            x->score[r * nk + j] = j < attended ? x->raw[r * nk + j] : -INFINITY;
            maximum = fmax(maximum, x->score[r * nk + j]);
        }
        for (int j = 0; j < nk; j++)
            sum += x->right[r * nk + j] = j < attended ? exp(x->score[r * nk + j] - maximum) : 0;
        for (int j = 0; j < attended; j++)
            x->right[r * nk + j] /= sum;
        x->largest[r] = attended ? 1 / sum : 0;
        x->right_lse[r] = attended ? maximum + log(sum) : -INFINITY;
    }
}

// Rows that are 0 although they see keys.
static void note_zeros(struct observed *x) {
    const struct attention_shape *s = &x->which.attention;
    for (int64_t r = 0; r < x->rows; r++) {
        bool zero = !x->missing[r] && shape_attended_keys(s, (int)(r % s->nq)) > 0;
        for (int j = 0; j < s->nk && zero; j++)
            zero = x->got[r * s->nk + j] == 0;
        if (zero)
            x->missing[r] = ROW_ZERO;
    }
}

// What weights make of the values in column c, and the sum of the sizes of the terms.
static double weigh_values(const struct observed *x, const double *weight /* [nk] */, int64_t row, int c,
                           double *sizes) {
    const struct attention_shape *s = &x->which.attention;
    const float *v = x->own_v + shape_first_key(s, row) * s->head_dim + c;
    double sum = *sizes = 0;
    for (int j = 0; j < s->nk; j++) {
        sum += weight[j] * v[(int64_t)j * s->head_dim];
        *sizes += fabs(weight[j] * v[(int64_t)j * s->head_dim]);
    }
    return sum;
}

// What is right, and how far the output is at most from what the weights make of the values, beside their sizes.
static double see_outputs(struct observed *x) {
    const int nk = x->which.attention.nk, d = x->which.attention.head_dim;
    double worst = 0, sizes;
    for (int64_t i = 0; i < x->rows * d; i++) {
        x->right_o[i] = weigh_values(x, x->right + i / d * nk, i / d, (int)(i % d), &x->size_o[i]);
        if (x->missing[i / d])
            continue;
        const double sum = weigh_values(x, x->got + i / d * nk, i / d, (int)(i % d), &sizes);
        worst = fmax(worst, (fabs(sum - x->o[i]) - 1e-6) / fmax(sizes, 1e-30));
    }
    return worst;
}

// Whether two results for the same inputs are the same.
static bool are_same(const struct observed *x, const float *a, const float *b) {
    for (int64_t i = 0; i < x->rows * x->which.attention.head_dim; i++)
        if (isfinite(a[i]) != isfinite(b[i]) ||
            (isfinite(a[i]) && fabsf(a[i] - b[i]) > x->tolerance * fabsf(a[i]) + 1e-6))
            return false;
    return true;
}

// Some roundings of the type, of the weight and of the output.
static double tolerance_of(enum attention_dtype dtype) {
    return dtype == ATTENTION_BF16 ? 1e-2 : dtype == ATTENTION_FP16 ? 2e-3 : 2e-4;
}

static float *copy_of(const struct host_tensor *tensor) {
    int64_t elements = tensor->rows * tensor->columns;
    float *copy = host_allocate(elements, sizeof *copy);
    memcpy(copy, tensor->values, (size_t)elements * sizeof *copy);
    return copy;
}

static bool observe(struct observed *x) {
    int64_t elements = x->rows * x->which.attention.head_dim;
    float *repeated = host_allocate(elements, sizeof *repeated);
    bool good = run_probe(x, NULL, NULL, x->o, x->lse) && observed_weights(x, NULL, x->got) &&
                run_probe(x, NULL, NULL, repeated, NULL);
    if (good) {
        observed_reference(&x->problem, x);
        note_zeros(x);
        // Where blocks take what is next by chance, the same may come out a few times.
        x->repeats = are_same(x, x->o, repeated);
        for (int i = 0; i < 3 && x->repeats && run_probe(x, NULL, NULL, repeated, NULL); i++)
            x->repeats = are_same(x, x->o, repeated);
        x->off = see_outputs(x);
        x->weighs_as_shown = x->column != ANY_COLUMN || x->off <= x->tolerance;
    }
    free(repeated);
    return good;
}

bool attention_observe(const struct diagnosed *kernel, const struct problem_case *which, uint64_t seed, int column,
                       struct observed *x) {
    int64_t nk = which->attention.nk;
    if (!kernel->covers(kernel->context, which))
        return false;
    *x = (struct observed){.kernel = kernel,
                           .which = *which,
                           .tolerance = tolerance_of(which->dtype),
                           .again = attention_observe_again,
                           .column = column};
    attention_make(which, seed, true, &x->problem);
    if (!kernel->optional)
        problem_omit_optional(&x->problem);
    bool whole = x->problem.finite;
    for (int i = 0; i < x->problem.inputs; i++)
        whole = whole && x->problem.tensor[i].kept == x->problem.tensor[i].rows;
    if (!whole) {
        host_problem_free(&x->problem);
        return false;
    }
    int64_t rows = x->rows = x->problem.tensor[O].rows;
    x->own_q = copy_of(&x->problem.tensor[Q]);
    x->own_v = copy_of(&x->problem.tensor[V]);
    x->got = host_allocate(rows * nk, sizeof *x->got);
    x->right = host_allocate(rows * nk, sizeof *x->right);
    x->score = host_allocate(rows * nk, sizeof *x->score);
    x->raw = host_allocate(rows * nk, sizeof *x->raw);
    x->largest = host_allocate(rows, sizeof *x->largest);
    x->missing = host_zeros(rows, sizeof *x->missing);
    x->right_lse = host_allocate(rows, sizeof *x->right_lse);
    x->o = host_allocate(rows * which->attention.head_dim, sizeof *x->o);
    x->right_o = host_allocate(rows * which->attention.head_dim, sizeof *x->right_o);
    x->size_o = host_allocate(rows * which->attention.head_dim, sizeof *x->size_o);
    if (x->problem.outputs > OUTPUT_LSE)
        x->lse = host_allocate(rows, sizeof *x->lse);
    bool good = observe(x);
    if (!good)
        attention_observed_free(x);
    return good;
}

void attention_observed_free(struct observed *x) {
    host_problem_free(&x->problem);
    free(x->own_q);
    free(x->own_v);
    free(x->got);
    free(x->right);
    free(x->score);
    free(x->raw);
    free(x->largest);
    free(x->missing);
    free(x->o);
    free(x->right_o);
    free(x->size_o);
    free(x->lse);
    free(x->right_lse);
}

bool observed_matches(const struct observed *x, int64_t row, double weight, double other) {
    return fabs(weight - other) <= x->tolerance * (fmax(fabs(weight), fabs(other)) + x->largest[row] / 16);
}

bool observed_is_right(const struct observed *x, int64_t row, int column) {
    const int d = x->which.attention.head_dim, first = column == ANY_COLUMN ? 0 : column;
    for (int64_t i = row * d + first; i < row * d + (column == ANY_COLUMN ? d : column + 1); i++)
        if (!(fabs(x->o[i] - x->right_o[i]) <= 2 * x->tolerance * x->size_o[i]))
            return false;
    return true;
}
