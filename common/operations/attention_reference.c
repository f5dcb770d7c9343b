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

// One row of attention. p is room for nk doubles.
static void compute_row(const struct job *job, int64_t index, double *p) {
    const struct host_problem *in = job->in;
    const struct attention_shape *shape = &in->which.attention;
    const int d = shape->head_dim;
    int64_t row = job->sample->row[index];
    int64_t head = row / shape->nq % shape->heads, batch = row / shape->nq / shape->heads;
    int64_t first_key = (batch * shape->kv_heads + head / (shape->heads / shape->kv_heads)) * shape->nk;
    const float *q = host_row(&in->tensor[Q], row);
    double *o = job->out->o + index * d, *a = job->out->a + index * d;
    int keys = shape_visible_keys(shape, (int)(row % shape->nq));

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
}

static void compute_rows(int64_t begin, int64_t end, void *context) {
    const struct job *job = context;
    double *p = host_allocate(job->in->which.attention.nk, sizeof *p);
    for (int64_t i = begin; i < end; i++)
        compute_row(job, i, p);
    free(p);
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
    };
    struct job job = {problem, sample, &reference};
    parallel_for(sample->count, 4, compute_rows, &job);
    for (int64_t i = 0; i < sample->count; i++)
        reference.walk = fmax(reference.walk, reference.score_walk[i]);
    return reference;
}

void attention_reference_free(struct attention_reference *reference) {
    free(reference->o);
    free(reference->a);
    free(reference->lse);
    free(reference->score_scale);
    free(reference->score_walk);
    free(reference->weight_norm);
    memset(reference, 0, sizeof *reference);
}
