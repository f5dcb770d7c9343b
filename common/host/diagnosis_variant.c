#include "host/diagnosis_variant.h"

#include "host/parallel.h"
#include "host/tolerance.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

// A mistaken kernel adds up other numbers than the tolerance is derived from.
static const double widening = 8.0;

struct head {
    const struct variant *variant;
    const struct host_inputs *in;
    int64_t index; // batch * heads + head
    double scale;
    double *score;       // [nq][nk], -inf where hidden
    double *score_scale; // [nq]
    double *sum;         // [nq], of the weights, this variant's
    double *weight;      // [nk], of the values
    double *share;       // [nk], of the sum
    double *o, *bound;   // [nq][head_dim]
    bool stray;          // what lies outside the tensors was asked for
};

bool subset_has(struct subset s, int index, int size) {
    switch (s.kind) {
    case SUBSET_STRIPE:
        return index % s.period < s.count;
    case SUBSET_NOT_FIRST:
        return index > 0;
    case SUBSET_NOT_LAST:
        return index < size - 1;
    case SUBSET_WHOLE_TILES:
        return index < size / s.period * s.period;
    case SUBSET_FIRST_TILE:
        return index < s.period;
    case SUBSET_LAST_TILE:
        return index >= (size - 1) / s.period * s.period;
    default:
        return true;
    }
}

static int clamp(int value, int size) {
    return value < 0 ? 0 : value >= size ? size - 1 : value;
}

// A row of q, k or v: element c is at[c * step].
struct row {
    const float *at;
    int64_t step;
};

// Row j of this head's q, k or v (own), n being how many rows such a head has. Zeros where it lies outside the tensor.
static struct row find_row(struct head *h, const struct source *from, enum tensor_kind own, int n, int j) {
    static const float zero = 0;
    const struct attention_shape *s = &h->in->shape;
    enum tensor_kind tensor = from->tensor ? from->tensor : own;
    int64_t head = from->head == HEAD_FIRST ? 0 : from->head == HEAD_OF_FIRST_BATCH ? h->index % s->heads : h->index;
    int64_t first = head * (from->head == HEAD_STRIDE_OF_QUERIES ? s->nq : n), step = from->transposed ? n : 1;
    int row = from->shift ? clamp(j + from->shift, n) : j;
    int64_t start = from->transposed ? first * s->head_dim + row : (first + row) * s->head_dim;
    int64_t size = (tensor == TENSOR_OF_Q ? h->in->q_rows : h->in->k_rows) * s->head_dim;
    if (start + (s->head_dim - 1) * step >= size) {
        h->stray = true;
        return (struct row){&zero, 0};
    }
    return (struct row){(tensor == TENSOR_OF_Q ? h->in->q : tensor == TENSOR_OF_K ? h->in->k : h->in->v) + start, step};
}

static double scale_of(const struct variant *v, const struct host_inputs *in) {
    int padded = 32;
    while (padded < in->shape.head_dim)
        padded *= 2;
    switch (v->scale) {
    case SCALE_MISSING:
        return 1;
    case SCALE_TWICE:
        return (double)in->softmax_scale * in->softmax_scale;
    case SCALE_PADDED:
        return 1 / sqrt(padded);
    case SCALE_BASE_2:
        return in->softmax_scale * M_LN2;
    case SCALE_ZERO:
        return 0;
    default:
        return in->softmax_scale;
    }
}

// How many keys query i sees, the first ones.
static int visible_keys(const struct variant *v, const struct attention_shape *s, int i) {
    int keys = shape_visible_keys(s, i);
    if (v->mask == MASK_NOTHING || (v->mask == MASK_OVERFLOW && !s->causal))
        return 0;
    if (!s->causal)
        return keys;
    switch (v->mask) {
    case MASK_HIDES_OWN:
        keys = i + s->nk - s->nq;
        break;
    case MASK_SHOWS_NEXT:
        keys = i + s->nk - s->nq + 2;
        break;
    case MASK_TOP_LEFT:
        keys = i + 1;
        break;
    case MASK_MISSING:
        keys = s->nk;
        break;
    default:
        break;
    }
    return keys < 0 ? 0 : keys > s->nk ? s->nk : keys;
}

