// Outputs of a kernel that takes elements of Q, K, V or O from another place: another tensor, head, row or column.
#include "operations/diagnosis_operands.h"

#include "host/parallel.h"
#include "operations/attention_operation.h"
#include "operations/diagnosis.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NONE = -1, TENSORS = 4 };

static bool is_query(int tensor) {
    return tensor == Q || tensor == O;
}

// ---- Where an element comes from ------------------------------------------------------------------------------------

// The first row of the head of a row; NONE: it lies outside.
static int64_t first_row(const struct attention_shape *s, const struct operand_rule *rule, int tensor, int64_t head) {
    const int heads = is_query(tensor) ? s->heads : s->kv_heads, n = is_query(tensor) ? s->nq : s->nk;
    const int64_t batch = head / heads, in_batch = head % heads;
    switch ((enum head_rule)rule->n) {
    case HEAD_FIRST:
        return 0;
    case HEAD_OF_FIRST_BATCH:
        return in_batch * n;
    case HEAD_FIRST_OF_BATCH:
        return batch * heads * n;
    case HEAD_STRIDE:
        return head * (is_query(tensor) ? s->nk : s->nq);
    default:
        return NONE;
    }
}

// The head of K and V of a query head where the rule shares them out otherwise.
static int64_t shared_head(const struct attention_shape *s, const struct operand_rule *rule, int64_t query_head) {
    const int64_t batch = query_head / s->heads, head = query_head % s->heads;
    return rule->n == HEAD_MODULO ? batch * s->kv_heads + head % s->kv_heads : query_head;
}

static void move_in_fragment(const struct operand_rule *rule, int *row, int *column) {
    const int r = *row, c = *column;
    switch ((enum fragment_rule)rule->n) {
    case FRAGMENT_TRANSPOSED:
        *row = r / 8 * 8 + c % 8;
        *column = c / 8 * 8 + r % 8;
        break;
    case FRAGMENT_MATRICES:
        *row = (r ^ c) & 8 ? r ^ 8 : r;
        *column = (r ^ c) & 8 ? c ^ 8 : c;
        break;
    case FRAGMENT_ROWS:
        *row = r ^ 8;
        break;
    default:
        *column = c ^ (r & rule->map.n) * 8;
    }
}

static struct row_layout layout_by(const struct observed *x, const struct operand_rule *rule, int tensor) {
    struct row_layout layout = x->problem.tensor[tensor].layout;
    if (rule->n == STRIDES_CONTIGUOUS)
        return layout_of_rows(x->which.attention.head_dim);
    if (rule->n == ROWS_CONTIGUOUS)
        layout.stride[2] = x->which.attention.head_dim;
    else
        memcpy(layout.stride, x->problem.tensor[rule->n - STRIDES_OF].layout.stride, sizeof layout.stride);
    return layout;
}

// The element at an address; NONE: a gap.
static int64_t element_at(const struct row_layout *l, int64_t rows, int d, int64_t at) {
    const int64_t counts[] = {INT64_MAX, l->heads, l->n};
    int64_t index[3] = {0};
    bool done[3] = {!l->n, !l->n, false}; // without n rows alone count
    for (int left = l->n ? 3 : 1; left; left--) {
        int widest = 2;
        for (int i = 0; i < 3; i++)
            if (!done[i] && (done[widest] || l->stride[i] > l->stride[widest]))
                widest = i;
        done[widest] = true;
        index[widest] = at / l->stride[widest];
        at %= l->stride[widest];
        if (l->n && index[widest] >= counts[widest])
            return NONE;
    }
    const int64_t row = l->n ? (index[0] * l->heads + index[1]) * l->n + index[2] : index[2];
    return at < d && row < rows ? row * d + at : NONE;
}

// The element that lies where the rule looks for this one; of the output, the one that it stores where this one should
// lie.
static int64_t element_by_strides(const struct observed *x, const struct operand_rule *rule, int tensor, int64_t row,
                                  int c) {
    const struct host_tensor *t = &x->problem.tensor[tensor];
    const struct row_layout other = layout_by(x, rule, tensor);
    return element_at(tensor == O ? &other : &t->layout, t->rows, t->columns,
                      layout_row(tensor == O ? &t->layout : &other, row) + c);
}

