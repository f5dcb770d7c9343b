// An output that is not the values of its head by one weight for each key: values of other heads, columns that change
// places, or columns whose weights are not those of the others.
#include "host/parallel.h"
#include "operations/attention_conditions.h"
#include "operations/attention_explain_weights.h"
#include "operations/attention_operation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NONE = -1, MOST_CODES = 120 };

// What row r has to be: the values of its head by its right weights.
static void expect_row(const struct explainer *s, int64_t r, double *expected /* [d] */) {
    const struct attention_shape *shape = &s->x.which.attention;
    const int64_t keys = shape_first_key(shape, r);
    const int d = shape->head_dim;
    for (int c = 0; c < d; c++) {
        expected[c] = 0;
        for (int j = 0; j < shape->nk; j++)
            expected[c] += right_of(s, r)[j] * s->x.own_v[(keys + j) * d + c];
    }
}

// Nearly every row that is not what it has to be is what another one has to be.
static bool report_rows_elsewhere(struct explainer *s) {
    enum { MOST_ROWS = 512, LEAST_COLUMNS = 4 };
    const struct attention_shape *shape = &s->x.which.attention;
    const int d = shape->head_dim;
    int64_t wrong = 0, found = 0, first = NONE, actual = NONE;
    if (s->x.rows > MOST_ROWS || d < LEAST_COLUMNS)
        return false;
    double *expected = host_allocate(s->x.rows * d, sizeof *expected);
    float *o = host_allocate(s->x.rows * d, sizeof *o);
    for (int64_t r = 0; r < s->x.rows; r++)
        expect_row(s, r, expected + r * d);
    bool known = observed_run(&s->x, NULL, NULL, o);
    for (int64_t r = 0; r < s->x.rows && known; r++) {
        int64_t from = NONE;
        for (int64_t i = 0; i < s->x.rows && from != r; i++) {
            // Its own place first.
            const int64_t other = i == 0 ? r : i <= r ? i - 1 : i;
            bool is = from == NONE;
            for (int c = 0; c < d && is; c++)
                is = fabs(o[r * d + c] - expected[other * d + c]) <=
                     4 * s->x.tolerance * (fabs(expected[other * d + c]) + 0.05);
            from = is ? other : from;
        }
        wrong += from != r;
        found += from != r && from != NONE;
        if (from != r && from != NONE && first == NONE) {
            first = r;
            actual = from;
        }
    }
    free(expected);
    free(o);
    if (!known || found < 2 || 5 * found < 4 * wrong)
        return false;
    explain_line(s, "rows-permuted",
                 "Rows of the output are permuted: the row of batch %d head %d query %d holds the result of batch %d "
                 "head %d query %d. The same pattern holds in %lld of %lld rows",
                 (int)(first / shape->nq / shape->heads), (int)(first / shape->nq % shape->heads),
                 (int)(first % shape->nq), (int)(actual / shape->nq / shape->heads),
                 (int)(actual / shape->nq % shape->heads), (int)(actual % shape->nq), (long long)found,
                 (long long)s->x.rows);
    return true;
}

