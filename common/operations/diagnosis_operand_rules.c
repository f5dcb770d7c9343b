// Which rules for operands are tried: tables, index maps, and what is solved or read off.
#include "host/parallel.h"
#include "operations/attention_operation.h"
#include "operations/diagnosis.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void try(struct operand_rule rule, const struct case_seen *s, double cost, struct explanations *all) {
    struct explanation one = {.kind = EXPLAINS_OPERANDS, .operand = rule};
    const int before = all->count;
    explanations_try(all, one, s, cost);
    // Rows that are right may be so for another reason.
    one.only_wrong_rows = true;
    if (all->count == before && (rule.change == OPERAND_COLUMNS || rule.change == OPERAND_ROWS))
        explanations_try(all, one, s, cost + 6);
}

static void try_maps(enum operand_change change, int count, const unsigned *tensors, int kinds,
                     const struct case_seen *s, struct explanations *all) {
    struct index_map maps[MOST_MAPS];
    const int found = count > 1 ? maps_of(count, maps) : 0;
    for (int i = 0; i < found; i++)
        for (int t = 0; t < kinds; t++)
            // One key for all keys is what is left where the others have no weight.
            if (!(tensors[t] & (1u << K | 1u << V) && maps[i].kind == MAP_FIRST && !maps[i].n))
                try((struct operand_rule){.change = change, .tensors = tensors[t], .map = maps[i]}, s,
                    5 + 2 * t + map_cost(&maps[i]), all);
}

// Whether in all rows column `to` of the output, or in all heads row `to`, is right for another one.
static bool holds_other(const struct observed *x, bool of_columns, int to, int from) {
    const int d = x->which.attention.head_dim, nq = x->which.attention.nq;
    for (int64_t r = 0; r < x->rows; r++)
        for (int c = 0; c < d; c++) {
            const int64_t place = of_columns ? r * d + from : (r - r % nq + from) * d + c;
            if (!x->missing[r] && (of_columns ? c == to : r % nq == to) &&
                !(fabs(x->o[r * d + c] - x->right_o[place]) <= 2 * x->tolerance * x->size_o[place]))
                return false;
        }
    return true;
}

// Reads off which column, or row of its head, each one of the output holds.
static void try_places(const struct case_seen *s, bool of_columns, struct explanations *all) {
    enum { MOST = 256 };
    const int count = of_columns ? s->x->which.attention.head_dim : s->nq;
    int others = 0, found = 0;
    for (int to = 0; to < count && to == found && count <= MOST; to++) {
        int from = to;
        for (int i = 0; i <= count && !holds_other(s->x, of_columns, to, from); i++)
            from = i;
        s->table->from[to] = (int16_t)from;
        found += from < count;
        others += from != to;
    }
    if (found == count && others)
        try((struct operand_rule){.change = of_columns ? OPERAND_COLUMNS : OPERAND_ROWS,
                                  .tensors = 1u << O,
                                  .from = s->table->from},
            s, 12, all);
}

// Least squares of what each element of the dot product counts, from the logarithms of the weights.
static bool read_times(const struct case_seen *s, float *times) {
    enum { MOST_ROWS = 64 };
    const int d = s->x->which.attention.head_dim, width = d + 1;
    double *a = host_zeros((int64_t)d * width, sizeof *a),
           *term = host_allocate((int64_t)width * (s->nk + 1), sizeof *term);
    int64_t points = 0, rows = 0;
    bool found = false, any = false, known = true;
    for (int64_t r = 0; r < s->rows && rows < MOST_ROWS; r++) {
        const float *q = s->x->own_q + r * d;
        const int64_t keys = shape_first_key(&s->x->which.attention, r);
        double *mean = term + (int64_t)width * s->nk;
        int count = 0;
        memset(mean, 0, (size_t)width * sizeof *mean);
        for (int j = 0; j < s->nk; j++) {
            double *t = term + (int64_t)width * count;
            if (isnan(s->off[r * s->nk + j]))
                continue;
            for (int c = 0; c < d; c++)
                t[c] = (double)q[c] * host_row(&s->x->problem.tensor[K], keys + j)[c] * s->x->problem.softmax_scale;
            t[d] = s->off[r * s->nk + j];
            for (int c = 0; c < width; c++)
                mean[c] += t[c];
            count++;
        }
        for (int i = 0; i < count; i++) {
            double *t = term + (int64_t)width * i;
            for (int c = 0; c < width; c++)
                t[c] -= mean[c] / count;
            for (int c = 0; c < d; c++)
                for (int b = 0; b < width; b++)
                    a[c * width + b] += t[c] * t[b];
        }
        points += count > 1 ? count - 1 : 0;
        rows += count > 1;
    }
    for (int i = 0; i < d && (known = points > 2 * d && a[i * width + i] > 1e-9); i++)
        for (int k = 0; k < d; k++)
            for (int b = width - 1; b >= i && k != i && a[k * width + i] != 0; b--)
                a[k * width + b] -= a[k * width + i] / a[i * width + i] * a[i * width + b];
    for (int c = 0; c < d && known; c++) {
        const double count = 1 + a[c * width + d] / a[c * width + c];
        times[c] = (float)lrint(count);
        known = fabs(count - times[c]) < 0.2 && times[c] >= 0 && times[c] < 4;
        found = found || times[c] != 1;
        any = any || times[c] > 0;
    }
    free(a);
    free(term);
    return known && found && any;
}

