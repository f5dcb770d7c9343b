#include "operations/backward_reference.h"

#include "host/parallel.h"
#include "host/tolerance.h"
#include "operations/backward_operation.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static double exp_in_fp32(double x) {
    double y = exp(x);
    return y > FLT_MAX ? INFINITY : y;
}

static double delta_of(const struct host_problem *in, int64_t row, double *size) {
    const float *o = host_row(&in->tensor[O], row), *d_o = host_row(&in->tensor[D_O], row);
    double delta = 0;
    *size = 0;
    for (int c = 0; c < in->which.attention.head_dim; c++) {
        delta += (double)o[c] * d_o[c];
        *size += fabs((double)o[c] * d_o[c]);
    }
    return delta;
}

static void compute_delta(int64_t begin, int64_t end, void *context) {
    struct backward_reference *r = context;
    for (int64_t i = begin; i < end; i++)
        r->delta[i] = delta_of(r->problem, i, &r->delta_size[i]);
}

struct backward_reference backward_begin(const struct host_problem *problem) {
    int64_t rows = problem->tensor[Q].rows;
    struct backward_reference r = {.problem = problem,
                                   .delta = host_allocate(rows, sizeof(double)),
                                   .delta_size = host_allocate(rows, sizeof(double))};
    parallel_for(rows, 64, compute_delta, &r);
    return r;
}

// A query, or a key, beside all of the other.
struct pair {
    double p, ds;
    struct pair_error error;
    double p_size, ds_size; // by which the rounding errors of p and ds are measured
    double walk, lse;
};

static double scaled(double x, double scale, int times) {
    return times == NO_SCALE ? x : times == SCALE_TWICE ? x * scale * scale : x * scale;
}

static double weight_of(const struct backward_variant *v, double score, double lse) {
    switch (v->lse) {
    case LSE_AS_IF_BASE_2:
        return exp_in_fp32(score - lse * M_LN2);
    case NO_LSE:
        return exp_in_fp32(score);
    case NO_LOG2_E:
        return exp_in_fp32((score - lse) * M_LN2);
    default:
        return exp_in_fp32(score - lse);
    }
}

static double delta_in(const struct backward_reference *r, const struct backward_variant *v, int64_t row) {
    enum attention_dtype dtype = r->problem->which.dtype;
    int64_t n = r->problem->which.attention.nq, next = row / n * n + (row % n + 1) % n;
    switch (v->delta) {
    case NO_DELTA:
        return 0;
    case DELTA_ADDED:
        return -r->delta[row];
    case DELTA_IN_16_BITS:
        return dtype_round(dtype == ATTENTION_FP32 ? ATTENTION_BF16 : dtype, (float)r->delta[row]);
    case DELTA_OF_NEXT_ROW:
        return r->delta[next];
    default:
        return r->delta[row];
    }
}

static double lse_in(const struct backward_reference *r, const struct backward_variant *v, int64_t row) {
    int64_t n = r->problem->which.attention.nq;
    return *host_row(&r->problem->tensor[LSE], v->lse == LSE_OF_NEXT_ROW ? row / n * n + (row % n + 1) % n : row);
}

// Of a query and a key that it sees, both counted over all heads.
static struct pair compute_pair(const struct backward_reference *r, const struct backward_variant *v, int64_t query,
                                int64_t key) {
    const struct host_problem *in = r->problem;
    const int d = in->which.attention.head_dim;
    const float *q = host_row(&in->tensor[Q], query), *k = host_row(&in->tensor[K], key);
    const float *d_o = host_row(&in->tensor[D_O], query), *value = host_row(&in->tensor[v->dp_of_k ? K : V], key);
    struct pair_terms t = {
        .delta = delta_in(r, v, query), .delta_size = r->delta_size[query], .lse = lse_in(r, v, query)};
    double dot = 0, squares = 0;
    for (int c = 0; c < d; c++) {
        double s = (double)q[c] * k[c], dp = (double)d_o[c] * value[c];
        dot += s;
        squares += s * s;
        t.score_size += fabs(s);
        t.dp += dp;
        t.dp_size += fabs(dp);
    }
    t.score = scaled(dot, in->softmax_scale, v->scale_of_scores);
    t.p = weight_of(v, t.score, t.lse);
    struct pair pair = {.p = t.p,
                        .error = tolerance_pair(in->which.dtype, &t, in->softmax_scale, d),
                        .walk = fmax(fabs(dot), sqrt(squares)),
                        .lse = isfinite(t.lse) ? fabs(t.lse) : 0};
    const double smallest = tolerance_smallest_size(in->which.dtype);
    double difference = t.dp - t.delta, weight = v->ds == DP_ONLY ? 1 : v->ds == P_SQUARED_DP ? t.p * t.p : t.p;
    weight = v->ds == P_ROUNDED_DP ? dtype_round(ATTENTION_BF16, (float)weight) : weight;
    pair.ds = v->ds == P_ONLY ? t.p : weight * difference;
    pair.p_size = t.p + smallest;
    pair.ds_size =
        smallest + t.p * (fabs(difference) + tolerance_cancelled_share(in->which.dtype) * (fabs(t.dp) + fabs(t.delta)));
    return pair;
}

