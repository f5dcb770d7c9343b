// Weights that meet the values of other keys than their own, and keys that count more than once.
#include "host/parallel.h"
#include "operations/attention_conditions.h"
#include "operations/attention_explain_weights.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NONE = -1, MOST_TEXT = 400, MOST_ROWS = 16, MOST_KEYS = 300 };

// Whether in every wrong row each key has the weights of all the keys that are `step` or a multiple of it after it
// (all) or of the one that is (the first keys their own, too), and the others none.
static bool are_displaced(const struct explainer *s, int step, bool all) {
    int nk = s->x.which.attention.nk;
    for (int64_t r = 0; r < s->x.rows; r++)
        for (int j = 0; j < nk && s->wrong[r]; j++) {
            double sum = j < step ? right_of(s, r)[j] : 0;
            for (int from = j + step; from < nk && (j < step || !all); from += step) {
                sum += right_of(s, r)[from];
                if (!all)
                    break;
            }
            if (!observed_matches(&s->x, r, got_of(s, r)[j], sum))
                return false;
        }
    return true;
}

static bool report_by_steps(const struct explainer *s) {
    int nk = s->x.which.attention.nk;
    for (int step = 4; step < nk; step += 4)
        for (int all = 0; all < 2; all++)
            if (are_displaced(s, step, all)) {
                explain_line(s, "values-of-earlier-keys",
                             "The weights of keys %d to %d are multiplied by the values of %s", step, nk - 1,
                             all || nk <= 2 * step ? "the first keys, repeatedly" : "the keys of the previous tile");
                if (nk <= 2 * step || all)
                    explain_line(s, "values-never-used", "The kernel never uses the values from key %d on", step);
                return true;
            }
    return false;
}

// ---- Where the weight of each key comes from ------------------------------------------------------------------------

// The keys whose weights the value of a key gets: none, one, or the sum of two.
struct origin {
    int from[2]; // NONE: there is none
};

struct displacements {
    const struct explainer *s;
    int64_t row[MOST_ROWS]; // some wrong rows
    double factor[MOST_ROWS];
    int rows;
    struct origin *of; // [nk]
};

static bool fits(const struct displacements *m, int j, int a, int b) {
    for (int i = 0; i < m->rows; i++) {
        const double *right = right_of(m->s, m->row[i]);
        double sum = (a == NONE ? 0 : right[a]) + (b == NONE ? 0 : right[b]);
        if (!observed_matches(&m->s->x, m->row[i], got_of(m->s, m->row[i])[j], m->factor[i] * sum))
            return false;
    }
    return true;
}

static bool find_origin(const struct displacements *m, int j, struct origin *origin) {
    int nk = m->s->x.which.attention.nk;
    *origin = (struct origin){{NONE, NONE}};
    if (fits(m, j, j, NONE)) {
        origin->from[0] = j;
        return true;
    }
    if (fits(m, j, NONE, NONE))
        return true;
    for (int a = 0; a < nk; a++)
        if (fits(m, j, a, NONE)) {
            origin->from[0] = a;
            return true;
        }
    for (int a = 0; a < nk; a++)
        for (int b = a; b < nk; b++)
            if (fits(m, j, a, b)) {
                *origin = (struct origin){{a, b}};
                return true;
            }
    return false;
}

static bool goes_on(const struct origin *of, int j) {
    for (int i = 0; i < 2; i++)
        if ((of[j].from[i] == NONE) != (of[j - 1].from[i] == NONE) ||
            (of[j].from[i] != NONE && of[j].from[i] != of[j - 1].from[i] + 1))
            return false;
    return true;
}

static int report_keys(char *text, size_t size, int first, int count) {
    return count > 1 ? snprintf(text, size, "keys %d to %d", first, first + count - 1)
                     : snprintf(text, size, "key %d", first);
}