// The row and column of a tile that lie where the rule looks for these.
static void move_by_panels(const struct operand_rule *rule, int d, int *row, int *column) {
    const int r = *row % rule->n, at = r * PANEL + *column % PANEL + *column / PANEL * rule->map.n;
    *row = at / PANEL / rule->n < (d + PANEL - 1) / PANEL ? *row - r + at / PANEL % rule->n : NONE;
    *column = at / PANEL / rule->n * PANEL + at % PANEL;
}

// Which element stands in for element c of a row; NONE: a zero.
static int64_t place_of(const struct observed *x, const struct operand_rule *rule, int tensor, int64_t row, int c) {
    const struct attention_shape *s = &x->which.attention;
    const int n = is_query(tensor) ? s->nq : s->nk, d = s->head_dim;
    const int64_t head = row / n, rows = x->problem.tensor[tensor].rows;
    int r = (int)(row % n);
    int64_t first = head * n;
    switch (rule->change) {
    case OPERAND_ROWS:
        r = rule->from ? rule->from[r] : map_of(&rule->map, r, n);
        break;
    case OPERAND_COLUMNS:
        c = rule->from ? rule->from[c] : map_of(&rule->map, c, d);
        break;
    case OPERAND_HEADS:
        first = first_row(s, rule, tensor, head);
        break;
    case OPERAND_TRANSPOSED:
        return tensor == O ? first * d + (r * d + c) % n * d + (r * d + c) / n : first * d + (int64_t)c * n + r;
    case OPERAND_STRIDES:
        return element_by_strides(x, rule, tensor, row, c);
    case OPERAND_PANELS:
        move_by_panels(rule, d, &r, &c);
        r = r < n ? r : NONE;
        c = c < d ? c : NONE;
        break;
    case OPERAND_FRAGMENT:
        move_in_fragment(rule, &r, &c);
        r = r < n ? r : NONE;
        c = c < d ? c : NONE;
        break;
    default:
        break;
    }
    return r == NONE || c == NONE || first == NONE || first + r >= rows ? NONE : (first + r) * d + c;
}

static bool is_shared(const struct operand_rule *rule) {
    return rule->change == OPERAND_HEADS && (rule->n == HEAD_MODULO || rule->n == HEAD_OF_QUERY);
}

// The tensors that are read in place of Q, K and V.
static const int read_as[][3] = {{Q, V, K}, {K, Q, V}, {Q, K, K}, {Q, V, V}};

// The tensors as the kernel finds them; NULL in place of one that is as it should be. False: some lies outside.
static bool move_all(const struct observed *x, const struct operand_rule *rule, int width, float *moved[3]) {
    const float *own[] = {x->own_q, x->problem.tensor[K].values, x->own_v};
    const int d = x->which.attention.head_dim;
    bool inside = true;
    for (int t = Q; t <= V; t++) {
        const int from = rule->change == OPERAND_TENSORS ? read_as[rule->n][t] : t;
        const int64_t rows = x->problem.tensor[t].rows;
        moved[t] = NULL;
        if (!(rule->tensors >> t & 1) || is_shared(rule) || (rule->change == OPERAND_TENSORS && from == t))
            continue;
        moved[t] = host_allocate(rows * width, sizeof **moved);
        for (int64_t r = 0; r < rows; r++)
            for (int c = 0; c < width; c++) {
                const int64_t place = rule->change == OPERAND_TENSORS
                                          ? (r < x->problem.tensor[from].rows ? r * d + c : NONE)
                                          : place_of(x, rule, t, r, c);
                inside = inside && (place != NONE || rule->change != OPERAND_TENSORS);
                moved[t][r * width + c] = place == NONE ? 0 : own[from][place];
            }
    }
    return inside;
}

// ---- What the output is then ----------------------------------------------------------------------------------------

struct moved {
    const struct observed *x;
    const struct operand_rule *rule;
    float *tensor[3]; // with rows of `width` columns
    double *weight;   // [nk]
    int width;
};

// The columns that are compared.
static int first_column(const struct observed *x) {
    return x->column == ANY_COLUMN ? 0 : x->column;
}
static int end_column(const struct observed *x) {
    return x->column == ANY_COLUMN ? x->which.attention.head_dim : x->column + 1;
}

static const float *row_of(const struct moved *m, int tensor, int64_t row) {
    const float *own[] = {m->x->own_q, m->x->problem.tensor[K].values, m->x->own_v};
    return m->tensor[tensor] ? m->tensor[tensor] + row * m->width : own[tensor] + row * m->x->which.attention.head_dim;
}

