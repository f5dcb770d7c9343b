#include "operations/attention_reference.h"

#include "host/parallel.h"
#include "operations/attention_operation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct job {
    const struct host_problem *in;
    const struct row_sample *sample;
    struct attention_reference *out;
};

// What a row is computed in.
struct scratch {
    double *p, *partial; // [nk], [3][head_dim]
    uint64_t *groups;    // for tolerance_summation()
};

// What an element's rounding error is measured by: where the terms cancel, the result is smaller than that.
double attention_size(const struct attention_reference *r, int64_t index, int column) {
    double value = r->o[index * r->head_dim + column], a = r->a[index * r->head_dim + column];
    return isfinite(value) && !isinf(a) ? fmax(fabs(value), a * r->weight_norm[index]) : NAN;
}

// Turns what the sums may be off by into its part in the row's relative RMS error. The numerators are off by so much of
// their largest partial sum, from the first key on or from the last one, all elements by what the denominator is. What
// is lost of the values keeps its sign.
static void weigh_summation(const struct job *job, int64_t index, const struct scratch *scratch, int64_t first_key,
                            int keys, double sum) {
    const struct attention_reference *r = job->out;
    struct summation *s = &r->summation[index];
    int d = r->head_dim;
    double *partial = scratch->partial, *largest = scratch->partial + d, *absorbed = scratch->partial + 2 * d;
    double permuted = 0, missing = 0, signal = 0;
    memset(scratch->partial, 0, 3 * (size_t)d * sizeof *partial);
    for (int j = 0; j < keys; j++) {
        const float *v = host_row(&job->in->tensor[V], first_key + j);
        double weight = scratch->p[j] / sum;
        for (int c = 0; c < d; c++) {
            double size = fabs(partial[c] += weight * v[c]);
            largest[c] = size > largest[c] ? size : largest[c];
        }
        for (int c = 0; c < d && weight < tolerance_absorbed_fraction; c++)
            absorbed[c] += weight * v[c];
    }
    for (int c = 0; c < d; c++) {
        double size = attention_size(r, index, c), value = fabs(r->o[index * d + c]);
        if (isnan(size))
            continue;
        permuted += (largest[c] + 2 * value) * (largest[c] + 2 * value);
        missing += (fabs(absorbed[c]) + s->absorbed * value) * (fabs(absorbed[c]) + s->absorbed * value);
        signal += size * size;
    }
    double leverage = signal > 0 ? sqrt(permuted / signal) : 0;
    s->walk *= leverage;
    s->drift = s->drift * leverage + (signal > 0 ? sqrt(missing / signal) : 0);
}

// One row of attention.
static void compute_row(const struct job *job, int64_t index, const struct scratch *scratch) {
    const struct host_problem *in = job->in;
    const struct attention_shape *shape = &in->which.attention;
    const int d = shape->head_dim;
    int64_t row = job->sample->row[index];
    int64_t first_key = shape_first_key(shape, row);
    const float *q = host_row(&in->tensor[Q], row);
    double *o = job->out->o + index * d, *a = job->out->a + index * d;
    int keys = shape_attended_keys(shape, (int)(row % shape->nq));
    double *p = scratch->p;

    // 1. Scores.
    double score_scale = 0, score_walk = 0, maximum = -INFINITY;
    for (int j = 0; j < keys; j++) {
        const float *k = host_row(&in->tensor[K], first_key + j);
        double dot = 0, size = 0, squares = 0;
        for (int c = 0; c < d; c++) {
            double term = (double)q[c] * k[c];
            dot += term;
            size += fabs(term);
            squares += term * term;
        }
        p[j] = (double)in->softmax_scale * dot;
        if (isfinite(p[j])) {
            score_scale = fmax(score_scale, size);
            score_walk = fmax(score_walk, fmax(fabs(dot), sqrt(squares)));
        }
        maximum = fmax(maximum, p[j]);
    }

    // 2. Weights. A score that is NaN, or the maximum where it is infinite, makes its weight NaN, and so the sum.
    double sum = 0, squares = 0;
    for (int j = 0; j < keys; j++) {
        p[j] = exp(p[j] - maximum);
        sum += p[j];
        squares += p[j] * p[j];
    }

    // 3. The weighted mean of the values; 0 where there is none.
    memset(o, 0, (size_t)d * sizeof *o);
    memset(a, 0, (size_t)d * sizeof *a);
    for (int j = 0; j < keys; j++) {
        const float *v = host_row(&in->tensor[V], first_key + j);
        double weight = p[j] / sum;
        for (int c = 0; c < d; c++) {
            o[c] += weight * v[c];
            a[c] += weight * fabs((double)v[c]);
        }
    }

    job->out->lse[index] = keys ? maximum + log(sum) : -INFINITY;
    job->out->score_scale[index] = score_scale;
    job->out->score_walk[index] = score_walk;
    job->out->weight_norm[index] = keys ? sqrt(squares) / sum : 0;
    job->out->summation[index] = tolerance_summation(p, keys, sum, scratch->groups);
    weigh_summation(job, index, scratch, first_key, keys, sum);
}

static void compute_rows(int64_t begin, int64_t end, void *context) {
    const struct job *job = context;
    int nk = job->in->which.attention.nk, d = job->out->head_dim;
    struct scratch scratch = {.p = host_allocate(nk, sizeof(double)),
                              .partial = host_allocate(3 * d, sizeof(double)),
                              .groups = host_allocate(tolerance_summation_scratch(nk), sizeof(uint64_t))};
    for (int64_t i = begin; i < end; i++)
        compute_row(job, i, &scratch);
    free(scratch.p);
    free(scratch.partial);
    free(scratch.groups);
}

struct attention_reference attention_refer(const struct host_problem *problem, const struct row_sample *sample) {
    int d = problem->which.attention.head_dim;
    struct attention_reference reference = {
        .rows = sample->count,
        .head_dim = d,
        .o = host_allocate(sample->count * d, sizeof(double)),
        .a = host_allocate(sample->count * d, sizeof(double)),
        .lse = host_allocate(sample->count, sizeof(double)),
        .score_walk = host_allocate(sample->count, sizeof(double)),
        .score_scale = host_allocate(sample->count, sizeof(double)),
        .weight_norm = host_allocate(sample->count, sizeof(double)),
        .summation = host_allocate(sample->count, sizeof(struct summation)),
    };
    struct job job = {problem, sample, &reference};
    parallel_for(sample->count, 4, compute_rows, &job);
    for (int64_t i = 0; i < sample->count; i++) {
        reference.walk = fmax(reference.walk, reference.score_walk[i]);
        reference.sum_walk = fmax(reference.sum_walk, reference.summation[i].walk);
        reference.sum_drift = fmax(reference.sum_drift, reference.summation[i].drift);
    }
    return reference;
}

void attention_reference_free(struct attention_reference *reference) {
    free(reference->o);
    free(reference->a);
    free(reference->lse);
    free(reference->score_scale);
    free(reference->score_walk);
    free(reference->weight_norm);
    free(reference->summation);
    memset(reference, 0, sizeof *reference);
}