// "keys 0 to 15 the weights of keys 16 to 31, ...": of those that have not their own, the first few runs.
static void report_origins(const struct displacements *m) {
    enum { MOST_REPORTED = 5 };
    const int nk = m->s->x.which.attention.nk;
    char text[MOST_TEXT];
    size_t length = 0;
    int reported = 0;
    for (int j = 0, end; j < nk && reported <= MOST_REPORTED; j = end) {
        const int *from = m->of[j].from;
        char keys[40], other[40], second[50] = "";
        for (end = j + 1; end < nk && goes_on(m->of, end);)
            end++;
        if (from[0] == j && from[1] == NONE)
            continue;
        if (reported++ == MOST_REPORTED) {
            length += (size_t)snprintf(text + length, sizeof text - length, ", and so on");
            break;
        }
        report_keys(keys, sizeof keys, j, end - j);
        report_keys(other, sizeof other, from[0], end - j);
        if (from[1] != NONE) {
            memcpy(second, " and ", sizeof " and ");
            report_keys(second + strlen(second), sizeof second - strlen(second), from[1], end - j);
        }
        length += (size_t)snprintf(text + length, sizeof text - length,
                                   from[0] == NONE ? "%s%s: no weight" : "%s%s: the weight%s of %s%s",
                                   reported > 1 ? ", " : "", keys, end - j > 1 ? "s" : "", other, second);
    }
    explain_line(m->s, "weights-displaced", "Weights are multiplied by the values of other keys. %s", text);
}

bool explain_displaced(const struct explainer *s) {
    struct displacements m = {.s = s};
    int nk = s->x.which.attention.nk;
    if (nk < 4 || nk > MOST_KEYS)
        return false;
    if (report_by_steps(s))
        return true;
    bool all = false, permuted = false;
    m.of = host_allocate(nk, sizeof *m.of);
    for (int64_t r = 0; r < s->x.rows && m.rows < MOST_ROWS; r++)
        if (s->wrong[r])
            m.row[m.rows++] = r;
    // The sum may be the right one, or that of the weights that are counted.
    for (int by_total = 0; by_total < 2 && !all && m.rows > 1; by_total++) {
        all = true;
        for (int i = 0; i < m.rows; i++) {
            m.factor[i] = by_total ? s->factor[m.row[i]] : 1;
            all = all && m.factor[i] > 0;
        }
        for (int j = 0; j < nk && all; j++) {
            all = find_origin(&m, j, &m.of[j]);
            permuted = permuted || (m.of[j].from[0] != j && m.of[j].from[0] != NONE) || m.of[j].from[1] != NONE;
        }
    }
    if (all && permuted)
        report_origins(&m);
    free(m.of);
    return all && permuted;
}

static int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

bool explain_permuted(const struct explainer *s) {
    int nk = s->x.which.attention.nk, reported = NONE, from = NONE;
    double *got = host_allocate(nk, sizeof *got), *right = host_allocate(nk, sizeof *right);
    bool all = nk > 3;
    int64_t row = NONE;
    for (int64_t r = 0; r < s->x.rows && all; r++) {
        if (!s->wrong[r])
            continue;
        memcpy(got, got_of(s, r), (size_t)nk * sizeof *got);
        memcpy(right, right_of(s, r), (size_t)nk * sizeof *right);
        qsort(got, (size_t)nk, sizeof *got, compare_doubles);
        qsort(right, (size_t)nk, sizeof *right, compare_doubles);
        for (int j = 0; j < nk && all; j++)
            all = observed_matches(&s->x, r, got[j], right[j]);
        for (int j = 0; j < nk && all && row == NONE && reported == NONE; j++)
            reported = observed_matches(&s->x, r, got_of(s, r)[j], right_of(s, r)[j]) ? NONE : j;
        for (int j = 0; j < nk && reported != NONE && from == NONE; j++)
            from = observed_matches(&s->x, r, got_of(s, r)[reported], right_of(s, r)[j]) ? j : NONE;
        row = row == NONE ? r : row;
    }
    free(got);
    free(right);
    if (!all || reported == NONE || from == NONE)
        return false;
    explain_line(s, "weights-permuted",
                 "Each row has the right weights in a wrong order: in query %d, key %d has the weight of key %d",
                 (int)(row % s->x.which.attention.nq), reported, from);
    return true;
}

