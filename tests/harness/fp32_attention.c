#include "fp32_attention.h"

#include "host/parallel.h"
#include "operations/attention_operation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct row {
    const struct host_problem *in;
    enum fp32_kernel kernel;
    enum attention_dtype dtype;
    const float *q;
    int64_t first_key;
    int keys, d;
    float scale;
};

static float score(const struct row *r, int key) {
    const float *k = host_row(&r->in->tensor[K], r->first_key + key);
    float dot = 0;
    for (int c = 0; c < r->d; c++)
        dot = r->kernel == FP32_FP16_SCORES ? dtype_round(ATTENTION_FP16, dot + r->q[c] * k[c]) : dot + r->q[c] * k[c];
    return r->kernel == FP32_ROUNDED_SCORES ? dtype_round(r->dtype, r->scale * dot) : r->scale * dot;
}

// The weight as it meets the values.
static float rounded(const struct row *r, float weight) {
    return dtype_round(r->kernel == FP32_BF16_WEIGHTS ? ATTENTION_BF16 : r->dtype, weight);
}

static void add_value(const struct row *r, int key, float weight, float *o) {
    const float *v = host_row(&r->in->tensor[V], r->first_key + key);
    for (int c = 0; c < r->d; c++) {
        o[c] += weight * v[c];
        if (r->kernel == FP32_ROUNDED_OUTPUT)
            o[c] = dtype_round(r->dtype, o[c]);
    }
}

static void add_weight(const struct row *r, float weight, float *sum) {
    *sum += r->kernel == FP32_SUM_OF_ROUNDED ? rounded(r, weight) : weight;
    if (r->kernel == FP32_ROUNDED_SUM)
        *sum = dtype_round(r->dtype, *sum);
}

// The results of a row, and its log-sum-exp.
static float finish(const struct row *r, float maximum, float sum, float *o) {
    for (int c = 0; c < r->d; c++)
        o[c] = r->keys > 0 ? dtype_round(r->dtype, o[c] / sum) : 0;
    return r->keys > 0 ? maximum + logf(sum) : -INFINITY;
}

static float two_pass(const struct row *r, float *o) {
    float *p = host_allocate(r->keys > 0 ? r->keys : 1, sizeof *p), maximum = -INFINITY, sum = 0;
    for (int j = 0; j < r->keys; j++) {
        p[j] = score(r, j);
        maximum = fmaxf(maximum, p[j]);
    }
    if (r->kernel == FP32_NO_MAXIMUM)
        maximum = 0;
    for (int j = 0; j < r->keys; j++) {
        p[j] = expf(p[j] - maximum);
        if (r->kernel == FP32_HALF_WEIGHTS)
            p[j] = (p[j] * 8193.0f) - (p[j] * 8193.0f - p[j]); // 11 bits are left
        add_weight(r, p[j], &sum);
        add_value(r, j, rounded(r, p[j]), o);
    }
    if (r->kernel == FP32_TAIL_IS_ZERO)
        sum += (float)((32 - r->keys % 32) % 32) * expf(0 - maximum);
    free(p);
    return finish(r, maximum, sum, o);
}

static float online(const struct row *r, float *o) {
    enum { TILE = 32 };
    float maximum = -INFINITY, sum = 0, p[TILE];
    for (int first = 0; first < r->keys; first += TILE) {
        int count = r->keys - first < TILE ? r->keys - first : TILE;
        float tile_maximum = maximum;
        for (int j = 0; j < count; j++) {
            p[j] = score(r, first + j);
            tile_maximum = fmaxf(tile_maximum, p[j]);
        }
        float shift = tile_maximum == -INFINITY ? 0 : tile_maximum, rescale = expf(maximum - shift);
        sum *= rescale;
        for (int c = 0; c < r->d && r->kernel != FP32_NOT_RESCALED; c++)
            o[c] *= rescale;
        for (int j = 0; j < count; j++) {
            p[j] = expf(p[j] - shift);
            add_weight(r, p[j], &sum);
            add_value(r, first + j, rounded(r, p[j]), o);
        }
        maximum = tile_maximum;
    }
    return finish(r, maximum, sum, o);
}

float fp32_attention_row(const struct host_problem *in, enum fp32_kernel kernel, int64_t row, float *o) {
    const struct attention_shape *s = &in->which.attention;
    int64_t head = row / s->nq % s->heads, batch = row / s->nq / s->heads;
    struct row r = {.in = in,
                    .kernel = kernel,
                    .dtype = in->which.dtype,
                    .q = host_row(&in->tensor[Q], row),
                    .first_key = (batch * s->kv_heads + head / (s->heads / s->kv_heads)) * s->nk,
                    .keys = shape_attended_keys(s, (int)(row % s->nq)),
                    .d = s->head_dim,
                    .scale = kernel == FP32_NO_SCALE ? 1.0f : in->softmax_scale};
    if (kernel == FP32_DROPS_A_KEY || kernel == FP32_DROPS_EIGHT_KEYS)
        r.keys -= kernel == FP32_DROPS_A_KEY ? 1 : 8;
    if (kernel == FP32_TOP_LEFT)
        r.keys = (int)(row % s->nq) + 1 < s->nk ? (int)(row % s->nq) + 1 : s->nk;
    memset(o, 0, (size_t)s->head_dim * sizeof *o);
    return kernel == FP32_ONLINE || kernel == FP32_NOT_RESCALED ? online(&r, o) : two_pass(&r, o);
}
