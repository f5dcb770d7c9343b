#include "operations/attention_operation.h"

#include "host/inputs.h"
#include "host/parallel.h"

#include <math.h>
#include <stdlib.h>

// The streams of chance: the tensors by their index, and places. It is the place's number that older seeds know.
enum { STREAM_POSITION = 4 };

static void scale_row(float *row, int length, float factor) {
    for (int c = 0; c < length; c++)
        row[c] *= factor;
}

// Products of two such numbers are below what the type holds in full.
static float tiny(enum attention_dtype dtype) {
    return dtype == ATTENTION_FP16 ? 0x1p-8f : 1e-20f;
}

// Of INPUTS_TWINS. Two keys, in different tiles and neither in the first nor the last: the rows of even number give
// both the same score, another one for each 16 rows, whose other scores are 0, and those of odd number give one of the
// two a much larger one. What a kernel has summed up of the first twin is then rescaled by as little as it ever is
// before the second one comes. Every third head has a dozen of them, whose weights together are more than fp32 holds
// unless they are relative to their maximum, and nothing else that would raise that, in no row.
static bool has_dozen(int64_t head) {
    return head % 3 == 2;
}
static bool is_twin(int64_t head, int key, int nk) {
    int apart = nk / 16; // none of them in the first quarter
    if (has_dozen(head) && apart)
        return key >= 4 * apart && key % apart == apart / 2;
    return key == nk / 3 || key == 2 * nk / 3;
}
static float twin_score(int64_t head, int64_t query) {
    if (query % 2)
        return 0.0f;
    return has_dozen(head) ? 87.0f - 0.25f * (float)(query / 2 % 4) : 88.0f - (float)(query / 16 % 4);
}

struct filling {
    enum input_family family;
    uint64_t seed;
    enum attention_dtype dtype;
    const struct attention_shape *shape;
    float *q, *k, *v;
};

static void fill_q(int64_t begin, int64_t end, void *context) {
    const struct filling *f = context;
    int d = f->shape->head_dim;
    for (int64_t r = begin; r < end; r++) {
        float *q = f->q + r * d;
        inputs_normal_row(q, r, d, f->seed, Q);
        switch (f->family) {
        case INPUTS_LARGE:
            scale_row(q, d, 100.0f);
            if (r % 2) // with element 0 of every key above 100, this takes 30000 or more off each scaled score
                q[0] = -300.0f * sqrtf((float)d);
            break;
        case INPUTS_TINY:
            scale_row(q, d, tiny(f->dtype));
            break;
        case INPUTS_DOMINANT_FIRST:
        case INPUTS_DOMINANT_LAST:
        case INPUTS_DOMINANT_EDGE:
        case INPUTS_RISING:
        case INPUTS_CROWD:
        case INPUTS_STEEP:
        case INPUTS_FALLING:
        case INPUTS_EQUAL_BUT_ONE:
        case INPUTS_LATE:
            q[0] = sqrtf((float)d); // so that a key's element 0 is added to the scaled score as it is
            break;
        case INPUTS_OFFSET:
            q[0] = r % 2 ? -sqrtf((float)d) : sqrtf((float)d);
            break;
        case INPUTS_LOW: // times the 400 of every key
            q[0] = r % 2 ? -300.0f * sqrtf((float)d) : sqrtf((float)d);
            break;
        case INPUTS_TWINS:
            scale_row(q, d, 0.0f); // so that a row's scores are those of the twins, and 0
            q[0] = twin_score(r / f->shape->nq / (f->shape->heads / f->shape->kv_heads), r % f->shape->nq) *
                   sqrtf((float)d);
            q[d - 1] = r % f->shape->nq % 2 ? 300.0f * sqrtf((float)d) : 0.0f;
            break;
        default:
            break;
        }
    }
}

