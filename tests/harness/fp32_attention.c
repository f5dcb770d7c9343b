#include "fp32_attention.h"

#include "host/parallel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct row {
    const struct host_inputs *in;
    const float *q;
    int64_t first_key;
    int keys, d;
    float scale;
};

static float score(const struct row *r, int key) {
    const float *k = inputs_row(r->in->k, r->in->k_rows, r->first_key + key, r->d);
    float dot = 0;
    for (int c = 0; c < r->d; c++)
        dot += r->q[c] * k[c];
    return r->scale * dot;
}

static void add_value(const struct row *r, int key, float weight, float *o) {
    const float *v = inputs_row(r->in->v, r->in->k_rows, r->first_key + key, r->d);
    for (int c = 0; c < r->d; c++)
        o[c] += weight * v[c];
}

static void two_pass(const struct row *r, enum fp32_kernel kernel, float *o) {
    float *p = host_allocate(r->keys, sizeof *p), maximum = -INFINITY, sum = 0;
    for (int j = 0; j < r->keys; j++) {
        p[j] = score(r, j);
        maximum = fmaxf(maximum, p[j]);
    }
    if (kernel == FP32_NO_MAXIMUM)
        maximum = 0;
    for (int j = 0; j < r->keys; j++) {
        p[j] = expf(p[j] - maximum);
        if (kernel == FP32_HALF_WEIGHTS)
            p[j] = (p[j] * 8193.0f) - (p[j] * 8193.0f - p[j]); // 11 bits are left
        sum += p[j];
        add_value(r, j, p[j], o);
    }
    if (kernel == FP32_TAIL_IS_ZERO)
        sum += (float)((32 - r->keys % 32) % 32) * expf(0 - maximum);
    for (int c = 0; c < r->d; c++)
        o[c] = r->keys ? o[c] / sum : 0;
    free(p);
}

static void online(const struct row *r, float *o) {
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
        for (int c = 0; c < r->d; c++)
            o[c] *= rescale;
        for (int j = 0; j < count; j++) {
            p[j] = expf(p[j] - shift);
            sum += p[j];
            add_value(r, first + j, p[j], o);
        }
        maximum = tile_maximum;
    }
    for (int c = 0; c < r->d; c++)
        o[c] = r->keys ? o[c] / sum : 0;
}

void fp32_attention_row(const struct host_inputs *in, enum fp32_kernel kernel, int64_t row, float *o) {
    const struct attention_shape *s = &in->shape;
    int64_t head = row / s->nq % s->heads, batch = row / s->nq / s->heads;
    struct row r = {.in = in,
                    .q = inputs_row(in->q, in->q_rows, row, s->head_dim),
                    .first_key = (batch * s->kv_heads + head / (s->heads / s->kv_heads)) * s->nk,
                    .keys = shape_visible_keys(s, (int)(row % s->nq)),
                    .d = s->head_dim,
                    .scale = kernel == FP32_NO_SCALE ? 1.0f : in->softmax_scale};
    if (kernel == FP32_DROPS_A_KEY)
        r.keys--;
    if (kernel == FP32_TOP_LEFT)
        r.keys = (int)(row % s->nq) + 1 < s->nk ? (int)(row % s->nq) + 1 : s->nk;
    memset(o, 0, (size_t)s->head_dim * sizeof *o);
    if (kernel == FP32_ONLINE)
        online(&r, o);
    else
        two_pass(&r, kernel, o);
}