// The head whose values each row has, where that is one of them: all values of a head are its number.
static bool report_heads(struct explainer *s) {
    const struct attention_shape *shape = &s->x.which.attention;
    const struct host_tensor *values = &s->x.problem.tensor[V];
    int64_t heads = (int64_t)shape->batch * shape->kv_heads, reported = NONE, actual = NONE, last_head = NONE,
            last_found = 0;
    int d = shape->head_dim, others = 0;
    if (heads < 2 || heads > MOST_CODES)
        return false;
    float *v = host_allocate(values->rows * d, sizeof *v), *o = host_allocate(s->x.rows * d, sizeof *o);
    for (int64_t i = 0; i < values->rows * d; i++)
        v[i] = (float)(1 + i / d / shape->nk);
    bool known = observed_run(&s->x, NULL, v, o);
    for (int64_t r = 0; r < s->x.rows && known; r++) {
        if (s->x.missing[r] || !shape_attended_keys(shape, (int)(r % shape->nq)))
            continue;
        int64_t own = shape_first_key(shape, r) / shape->nk, found = (int64_t)lrintf(o[r * d]) - 1;
        for (int c = 0; c < d && known; c++)
            known =
                found >= 0 && found < heads && fabs(o[r * d + c] - (double)(found + 1)) <= 4 * s->x.tolerance * heads;
        // In all rows of a head the same.
        known = known && (r / shape->nq != last_head || found == last_found);
        last_head = r / shape->nq;
        last_found = found;
        if (found != own && reported == NONE) {
            reported = r / shape->nq;
            actual = found;
        }
        others += found != own && r % shape->nq == 0;
    }
    free(v);
    free(o);
    if (!known || reported == NONE)
        return false;
    const int64_t own = shape_first_key(shape, reported * shape->nq) / shape->nk;
    explain_line(s, "values-of-other-head",
                 "Heads use the values of another head: batch %d head %d uses V of batch %d head %d instead of V of "
                 "batch %d head %d; %d of %d heads are affected",
                 (int)(reported / shape->heads), (int)(reported % shape->heads), (int)(actual / shape->kv_heads),
                 (int)(actual % shape->kv_heads), (int)(own / shape->kv_heads), (int)(own % shape->kv_heads), others,
                 shape->batch * shape->heads);
    return true;
}

// The column whose values each column has, the same in all rows: all values of a column are its number. 0: it has none.
static bool report_operand_layouts(struct explainer *s) {
    const struct attention_shape *shape = &s->x.which.attention;
    const struct host_tensor *values = &s->x.problem.tensor[V];
    int d = shape->head_dim, first = NONE, from = NONE, permuted = 0, empty = 0;
    if (d < 2 || d > 256)
        return false;
    float *v = host_allocate(values->rows * d, sizeof *v), *o = host_allocate(s->x.rows * d, sizeof *o);
    for (int64_t i = 0; i < values->rows * d; i++)
        v[i] = (float)(1 + i % d);
    bool known = observed_run(&s->x, NULL, v, o);
    int64_t row = 0;
    while (row < s->x.rows && (s->x.missing[row] || !shape_attended_keys(shape, (int)(row % shape->nq))))
        row++;
    for (int c = 0; c < d && known && row < s->x.rows; c++) {
        long found = lrintf(o[row * d + c]) - 1;
        known = found >= NONE && found < d;
        for (int64_t r = row; r < s->x.rows && known; r++)
            known =
                s->x.missing[r] || !shape_attended_keys(shape, (int)(r % shape->nq)) ||
                fabs(o[r * d + c] - (double)(found + 1)) <= fmin(0.3, 4 * s->x.tolerance * (double)(found + 1)) + 1e-3;
        empty += found == NONE;
        if (known && found != c && found != NONE && permuted++ == 0) {
            first = c;
            from = (int)found;
        }
    }
    free(v);
    free(o);
    if (!known || !permuted)
        return false;
    explain_line(
        s, "columns-permuted",
        "Columns are permuted: column %d of the output holds the values of column %d of V; %d of %d columns are "
        "affected",
        first, from, permuted, d);
    if (empty)
        explain_line(s, "columns-without-values", "%d of these columns hold no values of V", empty);
    return true;
}

// ---- Weights of each column -----------------------------------------------------------------------------------------

// Of some keys, which stand for all.
enum { MOST_PROBED = 24 };

struct columns {
    const struct explainer *s;
    int key[MOST_PROBED], keys;
    float *weight; // [keys][rows][d]
};

static double weight_at(const struct columns *w, int64_t r, int i, int c) {
    const struct observed *x = &w->s->x;
    return w->weight[((int64_t)i * x->rows + r) * x->which.attention.head_dim + c];
}

// One key after another has values of 1, all others 0.
static bool probe_columns(struct explainer *s, struct columns *w) {
    int nk = s->x.which.attention.nk, d = s->x.which.attention.head_dim;
    int64_t rows = s->x.problem.tensor[V].rows;
    float *v = host_allocate(rows * d, sizeof *v);
    bool ran = true;
    for (int i = 0; i < w->keys && ran; i++) {
        for (int64_t e = 0; e < rows * d; e++)
            v[e] = e / d % nk == w->key[i];
        ran = observed_run(&s->x, NULL, v, w->weight + (int64_t)i * s->x.rows * d);
    }
    free(v);
    return ran;
}

