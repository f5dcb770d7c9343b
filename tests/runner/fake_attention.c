// Attention as a C function behind the lessons' contract: right, or with the mistake that MISTAKE names.
// The arithmetic is fp32; with 16-bit tensors the weights are rounded to their type before they meet the values.
#include "attention.h"
#include "dtype.h"

#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

void fake_fail(cudaError_t error, bool stays);
void fake_launch_error(cudaError_t error);
void fake_finding(const char *text);

static bool mistake(const char *name) {
    const char *chosen = getenv("MISTAKE");
    return chosen && !strcmp(chosen, name);
}

enum { MAX_HEAD_DIM = 512 };

// The row of a tensor at place at.
static void load_row(const struct attention_problem *p, const void *tensor, int64_t at, float to[MAX_HEAD_DIM]) {
    dtype_load(p->dtype, (const char *)tensor + at * (int64_t)dtype_of(p->dtype)->size, p->head_dim, to);
}

static float rounded(const struct attention_problem *p, float weight) {
    if (mistake("coarse-weights"))
        return roundf(weight * 64) / 64;
    return dtype_round(p->dtype, weight);
}

static void attend(const struct attention_problem *p, int batch, int head, int row) {
    int kv_head = mistake("first-head") ? 0 : head / (p->heads / p->kv_heads), d = p->head_dim;
    int keys = p->causal ? row + p->nk - p->nq + 1 : p->nk;
    int64_t q = batch * p->q_stride.batch + head * p->q_stride.head + row * p->q_stride.row;
    int64_t k = batch * p->k_stride.batch + kv_head * p->k_stride.head;
    int64_t v = batch * p->v_stride.batch + kv_head * p->v_stride.head;
    int64_t at = batch * p->o_stride.batch + head * p->o_stride.head + row * p->o_stride.row;
    float maximum = -INFINITY, sum = 0, *weight = p->workspace, o[MAX_HEAD_DIM] = {0};
    float q_row[MAX_HEAD_DIM], row_of[MAX_HEAD_DIM]; // of queries; of keys, then of values
    load_row(p, p->q, q, q_row);
    keys = keys < 0 ? 0 : keys - (mistake("last-key") && keys > 1) - 8 * (mistake("eight-keys") && keys > 8);
    for (int j = 0; j < keys; j++) {
        float dot = 0;
        load_row(p, p->k, k + j * p->k_stride.row, row_of);
        for (int c = 0; c < d; c++)
            dot += q_row[c] * row_of[c];
        weight[j] = p->softmax_scale * dot;
        maximum = fmaxf(maximum, weight[j]);
    }
    for (int j = 0; j < keys; j++) {
        float exponential = expf(weight[j] - maximum);
        float factor = rounded(p, exponential);
        sum += exponential;
        load_row(p, p->v, v + j * p->v_stride.row, row_of);
        for (int c = 0; c < d; c++)
            o[c] += factor * row_of[c];
    }
    for (int c = 0; c < d && keys; c++)
        o[c] /= sum;
    dtype_store(p->dtype, o, d, (char *)p->o + at * (int64_t)dtype_of(p->dtype)->size);
    if (p->lse)
        p->lse[((int64_t)batch * p->heads + head) * p->nq + row] = !keys            ? -INFINITY
                                                                   : mistake("lse") ? logf(sum)
                                                                                    : maximum + logf(sum);
}

static void spoil(const struct attention_problem *p) {
    int64_t elements = (int64_t)p->batch * p->heads * p->nq * p->head_dim;
    float *o = p->o;
    if (mistake("unwritten"))
        memset(&o[elements - 1], 0xFF, sizeof *o);
    if (mistake("nan"))
        o[0] = NAN;
    if (mistake("past-the-end"))
        o[elements] = 1;
    if (mistake("before-the-start"))
        o[-1] = 1;
    if (mistake("crash"))
        raise(SIGSEGV);
    if (mistake("abort"))
        abort();
    if (mistake("exit"))
        exit(0);
    for (clock_t begin = clock(); mistake("slow") && clock() - begin < CLOCKS_PER_SEC;)
        ;
    while (mistake("endless") || (mistake("endless-once") && p->nq == 1))
        usleep(1000);
    if (mistake("finding"))
        fake_finding("race: two threads wrote the same byte");
    if (mistake("illegal-address"))
        fake_fail(cudaErrorIllegalAddress, true);
    if (mistake("asynchronous"))
        fake_fail(cudaErrorLaunchFailure, false);
    if (mistake("unreported"))
        fake_launch_error(cudaErrorInvalidConfiguration);
}

cudaError_t attention_forward(const struct attention_problem *p, cudaStream_t stream) {
    (void)stream;
    if (mistake("nothing"))
        return cudaSuccess;
    if (mistake("error"))
        return cudaErrorInvalidValue;
    for (int batch = 0; batch < p->batch; batch++)
        for (int head = 0; head < p->heads; head++)
            for (int row = 0; row < p->nq; row++)
                attend(p, batch, head, row);
    spoil(p);
    return cudaSuccess;
}

static size_t workspace_bytes(const struct attention_problem *p) {
    return (size_t)p->nk * sizeof(float);
}

static size_t shared_bytes(const struct attention_problem *p) {
    if (mistake("inflated") && p->nk > 2)
        return (size_t)1 << 30;
    return (size_t)p->nk * (p->dtype == ATTENTION_FP32 ? 64 : 16);
}

const struct attention_lesson attention_lesson = {
#ifdef SIXTEEN_BITS
    .dtypes = 1u << ATTENTION_FP16 | 1u << ATTENTION_BF16,
#else
    .dtypes = 1u << ATTENTION_FP32,
#endif
    .max_head_dim = MAX_HEAD_DIM,
#ifndef MODEST
    .causal = 1,
    .lse = 1,
    .strided = 1,
    .grouped_heads = 1,
#endif
    .min_compute_capability = 75,
    .workspace_bytes = workspace_bytes,
    .shared_bytes = shared_bytes,
};