// ---- Equal scores ---------------------------------------------------------------------------------------------------

// How often key j counts in a row whose scores are all the same.
static double times_of(const struct explainer *s, int64_t r, int j) {
    const struct attention_shape *shape = &s->x.which.attention;
    return s->equal[r * shape->nk + j] * shape_attended_keys(shape, (int)(r % shape->nq));
}

static bool is_times(const struct explainer *s, double times, double other) {
    return fabs(times - other) <= 4 * s->x.tolerance * fmax(fabs(other), 0.25);
}

// Whether all rows from `row` on have the same; a row that is right says nothing.
static bool rows_agree(const struct explainer *s, int64_t row) {
    for (int64_t r = row; r < s->x.rows; r++)
        for (int j = 0; j < s->x.which.attention.nk; j++)
            if (!is_times(s, times_of(s, r, j), times_of(s, row, j)))
                return false;
    return true;
}

// Keys of the row that count as often as the first one that is not yet told. False where they are too many kinds.
static bool report_times(const struct explainer *s, int64_t row, char *text, size_t size) {
    enum { KINDS = 4 };
    int nk = s->x.which.attention.nk, kinds = 0;
    bool *reported = host_allocate(nk, sizeof *reported), *same = host_allocate(nk, sizeof *same), known = true;
    double times[KINDS + 1];
    size_t length = 0;
    memset(reported, false, (size_t)nk);
    for (int j = 0; j < nk && known; j++) {
        char where[200];
        if (reported[j])
            continue;
        const double of_key = times[kinds] = times_of(s, row, j);
        for (int i = 0; i < nk; i++) {
            same[i] = is_times(s, times_of(s, row, i), of_key);
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

void explain_extra_keys(const struct explainer *s) {
    const struct attention_shape *shape = &s->x.which.attention;
    const double u = dtype_of(s->x.which.dtype)->unit_roundoff + 1e-6;
    double extra = NAN;
    for (int64_t r = 0; r < s->x.rows && s->equal; r++) {
        int attended = shape_attended_keys(shape, (int)(r % shape->nq));
        for (int j = 0; j < attended; j++) {
            double more = attended * (1 / times_of(s, r, j) - 1);
            extra = isnan(extra) ? nearbyint(more) : extra;
            if (!(extra >= 1) || attended * 2 * u > 0.3 || fabs(more - extra) > 2 * u * (attended + extra))
                return;
        }
    }
    if (!isnan(extra))
        explain_line(s, "equal-scores-extra-keys", "With equal scores, the row sum counts %.0f key%s too many", extra,
                     extra > 1 ? "s" : "");
}

bool explain_equal_scores(const struct explainer *s) {
    const struct attention_shape *shape = &s->x.which.attention;
    char text[MOST_TEXT];
    int64_t row = NONE;
    if (!s->equal)
        return false;
    for (int64_t r = 0; r < s->x.rows && row == NONE; r++)
        for (int j = 0; j < shape->nk && row == NONE; j++)
            if (j < shape_attended_keys(shape, (int)(r % shape->nq)) && !is_times(s, times_of(s, r, j), 1))
                row = r;
    if (row == NONE || !report_times(s, row, text, sizeof text))
        return row != NONE;
    if (!shape->causal && rows_agree(s, 0))
        explain_line(s, "equal-scores-counts", "With equal scores each of n keys should have weight 1/n, but %s", text);
    else
        explain_line(s, "equal-scores-counts",
                     "With equal scores each of n keys should have weight 1/n, but in query %d of batch %d head %d %s",
                     (int)(row % shape->nq), (int)(row / shape->nq / shape->heads),
                     (int)(row / shape->nq % shape->heads), text);
    return true;
}
