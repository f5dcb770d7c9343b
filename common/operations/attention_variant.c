#include "operations/attention_variant.h"

#include "host/parallel.h"
#include "host/tolerance.h"
#include "operations/attention_head.h"
#include "operations/attention_operation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// A mistaken kernel adds up other numbers than the tolerance is derived from.
static const double widening = 8.0;

// How often key j is added to the weighted sum by threads that start at 0, 1, ... and step by value_step.
static int times_added(const struct variant *v, int head_dim, int j) {
    int starts = v->threads / ((head_dim + 3) / 4), times = 0;
    for (int first = 0; first < starts && first <= j; first++)
        times += (j - first) % v->value_step == 0;
    return times;
}

static void add_term(double *sum, double *sizes, double term) {
    *sum += term;
    *sizes += fabs(term);
}

static void add_values(struct head *h, int i) {
    const struct variant *v = h->variant;
    const struct attention_shape *s = &h->in->which.attention;
    int d = s->head_dim;
    double *o = h->o + (int64_t)i * d, *bound = h->bound + (int64_t)i * d;
    double lane_weight[32];
    bool by_lanes = v->partials == PARTIALS_WEIGHT_OF_LANE && count_partials(v, s, i) > 1;
    for (int lane = 0; lane < 32 && by_lanes; lane++)
        lane_weight[lane] = lane < count_partials(v, s, i) ? partial_weight(h, i, lane) : 0;
    for (int c = 0; c < d; c++)
        o[c] = bound[c] = 0;
    for (int j = 0; j < s->nk; j++) {
        bool masked = h->score[(int64_t)i * s->nk + j] == -INFINITY;
        if ((masked && !v->weight_operand) || !subset_has(v->value_keys, j, s->nk))
            continue;
        double weight = v->value_step ? times_added(v, d, j) * h->weight[j] : h->weight[j];
        const struct row value = h->values[j];
        h->out_of_bounds |= value.out_of_bounds;
        if (by_lanes)
            for (int c = 0; c < d; c++)
                add_term(&o[c], &bound[c], weight * value.at[c * value.step] * lane_weight[c % 32]);
        else
            for (int c = 0; c < d; c++)
                add_term(&o[c], &bound[c], weight * value.at[c * value.step]);
    }
}

// Row i from its weighted sums; bound holds the sums of the sizes.
static void divide(struct head *h, int i, const double *lane_sum /* [threads] */) {
    const struct variant *v = h->variant;
    const struct attention_shape *s = &h->in->which.attention;
    int d = s->head_dim;
    double sum = h->sum[v->division == DIVISION_OF_BLOCK ? i / v->queries * v->queries : i];
    bool sees = attended_keys(v, s, i) > 0;
    for (int c = 0; c < d; c++) {
        double *o = h->o + (int64_t)i * d + c, *bound = h->bound + (int64_t)i * d + c, by = sum;
        if (v->division == DIVISION_OF_THREAD)
            by = lane_sum[c % v->threads];
        if (v->division == DIVISION_OF_LANE)
            by = lane_sum[c % 8 / 2];
        if (v->division == DIVISION_NONE)
            by = 1;
        if (v->division == DIVISION_TWICE)
            by *= sum;
        if (!sees && !isnan(sum) && (v->division != DIVISION_BY_0 || (v->queries && key_end(v, s, i) <= 0)))
            by = 1; // the sums are 0
        *o = v->weight_operand && !sees ? 0 : *o / by;
        *bound = widening *
                 tolerance_attention(h->in->which.dtype, *o, *bound / fabs(by), h->score_scale[i], fabs(h->scale), d);
        if (h->out_of_bounds || h->ambiguous[i] || (sum > 0 && sum < 1e-30)) // a denormal may be flushed to 0
            *bound = INFINITY;
        if (isnan(*bound) || !isfinite(*o))
            *bound = h->out_of_bounds ? INFINITY : 0;
    }
}

static void compute_rows(struct head *h) {
    const struct variant *v = h->variant;
    const struct attention_shape *s = &h->in->which.attention;
    double *lane_sum = host_allocate(v->threads, sizeof *lane_sum);
    for (int i = 0; i < s->nq; i++) {
        compute_weights(h, i);
        add_values(h, i);
        for (int t = 0; t < v->threads; t++)
            lane_sum[t] = 0;
        for (int j = 0; j < s->nk && v->threads; j++)
            lane_sum[v->division == DIVISION_OF_LANE ? j % 8 / 2 : j % v->threads] += h->sum_weight[j];
        divide(h, i, lane_sum);
    }
    free(lane_sum);
}