static int query_row(const struct variant *v, int i) {
    switch (v->query) {
    case ROW_FIRST:
        return 0;
    case ROW_MODULO:
        return i % v->queries;
    case ROW_BLOCK:
        return i / v->queries * v->queries;
    default:
        return i;
    }
}

static void compute_scores(struct head *h) {
    const struct variant *v = h->variant;
    const struct attention_shape *s = &h->in->shape;
    for (int i = 0; i < s->nq; i++) {
        double *score = h->score + (int64_t)i * s->nk;
        int keys = visible_keys(v, s, i);
        struct row q = find_row(h, &v->q, TENSOR_OF_Q, s->nq, query_row(v, i));
        h->score_scale[i] = 0;
        for (int j = 0; j < s->nk; j++) {
            score[j] = -INFINITY;
            if (j >= keys)
                continue;
            struct row k = find_row(h, &v->k, TENSOR_OF_K, s->nk, j);
            double dot = 0, size = 0;
            for (int c = 0; c < s->head_dim; c++) {
                if (v->columns.kind && !subset_has(v->columns, c, s->head_dim))
                    continue;
                double term = (double)q.at[c * q.step] * k.at[c * k.step];
                dot += term;
                size += fabs(term);
            }
            score[j] = h->scale * dot;
            if (v->scores_kept && j >= v->tile)
                score[j] += score[j - v->tile];
            if (isfinite(size))
                h->score_scale[i] = fmax(h->score_scale[i], size);
        }
    }
}

static double maximum_of(const double *score, int first, int end, int step) {
    double maximum = -INFINITY;
    for (int j = first; j < end; j += step)
        maximum = fmax(maximum, score[j]);
    return maximum;
}

// exp() with the range of fp32.
static double exponential(double x) {
    double y = exp(x);
    return y > FLT_MAX ? INFINITY : y < 0x1p-149 ? 0 : y;
}

// What lies past the last key and is counted all the same.
static int tail(const struct variant *v, const struct attention_shape *s) {
    return v->tail_counted && !s->causal ? (v->tile - s->nk % v->tile) % v->tile : 0;
}

// Past the last key that a query of i's block sees.
static int key_end(const struct variant *v, const struct attention_shape *s, int i) {
    int end = i / v->queries * v->queries + v->queries + s->nk - s->nq;
    return end < s->nk ? end : s->nk;
}

static double maximum_of_piece(const struct head *h, int i, int piece) {
    int nk = h->in->shape.nk, first = piece * h->variant->tile, end = first + h->variant->tile;
    return maximum_of(h->score + (int64_t)i * nk, first, end < nk ? end : nk, 1);
}

static double piece_weight(const struct head *h, int i, int piece) {
    int nk = h->in->shape.nk;
    double all = maximum_of(h->score + (int64_t)i * nk, 0, nk, 1);
    return all > -INFINITY ? exponential(maximum_of_piece(h, i, piece) - all) : 0;
}

// How many pieces the keys are cut into, of all that a query of i's block sees.
static int count_pieces(const struct variant *v, const struct attention_shape *s, int i) {
    int end = s->causal ? key_end(v, s, i) : s->nk;
    return end > 0 ? (end - 1) / v->tile + 1 : 1;
}

// What the pieces' mistake makes of the weights of a row, all being its maximum.
static void mistake_pieces(struct head *h, int i, double all) {
    const struct variant *v = h->variant;
    const struct attention_shape *s = &h->in->shape;
    const double *score = h->score + (int64_t)i * s->nk;
    int pieces = count_pieces(v, s, i);
    double maximum = 0;
    for (int j = 0; j < s->nk; j++) {
        if (j % v->tile == 0)
            maximum = maximum_of_piece(h, i, j / v->tile);
        if (v->pieces == PIECES_FIRST_RESCALED && maximum > -INFINITY && exponential(-maximum) == INFINITY)
            h->share[j] = h->weight[j] = NAN;
        if (score[j] == -INFINITY)
            continue;
        if (v->pieces == PIECES_AS_THEY_STAND)
            h->share[j] = h->weight[j] = exponential(score[j] - maximum);
        if (v->pieces == PIECES_WEIGHT_OF_LANE && pieces > 1)
            h->weight[j] = exponential(score[j] - maximum);
        if (v->pieces == PIECES_NOT_SHIFTED)
            h->share[j] = h->weight[j] = exponential(score[j]) * exponential(maximum - all);
        if (v->pieces == PIECES_BASE_E)
            h->share[j] = h->weight[j] = exponential(score[j] - maximum) * exponential((maximum - all) * M_LOG2E);
        if (v->pieces == PIECES_LAST_LEFT_OUT && pieces > 1 && j / v->tile == pieces - 1)
            h->share[j] = h->weight[j] = 0;
    }
}

