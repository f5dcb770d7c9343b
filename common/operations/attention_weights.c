#include "operations/attention_head.h"

#include <float.h>
#include <math.h>

double maximum_of(const double *score, int first, int end, int step) {
    double maximum = -INFINITY;
    for (int j = first; j < end; j += step)
        maximum = fmax(maximum, score[j]);
    return maximum;
}

double exp_in_fp32(double x) {
    double y = exp(x);
    return y > FLT_MAX ? INFINITY : y < 0x1p-149 ? 0 : y;
}

// What lies past the last key and is counted all the same.
static int tail(const struct variant *v, const struct attention_shape *s) {
    return v->padding_counted && !s->causal ? (v->tile - s->nk % v->tile) % v->tile : 0;
}

int key_end(const struct variant *v, const struct attention_shape *s, int i) {
    int end = i / v->queries * v->queries + v->queries + s->nk - s->nq;
    return end < s->nk ? end : s->nk;
}

static double maximum_of_partial(const struct head *h, int i, int partial) {
    int nk = h->in->which.attention.nk, first = partial * h->variant->tile, end = first + h->variant->tile;
    return maximum_of(h->score + (int64_t)i * nk, first, end < nk ? end : nk, 1);
}

double partial_weight(const struct head *h, int i, int partial) {
    int nk = h->in->which.attention.nk;
    double all = maximum_of(h->score + (int64_t)i * nk, 0, nk, 1);
    return all > -INFINITY ? exp_in_fp32(maximum_of_partial(h, i, partial) - all) : 0;
}

int count_partials(const struct variant *v, const struct attention_shape *s, int i) {
    int end = s->causal ? key_end(v, s, i) : s->nk;
    return end > 0 ? (end - 1) / v->tile + 1 : 1;
}

// The sum of a piece's weights, relative to its maximum.
static double sum_of_partial(const struct head *h, int i, int partial) {
    int nk = h->in->which.attention.nk, first = partial * h->variant->tile, end = first + h->variant->tile;
    double maximum = maximum_of_partial(h, i, partial), sum = 0;
    for (int j = first; j < end && j < nk; j++)
        sum += maximum == -INFINITY ? 0 : exp_in_fp32(h->score[(int64_t)i * nk + j] - maximum);
    return sum;
}

// What the pieces' mistake makes of the weights of a row, all being its maximum.
static void mistaken_partials(struct head *h, int i, double all) {
    const struct variant *v = h->variant;
    const struct attention_shape *s = &h->in->which.attention;
    const double *score = h->score + (int64_t)i * s->nk;
    int partials = count_partials(v, s, i);
    double maximum = 0, sum = 0;
    for (int j = 0; j < s->nk; j++) {
        if (j % v->tile == 0) {
            maximum = maximum_of_partial(h, i, j / v->tile);
            sum = sum_of_partial(h, i, j / v->tile);
        }
        if (v->partials == PARTIALS_EMPTY_RESCALED && maximum > -INFINITY && exp_in_fp32(-maximum) == INFINITY)
            h->sum_weight[j] = h->weight[j] = NAN;
        if (score[j] == -INFINITY)
            continue;
        if (v->partials == PARTIALS_NOT_RESCALED)
            h->sum_weight[j] = h->weight[j] = exp_in_fp32(score[j] - maximum);
        if (v->partials == PARTIALS_WEIGHT_OF_LANE && partials > 1)
            h->weight[j] = exp_in_fp32(score[j] - maximum);
        if (v->partials == PARTIALS_OLD_MAXIMUM)
            h->sum_weight[j] = h->weight[j] = exp_in_fp32(score[j]) * exp_in_fp32(maximum - all);
        if (v->partials == PARTIALS_BASE_E)
            h->sum_weight[j] = h->weight[j] = exp_in_fp32(score[j] - maximum) * exp_in_fp32((maximum - all) * M_LOG2E);
        if (v->partials == PARTIALS_WITHOUT_SUMS && partials > 1)
            h->sum_weight[j] = h->weight[j] = exp_in_fp32(score[j] - maximum) / sum * exp_in_fp32(maximum - all);
        if (v->partials == PARTIALS_EQUAL && partials > 1)
            h->sum_weight[j] = h->weight[j] = exp_in_fp32(score[j] - maximum) / sum;
        if (v->partials == PARTIALS_LAST_MISSING && partials > 1 && j / v->tile == partials - 1)
            h->sum_weight[j] = h->weight[j] = 0;
    }
}

// What a key adds to the sum; score is relative to the maximum.
static double term_of_sum(const struct variant *v, double score, double sum_weight) {
    bool masked = !(score > -INFINITY);
    switch (v->division) {
    case DIVISION_OF_EXP:
        return masked ? 0 : exp_in_fp32(sum_weight);
    case DIVISION_OF_SCORES:
        return masked ? 0 : score;
    case DIVISION_OF_COUNT:
        return !masked;
    default:
        return sum_weight;
    }
}

void compute_weights(struct head *h, int i) {
    const struct variant *v = h->variant;
    const struct attention_shape *s = &h->in->which.attention;
    const double *score = h->score + (int64_t)i * s->nk;
    int nk = s->nk;
    double all = maximum_of(score, 0, nk, 1);
    if (tail(v, s) || v->maximum == MAXIMUM_FROM_0)
        all = fmax(all, 0);
    if (v->maximum == MAXIMUM_OF_BLOCK) {
        int first = i / v->queries * v->queries, end = first + v->queries < s->nq ? first + v->queries : s->nq;
        all = maximum_of(h->score, first * nk, end * nk, 1);
    }
    for (int j = 0; j < nk; j++) {
        double maximum = all;
        if (v->maximum == MAXIMUM_NONE || v->maximum == MAXIMUM_AS_FACTOR)
            maximum = 0;
        if (v->maximum == MAXIMUM_OF_LANE)
            maximum = fmax(maximum_of(score, j % 8 / 2 * 2, nk, 8), maximum_of(score, j % 8 / 2 * 2 + 1, nk, 8));
        if (v->maximum == MAXIMUM_OF_THREAD)
            maximum = maximum_of(score, j % v->threads, nk, v->threads);
        bool masked = score[j] == -INFINITY;
        double factor = v->maximum == MAXIMUM_AS_FACTOR ? exp_in_fp32(-all) : 1;
        h->sum_weight[j] = h->weight[j] = masked ? 0 : factor * exp_in_fp32(score[j] - maximum);
        if (v->weight == WEIGHT_ONE)
            h->weight[j] = !masked;
        if (v->weight == WEIGHT_SCORE)
            h->weight[j] = masked ? 0 : score[j];
        if (v->weight == WEIGHT_SQUARED)
            h->weight[j] *= h->weight[j];
    }
    if (v->rescale)
        mistake_rescaling(h, i);
    if (v->partials)
        mistaken_partials(h, i, all);
    for (int j = 0; j < nk && v->weight_operand; j++)
        h->weight[j] = permuted_weight(h, i, j);
    // They meet the values in 16 bits: fp16 has a range of its own.
    for (int j = 0; j < nk && h->in->which.dtype != ATTENTION_FP32; j++)
        h->weight[j] = dtype_round(h->in->which.dtype, (float)h->weight[j]);
    h->sum[i] = tail(v, s) ? tail(v, s) * exp_in_fp32(-all) : 0;
    for (int j = 0; j < nk; j++)
        if (subset_has(v->sum_keys, j, nk))
            h->sum[i] += term_of_sum(v, score[j] - all, h->sum_weight[j]);
}