struct sums {
    double error[MAX_HEAD_DIM], size[MAX_HEAD_DIM], squares[MAX_HEAD_DIM];
    double count;
};

static void add(struct sums *s, struct gradient_row *to, double factor, double error, double size, const float *other,
                int d) {
    for (int c = 0; c < d; c++) {
        double x = other[c];
        to->value[c] += factor * x;
        s->error[c] += error * fabs(x);
        s->size[c] += fabs(factor * x);
        s->squares[c] += size * size * x * x;
    }
    s->count++;
}

static void note_pair(struct gradient_row *to, const struct pair *pair) {
    to->walk = fmax(to->walk, pair->walk);
    to->lse = fmax(to->lse, pair->lse);
}

// The key head of a query head, both counted over all batches.
static int64_t key_head_of(const struct attention_shape *s, const struct backward_variant *v, int64_t head) {
    int64_t batch = head / s->heads, h = head % s->heads;
    return batch * s->kv_heads + (v->heads_in_turn ? h % s->kv_heads : h / (s->heads / s->kv_heads));
}

// The keys that a query of its head sees, where `border` more are under the causal limit.
static int attended(const struct attention_shape *s, int query, int border) {
    int64_t end = s->causal ? (int64_t)query + 1 + s->nk - s->nq + border : s->nk;
    return end < 0 ? 0 : end > s->nk ? s->nk : (int)end;
}

static void row_of_dq(const struct backward_reference *r, const struct backward_variant *v, int64_t row,
                      struct gradient_row *to, struct sums *s) {
    const struct attention_shape *shape = &r->problem->which.attention;
    int64_t first_key = key_head_of(shape, v, row / shape->nq) * shape->nk;
    int begin = 0, end = attended(shape, (int)(row % shape->nq), v->border_of_dq), nk = shape->nk;
    if (v->last_keys)
        begin = end > 0 ? (end - 1) / v->last_keys * v->last_keys : 0;
    if (v->no_dq)
        end = 0;
    if (v->first_keys)
        end = end < v->first_keys ? end : v->first_keys;
    if (v->whole_keys && nk >= v->whole_keys)
        end = end < nk / v->whole_keys * v->whole_keys ? end : nk / v->whole_keys * v->whole_keys;
    for (int j = begin; j < end; j++) {
        struct pair pair = compute_pair(r, v, row, first_key + j);
        add(s, to, pair.ds, pair.error.ds, pair.ds_size, host_row(&r->problem->tensor[K], first_key + j),
            shape->head_dim);
        note_pair(to, &pair);
    }
}

static bool head_counts(const struct attention_shape *s, int which, int64_t head) {
    int group = s->heads / s->kv_heads, h = (int)(head % group);
    return which == FIRST_HEAD ? h == 0 : which == LAST_HEAD ? h == group - 1 : true;
}