// The weights of a row, before the division: h->share for the sum, h->weight for the values.
static void compute_weights(struct head *h, int i) {
    const struct variant *v = h->variant;
    const struct attention_shape *s = &h->in->shape;
    const double *score = h->score + (int64_t)i * s->nk;
    int nk = s->nk;
    double all = maximum_of(score, 0, nk, 1), seen = -INFINITY;
    if (tail(v, s) || v->maximum == MAXIMUM_FROM_0)
        all = fmax(all, 0);
    if (v->maximum == MAXIMUM_OF_BLOCK) {
        int first = i / v->queries * v->queries, end = first + v->queries < s->nq ? first + v->queries : s->nq;
        all = maximum_of(h->score, first * nk, end * nk, 1);
    }
    for (int j = 0; j < nk; j++) {
        double maximum = all, running = all;
        if (v->maximum == MAXIMUM_NONE || v->maximum == MAXIMUM_AS_FACTOR)
            maximum = running = 0;
        if (v->maximum == MAXIMUM_OF_THREAD)
            maximum = running = maximum_of(score, j % v->threads, nk, v->threads);
        if (v->rescale) {
            if (j % v->tile == 0)
                seen = fmax(seen, maximum_of(score, j, j + v->tile < nk ? j + v->tile : nk, 1));
            running = seen;
        }
        bool hidden = score[j] == -INFINITY;
        double factor = v->maximum == MAXIMUM_AS_FACTOR ? exponential(-all) : 1;
        double final = hidden ? 0 : factor * exponential(score[j] - maximum),
               kept = hidden ? 0 : exponential(score[j] - running);
        h->share[j] = v->rescale == RESCALE_OUTPUT_ONLY || v->rescale == RESCALE_NONE ? kept : final;
        h->weight[j] = v->rescale == RESCALE_SUM_ONLY || v->rescale == RESCALE_NONE ? kept : final;
        if (v->rescale == RESCALE_UPSIDE_DOWN)
            h->share[j] = h->weight[j] = kept * exponential(all - running);
        if (v->weight == WEIGHT_ONE)
            h->weight[j] = !hidden;
        if (v->weight == WEIGHT_SCORE)
            h->weight[j] = hidden ? 0 : score[j];
    }
    if (v->pieces)
        mistake_pieces(h, i, all);
    h->sum[i] = tail(v, s) ? tail(v, s) * exponential(-all) : 0;
    for (int j = 0; j < nk; j++)
        if (subset_has(v->sum_keys, j, nk))
            h->sum[i] += h->share[j];
}

// How often key j is added to the weighted sum by threads that start at 0, 1, ... and step by value_step.
static int times_added(const struct variant *v, int head_dim, int j) {
    int starts = v->threads / ((head_dim + 3) / 4), times = 0;
    for (int first = 0; first < starts && first <= j; first++)
        times += (j - first) % v->value_step == 0;
    return times;
}

// Whether a hidden value is multiplied by 0: its tile is one that the block of query i works on.
static bool is_touched(const struct variant *v, const struct attention_shape *s, int i, int j) {
    int end = v->hidden_multiplied ? key_end(v, s, i) : 0;
    return end > 0 && j < (end + v->tile - 1) / v->tile * v->tile;
}

