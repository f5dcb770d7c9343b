// Whether a row that is wrong hangs on another row's query or on another head's values, which no row of attention does:
// something of that row or head is left behind, or read in its place.
#include "host/parallel.h"
#include "operations/attention_explain.h"
#include "operations/attention_operation.h"
#include "operations/diagnosis_report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NONE = -1 };

// Whether one query of a head without a mask comes out right where there is no other.
static bool is_right_alone(const struct report *s, int64_t row) {
    const struct attention_shape *shape = &s->x->which.attention;
    const int d = shape->head_dim;
    const int64_t keys = shape_first_key(shape, row);
    const float *v = s->x->own_v + keys * d;
    float *o = host_allocate(d, sizeof *o);
    bool right = attention_run_head(s->x->kernel, s->x->which.dtype, d, 1, shape->nk, s->x->own_q + row * d,
                                    host_row(&s->x->problem.tensor[K], keys), v, o);
    for (int c = 0; c < d && right; c++) {
        double sum = 0, sizes = 0;
        for (int j = 0; j < shape->nk; j++) {
            sum += case_right(&s->seen, row)[j] * v[j * d + c];
            sizes += case_right(&s->seen, row)[j] * fabs(v[j * d + c]);
        }
        right = fabs(o[c] - sum) <= s->x->tolerance * sizes;
    }
    free(o);
    return right;
}

bool report_row_alone(const struct report *s) {
    int64_t row = 0;
    while (row < s->x->rows && s->x->missing[row] != ROW_NOT_FINITE && s->x->missing[row] != ROW_ZERO)
        row++;
    if (row == s->x->rows || s->x->rows == 1 || s->x->which.attention.causal || s->x->which.has_scale ||
        !is_right_alone(s, row))
        return false;
    char text[100];
    row_text(s, row, text, sizeof text);
    report_line(s, "row-right-alone",
                "The output of %s is right if the problem has only this row (one query, one head)", text);
    return true;
}

// ---- Queries of other rows

struct influence {
    const struct report *s;
    int64_t row;       // the one that is wrong
    const float *base; // [head_dim], what it is
    float *q, *o;      // [rows][head_dim]
    float times;       // others' queries are this one's, multiplied by it
};

// Whether the row comes out otherwise with the queries of rows first to end, but for its own, turned round. false, too,
// where that cannot be asked.
static bool changes(struct influence *x, int64_t first, int64_t end) {
    const int d = x->s->x->which.attention.head_dim;
    const float *o = x->o + x->row * d;
    double largest = 0, worst = 0;
    memcpy(x->q, x->s->x->own_q, (size_t)(x->s->x->rows * d) * sizeof *x->q);
    for (int64_t i = first * d; i < end * d; i++)
        if (i / d != x->row)
            x->q[i] = x->times * x->s->x->own_q[x->row * d + i % d];
    if (!observed_run(x->s->x, x->q, NULL, x->o))
        return false;
    for (int c = 0; c < d; c++) {
        if (isfinite(o[c]) != isfinite(x->base[c]))
            return true;
        if (!isfinite(o[c]))
            continue;
        largest = fmax(largest, fmax(fabsf(o[c]), fabsf(x->base[c])));
        worst = fmax(worst, fabsf(o[c] - x->base[c]));
    }
    return worst > 4 * x->s->x->tolerance * largest;
}

// The row whose query alone makes the difference. NONE: there is none, or only several together do.
static int64_t find(struct influence *x) {
    int64_t first = 0, end = x->s->x->rows;
    if (!changes(x, first, end))
        return NONE;
    while (end - first > 1) {
        const int64_t middle = first + (end - first) / 2;
        if (changes(x, first, middle))
            end = middle;
        else if (changes(x, middle, end))
            first = middle;
        else
            return NONE;
    }
    return first;
}

bool report_influence(const struct report *s) {
    const struct attention_shape *shape = &s->x->which.attention;
    const int d = shape->head_dim;
    int64_t row = 0;
    while (row < s->x->rows && !s->seen.wrong[row] && !s->x->missing[row])
        row++;
    if (row == s->x->rows || s->x->rows < 2 || !s->x->repeats)
        return false;
    float *base = host_allocate(s->x->rows * d, sizeof *base);
    struct influence x = {.s = s, .row = row, .base = base + row * d};
    x.q = host_allocate(s->x->rows * d, sizeof *x.q);
    x.o = host_allocate(s->x->rows * d, sizeof *x.o);
    int64_t other = NONE;
    // What the same query leaves behind does no harm; scores of 0 take a large maximum away, and those of the other
    // sign make one.
    for (x.times = 1; x.times >= -1 && other == NONE && observed_run(s->x, NULL, NULL, base); x.times--)
        other = find(&x);
    free(base);
    free(x.q);
    free(x.o);
    if (other == NONE)
        return false;
    char one[100], another[100];
    row_text(s, row, one, sizeof one);
    row_text(s, other, another, sizeof another);
    report_line(s, "depends-on-other-query",
                "The output of %s changes when only the query of %s changes: the kernel reads, or has left behind, "
                "data of the other row",
                one, another);
    return true;
}