// Each column of the scores becomes weights that add up to 1.
static void normalise_columns(struct head *h) {
    const struct attention_shape *s = &h->in->which.attention;
    for (int j = 0; j < s->nk; j++) {
        double maximum = maximum_of(h->score + j, 0, s->nq * s->nk - j, s->nk), sum = 0;
        for (int i = 0; i < s->nq; i++)
            sum += exp(h->score[(int64_t)i * s->nk + j] - maximum);
        for (int i = 0; i < s->nq; i++)
            h->score[(int64_t)i * s->nk + j] -= maximum + log(sum);
    }
}

static void transpose(double *matrix, int rows, int columns) {
    double *copy = host_allocate((int64_t)rows * columns, sizeof *copy);
    for (int64_t i = 0; i < (int64_t)rows * columns; i++)
        copy[i] = matrix[i];
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < columns; c++)
            matrix[(int64_t)c * rows + r] = copy[(int64_t)r * columns + c];
    free(copy);
}

// Where a kernel puts the rows that takes o for contiguous: what is found at each row's place afterwards.
static void apply_operand_layout(const struct host_tensor *o, struct prediction *p) {
    int64_t elements = o->rows * o->columns;
    double *value = host_allocate(elements, sizeof *value), *bound = host_allocate(elements, sizeof *bound);
    memcpy(value, p->value, (size_t)elements * sizeof *value);
    memcpy(bound, p->bound, (size_t)elements * sizeof *bound);
    for (int64_t i = 0; i < elements; i++)
        p->bound[i] = INFINITY; // where no row ends up, whatever was there before
    for (int64_t r = 0; r < o->rows; r++) {
        int64_t to = row_at_contiguous(o, r), columns = o->columns;
        for (int64_t c = 0; to >= 0 && c < columns; c++) {
            p->value[to * columns + c] = value[r * columns + c];
            p->bound[to * columns + c] = bound[r * columns + c];
        }
    }
    free(value);
    free(bound);
}

// The sum of the weights in the type of the tensors. *unsure: how much of it hangs on the rounding of a score.
static double rounded_sum(const struct head *h, const double *score /* [nk] */, double maximum, double *unsure) {
    const struct attention_shape *s = &h->in->which.attention;
    double error = 2 * tolerance_lse(ATTENTION_FP32, 1, 0, 0, s->head_dim), sum = 0;
    for (int j = 0; j < s->nk; j++) {
        double weight = exp_in_fp32(score[j] - maximum);
        float rounded = dtype_round(h->in->which.dtype, (float)weight);
        sum += rounded;
        if (unsure)
            *unsure += fabs(dtype_round(h->in->which.dtype, (float)(weight * (1 + error))) -
                            dtype_round(h->in->which.dtype, (float)(weight * (1 - error))));
    }
    return sum;
}

// The log-sum-exp of a row of the right kernel, but for the variant's own mistake in it.
static double lse_of(const struct variant *v, const struct head *h, int i) {
    const struct attention_shape *s = &h->in->which.attention;
    const double *score = h->score + (int64_t)i * s->nk;
    double maximum = maximum_of(score, 0, s->nk, 1);
    if (maximum == -INFINITY)
        return v->lse == LSE_OF_MASKED_ROW ? NAN : -INFINITY;
    switch (v->lse) {
    case LSE_MAXIMUM:
        return maximum;
    case LSE_LOG_SUM:
        return log(h->sum[i]);
    case LSE_SUM:
        return maximum + h->sum[i];
    case LSE_BASE_2:
        return (maximum + log(h->sum[i])) * M_LOG2E;
    case LSE_UNSCALED:
        return maximum / h->scale + log(h->sum[i]);
    case LSE_SCALED_TWICE:
        return maximum * h->scale + log(h->sum[i]);
    case LSE_ROUNDED:
        return maximum + log(rounded_sum(h, score, maximum, NULL));
    default:
        return maximum + log(h->sum[i]);
    }
}

static double right_lse(const struct head *h, int i) {
    const struct attention_shape *s = &h->in->which.attention;
    const double *score = h->score + (int64_t)i * s->nk;
    double maximum = maximum_of(score, 0, s->nk, 1), sum = 0;
    for (int j = 0; j < s->nk; j++)
        sum += exp(score[j] - maximum);
    return maximum + log(sum);
}

// Whether row i comes out right all the same, with a maximum that is not the row's: only a sum that is too large or too
// small to be held is wrong.
static bool survives(const struct variant *v, const struct head *h, int i) {
    const int d = h->in->which.attention.head_dim;
    if (v->maximum != MAXIMUM_NONE && v->maximum != MAXIMUM_FROM_0 && v->maximum != MAXIMUM_OF_BLOCK)
        return false;
    for (int c = 0; c < d; c++)
        if (!isfinite(h->o[(int64_t)i * d + c]) || isinf(h->bound[(int64_t)i * d + c]))
            return false;
    return h->sum[i] > 1e-30 && h->sum[i] < 1e30;
}