static void fill_k(int64_t begin, int64_t end, void *context) {
    const struct filling *f = context;
    int d = f->shape->head_dim, nk = f->shape->nk;
    for (int64_t r = begin; r < end; r++) {
        float *k = f->k + r * d;
        int64_t head = r / nk;
        int key = (int)(r % nk);
        bool equal = f->family == INPUTS_EQUAL || f->family == INPUTS_EQUAL_BUT_ONE;
        inputs_normal_row(k, equal ? r - key : r, d, f->seed, K);
        if (f->family == INPUTS_CROWD)
            scale_row(k, d, 0.1f);
        if (f->family == INPUTS_LARGE || f->family == INPUTS_TINY)
            scale_row(k, d, f->family == INPUTS_LARGE ? 100.0f : tiny(f->dtype));
        if (f->family == INPUTS_LARGE)
            k[0] = 100.0f + fabsf(k[0]);
        else if (f->family == INPUTS_RISING)
            k[0] = 0.25f * (float)key;
        else if (f->family == INPUTS_OFFSET)
            k[0] += 1000.0f;
        else if (f->family == INPUTS_LOW)
            k[0] = 400.0f;
        else if (f->family == INPUTS_FALLING)
            k[0] = -40.0f - 24.0f * (float)(key / 64);
        else if (f->family == INPUTS_LATE)
            k[0] = key < 64 ? -200.0f : 0.0f;
        else if (f->family == INPUTS_TWINS) {
            k[0] = is_twin(head, key, nk) ? 1.0f : 0.0f;
            k[d - 1] = !has_dozen(head) && key == (head % 2 ? 2 * nk / 3 : nk / 3) ? 1.0f : 0.0f;
        } else if (f->family == INPUTS_STEEP)
            k[0] = 4.0f * (float)key;
        else if (f->family == INPUTS_CROWD)
            k[0] = key == inputs_edge(head, nk) ? 10.0f : 0.0f;
        else if (f->family == INPUTS_EQUAL_BUT_ONE && key == inputs_edge(head, nk))
            k[0] += 11.0f;
        else if ((f->family == INPUTS_DOMINANT_FIRST && key == 0) ||
                 (f->family == INPUTS_DOMINANT_LAST && key == nk - 1) ||
                 (f->family == INPUTS_DOMINANT_EDGE && key == inputs_edge(head, nk)))
            k[0] = 120.0f;
    }
}

static void fill_v(int64_t begin, int64_t end, void *context) {
    const struct filling *f = context;
    int d = f->shape->head_dim;
    for (int64_t r = begin; r < end; r++) {
        float *v = f->v + r * d;
        inputs_normal_row(v, r, d, f->seed, V);
        if (f->family == INPUTS_TINY)
            scale_row(v, d, tiny(f->dtype));
        for (int c = 0; c < d; c++) {
            if (f->family == INPUTS_CONSTANT_VALUE)
                v[c] = 1.0f + 0.25f * (float)(c % 7);
            else if (f->family == INPUTS_OFFSET)
                v[c] += 100.0f;
        }
    }
}

// Puts the NaN or the infinity of the families that have one into a key that the seed chooses and every query sees:
// masked ones are finite. If the mask leaves no such key, all inputs are finite. Infinity needs a second key, since a
// row whose only score is -infinity looks fully masked.
static void fill_special(const struct filling *f, int64_t k_rows) {
    int d = f->shape->head_dim, seen_by_all = shape_attended_keys(f->shape, 0);
    if (seen_by_all < (f->family == INPUTS_INF_KEY ? 2 : 1))
        return;
    int64_t row = (int64_t)(inputs_random(f->seed, STREAM_POSITION, 0) % (uint64_t)k_rows), key = row % f->shape->nk;
    row -= key - key % seen_by_all;
    int column = (int)(inputs_random(f->seed, STREAM_POSITION, 1) % (uint64_t)d);
    if (f->family == INPUTS_NAN_KEY)
        for (int c = 0; c < d; c++)
            f->k[row * d + c] = NAN;
    else if (f->family == INPUTS_NAN_VALUE)
        f->v[row * d + column] = NAN;
    else if (f->family == INPUTS_INF_KEY) {
        f->k[row * d + column] = INFINITY;
        // And the first key of the next head: a kernel whose first score is -infinity has no maximum yet.
        const int64_t nk = f->shape->nk, head = row / nk, next = (head + 1) % (k_rows / nk);
        if (next != head)
            f->k[next * nk * d + column] = INFINITY;
    } else if (f->family == INPUTS_INF_VALUE)
        f->v[row * d + column] = INFINITY;
}