// Sets of tensors that one mistake moves, the likeliest first.
static const unsigned sets[] = {
    1u << K, 1u << Q, 1u << V, 1u << O, 1u << K | 1u << V, 1u << Q | 1u << K, 1u << Q | 1u << K | 1u << V};
enum { SETS = sizeof sets / sizeof *sets, OF_K = 1, OF_Q = 2, OF_V = 4, OF_O = 8, OF_KV = 16, OF_QK = 32, OF_QKV = 64 };

// Rules that differ in n, of the sets of tensors that the bits name. map_n: bits of a swizzle.
static const struct family {
    enum operand_change change;
    unsigned sets;
    int first, end, map_n;
    double cost;
} families[] = {
    {OPERAND_TENSORS, OF_QKV, 0, 2, 0, 5},
    {OPERAND_TENSORS, OF_V, 2, 3, 0, 5},
    {OPERAND_TENSORS, OF_K, 3, 4, 0, 5},
    {OPERAND_HEADS, OF_K | OF_V | OF_KV | OF_Q, 0, HEAD_MODULO, 0, 5},
    {OPERAND_HEADS, OF_K | OF_V | OF_KV, HEAD_MODULO, HEAD_STRIDE, 0, 8},
    {OPERAND_HEADS, OF_K | OF_V | OF_KV | OF_Q, HEAD_STRIDE, HEADS, 0, 10},
    {OPERAND_TRANSPOSED, OF_Q | OF_K | OF_V | OF_O, 0, 1, 0, 6},
    {OPERAND_STRIDES, OF_Q | OF_K | OF_V | OF_O | OF_KV | OF_QKV, 0, STRIDES_OF + O + 1, 0, 6},
    {OPERAND_FRAGMENT, OF_QKV * 2 - 1, 0, FRAGMENT_SWIZZLE, 0, 7},
    {OPERAND_FRAGMENT, OF_QKV * 2 - 1, FRAGMENT_SWIZZLE, FRAGMENTS, 7, 10},
    {OPERAND_FRAGMENT, OF_QKV * 2 - 1, FRAGMENT_SWIZZLE, FRAGMENTS, 6, 11},
    {OPERAND_FRAGMENT, OF_QKV * 2 - 1, FRAGMENT_SWIZZLE, FRAGMENTS, 4, 11},
    {OPERAND_FRAGMENT, OF_QKV * 2 - 1, FRAGMENT_SWIZZLE, FRAGMENTS, 3, 11},
};

static void try_families(const struct case_seen *s, struct explanations *all) {
    const struct attention_shape *shape = &s->x->which.attention;
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        const struct family *f = &families[i];
        const bool needs_groups = f->change == OPERAND_HEADS && f->first == HEAD_MODULO;
        if ((needs_groups && shape->kv_heads == shape->heads) ||
            (f->change == OPERAND_STRIDES && shape->layout == LAYOUT_BHND))
            continue;
        for (int n = f->first; n < f->end; n++)
            for (int t = 0; t < SETS; t++)
                if (f->sets >> t & 1)
                    try((struct operand_rule){f->change, sets[t], n, {.n = f->map_n}, NULL, NULL}, s,
                        f->cost + n - f->first + t, all);
    }
}

// Panels of 64 columns that lie as far apart as those of a tile of other rows, or only a chunk or a row.
static void try_panels(const struct case_seen *s, struct explanations *all) {
    static const int rows[] = {16, 32, 64, 80, 96, 112, 128, 160, 176, 192, 256};
    enum { ROWS = sizeof rows / sizeof *rows };
    for (int i = 0; i < ROWS && s->x->which.attention.head_dim > PANEL; i++)
        for (int j = -2; j < ROWS; j++)
            for (int t = Q; t <= V && j != i; t++) {
                const int apart = j == -2 ? 8 : j == -1 ? PANEL : rows[j] * PANEL;
                try((struct operand_rule){OPERAND_PANELS, 1u << t, rows[i], {.n = apart}, NULL, NULL}, s, 11 + t, all);
            }
}

void explain_operands(const struct case_seen *s, struct explanations *all) {
    static const unsigned columns[] = {1u << K, 1u << Q, 1u << V, 1u << K | 1u << Q, 1u << Q | 1u << K | 1u << V},
                          rows[] = {1u << Q, 1u << V, 1u << K, 1u << K | 1u << V, 1u << O};
    const struct attention_shape *shape = &s->x->which.attention;
    try_families(s, all);
    try_panels(s, all);
    if (read_times(s, s->times))
        try((struct operand_rule){.change = OPERAND_TIMES, .times = s->times}, s, 8, all);
    if (all->count)
        return;
    try_maps(OPERAND_COLUMNS, shape->head_dim, columns, 5, s, all);
    try_maps(OPERAND_ROWS, s->nk, rows + 1, 3, s, all);
    try_maps(OPERAND_ROWS, s->nq, rows, 1, s, all);
    try_maps(OPERAND_ROWS, s->nq, rows + 4, 1, s, all);
    for (int of_columns = 0; of_columns < 2 && !all->count && s->x->column == ANY_COLUMN; of_columns++)
        try_places(s, of_columns, all);
}