static bool columns_agree(const struct columns *w, int a, int b) {
    const struct observed *x = &w->s->x;
    for (int64_t r = 0; r < x->rows; r++)
        for (int i = 0; i < w->keys && !x->missing[r]; i++)
            if (!observed_matches(x, r, weight_at(w, r, i, a), weight_at(w, r, i, b)))
                return false;
    return true;
}

static bool column_is_right(const struct columns *w, int c) {
    const struct observed *x = &w->s->x;
    for (int64_t r = 0; r < x->rows; r++)
        for (int i = 0; i < w->keys && !x->missing[r]; i++)
            if (!observed_matches(x, r, weight_at(w, r, i, c), right_of(w->s, r)[w->key[i]]))
                return false;
    return true;
}

// The factor by which the column's weights of row r are those of the row `like`; 0: they are not.
static double factor_of(const struct columns *w, int64_t r, int c, int64_t like) {
    const struct observed *x = &w->s->x;
    double got = 0, right = 0;
    for (int i = 0; i < w->keys; i++) {
        got += weight_at(w, r, i, c);
        right += right_of(w->s, like)[w->key[i]];
    }
    double factor = right > 0 ? got / right : 0;
    for (int i = 0; i < w->keys && factor != 0; i++)
        if (!observed_matches(x, like, weight_at(w, r, i, c) / factor, right_of(w->s, like)[w->key[i]]))
            return 0;
    return factor;
}

// Whether enough of the keys asked have weights in this row by which it can be known: one that outweighs the others is
// that of many rows.
static bool row_is_significant(const struct columns *w, int64_t r) {
    enum { LEAST = 3 };
    int large = 0;
    for (int i = 0; i < w->keys; i++)
        large += right_of(w->s, r)[w->key[i]] > w->s->x.largest[r] / 8;
    return large >= LEAST;
}

// What a column's weights are: those of the row by a factor of its own, those of other rows, or neither. Whether it is
// known what they are.
static bool report_kind(const struct columns *w, int c, const char *where) {
    const struct observed *x = &w->s->x;
    double least = INFINITY, most = -INFINITY;
    bool own = true, of_a_row = true, none = true;
    int64_t first = NONE, actual = NONE;
    for (int64_t r = 0; r < x->rows; r++) {
        if (x->missing[r])
            continue;
        for (int i = 0; i < w->keys; i++)
            none = none && weight_at(w, r, i, c) == 0;
        double factor = factor_of(w, r, c, r);
        if (factor != 0) {
            least = fmin(least, factor);
            most = fmax(most, factor);
            continue;
        }
        own = false;
        int64_t other = 0;
        while (other < x->rows && !(factor_of(w, r, c, other) != 0 && row_is_significant(w, other)))
            other++;
        of_a_row = of_a_row && other < x->rows;
        actual = first == NONE ? other : actual;
        first = first == NONE ? r : first;
    }
    if (column_is_right(w, c))
        explain_line(w->s, "columns-right", "The weights are right in %s", where);
    else if (none)
        explain_line(w->s, "columns-without-weights", "All weights are 0 in %s", where);
    else if (own)
        explain_line(w->s, "columns-scaled",
                     "The weights are %.4g to %.4g times the right ones in %s: these columns are divided by another "
                     "sum, or rescaled by another factor",
                     least, most, where);
    else if (of_a_row)
        explain_line(w->s, "columns-of-other-rows",
                     "Rows have the weights of other rows in %s: query %d has the weights of query %d", where,
                     (int)(first % x->which.attention.nq), (int)(actual % x->which.attention.nq));
    else
        explain_line(w->s, "columns-wrong", "The weights are wrong in %s, by more than one common factor", where);
    return own || of_a_row || none;
}

// "columns 1, 5, 9, 14 and 4 others".
static void list_some(const bool *marked, int d, char *text, size_t size) {
    enum { MOST_REPORTED = 8 };
    int reported = 0, others = 0;
    size_t length = 0;
    for (int c = 0; c < d; c++) {
        if (marked[c] && reported < MOST_REPORTED)
            length += (size_t)snprintf(text + length, size - length, reported++ ? ", %d" : "columns %d", c);
        else
            others += marked[c];
    }
    if (others)
        snprintf(text + length, size - length, ", and %d others", others);
}

