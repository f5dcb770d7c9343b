// What is certain of a case, whatever the cause: which rows are missing or wrong, and which keys.
#include "host/parallel.h"
#include "operations/attention_conditions.h"
#include "operations/attention_operation.h"
#include "operations/diagnosis_report.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TEXT = 400 };

void report_line(const struct report *s, const char *code, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fputs("  ", s->out);
    vfprintf(s->out, format, arguments);
    fprintf(s->out, " [%s]\n", code);
    va_end(arguments);
}

void report_queries(const struct report *s, const char *code, const char *what, const bool *marked) {
    const struct attention_shape *shape = &s->x->which.attention;
    int64_t heads = s->x->rows / shape->nq, first = 0;
    int bad_heads = 0;
    bool agree = true;
    char text[200], where[64] = "";
    while (first < s->x->rows && !marked[first])
        first++;
    if (first == s->x->rows)
        return;
    int64_t first_bad = first / shape->nq;
    const bool *of_first = marked + first_bad * shape->nq;
    for (int64_t h = 0; h < heads; h++) {
        bool any = false;
        for (int i = 0; i < shape->nq; i++)
            any = any || marked[h * shape->nq + i];
        for (int i = 0; i < shape->nq && any; i++)
            agree = agree && marked[h * shape->nq + i] == of_first[i];
        bad_heads += any;
    }
    int count = 0, batch = (int)(first_bad / shape->heads), head = (int)(first_bad % shape->heads);
    for (int i = 0; i < shape->nq; i++)
        count += of_first[i];
    if (!agree)
        snprintf(where, sizeof where, "in batch %d head %d ", batch, head);
    if (count < shape->nq && pattern_ranges(of_first, shape->nq, "query", "queries", text, sizeof text))
        report_line(s, code, "%s: %s%s%s", what, where, text,
                    agree ? "" : "; some other heads have other such queries");
    else if (count < shape->nq || !agree)
        report_line(s, code, "%s: some rows; the first one is query %d of batch %d head %d", what,
                    (int)(first % shape->nq), batch, head);
    if (bad_heads < heads)
        report_line(s, code, "%s: rows of %d of %d heads; the first head is batch %d head %d", what, bad_heads,
                    (int)heads, batch, head);
}

void row_text(const struct report *s, int64_t row, char *text, size_t size) {
    const struct attention_shape *shape = &s->x->which.attention;
    int64_t head = row / shape->nq;
    snprintf(text, size, "batch %d head %d query %d", (int)(head / shape->heads), (int)(head % shape->heads),
             (int)(row % shape->nq));
}

// Rows that are not there, of which no weight is known. Returns how many.
static int64_t report_missing(const struct report *s, enum row_state kind, const char *code, const char *what) {
    int64_t missing = 0;
    bool *marked = host_allocate(s->x->rows, sizeof *marked);
    for (int64_t r = 0; r < s->x->rows; r++)
        missing += marked[r] = s->x->missing[r] == kind;
    if (missing == s->x->rows)
        report_line(s, code, "%s: all rows", what);
    else if (missing)
        report_queries(s, code, what, marked);
    free(marked);
    return missing;
}

// Rows of zeros have lost their keys, their weights, or what was made of both: which, their lse tells. Returns how
// many.
static int64_t report_zeros(const struct report *s) {
    bool low = s->x->lse, good = s->x->lse, infinite = s->x->lse;
    int64_t missing = report_missing(s, ROW_ZERO, "rows-zero", "Output rows that are zero");
    for (int64_t r = 0; r < s->x->rows && s->x->lse; r++) {
        float lse = s->x->lse[r];
        if (s->x->missing[r] != ROW_ZERO)
            continue;
        low = low && lse == -INFINITY;
        good = good && fabs(lse - s->x->right_lse[r]) < 1e-2;
        infinite = infinite && !(lse < INFINITY);
    }
    if (missing && low)
        report_line(
            s, "zero-rows-masked",
            "The lse of the zero rows is -infinity: all keys of a row are masked, or the sum of the weights is lost");
    else if (missing && good)
        report_line(s, "zero-rows-lse-right",
                    "The lse of the zero rows is right, so the scores and row sums are right, too: the values, the "
                    "weights in P V, or the accumulator O are lost");
    else if (missing && infinite)
        report_line(s, "zero-rows-sum-infinite",
                    "The lse of the zero rows is infinite or NaN, so the row sum is infinite or NaN, too: a finite "
                    "value divided by infinity is 0");
    return missing;
}

int64_t report_missing_rows(const struct report *s) {
    return report_missing(s, ROW_UNWRITTEN, "rows-unwritten",
                          s->x->missing_in_part ? "Rows not written in some columns" : "Rows not written") +
           report_missing(s, ROW_NOT_FINITE, "rows-not-finite",
                          s->x->missing_in_part ? "Rows with NaN or infinity in some columns"
                                                : "Rows with NaN or infinity") +
           report_zeros(s);
}

// ---- Splits without keys --------------------------------------------------------------------------------------------

// Whether the last of so many equal splits of the keys has none.
static bool split_is_empty(int nk, int splits) {
    return (nk + splits - 1) / splits * (splits - 1) >= nk;
}