// As many of any type are a multiple of the 16 bytes that tensor maps want.
enum { ALIGNED_ELEMENTS = 8 };

static struct row_layout layout_of(const struct attention_shape *shape, int tensor, int heads, int n) {
    struct row_layout layout = {.heads = heads, .n = n};
    struct attention_shape own = *shape;
    if (shape->layout == LAYOUT_MIXED)
        own.layout = tensor == Q || tensor == V ? LAYOUT_BHND : LAYOUT_BNHD;
    shape_strides(&own, heads, n, layout.stride);
    // Batches lie apart, each tensor's by a distance of its own: a kernel that uses another tensor's stride reads other
    // rows.
    if (shape->layout == LAYOUT_MIXED)
        layout.stride[0] += (tensor + 1) * ALIGNED_ELEMENTS;
    if (shape->layout == LAYOUT_PADDED && shape->stride[0] == tensor) {
        layout.stride[2] += shape->stride[1] >= 2 ? 2 * ALIGNED_ELEMENTS : 0;
        layout.stride[1] = n * layout.stride[2] + (shape->stride[1] >= 1 ? 2 * ALIGNED_ELEMENTS : 0);
        layout.stride[0] = heads * layout.stride[1] + 2 * ALIGNED_ELEMENTS;
    }
    return layout;
}

void attention_make_of(const struct problem_case *which, float *q, float *k, float *v, int64_t q_kept, int64_t k_kept,
                       struct host_problem *problem) {
    const struct attention_shape *s = &which->attention;
    int64_t q_rows = shape_q_elements(s) / s->head_dim, k_rows = shape_k_elements(s) / s->head_dim;
    *problem =
        (struct host_problem){.operation = &attention_operation,
                              .which = *which,
                              .softmax_scale = which->has_scale ? which->scale : 1.0f / sqrtf((float)s->head_dim)};
    problem_add_input(problem, "q", which->dtype, q_rows, s->head_dim, q, q_kept)->layout =
        layout_of(s, Q, s->heads, s->nq);
    problem_add_input(problem, "k", which->dtype, k_rows, s->head_dim, k, k_kept)->layout =
        layout_of(s, K, s->kv_heads, s->nk);
    problem_add_input(problem, "v", which->dtype, k_rows, s->head_dim, v, k_kept)->layout =
        layout_of(s, V, s->kv_heads, s->nk);
    problem_add_output(problem, "o", which->dtype, q_rows, s->head_dim)->layout = layout_of(s, O, s->heads, s->nq);
    problem_add_output(problem, "lse", ATTENTION_FP32, q_rows, 1)->optional = true;
}

void attention_make(const struct problem_case *which, uint64_t seed, bool with_inputs, struct host_problem *problem) {
    const struct attention_shape *s = &which->attention;
    int d = s->head_dim;
    int64_t chunk = 1 + 4096 / d;
    int64_t q_kept = with_inputs ? inputs_kept(shape_q_elements(s) / d, d) : 0;
    int64_t k_kept = with_inputs ? inputs_kept(shape_k_elements(s) / d, d) : 0;
    struct filling filling = {.family = which->family,
                              .seed = seed,
                              .dtype = which->dtype,
                              .shape = s,
                              .q = host_allocate(q_kept * d, sizeof(float)),
                              .k = host_allocate(k_kept * d, sizeof(float)),
                              .v = host_allocate(k_kept * d, sizeof(float))};
    parallel_for(q_kept, chunk, fill_q, &filling);
    parallel_for(k_kept, chunk, fill_k, &filling);
    parallel_for(k_kept, chunk, fill_v, &filling);
    if (with_inputs)
        fill_special(&filling, k_kept);
    attention_make_of(which, filling.q, filling.k, filling.v, q_kept, k_kept, problem);
}