// Columns that have the same weights, kind by kind. Whether it is known what those of the first unusual kind are.
static bool report_kinds(const struct columns *w) {
    enum { KINDS = 8, MOST_REPORTED = 3 };
    const struct explainer *s = w->s;
    int d = s->x.which.attention.head_dim, kinds = 0;
    bool reported = false;
    int *kind = host_allocate(d, sizeof *kind), *first = host_allocate(d, sizeof *first);
    bool *same = host_allocate(d, sizeof *same);
    for (int c = 0; c < d; c++) {
        kind[c] = NONE;
        for (int k = 0; k < kinds && kind[c] == NONE; k++)
            kind[c] = columns_agree(w, c, first[k]) ? k : NONE;
        if (kind[c] == NONE) {
            first[kinds] = c;
            kind[c] = kinds++;
        }
    }
    for (int k = 0; k < kinds && kinds > 1 && kinds <= KINDS && k < MOST_REPORTED; k++) {
        char where[200];
        for (int c = 0; c < d; c++)
            same[c] = kind[c] == k;
        if (!pattern_ranges(same, d, "column", "columns", where, sizeof where))
            list_some(same, d, where, sizeof where);
        if (!report_kind(w, first[k], where) && !reported)
            reported = explain_column(s, first[k]);
    }
    if (kinds > KINDS)
        explain_line(s, "columns-differ", "The weights differ between columns: %d kinds in %d columns", kinds, d);
    free(kind);
    free(first);
    free(same);
    return reported;
}

// Whether twice the values give twice the output, as they do where weights have nothing to do with values.
static bool is_linear(struct explainer *s) {
    int64_t values = s->x.problem.tensor[V].rows * s->x.which.attention.head_dim;
    int64_t elements = s->x.rows * s->x.which.attention.head_dim;
    float *v = host_allocate(values, sizeof *v), *o = host_allocate(elements, sizeof *o);
    float *twice = host_allocate(elements, sizeof *twice);
    bool linear = observed_run(&s->x, NULL, NULL, o);
    for (int64_t i = 0; i < values; i++)
        v[i] = 2 * s->x.own_v[i];
    linear = linear && observed_run(&s->x, NULL, v, twice);
    for (int64_t i = 0; i < elements && linear; i++)
        linear = !isfinite(o[i]) || fabs(twice[i] - 2.0 * o[i]) <= 8 * s->x.tolerance * (fabs(o[i]) + 0.1);
    free(v);
    free(o);
    free(twice);
    return linear;
}

void explain_columns(struct explainer *s) {
    enum { MOST_ELEMENTS = 1 << 22 };
    const struct attention_shape *shape = &s->x.which.attention;
    if (report_rows_elsewhere(s) || report_heads(s) || report_operand_layouts(s))
        return;
    bool wrong = false;
    for (int64_t r = 0; r < s->x.rows; r++)
        wrong = wrong || s->wrong[r];
    if (!is_linear(s)) {
        if (wrong) // else it is the values alone
            explain_line(s, "weights-depend-on-values",
                         "The weights change with the values: the kernel accumulates the scores on top of data left in "
                         "registers, in O, or in shared memory that the block has not cleared");
        return;
    }
    s->unexplained = true;
    if (wrong)
        explain_line(s, "not-one-weight-per-key",
                     "The output of a head is not a sum of that head's values with one weight per key: the weights "
                     "differ between columns, or columns, rows, or heads are permuted");
    struct columns w = {.s = s, .keys = shape->nk < MOST_PROBED ? shape->nk : MOST_PROBED};
    for (int i = 0; i < w.keys; i++) // of any tile, lane and step
        w.key[i] = (int)((int64_t)i * shape->nk / w.keys + (shape->nk > MOST_PROBED ? i % 3 : 0)) % shape->nk;
    int64_t elements = w.keys * s->x.rows * shape->head_dim;
    if (elements > MOST_ELEMENTS)
        return;
    w.weight = host_allocate(elements, sizeof *w.weight);
    if (probe_columns(s, &w) && report_kinds(&w))
        s->unexplained = false;
    free(w.weight);
}