// ---- Values of other heads ------------------------------------------------------------------------------------------

struct foreign {
    const struct report *s;
    int64_t row, own; // the row that is wrong, and which head of keys and values is its own
    float *v, *o;     // [kv heads][nk][head_dim], [rows][head_dim]
};

// Asks with the values of heads first to end alone, and without the row's own head's but where it is the only one.
static bool probe_values(struct foreign *x, int64_t first, int64_t end) {
    const struct attention_shape *shape = &x->s->x->which.attention;
    const int64_t elements = (int64_t)shape->nk * shape->head_dim, heads = x->s->x->problem.tensor[V].rows / shape->nk;
    for (int64_t h = 0; h < heads; h++) {
        const bool present = h >= first && h < end && (h != x->own || end - first == 1);
        for (int64_t e = h * elements; e < (h + 1) * elements; e++)
            x->v[e] = present ? x->s->x->own_v[e] : 0;
    }
    return observed_run(x->s->x, NULL, x->v, x->o);
}

static bool is_zero(const struct foreign *x) {
    const int d = x->s->x->which.attention.head_dim;
    for (int c = 0; c < d; c++)
        if (!(fabsf(x->o[x->row * d + c]) < 1e-6f))
            return false;
    return true;
}

// Whether the row is what the right weights make of its own head's values.
static bool is_right(const struct foreign *x) {
    const struct report *s = x->s;
    const int d = s->x->which.attention.head_dim, nk = s->x->which.attention.nk;
    for (int c = 0; c < d; c++) {
        double sum = 0, sizes = 0;
        for (int j = 0; j < nk; j++) {
            const double term = case_right(&s->seen, x->row)[j] * s->x->own_v[(x->own * nk + j) * d + c];
            sum += term;
            sizes += fabs(term);
        }
        if (!(fabs(sum - x->o[x->row * d + c]) <= 2 * s->x->tolerance * sizes + 1e-6))
            return false;
    }
    return true;
}

// A row that is not 0 where all values of its own head are: with those of the heads alone whose number has a bit, or
// has it not. NONE: there is none.
static int64_t find_row(struct foreign *x, int64_t heads) {
    const struct attention_shape *shape = &x->s->x->which.attention;
    const int64_t elements = (int64_t)shape->nk * shape->head_dim;
    for (int bit = 0; (heads - 1) >> bit > 0; bit++)
        for (int has = 0; has < 2; has++) {
            for (int64_t e = 0; e < heads * elements; e++)
                x->v[e] = (e / elements >> bit & 1) == has ? x->s->x->own_v[e] : 0;
            if (!observed_run(x->s->x, NULL, x->v, x->o))
                return NONE;
            for (x->row = 0; x->row < x->s->x->rows; x->row++)
                if ((shape_first_key(shape, x->row) / shape->nk >> bit & 1) != has && !x->s->x->missing[x->row] &&
                    !is_zero(x))
                    return x->row;
        }
    return NONE;
}

bool report_other_head(const struct report *s) {
    const struct attention_shape *shape = &s->x->which.attention;
    const int64_t heads = s->x->problem.tensor[V].rows / shape->nk;
    struct foreign x = {.s = s};
    x.v = host_allocate(heads * shape->nk * shape->head_dim, sizeof *x.v);
    x.o = host_allocate(s->x->rows * shape->head_dim, sizeof *x.o);
    const int64_t row = find_row(&x, heads);
    bool right_without_others = false;
    if (row != NONE) {
        int64_t first = 0, end = heads;
        char name[100], other_heads[80] = "other heads";
        x.row = row;
        x.own = shape_first_key(shape, row) / shape->nk;
        while (end - first > 1) {
            const int64_t middle = first + (end - first) / 2;
            if (probe_values(&x, first, middle) && !is_zero(&x) && !(middle - first == 1 && first == x.own))
                end = middle;
            else
                first = middle;
        }
        if (first != x.own && probe_values(&x, first, end) && !is_zero(&x))
            snprintf(other_heads, sizeof other_heads, "batch %d head %d of V", (int)(first / shape->kv_heads),
                     (int)(first % shape->kv_heads));
        right_without_others = probe_values(&x, x.own, x.own + 1) && is_right(&x);
        row_text(s, row, name, sizeof name);
        report_line(s, right_without_others ? "other-head-added" : "other-head-included",
                    "The output of %s contains values of %s%s", name, other_heads,
                    right_without_others ? "; the output is right if the values of all other heads are 0: the kernel "
                                           "adds the accumulator of another head"
                                         : "");
    }
    free(x.v);
    free(x.o);
    return right_without_others;
}