// The first row of the head of K or V that a row reads.
static int64_t keys_of(const struct moved *m, int tensor, int64_t row) {
    const struct attention_shape *s = &m->x->which.attention;
    const bool shared = is_shared(m->rule) && m->rule->tensors >> tensor & 1;
    return shared ? shared_head(s, m->rule, row / s->nq) * s->nk : shape_first_key(s, row);
}

// The weights of a row. False: they read outside.
static bool weigh(const struct moved *m, int64_t row) {
    const struct attention_shape *s = &m->x->which.attention;
    const int attended = shape_attended_keys(s, (int)(row % s->nq));
    // What has been moved past the last column of both meets there.
    const int d = m->tensor[Q] && m->tensor[K] ? m->width : s->head_dim;
    const int64_t keys = keys_of(m, K, row);
    double maximum = -INFINITY, sum = 0;
    if (keys + s->nk > m->x->problem.tensor[K].rows)
        return false;
    for (int j = 0; j < attended; j++) {
        const float *q = row_of(m, Q, row), *k = row_of(m, K, keys + j);
        double dot = 0;
        for (int c = 0; c < d; c++)
            dot += (double)q[c] * k[c] * (m->rule->times ? m->rule->times[c] : 1);
        m->weight[j] = dot * m->x->problem.softmax_scale;
        maximum = fmax(maximum, m->weight[j]);
    }
    for (int j = 0; j < attended; j++)
        sum += m->weight[j] = exp(m->weight[j] - maximum);
    for (int j = 0; j < s->nk; j++)
        m->weight[j] = j < attended ? m->weight[j] / sum : 0;
    return true;
}

// Whether a row of the output is what the rule makes of it.
static bool row_fits(const struct moved *m, int64_t row) {
    const struct observed *x = m->x;
    const struct attention_shape *s = &x->which.attention;
    const int d = s->head_dim;
    const bool of_scores = m->rule->tensors & (1u << Q | 1u << K) || m->rule->times;
    const double *weight = x->right + row * s->nk;
    const int64_t values = keys_of(m, V, row);
    if (m->rule->tensors >> O & 1) {
        for (int c = first_column(x); c < end_column(x); c++) {
            const int64_t place = place_of(x, m->rule, O, row, c);
            if (place == NONE ? m->rule->change != OPERAND_STRIDES
                              : !(fabs(x->o[row * d + c] - x->right_o[place]) <= 2 * x->tolerance * x->size_o[place]))
                return false;
        }
        return true;
    }
    if ((of_scores && !weigh(m, row)) || values + s->nk > x->problem.tensor[V].rows)
        return false;
    weight = of_scores ? m->weight : weight;
    for (int c = first_column(x); c < end_column(x); c++) {
        double sum = 0, sizes = 0;
        for (int j = 0; j < s->nk; j++) {
            const double term = weight[j] * row_of(m, V, values + j)[c];
            sum += term;
            sizes += fabs(term);
        }
        if (!(fabs(x->o[row * d + c] - sum) <= 2 * x->tolerance * sizes + 1e-6))
            return false;
    }
    return true;
}

bool explanation_of_operands_holds(struct explanation *one, const struct case_seen *s) {
    const int d = s->x->which.attention.head_dim;
    struct moved m = {.x = s->x, .rule = &one->operand, .width = d};
    const int64_t fewest = one->only_wrong_rows ? 4 : 1;
    int64_t failing = 0, wrong = 0;
    if (one->operand.change == OPERAND_FRAGMENT || (one->operand.map.kind == MAP_MODULO && one->operand.map.n == PANEL))
        m.width = (d + PANEL - 1) / PANEL * PANEL; // rows of shared memory
    bool inside = move_all(s->x, &one->operand, m.width, m.tensor);
    m.weight = host_allocate(s->nk, sizeof *m.weight);
    one->fitting = one->rows = 0;
    for (int64_t r = 0; r < s->rows && inside && 10 * failing <= s->rows; r++) {
        if (s->x->missing[r] || !shape_attended_keys(&s->x->which.attention, (int)(r % s->nq)))
            continue;
        const bool fits = row_fits(&m, r), is_wrong = !observed_is_right(s->x, r, s->x->column);
        if (one->only_wrong_rows && !is_wrong)
            continue;
        one->rows++;
        one->fitting += fits;
        failing += !fits;
        wrong += fits && is_wrong;
    }
    for (int t = Q; t <= V; t++)
        free(m.tensor[t]);
    free(m.weight);
    return inside && wrong >= fewest && 10 * failing <= one->rows;
}