bool report_empty_splits(const struct report *s) {
    enum { LENGTHS = 24, MOST_SPLITS = 16, SEED = 4711 };
    bool lost[LENGTHS + 1] = {false};
    int64_t not_finite = 0;
    for (int64_t r = 0; r < s->x->rows; r++)
        not_finite += s->x->missing[r] == ROW_NOT_FINITE;
    if (!not_finite || s->x->which.attention.causal)
        return false;
    for (int nk = 1; nk <= LENGTHS; nk++) {
        struct problem_case which = {.attention = {1, 1, 1, 1, nk, s->x->which.attention.head_dim},
                                     .dtype = s->x->which.dtype};
        struct observed x;
        if (!attention_observe(s->x->kernel, &which, SEED, ANY_COLUMN, &x))
            return false;
        lost[nk] = x.missing[0] == ROW_NOT_FINITE;
        attention_observed_free(&x);
    }
    for (int splits = 2; splits <= MOST_SPLITS; splits++) {
        int empty = 0;
        bool fits = true;
        for (int nk = 1; nk <= LENGTHS && fits; nk++) {
            fits = lost[nk] == split_is_empty(nk, splits);
            empty += lost[nk];
        }
        if (fits && empty && empty < LENGTHS) {
            report_line(s, "split-without-keys",
                        "The output is NaN or infinite exactly where one of %d equal splits of the keys has no key "
                        "(tried: nk = 1 "
                        "to %d): the maximum of such a split is -infinity, and -infinity minus -infinity is NaN",
                        splits, LENGTHS);
            return true;
        }
    }
    return false;
}

// ---- Equal scores ---------------------------------------------------------------------------------------------------

// How often key j counts in a row whose scores are all the same.
static double times_of(const struct report *s, const double *equal, int64_t r, int j) {
    const struct attention_shape *shape = &s->x->which.attention;
    return equal[r * shape->nk + j] * shape_attended_keys(shape, (int)(r % shape->nq));
}

static bool is_times(const struct report *s, double times, double other) {
    return fabs(times - other) <= 4 * s->x->tolerance * fmax(fabs(other), 0.25);
}

// Whether all rows from `row` on have the same; a row that is right says nothing.
static bool rows_agree(const struct report *s, const double *equal, int64_t row) {
    for (int64_t r = row; r < s->x->rows; r++)
        for (int j = 0; j < s->x->which.attention.nk; j++)
            if (!is_times(s, times_of(s, equal, r, j), times_of(s, equal, row, j)))
                return false;
    return true;
}

// Keys of the row that count as often as the first one that is not yet told. False where they are too many kinds.
static bool report_times(const struct report *s, const double *equal, int64_t row, char *text, size_t size) {
    enum { KINDS = 4 };
    int nk = s->x->which.attention.nk, kinds = 0;
    bool *reported = host_allocate(nk, sizeof *reported), *same = host_allocate(nk, sizeof *same), known = true;
    double times[KINDS + 1];
    size_t length = 0;
    memset(reported, false, (size_t)nk);
    for (int j = 0; j < nk && known; j++) {
        char where[200];
        if (reported[j])
            continue;
        const double of_key = times[kinds] = times_of(s, equal, row, j);
        for (int i = 0; i < nk; i++) {
            same[i] = is_times(s, times_of(s, equal, row, i), of_key);
            reported[i] = reported[i] || same[i];
        }
        known = ++kinds <= KINDS && pattern_ranges(same, nk, "key", "keys", where, sizeof where);
        if (known && length < size)
            length += (size_t)snprintf(
                text + length, size - length, of_key == 0 ? "%s%s %s weight 0" : "%s%s %s weight %.3g/n",
                kinds > 1 ? "; " : "", where, strncmp(where, "keys", 4) == 0 ? "have" : "has", of_key);
    }
    if (kinds == 2 && known && length < size && times[0] > 0 && times[1] > 0)
        snprintf(text + length, size - length, "; the %s weight is %.3g times the other one",
                 times[0] > times[1] ? "first" : "last", fmax(times[0], times[1]) / fmin(times[0], times[1]));
    free(reported);
    free(same);
    return known;
}

// By how many keys too many the sum of each row is where all scores are the same; 0: by none, or by different ones.
static int extra_keys(const struct report *s, const double *equal) {
    const struct attention_shape *shape = &s->x->which.attention;
    const double u = dtype_of(s->x->which.dtype)->unit_roundoff + 1e-6;
    int extra = 0;
    for (int64_t r = 0; r < s->x->rows; r++) {
        const int attended = shape_attended_keys(shape, (int)(r % shape->nq));
        for (int j = 0; j < attended; j++) {
            const double more = attended * (1 / times_of(s, equal, r, j) - 1);
            extra = extra ? extra : (int)lrint(more);
            if (extra < 1 || attended * 2 * u > 0.3 || !(fabs(more - extra) <= 2 * u * (attended + extra)))
                return 0;
        }
    }
    return extra;
}

void report_equal_scores(const struct report *s) {
    const struct attention_shape *shape = &s->x->which.attention;
    char text[MOST_TEXT];
    int64_t row = -1;
    float *q = host_zeros(s->x->rows * shape->head_dim, sizeof *q);
    double *equal = host_allocate(s->x->rows * shape->nk, sizeof *equal);
    const bool ran = observed_weights(s->x, q, equal);
    for (int64_t r = 0; r < s->x->rows && row < 0 && ran; r++)
        for (int j = 0; j < shape->nk && row < 0; j++)
            if (j < shape_attended_keys(shape, (int)(r % shape->nq)) && !is_times(s, times_of(s, equal, r, j), 1))
                row = r;
    const int extra = ran ? extra_keys(s, equal) : 0;
    if (extra)
        report_line(s, "equal-scores-extra-keys", "With equal scores, the row sum counts %d key%s too many", extra,
                    extra > 1 ? "s" : "");
    else if (row >= 0 && report_times(s, equal, row, text, sizeof text)) {
        char where[120] = "";
        if (shape->causal || !rows_agree(s, equal, 0)) {
            char name[100];
            row_text(s, row, name, sizeof name);
            snprintf(where, sizeof where, "in %s ", name);
        }
        report_line(s, "equal-scores-counts", "With equal scores each of n keys should have weight 1/n, but %s%s",
                    where, text);
    }
    free(q);
    free(equal);
}
