// An output that is not the values of its head by one weight for each key: values of other heads, columns that change
// places, or columns whose weights are not those of the others.
#include "clock.h"
#include "host/parallel.h"
#include "operations/attention_conditions.h"
#include "operations/attention_operation.h"
#include "operations/diagnosis_report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NONE = -1, MOST_CODES = 120 };

// The head whose values each row has, where that is one of them: all values of a head are its number.
static bool report_heads(const struct report *s) {
    const struct attention_shape *shape = &s->x->which.attention;
    const struct host_tensor *values = &s->x->problem.tensor[V];
    int64_t heads = (int64_t)shape->batch * shape->kv_heads, reported = NONE, actual = NONE, last_head = NONE,
            last_found = 0;
    int d = shape->head_dim, others = 0;
    if (heads < 2 || heads > MOST_CODES)
        return false;
    float *v = host_allocate(values->rows * d, sizeof *v), *o = host_allocate(s->x->rows * d, sizeof *o);
    for (int64_t i = 0; i < values->rows * d; i++)
        v[i] = (float)(1 + i / d / shape->nk);
    bool known = observed_run(s->x, NULL, v, o);
    for (int64_t r = 0; r < s->x->rows && known; r++) {
        if (s->x->missing[r] || !shape_attended_keys(shape, (int)(r % shape->nq)))
            continue;
        int64_t own = shape_first_key(shape, r) / shape->nk, found = (int64_t)lrintf(o[r * d]) - 1;
        for (int c = 0; c < d && known; c++)
            known =
                found >= 0 && found < heads && fabs(o[r * d + c] - (double)(found + 1)) <= 4 * s->x->tolerance * heads;
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
    report_line(s, "values-of-other-head",
                "Heads use the values of another head: batch %d head %d uses V of batch %d head %d instead of V of "
                "batch %d head %d; %d of %d heads are affected",
                (int)(reported / shape->heads), (int)(reported % shape->heads), (int)(actual / shape->kv_heads),
                (int)(actual % shape->kv_heads), (int)(own / shape->kv_heads), (int)(own % shape->kv_heads), others,
                shape->batch * shape->heads);
    return true;
}

// The column whose values each column has, the same in all rows: all values of a column are its number. 0: it has none.
static bool report_operand_layouts(const struct report *s) {
    const struct attention_shape *shape = &s->x->which.attention;
    const struct host_tensor *values = &s->x->problem.tensor[V];
    int d = shape->head_dim, first = NONE, from = NONE, permuted = 0, empty = 0;
    if (d < 2 || d > 256)
        return false;
    float *v = host_allocate(values->rows * d, sizeof *v), *o = host_allocate(s->x->rows * d, sizeof *o);
    for (int64_t i = 0; i < values->rows * d; i++)
        v[i] = (float)(1 + i % d);
    bool known = observed_run(s->x, NULL, v, o);
    int64_t row = 0;
    while (row < s->x->rows && (s->x->missing[row] || !shape_attended_keys(shape, (int)(row % shape->nq))))
        row++;
    for (int c = 0; c < d && known && row < s->x->rows; c++) {
        long found = lrintf(o[row * d + c]) - 1;
        known = found >= NONE && found < d;
        for (int64_t r = row; r < s->x->rows && known; r++)
            known =
                s->x->missing[r] || !shape_attended_keys(shape, (int)(r % shape->nq)) ||
                fabs(o[r * d + c] - (double)(found + 1)) <= fmin(0.3, 4 * s->x->tolerance * (double)(found + 1)) + 1e-3;
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
    report_line(
        s, "columns-permuted",
        "Columns are permuted: column %d of the output holds the values of column %d of V; %d of %d columns are "
        "affected",
        first, from, permuted, d);
    if (empty)
        report_line(s, "columns-without-values", "%d of these columns hold no values of V", empty);
    return true;
}

// ---- Weights of each column -----------------------------------------------------------------------------------------

// Of some keys, which stand for all.
enum { MOST_PROBED = 24, KINDS = 8 };

struct columns {
    const struct report *s;
    int key[MOST_PROBED], keys;
    float *weight; // [keys][rows][d]
};

static double weight_at(const struct columns *w, int64_t r, int i, int c) {
    const struct observed *x = w->s->x;
    return w->weight[((int64_t)i * x->rows + r) * x->which.attention.head_dim + c];
}

// One key after another has values of 1, all others 0.
static bool probe_columns(const struct report *s, struct columns *w) {
    int nk = s->x->which.attention.nk, d = s->x->which.attention.head_dim;
    int64_t rows = s->x->problem.tensor[V].rows;
    float *v = host_allocate(rows * d, sizeof *v);
    bool ran = true;
    for (int i = 0; i < w->keys && ran; i++) {
        for (int64_t e = 0; e < rows * d; e++)
            v[e] = e / d % nk == w->key[i];
        ran = observed_run(s->x, NULL, v, w->weight + (int64_t)i * s->x->rows * d);
    }
    free(v);
    return ran;
}

// Whether column c has in all rows the weights of column `like`, or the right ones (NONE).
static bool column_is(const struct columns *w, int c, int like) {
    const struct observed *x = w->s->x;
    const int nk = x->which.attention.nk;
    for (int64_t r = 0; r < x->rows; r++)
        for (int i = 0; i < w->keys && !x->missing[r]; i++)
            if (!observed_matches(x, r, weight_at(w, r, i, c),
                                  like == NONE ? x->right[r * nk + w->key[i]] : weight_at(w, r, i, like)))
                return false;
    return true;
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

// What there is to say of the weights that this column alone has: the same passes for it.
static bool report_one_column(const struct report *s, int column) {
    enum { SEED = 4711 };
    static const double most_seconds = 1; // and as many for the case that confirms it
    struct observed x;
    struct report one = {.x = &x};
    char *text = NULL;
    size_t size = 0;
    if (s->x->which.attention.nk * s->x->seconds > most_seconds * time_budget_factor() ||
        !attention_observe(s->x->kernel, &s->x->which, SEED, column, &x))
        return false;
    case_seen_of(&x, &one.seen);
    one.out = open_memstream(&text, &size);
    const bool explained = one.out && report_weights(&one);
    if (one.out)
        fclose(one.out);
    if (explained)
        fprintf(s->out, "  Weights in column %d: [one-column]\n%s", column, text);
    free(text);
    case_seen_free(&one.seen);
    attention_observed_free(&x);
    return explained;
}

// What a column's weights are: right, none, or the right ones by a factor of the row. Whether that says enough.
static bool report_kind(const struct columns *w, int c, const char *where) {
    const struct observed *x = w->s->x;
    double least = INFINITY, most = -INFINITY;
    bool own = true;
    for (int64_t r = 0; r < x->rows; r++) {
        double got = 0, right = 0;
        for (int i = 0; i < w->keys; i++) {
            got += weight_at(w, r, i, c);
            right += x->right[r * x->which.attention.nk + w->key[i]];
        }
        const double factor = x->missing[r] || !(right > 0) ? 1 : got / right;
        for (int i = 0; i < w->keys && own && !x->missing[r]; i++)
            own =
                observed_matches(x, r, weight_at(w, r, i, c), factor * x->right[r * x->which.attention.nk + w->key[i]]);
        least = fmin(least, factor);
        most = fmax(most, factor);
    }
    if (column_is(w, c, NONE))
        report_line(w->s, "columns-right", "The weights are right in %s", where);
    else if (most == 0)
        report_line(w->s, "columns-without-weights", "All weights are 0 in %s", where);
    else if (own)
        report_line(
            w->s, "columns-scaled",
            "The weights are %.4g to %.4g times the right ones in %s: these columns are divided by another sum, "
            "or rescaled by another factor",
            least, most, where);
    else
        report_line(w->s, "columns-wrong", "The weights are wrong in %s, by more than one common factor", where);
    return own;
}

// Columns that have the same weights, kind by kind. Whether what those of the first unusual kind are is explained.
static bool report_kinds(const struct columns *w) {
    enum { MOST_REPORTED = 3 };
    const struct report *s = w->s;
    int d = s->x->which.attention.head_dim, kinds = 0, first[KINDS + 1];
    bool explained = false, asked = false, *same = host_allocate(d, sizeof *same);
    int *kind = host_allocate(d, sizeof *kind);
    for (int c = 0; c < d && kinds <= KINDS; c++) {
        kind[c] = NONE;
        for (int k = 0; k < kinds && kind[c] == NONE; k++)
            kind[c] = column_is(w, c, first[k]) ? k : NONE;
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
        const bool known = report_kind(w, first[k], where);
        if (known)
            explained = explained || !column_is(w, first[k], NONE);
        else if (!asked) // to ask for one column takes as many calls as there are keys
            explained = report_one_column(s, first[k]) || explained;
        asked = asked || !known;
    }
    if (kinds > KINDS)
        report_line(s, "columns-differ", "The weights differ between columns: more than %d kinds in %d columns", KINDS,
                    d);
    free(kind);
    free(same);
    return explained;
}

// Whether twice the values give twice the output, as they do where weights have nothing to do with values.
static bool is_linear(const struct report *s) {
    int64_t values = s->x->problem.tensor[V].rows * s->x->which.attention.head_dim;
    int64_t elements = s->x->rows * s->x->which.attention.head_dim;
    float *v = host_allocate(values, sizeof *v), *o = host_allocate(elements, sizeof *o);
    float *twice = host_allocate(elements, sizeof *twice);
    bool linear = observed_run(s->x, NULL, NULL, o);
    for (int64_t i = 0; i < values; i++)
        v[i] = 2 * s->x->own_v[i];
    linear = linear && observed_run(s->x, NULL, v, twice);
    for (int64_t i = 0; i < elements && linear; i++)
        linear = !isfinite(o[i]) || fabs(twice[i] - 2.0 * o[i]) <= 8 * s->x->tolerance * (fabs(o[i]) + 0.1);
    free(v);
    free(o);
    free(twice);
    return linear;
}

bool report_columns(const struct report *s) {
    enum { MOST_ELEMENTS = 1 << 22 };
    const struct attention_shape *shape = &s->x->which.attention;
    if (report_heads(s) || report_operand_layouts(s))
        return true;
    bool wrong = false, explained = false;
    for (int64_t r = 0; r < s->x->rows; r++)
        wrong = wrong || s->seen.wrong[r];
    if (!is_linear(s)) {
        if (wrong) // else it is the values alone
            report_line(s, "weights-depend-on-values",
                        "The weights change with the values: the kernel accumulates the scores on top of data left in "
                        "registers, in O, or in shared memory that the block has not cleared");
        return wrong;
    }
    if (wrong)
        report_line(s, "not-one-weight-per-key",
                    "The output of a head is not a sum of that head's values with one weight per key: the weights "
                    "differ between columns, or columns, rows, or heads are permuted");
    struct columns w = {.s = s, .keys = shape->nk < MOST_PROBED ? shape->nk : MOST_PROBED};
    for (int i = 0; i < w.keys; i++) // of any tile, lane and step
        w.key[i] = (int)((int64_t)i * shape->nk / w.keys + (shape->nk > MOST_PROBED ? i % 3 : 0)) % shape->nk;
    int64_t elements = w.keys * s->x->rows * shape->head_dim;
    if (elements > MOST_ELEMENTS)
        return false;
    w.weight = host_allocate(elements, sizeof *w.weight);
    if (probe_columns(s, &w))
        explained = report_kinds(&w);
    free(w.weight);
    return explained;
}
