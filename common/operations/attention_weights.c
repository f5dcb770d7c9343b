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
    return v->tail_counted && !s->causal ? (v->tile - s->nk % v->tile) % v->tile : 0;
}

int key_end(const struct variant *v, const struct attention_shape *s, int i) {
    int end = i / v->queries * v->queries + v->queries + s->nk - s->nq;
    return end < s->nk ? end : s->nk;
}

static double maximum_of_piece(const struct head *h, int i, int piece) {
    int nk = h->in->which.attention.nk, first = piece * h->variant->tile, end = first + h->variant->tile;
    return maximum_of(h->score + (int64_t)i * nk, first, end < nk ? end : nk, 1);
}

double piece_weight(const struct head *h, int i, int piece) {
    int nk = h->in->which.attention.nk;
    double all = maximum_of(h->score + (int64_t)i * nk, 0, nk, 1);
    return all > -INFINITY ? exp_in_fp32(maximum_of_piece(h, i, piece) - all) : 0;
}

int count_pieces(const struct variant *v, const struct attention_shape *s, int i) {
    int end = s->causal ? key_end(v, s, i) : s->nk;
    return end > 0 ? (end - 1) / v->tile + 1 : 1;
}

// The sum of a piece's weights, relative to its maximum.
static double sum_of_piece(const struct head *h, int i, int piece) {
    int nk = h->in->which.attention.nk, first = piece * h->variant->tile, end = first + h->variant->tile;
    double maximum = maximum_of_piece(h, i, piece), sum = 0;
    for (int j = first; j < end && j < nk; j++)
        sum += maximum == -INFINITY ? 0 : exp_in_fp32(h->score[(int64_t)i * nk + j] - maximum);
    return sum;
}

// What the pieces' mistake makes of the weights of a row, all being its maximum.
static void mistake_pieces(struct head *h, int i, double all) {
    const struct variant *v = h->variant;
    const struct attention_shape *s = &h->in->which.attention;
    const double *score = h->score + (int64_t)i * s->nk;
    int pieces = count_pieces(v, s, i);
    double maximum = 0, sum = 0;
    for (int j = 0; j < s->nk; j++) {
        if (j % v->tile == 0) {
            maximum = maximum_of_piece(h, i, j / v->tile);
            sum = sum_of_piece(h, i, j / v->tile);
        }
        if (v->pieces == PIECES_FIRST_RESCALED && maximum > -INFINITY && exp_in_fp32(-maximum) == INFINITY)
            h->share[j] = h->weight[j] = NAN;
        if (score[j] == -INFINITY)
            continue;
        if (v->pieces == PIECES_AS_THEY_STAND)
            h->share[j] = h->weight[j] = exp_in_fp32(score[j] - maximum);
        if (v->pieces == PIECES_WEIGHT_OF_LANE && pieces > 1)
            h->weight[j] = exp_in_fp32(score[j] - maximum);
        if (v->pieces == PIECES_NOT_SHIFTED)
            h->share[j] = h->weight[j] = exp_in_fp32(score[j]) * exp_in_fp32(maximum - all);
        if (v->pieces == PIECES_BASE_E)
            h->share[j] = h->weight[j] = exp_in_fp32(score[j] - maximum) * exp_in_fp32((maximum - all) * M_LOG2E);
        if (v->pieces == PIECES_WITHOUT_SUMS && pieces > 1)
            h->share[j] = h->weight[j] = exp_in_fp32(score[j] - maximum) / sum * exp_in_fp32(maximum - all);
        if (v->pieces == PIECES_EQUAL && pieces > 1)
            h->share[j] = h->weight[j] = exp_in_fp32(score[j] - maximum) / sum;
        if (v->pieces == PIECES_LAST_LEFT_OUT && pieces > 1 && j / v->tile == pieces - 1)
            h->share[j] = h->weight[j] = 0;
    }
}

// What a key adds to the sum; score is relative to the maximum.
static double term_of_sum(const struct variant *v, double score, double share) {
    bool hidden = !(score > -INFINITY);
    switch (v->division) {
    case DIVISION_OF_EXP:
        return hidden ? 0 : exp_in_fp32(share);
    case DIVISION_OF_SCORES:
        return hidden ? 0 : score;
    case DIVISION_OF_COUNT:
        return !hidden;
    default:
        return share;
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
        bool hidden = score[j] == -INFINITY;
        double factor = v->maximum == MAXIMUM_AS_FACTOR ? exp_in_fp32(-all) : 1;
        h->share[j] = h->weight[j] = hidden ? 0 : factor * exp_in_fp32(score[j] - maximum);
        if (v->weight == WEIGHT_ONE)
            h->weight[j] = !hidden;
        if (v->weight == WEIGHT_SCORE)
            h->weight[j] = hidden ? 0 : score[j];
        if (v->weight == WEIGHT_SQUARED)
            h->weight[j] *= h->weight[j];
    }
    if (v->rescale)
        mistake_rescaling(h, i);
    if (v->pieces)
        mistake_pieces(h, i, all);
    for (int j = 0; j < nk && v->weight_place; j++)
        h->weight[j] = moved_weight(h, i, j);
    // They meet the values in 16 bits: fp16 has a range of its own.
    for (int j = 0; j < nk && h->in->which.dtype != ATTENTION_FP32; j++)
        h->weight[j] = dtype_round(h->in->which.dtype, (float)h->weight[j]);
    h->sum[i] = tail(v, s) ? tail(v, s) * exp_in_fp32(-all) : 0;
    for (int j = 0; j < nk; j++)
        if (subset_has(v->sum_keys, j, nk))
            h->sum[i] += term_of_sum(v, score[j] - all, h->share[j]);
}