// Of dk, or of dv.
static void row_of_keys(const struct backward_reference *r, const struct backward_variant *v, bool is_dv, int64_t row,
                        struct gradient_row *to, struct sums *s) {
    const struct attention_shape *shape = &r->problem->which.attention;
    int64_t key_head = row / shape->nk, batch = key_head / shape->kv_heads;
    int key = (int)(row % shape->nk), nq = shape->nq, begin = 0, end = nq;
    if (v->last_queries)
        begin = (nq - 1) / v->last_queries * v->last_queries;
    if (v->whole_queries && nq >= v->whole_queries)
        end = nq / v->whole_queries * v->whole_queries;
    for (int64_t head = batch * shape->heads; head < (batch + 1) * shape->heads; head++)
        for (int i = begin; i < end; i++) {
            int64_t query = head * nq + i;
            if (key_head_of(shape, v, head) != key_head ||
                !head_counts(shape, is_dv ? v->heads_of_dv : v->heads_of_dk, head) ||
                key >= attended(shape, i, is_dv ? v->border_of_dv : v->border_of_dk))
                continue;
            struct pair pair = compute_pair(r, v, query, row);
            bool of_p = is_dv ? !v->dv_of_ds : v->dk_of_p;
            add(s, to, of_p ? pair.p : pair.ds, of_p ? pair.error.p : pair.error.ds, of_p ? pair.p_size : pair.ds_size,
                host_row(&r->problem->tensor[is_dv ? D_O : Q], query), shape->head_dim);
            note_pair(to, &pair);
        }
}

void backward_row(const struct backward_reference *r, const struct backward_variant *v, int output, int64_t row,
                  struct gradient_row *to) {
    const struct host_problem *in = r->problem;
    int d = in->which.attention.head_dim;
    struct sums *s = host_zeros(1, sizeof *s);
    memset(to->value, 0, (size_t)d * sizeof *to->value);
    to->walk = to->lse = 0;
    if (v->swapped && output != OUTPUT_DQ)
        output = output == OUTPUT_DK ? OUTPUT_DV : OUTPUT_DK;
    if (output == OUTPUT_DQ)
        row_of_dq(r, v, row, to, s);
    else
        row_of_keys(r, v, output == OUTPUT_DV, row, to, s);
    double factor =
        output == OUTPUT_DV ? 1 : scaled(1, in->softmax_scale, output == OUTPUT_DQ ? v->scale_of_dq : v->scale_of_dk);
    if (v->dq_not_cleared && output == OUTPUT_DQ)
        factor = NAN;
    for (int c = 0; c < d; c++) {
        to->value[c] *= factor;
        to->bound[c] = tolerance_gradient(in->which.dtype, to->value[c], fabs(factor) * s->error[c],
                                          fabs(factor) * s->size[c], s->count);
        to->size[c] = fmax(fmax(fabs(to->value[c]), fabs(factor) * sqrt(s->squares[c])),
                           tolerance_smallest_size(in->which.dtype));
    }
    free(s);
}

struct job {
    struct backward_reference *r;
    int output;
};

static void compute_rows(int64_t begin, int64_t end, void *context) {
    static const struct backward_variant right = {0};
    const struct job *job = context;
    for (int64_t i = begin; i < end; i++)
        backward_row(job->r, &right, job->output, job->r->sample[job->output].row[i], &job->r->row[job->output][i]);
}

struct backward_reference backward_refer(const struct host_problem *problem, const struct row_sample sample[3]) {
    struct backward_reference r = backward_begin(problem);
    int d = problem->which.attention.head_dim;
    r.sample = sample;
    for (int output = 0; output < problem->outputs; output++) {
        int64_t rows = sample[output].count;
        double *room = r.room[output] = host_allocate(3 * rows * d, sizeof *room);
        r.row[output] = host_allocate(rows, sizeof *r.row[output]);
        for (int64_t i = 0; i < rows; i++)
            r.row[output][i] = (struct gradient_row){
                .value = room + 3 * i * d, .bound = room + (3 * i + 1) * d, .size = room + (3 * i + 2) * d};
        parallel_for(rows, 2, compute_rows, &(struct job){&r, output});
        for (int64_t i = 0; i < rows; i++) {
            r.walk[output] = fmax(r.walk[output], r.row[output][i].walk);
            r.lse[output] = fmax(r.lse[output], r.row[output][i].lse);
        }
    }
    return r;
}

void backward_reference_free(struct backward_reference *r) {
    for (int output = 0; output < 3; output++) {
        free(r->room[output]);
        free(r->row[output]);
    }
    free(r->delta);
    free(r->delta_size);
    memset(r, 0, sizeof *r);
}
