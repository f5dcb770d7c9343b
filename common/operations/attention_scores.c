#include "operations/attention_head.h"
#include "operations/attention_operation.h"

#include <math.h>

static int clamp(int value, int size) {
    return value < 0 ? 0 : value >= size ? size - 1 : value;
}

// Which of all heads of a tensor with so many heads a batch the kernel reads.
static int64_t find_head(const struct head *h, const struct source *from, int heads) {
    const struct attention_shape *s = &h->in->which.attention;
    int64_t batch = h->index / s->heads, head = h->index % s->heads;
    switch (from->head) {
    case HEAD_FIRST:
        return 0;
    case HEAD_OF_FIRST_BATCH:
        return head / (s->heads / heads);
    case HEAD_MODULO:
        return batch * heads + head % heads;
    case HEAD_OF_QUERY:
        return h->index;
    case HEAD_FIRST_OF_BATCH:
        return batch * heads;
    default:
        return batch * heads + head / (s->heads / heads);
    }
}

int64_t row_at_contiguous(const struct host_tensor *tensor, int64_t row) {
    const struct row_layout *l = &tensor->layout;
    int64_t at = row * tensor->columns, rows = tensor->rows;
    if (layout_is_plain(tensor))
        return row;
    for (int64_t r = 0; r < rows; r++)
        if (layout_row(l, r) == at)
            return r;
    return -1;
}

struct row find_row(const struct head *h, const struct source *from, enum tensor_kind own, int n, int j) {
    static const float zero = 0;
    static const struct row out_of_bounds = {&zero, 0, true};
    const struct attention_shape *s = &h->in->which.attention;
    enum tensor_kind kind = from->tensor ? from->tensor : own;
    const struct host_tensor *tensor = &h->in->tensor[kind == TENSOR_OF_Q ? Q : kind == TENSOR_OF_K ? K : V];
    if (from->operand)
        return (struct row){h->permuted[own - TENSOR_OF_Q] + (int64_t)j * padded_columns(s), 1, false};
    int64_t head = find_head(h, from, own == TENSOR_OF_Q ? s->heads : s->kv_heads), step = from->transposed ? n : 1;
    int64_t first = head * (from->head == HEAD_STRIDE_OF_QUERIES ? s->nq : n);
    int row = from->shift ? clamp(j + from->shift, n) : j;
    int64_t start = from->transposed ? first * s->head_dim + row : (first + row) * s->head_dim;
    if (start + (s->head_dim - 1) * step >= tensor->rows * s->head_dim)
        return out_of_bounds;
    if (from->contiguous) {
        int64_t instead = row_at_contiguous(tensor, first + row);
        if (instead < 0)
            return out_of_bounds;
        start = instead * s->head_dim;
    }
    return (struct row){tensor->values + start, step, false};
}

void find_rows(struct head *h) {
    int nk = h->in->which.attention.nk;
    for (int j = 0; j < nk; j++) {
        h->keys[j] = find_row(h, &h->variant->k, TENSOR_OF_K, nk, j);
        h->values[j] = find_row(h, &h->variant->v, TENSOR_OF_V, nk, j);
    }
}

static double scale_of(const struct variant *v, const struct host_problem *in) {
    int padded = 32;
    while (padded < in->which.attention.head_dim)
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

int attended_keys(const struct variant *v, const struct attention_shape *s, int i) {
    int keys = shape_attended_keys(s, i);
    if (v->mask == MASK_ALL || (v->mask == MASK_OVERFLOW && !s->causal))
        return 0;
    if (!s->causal)
        return keys;
    switch (v->mask) {
    case MASK_LIMIT_TOO_LOW:
        keys = i + s->nk - s->nq;
        break;
    case MASK_LIMIT_TOO_HIGH:
        keys = i + s->nk - s->nq + 2;
        // A warp of so many queries does not begin with 16 keys past its last query's.
        if (v->queries && i % v->queries == v->queries - 1 && (keys - 1) % 16 == 0)
            keys--;
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

// The product of two rows; *size: the sum of its terms' sizes.
static double multiply(const struct row *q, const struct row *k, const struct subset *counted, int columns,
                       int head_dim, double *size) {
    // Four sums at a time: one alone would wait for each addition.
    double dot[4] = {0}, sizes[4] = {0};
    int whole = counted->kind ? 0 : columns / 4 * 4;
    for (int c = 0; c < whole; c += 4) {
#pragma GCC unroll 4
        for (int part = 0; part < 4; part++) {
            double term = (double)q->at[(c + part) * q->step] * k->at[(c + part) * k->step];
            dot[part] += term;
            sizes[part] += fabs(term);
        }
    }
    for (int c = whole; c < columns; c++) {
        if (counted->kind && !subset_has(*counted, c, head_dim))
            continue;
        double term = (double)q->at[c * q->step] * k->at[c * k->step];
        dot[0] += term;
        sizes[0] += fabs(term);
    }
    *size = sizes[0] + sizes[1] + sizes[2] + sizes[3];
    return dot[0] + dot[1] + dot[2] + dot[3];
}

void compute_scores(struct head *h) {
    const struct variant *v = h->variant;
    const struct attention_shape *s = &h->in->which.attention;
    // Where the elements of both are moved, what lay within a row meets beyond it.
    int columns = v->q.operand && v->k.operand ? padded_columns(s) : s->head_dim;
    h->scale = scale_of(v, h->in);
    for (int i = 0; i < s->nq; i++) {
        double *score = h->score + (int64_t)i * s->nk;
        int keys = attended_keys(v, s, i);
        struct row q = find_row(h, &v->q, TENSOR_OF_Q, s->nq, query_row(v, i));
        h->out_of_bounds |= q.out_of_bounds;
        h->score_scale[i] = 0;
        for (int j = 0; j < s->nk; j++) {
            score[j] = -INFINITY;
            if (j >= keys)
                continue;
            h->out_of_bounds |= h->keys[j].out_of_bounds;
            double size, dot = multiply(&q, &h->keys[j], &v->columns, columns, s->head_dim, &size);
            if (v->scores_rounded)
                dot = dtype_round(h->in->which.dtype, (float)dot);
            score[j] = h->scale * dot;
            if (v->scores_not_cleared && j >= v->tile)
                score[j] += score[j - v->tile];
            if (isfinite(size))
                h->score_scale[i] = fmax(h->score_scale[i], size);
        }
    }
}