static void predict_lse(const struct variant *v, const struct head *h, bool known, double *value, double *bound) {
    const struct attention_shape *s = &h->in->which.attention;
    for (int i = 0; i < s->nq; i++) {
        // Where the scores are large their rounding is in the sum, whatever becomes of the maximum.
        double maximum = maximum_of(h->score + (int64_t)i * s->nk, 0, s->nk, 1);
        bool right = !known && survives(v, h, i);
        value[i] = known ? lse_of(v, h, i) : right ? right_lse(h, i) : 0;
        double size = fmax(isfinite(value[i]) ? fabs(value[i]) : 0, isfinite(maximum) ? fabs(maximum) : 0);
        bound[i] = INFINITY;
        if (known || right)
            bound[i] = 2 * tolerance_lse(h->in->which.dtype, size, h->score_scale[i], h->scale, s->head_dim);
        if (v->lse == LSE_ROUNDED && isfinite(maximum)) {
            double unsure = 0;
            double sum = rounded_sum(h, h->score + (int64_t)i * s->nk, maximum, &unsure);
            bound[i] += unsure / sum;
        }
    }
}

// Whether the variant knows what comes of this shape.
static bool is_known(const struct variant *v, const struct attention_shape *s) {
    return (!v->known_keys || s->nk <= (s->head_dim > 128 ? v->known_keys / 2 : v->known_keys)) &&
           (!v->known_columns || s->head_dim <= v->known_columns);
}

// The first row of o that may be too small; none of o where it is more than all. A block that stays takes heads in
// turn; with a mask, and several blocks a head, in an order of its own.
static int64_t first_shrunk(const struct variant *v, const struct attention_shape *s) {
    int blocks = (s->nq + 63) / 64;
    if (!v->shrunk_blocks || (int64_t)s->batch * s->heads * blocks <= v->shrunk_blocks)
        return INT64_MAX;
    return s->causal && blocks > 1 ? 0 : (int64_t)v->shrunk_blocks / blocks * s->nq;
}

void variant_predict(const struct variant *v, const struct host_problem *in, struct prediction *p) {
    static const struct variant right = {0};
    const struct attention_shape *s = &in->which.attention;
    if (!v || s->batch * s->heads < v->heads)
        v = &right;
    int64_t per_head = (int64_t)s->nq * s->head_dim, all = shape_q_elements(s);
    p->shrunk_from = first_shrunk(v, s);
    p->unwritten_fits = v->unwritten;
    for (int64_t i = 0; i < problem_output_elements(in) && !is_known(v, s); i++) {
        p->value[i] = 0;
        p->bound[i] = INFINITY;
    }
    if (!is_known(v, s))
        return;
    struct head h = {.variant = v, .in = in};
    h.score = host_allocate((int64_t)s->nq * s->nk, sizeof *h.score);
    h.score_scale = host_allocate(s->nq, sizeof *h.score_scale);
    h.sum = host_allocate(s->nq, sizeof *h.sum);
    h.weight = host_allocate(s->nk, sizeof *h.weight);
    h.sum_weight = host_allocate(s->nk, sizeof *h.sum_weight);
    h.running = host_allocate(v->rescale ? (int64_t)s->nq * tile_count(v, s) : 0, sizeof *h.running);
    h.keys = host_allocate(s->nk, sizeof *h.keys);
    h.values = host_allocate(s->nk, sizeof *h.values);
    h.ambiguous = host_allocate(s->nq, sizeof *h.ambiguous);
    for (int i = 0; i < 3; i++)
        h.permuted[i] = host_allocate((int64_t)(i == Q ? s->nq : s->nk) * padded_columns(s), sizeof(float));
    for (h.index = 0; h.index < (int64_t)s->batch * s->heads; h.index++) {
        h.o = p->value + h.index * per_head;
        h.bound = p->bound + h.index * per_head;
        h.out_of_bounds = false;
        permute_elements(&h);
        find_rows(&h);
        compute_scores(&h);
        if (v->over_queries)
            normalise_columns(&h);
        compute_running_maxima(&h);
        compute_rows(&h);
        if (v->output_transposed) {
            transpose(h.o, s->nq, s->head_dim);
            transpose(h.bound, s->nq, s->head_dim);
        }
        if (in->outputs > OUTPUT_LSE)
            predict_lse(v, &h, v == &right || v->lse || v->unwritten, p->value + all + h.index * s->nq,
                        p->bound + all + h.index * s->nq);
    }
    if (v->output_contiguous)
        apply_operand_layout(&in->tensor[O], p);
    for (int i = 0; i < 3; i++)
        free(h.permuted[i]);
    free(h.score);
    free(h.score_scale);
    free(h.sum);
    free(h.weight);
    free(h.sum_weight);
    free(h.running);
    free(h.keys);
    free(h.values);
    free(h.ambiguous);
}