static void add_values(struct head *h, int i) {
    const struct variant *v = h->variant;
    const struct attention_shape *s = &h->in->shape;
    int d = s->head_dim;
    double *o = h->o + (int64_t)i * d, *bound = h->bound + (int64_t)i * d;
    double lane_weight[32];
    bool by_lanes = v->pieces == PIECES_WEIGHT_OF_LANE && count_pieces(v, s, i) > 1;
    for (int lane = 0; lane < 32 && by_lanes; lane++)
        lane_weight[lane] = lane < count_pieces(v, s, i) ? piece_weight(h, i, lane) : 0;
    for (int c = 0; c < d; c++)
        o[c] = bound[c] = 0;
    for (int j = 0; j < s->nk; j++) {
        bool hidden = h->score[(int64_t)i * s->nk + j] == -INFINITY;
        if ((hidden && !is_touched(v, s, i, j)) || !subset_has(v->value_keys, j, s->nk))
            continue;
        double weight = v->value_step ? times_added(v, d, j) * h->weight[j] : h->weight[j];
        struct row value = find_row(h, &v->v, TENSOR_OF_V, s->nk, j);
        for (int c = 0; c < d; c++) {
            double term = weight * value.at[c * value.step] * (by_lanes ? lane_weight[c % 32] : 1);
            o[c] += term;
            bound[c] += fabs(term);
        }
    }
}

// Row i from its weighted sums; bound holds the sums of the sizes.
static void divide(struct head *h, int i, const double *lane_sum /* [threads] */) {
    const struct variant *v = h->variant;
    const struct attention_shape *s = &h->in->shape;
    int d = s->head_dim;
    double sum = h->sum[v->division == DIVISION_OF_BLOCK ? i / v->queries * v->queries : i];
    bool sees = visible_keys(v, s, i) > 0;
    for (int c = 0; c < d; c++) {
        double *o = h->o + (int64_t)i * d + c, *bound = h->bound + (int64_t)i * d + c, by = sum;
        if (v->division == DIVISION_OF_THREAD)
            by = lane_sum[c % v->threads];
        if (v->division == DIVISION_NONE)
            by = 1;
        if (v->division == DIVISION_TWICE)
            by *= sum;
        if (!sees && (v->division != DIVISION_BY_0 || (v->queries && key_end(v, s, i) <= 0)))
            by = 1; // the sums are 0, or NaN where hidden values are multiplied
        *o /= by;
        *bound = widening * tolerance_attention(*o, *bound / by, h->score_scale[i], fabs(h->scale), d);
        if (h->stray || (sum > 0 && sum < 1e-30)) // a denormal may be flushed to 0
            *bound = INFINITY;
        if (isnan(*bound) || !isfinite(*o))
            *bound = h->stray ? INFINITY : 0;
    }
}

static void compute_rows(struct head *h) {
    const struct variant *v = h->variant;
    const struct attention_shape *s = &h->in->shape;
    double *lane_sum = host_allocate(v->threads, sizeof *lane_sum);
    for (int i = 0; i < s->nq; i++) {
        compute_weights(h, i);
        add_values(h, i);
        for (int t = 0; t < v->threads; t++)
            lane_sum[t] = 0;
        for (int j = 0; j < s->nk && v->threads; j++)
            lane_sum[j % v->threads] += h->share[j];
        divide(h, i, lane_sum);
    }
    free(lane_sum);
}

// Each column of the scores becomes weights that add up to 1.
static void normalise_columns(struct head *h) {
    const struct attention_shape *s = &h->in->shape;
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

void variant_predict(const struct variant *v, const struct host_inputs *in, struct prediction *p) {
    static const struct variant right = {0};
    const struct attention_shape *s = &in->shape;
    if (!v || s->batch * s->heads < v->heads)
        v = &right;
    int64_t per_head = (int64_t)s->nq * s->head_dim;
    struct head h = {.variant = v, .in = in, .scale = scale_of(v, in)};
    h.score = host_allocate((int64_t)s->nq * s->nk, sizeof *h.score);
    h.score_scale = host_allocate(s->nq, sizeof *h.score_scale);
    h.sum = host_allocate(s->nq, sizeof *h.sum);
    h.weight = host_allocate(s->nk, sizeof *h.weight);
    h.share = host_allocate(s->nk, sizeof *h.share);
    for (h.index = 0; h.index < (int64_t)s->batch * s->heads; h.index++) {
        h.o = p->value + h.index * per_head;
        h.bound = p->bound + h.index * per_head;
        h.stray = false;
        compute_scores(&h);
        if (v->over_queries)
            normalise_columns(&h);
        compute_rows(&h);
        if (v->output_transposed) {
            transpose(h.o, s->nq, s->head_dim);
            transpose(h.bound, s->nq, s->head_dim);
        }
    }
    p->unwritten_fits = v->unwritten;
    free(h.score);
    free(h.score_scale);
    free(h.sum);
    free(h.weight);
    free(h.share);
}
