#include "operations/attention_mistakes.h"
#include "operations/attention_operation.h"

// Multiply-adds of a case that is small enough to be computed once for each suspect, and of all that is known to be
// right.
enum { SMALL_CASE = 1 << 20, SMALL_CASES = 1 << 23, MANY_ROWS = 1 << 14 };

// Cases that tell mistakes apart: several heads and batches, long rows of keys, wide rows, more queries than a block
// has. One has so many heads that a kernel that distributes tiles has no blocks to spare: each gets several. One has a
// maximum that is first so low that its exponential is 0, which what starts at 0 survives and 0 * exp(-maximum) does
// not. The last ones are for kernels that take groups of heads and strides.
static const struct problem_case probes[] = {
    {.attention = {2, 2, 2, 5, 37, 39}},
    {.attention = {1, 2, 2, 3, 300, 64}},
    {.attention = {1, 1, 1, 70, 40, 32}},
    {.attention = {1, 1, 1, 2, 20, 160}},
    {.attention = {1, 1, 1, 3, 63, 32}}, // a tile that lacks one key, and one that is more than half full
    {.attention = {1, 1, 1, 3, 115, 32}},
    {.attention = {1, 1, 1, 4, 70, 64}, .family = INPUTS_OFFSET},
    {.attention = {1, 1, 1, 4, 256, 64}, .family = INPUTS_OFFSET}, // each part of it is full
    {.attention = {1, 1, 1, 4, 133, 64}, .family = INPUTS_RISING},
    {.attention = {1, 2, 2, 40, 40, 64, .causal = true}},
    {.attention = {1, 1, 1, 6, 40, 32, .causal = true}},
    {.attention = {1, 1, 1, 12, 7, 32, .causal = true}},
    {.attention = {1, 264, 264, 1, 128, 36}, .family = INPUTS_RISING},
    {.attention = {1, 1, 1, 4, 133, 64}, .family = INPUTS_LATE},
    {.attention = {2, 6, 2, 5, 37, 40}},
    {.attention = {2, 3, 3, 7, 20, 40, .layout = LAYOUT_BNHD}},
};

static const struct mistake *mistake_of(int model) {
    return attention_models[model].mistake;
}

static void predict(int model, const struct host_problem *problem, struct prediction *prediction) {
    variant_predict(model == NO_MISTAKE ? NULL : &attention_models[model].variant, problem, prediction);
}

static bool is_finite(const struct host_problem *problem) {
    return problem->finite;
}

static double work(const struct problem_case *which) {
    const struct attention_shape *s = &which->attention;
    return (double)s->batch * s->heads * s->nq * s->nk * s->head_dim;
}

// With a scale of its own a case has weights that are all alike or nearly all in one key, and then underflow in fp32 as
// no suspect's prediction can know. The same with the usual scale tells more.
static bool is_usable(const struct problem_case *which) {
    const struct attention_shape *s = &which->attention;
    int64_t rows = (int64_t)s->batch * s->heads * s->nq;
    return work(which) <= SMALL_CASE && rows <= MANY_ROWS && !which->has_scale;
}

static int at_most(int value, int limit) {
    return value < limit ? value : limit;
}

// The same inputs with the usual scale in a shape that is small enough: fewer heads, grouped as they are, then fewer
// queries and keys in the same proportion.
static bool reduce(struct problem_case *which) {
    struct attention_shape *s = &which->attention;
    which->has_scale = false;
    int shared = at_most(s->heads / s->kv_heads, 2);
    s->batch = at_most(s->batch, 2);
    s->kv_heads = at_most(s->kv_heads, 2);
    s->heads = s->kv_heads * shared;
    if (s->layout == LAYOUT_STRIDES)
        s->layout = LAYOUT_BNHD;
    while (work(which) > SMALL_CASE || s->batch * s->heads * s->nq > MANY_ROWS) {
        s->nq = (s->nq + 1) / 2;
        s->nk = (s->nk + 1) / 2;
    }
    return true;
}

// The mask may have a mistake of its own, and so may groups and strides, which waits until this one is mended. Late
// maxima are asked for only where several mistakes are left.
static bool is_discriminating(const struct problem_case *which) {
    const struct attention_shape *s = &which->attention;
    return !s->causal && s->layout == LAYOUT_BHND && s->kv_heads == s->heads && is_usable(which) &&
           which->family != INPUTS_LATE;
}

const struct mistake_models *attention_mistake_models(void) {
    static struct mistake_models mistake_models = {.mistake = mistake_of,
                                                   .predict = predict,
                                                   .finite = is_finite,
                                                   .usable = is_usable,
                                                   .reduce = reduce,
                                                   .work = work,
                                                   .work_of_right = SMALL_CASES,
                                                   .probe = probes,
                                                   .probes = sizeof probes / sizeof *probes,
                                                   .discriminates = is_discriminating,
                                                   .refine = attention_refine};
    mistake_models.count = attention_model_count;
    return &mistake_models;
}
