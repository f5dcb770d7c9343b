// What is certain of a case, whatever the cause: which rows are missing or wrong, and which keys.
#include "host/parallel.h"
#include "operations/attention_operation.h"
#include "operations/diagnosis_report.h"
#include "operations/diagnosis_text.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

// One column of the output shows too little for anything but what another case confirms.
void report_line(const struct report *s, const char *code, const char *format, ...) {
    va_list arguments;
    if (s->x->column != ANY_COLUMN)
        return;
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

// Rows of zeros have lost their keys, their weights, or what was made of both. Their lse tells which, and so do values
// so large that whatever multiplies them shows.
static void report_zeros(const struct report *s, int64_t missing) {
    static const float largest = 3e38f; // two of it are infinite in fp32
    const struct attention_shape *shape = &s->x->which.attention;
    const int64_t values = s->x->problem.tensor[V].rows * shape->head_dim, elements = s->x->rows * shape->head_dim;
    bool low = s->x->lse, good = s->x->lse, infinite = s->x->lse, shows[2] = {false};
    for (int64_t r = 0; r < s->x->rows && s->x->lse; r++) {
        const float lse = s->x->lse[r];
        if (s->x->missing[r] != ROW_ZERO)
            continue;
        low = low && lse == -INFINITY;
        good = good && fabs(lse - s->x->right_lse[r]) < 1e-2;
        infinite = infinite && !(lse < INFINITY);
    }
    if (low)
        report_line(
            s, "zero-rows-masked",
            "The lse of the zero rows is -infinity: all keys of a row are masked, or the sum of the weights is lost");
    else if (good)
        report_line(s, "zero-rows-lse-right",
                    "The lse of the zero rows is right, so the scores and row sums are right, too: the values, the "
                    "weights in P V, or the accumulator O are lost");
    else if (infinite)
        report_line(s, "zero-rows-sum-infinite",
                    "The lse of the zero rows is infinite or NaN, so the row sum is infinite or NaN, too: a finite "
                    "value divided by infinity is 0");
    if (missing < s->x->rows)
        return;
    float *v = host_allocate(values, sizeof *v), *o = host_allocate(elements, sizeof *o);
    bool ran = true;
    for (int probe = 0; probe < 2 && ran; probe++) {
        for (int64_t i = 0; i < values; i++)
            v[i] = probe ? INFINITY : largest;
        ran = observed_run(s->x, NULL, v, o);
        for (int64_t i = 0; i < elements; i++)
            shows[probe] = shows[probe] || o[i] != 0;
    }
    if (ran && shows[1] && !shows[0])
        report_line(s, "weights-zero",
                    "Values are multiplied by weights of 0: an infinite value makes the output NaN, and a large one "
                    "leaves it 0. The subtracted maximum may be far too large, or rounding makes the weights 0");
    else if (ran && shows[0] && s->x->which.dtype != ATTENTION_FP16)
        report_line(s, "sum-zero-or-infinite",
                    "Values are multiplied by weights above 0, since very large values show in the output: the row sum "
                    "is infinite, or it stays 0 and the row is taken for a masked one");
    else if (ran && !shows[1])
        report_line(s, "values-lost",
                    "Not even an infinite value shows in the output: no value is read, or P V is not what is stored");
    free(v);
    free(o);
}

static bool only_masked_rows(const struct report *s, enum row_state kind) {
    bool only = true;
    for (int64_t r = 0; r < s->x->rows; r++)
        only = only && (s->x->missing[r] == kind) ==
                           (shape_attended_keys(&s->x->which.attention, (int)(r % s->x->which.attention.nq)) == 0);
    return only;
}

int64_t report_missing_rows(const struct report *s) {
    const int64_t unwritten =
                      report_missing(s, ROW_UNWRITTEN, "rows-unwritten",
                                     s->x->missing_in_part ? "Rows not written in some columns" : "Rows not written"),
                  not_finite = report_missing(s, ROW_NOT_FINITE, "rows-not-finite",
                                              s->x->missing_in_part ? "Rows with NaN or infinity in some columns"
                                                                    : "Rows with NaN or infinity"),
                  zero = report_missing(s, ROW_ZERO, "rows-zero", "Output rows that are zero");
    if (not_finite && only_masked_rows(s, ROW_NOT_FINITE))
        report_line(s, "fully-masked-rows",
                    "Exactly the rows that attend to no key are NaN or infinite: their row max is -infinity, and their "
                    "row sum is 0");
    if (zero)
        report_zeros(s, zero);
    return unwritten + not_finite + zero;
}

// ---- The map of what is wrong ---------------------------------------------------------------------------------------

static void report_marked(const struct report *s, const bool *marked, int count, const char *one, const char *many,
                          const char *code, const char *what) {
    char text[200];
    int wrong = 0, first = 0;
    for (int i = count - 1; i >= 0; i--) {
        wrong += marked[i];
        first = marked[i] ? i : first;
    }
    if (!wrong || wrong == count)
        return;
    if (!pattern_ranges(marked, count, one, many, text, sizeof text))
        snprintf(text, sizeof text, "%d %s (of %d; the first one is %s %d)", wrong, many, count, one, first);
    report_line(s, code, "%s %s", what, text);
}

void report_places(const struct report *s) {
    const int nk = s->seen.nk, d = s->x->which.attention.head_dim;
    bool *row = host_zeros(s->x->rows, sizeof *row), *column = host_zeros(d, sizeof *column);
    bool *key = host_zeros(nk, sizeof *key);
    int64_t wrong = 0;
    for (int64_t r = 0; r < s->x->rows; r++) {
        for (int c = 0; c < d && !s->x->missing[r]; c++)
            if (!observed_is_right(s->x, r, c))
                row[r] = column[c] = true;
        row[r] = row[r] || s->seen.wrong[r];
        for (int j = 0; j < nk && s->seen.wrong[r]; j++)
            key[j] = key[j] || !observed_matches(s->x, r, case_got(&s->seen, r)[j], case_right(&s->seen, r)[j]);
        wrong += row[r];
    }
    if (wrong < s->x->rows)
        report_queries(s, "rows-wrong", "Wrong rows", row);
    report_marked(s, column, d, "column", "columns", "wrong-columns", "The output is wrong in");
    if (s->x->weighs_as_shown)
        report_marked(s, key, nk, "key", "keys", "keys-wrong", "The weights are wrong for");
    free(row);
    free(column);
    free(key);
}

// By how much the weights of the wrong rows do not add up to 1, or to 0 where all keys of the row are masked. A row
// whose weights have no finite sum says nothing of that, nor do such rows alone.
void report_totals(const struct report *s) {
    double least = INFINITY, most = -INFINITY, own = 0, of_masked = 0;
    for (int64_t r = 0; r < s->x->rows; r++) {
        double total = 0, right = 0, top = -INFINITY, of_top = 0;
        for (int j = 0; j < s->seen.nk && s->seen.wrong[r]; j++) {
            total += case_got(&s->seen, r)[j];
            right += case_right(&s->seen, r)[j];
            of_top = case_score(&s->seen, r)[j] > top ? case_got(&s->seen, r)[j] : of_top;
            top = fmax(top, case_score(&s->seen, r)[j]);
        }
        if (!s->seen.wrong[r] || !isfinite(total))
            continue;
        if (right == 0) {
            of_masked = fmax(of_masked, total);
            continue;
        }
        least = fmin(least, total);
        most = fmax(most, total);
        own = fmax(own, fabs(of_top / s->x->largest[r] - 1));
    }
    if (of_masked >= 4 * s->x->tolerance)
        report_line(s, "masked-rows-not-zero",
                    "The weights of a row whose keys are all masked add up to as much as %.4g instead of 0", of_masked);
    if (least > most || !(fabs(least - 1) >= 4 * s->x->tolerance || fabs(most - 1) >= 4 * s->x->tolerance))
        return;
    report_line(s, "row-sum-of-other-weights", "The weights of a row add up to between %.4g and %.4g instead of 1",
                least, most);
    if (own <= 4 * s->x->tolerance)
        report_line(s, "row-sum-right",
                    "The largest weight of each wrong row is right, and so is the row sum that it was divided by");
}
