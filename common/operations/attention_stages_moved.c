// Weights that meet the values of other keys than their own, and keys that count more than once.
#include "host/parallel.h"
#include "operations/attention_pattern.h"
#include "operations/attention_stages.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NONE = -1, MOST_TEXT = 400, MOST_ROWS = 16, MOST_KEYS = 300 };

// Whether in every wrong row each key has the weights of all the keys that are `step` or a multiple of it after it
// (all) or of the one that is (the first keys their own, too), and the others none.
static bool are_moved(const struct stages *s, int step, bool all) {
    int nk = s->x.which.attention.nk;
    for (int64_t r = 0; r < s->x.rows; r++)
        for (int j = 0; j < nk && s->wrong[r]; j++) {
            double sum = j < step ? right_of(s, r)[j] : 0;
            for (int from = j + step; from < nk && (j < step || !all); from += step) {
                sum += right_of(s, r)[from];
                if (!all)
                    break;
            }
            if (!observed_near(&s->x, r, got_of(s, r)[j], sum))
                return false;
        }
    return true;
}

static bool say_by_steps(const struct stages *s) {
    int nk = s->x.which.attention.nk;
    for (int step = 4; step < nk; step += 4)
        for (int all = 0; all < 2; all++)
            if (are_moved(s, step, all)) {
                stages_say(s, "gives the weights of keys %d to %d to the values of %s", step, nk - 1,
                           all || nk <= 2 * step ? "the first keys, over and over" : "the keys as many before them");
                if (nk <= 2 * step || all)
                    stages_say(s, "values of keys from %d on are never used", step);
                return true;
            }
    return false;
}

// ---- Where the weight of each key comes from ------------------------------------------------------------------------

// The keys whose weights the value of a key gets: none, one, or the sum of two.
struct origin {
    int from[2]; // NONE: there is none
};

struct moves {
    const struct stages *s;
    int64_t row[MOST_ROWS]; // some wrong rows
    double factor[MOST_ROWS];
    int rows;
    struct origin *of; // [nk]
};

static bool fits(const struct moves *m, int j, int a, int b) {
    for (int i = 0; i < m->rows; i++) {
        const double *right = right_of(m->s, m->row[i]);
        double sum = (a == NONE ? 0 : right[a]) + (b == NONE ? 0 : right[b]);
        if (!observed_near(&m->s->x, m->row[i], got_of(m->s, m->row[i])[j], m->factor[i] * sum))
            return false;
    }
    return true;
}

static bool find_origin(const struct moves *m, int j, struct origin *origin) {
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

static int say_keys(char *text, size_t size, int first, int count) {
    return count > 1 ? snprintf(text, size, "keys %d to %d", first, first + count - 1)
                     : snprintf(text, size, "key %d", first);
}

// "keys 0 to 15 the weights of keys 16 to 31, ...": of those that have not their own, the first few runs.
static void say_origins(const struct moves *m) {
    enum { TOLD = 5 };
    const int nk = m->s->x.which.attention.nk;
    char text[MOST_TEXT];
    size_t length = 0;
    int told = 0;
    for (int j = 0, end; j < nk && told <= TOLD; j = end) {
        const int *from = m->of[j].from;
        char keys[40], other[40], second[50] = "";
        for (end = j + 1; end < nk && goes_on(m->of, end);)
            end++;
        if (from[0] == j && from[1] == NONE)
            continue;
        if (told++ == TOLD) {
            length += (size_t)snprintf(text + length, sizeof text - length, ", and so on");
            break;
        }
        say_keys(keys, sizeof keys, j, end - j);
        say_keys(other, sizeof other, from[0], end - j);
        if (from[1] != NONE) {
            memcpy(second, " and ", sizeof " and ");
            say_keys(second + strlen(second), sizeof second - strlen(second), from[1], end - j);
        }
        length += (size_t)snprintf(text + length, sizeof text - length,
                                   from[0] == NONE ? "%s%s none" : "%s%s the weight%s of %s%s", told > 1 ? ", " : "",
                                   keys, end - j > 1 ? "s" : "", other, second);
    }
    stages_say(m->s, "gives %s", text);
}

bool stages_say_moved(const struct stages *s) {
    struct moves m = {.s = s};
    int nk = s->x.which.attention.nk;
    if (nk < 4 || nk > MOST_KEYS)
        return false;
    if (say_by_steps(s))
        return true;
    bool all = false, moved = false;
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
            moved = moved || (m.of[j].from[0] != j && m.of[j].from[0] != NONE) || m.of[j].from[1] != NONE;
        }
    }
    if (all && moved)
        say_origins(&m);
    free(m.of);
    return all && moved;
}

static int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

bool stages_say_permuted(const struct stages *s) {
    int nk = s->x.which.attention.nk, told = NONE, from = NONE;
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
            all = observed_near(&s->x, r, got[j], right[j]);
        for (int j = 0; j < nk && all && row == NONE && told == NONE; j++)
            told = observed_near(&s->x, r, got_of(s, r)[j], right_of(s, r)[j]) ? NONE : j;
        for (int j = 0; j < nk && told != NONE && from == NONE; j++)
            from = observed_near(&s->x, r, got_of(s, r)[told], right_of(s, r)[j]) ? j : NONE;
        row = row == NONE ? r : row;
    }
    free(got);
    free(right);
    if (!all || told == NONE || from == NONE)
        return false;
    stages_say(s, "gives each row its right weights, but in another order: in query %d key %d has that of key %d",
               (int)(row % s->x.which.attention.nq), told, from);
    return true;
}

// ---- Equal scores ---------------------------------------------------------------------------------------------------

// How often key j counts in a row whose scores are all the same.
static double times_of(const struct stages *s, int64_t r, int j) {
    const struct attention_shape *shape = &s->x.which.attention;
    return s->equal[r * shape->nk + j] * shape_visible_keys(shape, (int)(r % shape->nq));
}

static bool is_times(const struct stages *s, double times, double other) {
    return fabs(times - other) <= 4 * s->x.near * fmax(fabs(other), 0.25);
}

// Whether all rows from `row` on have the same; a row that is right says nothing.
static bool rows_agree(const struct stages *s, int64_t row) {
    for (int64_t r = row; r < s->x.rows; r++)
        for (int j = 0; j < s->x.which.attention.nk; j++)
            if (!is_times(s, times_of(s, r, j), times_of(s, row, j)))
                return false;
    return true;
}

// Keys of the row that count as often as the first one that is not yet told. False where they are too many kinds.
static bool say_times(const struct stages *s, int64_t row, char *text, size_t size) {
    enum { KINDS = 4 };
    int nk = s->x.which.attention.nk, kinds = 0;
    bool *told = host_allocate(nk, sizeof *told), *same = host_allocate(nk, sizeof *same), known = true;
    double times[KINDS + 1];
    size_t length = 0;
    memset(told, false, (size_t)nk);
    for (int j = 0; j < nk && known; j++) {
        char where[200];
        if (told[j])
            continue;
        const double of_key = times[kinds] = times_of(s, row, j);
        for (int i = 0; i < nk; i++) {
            same[i] = is_times(s, times_of(s, row, i), of_key);
            told[i] = told[i] || same[i];
        }
        known = ++kinds <= KINDS && pattern_ranges(same, nk, "key", "keys", where, sizeof where);
        if (known && length < size)
            length +=
                (size_t)snprintf(text + length, size - length, "%s%s %.3g times", kinds > 1 ? ", " : "", where, of_key);
    }
    if (kinds == 2 && known && length < size && times[0] > 0 && times[1] > 0)
        snprintf(text + length, size - length, ": the %s %.3g times as often as the others",
                 times[0] > times[1] ? "first" : "last", fmax(times[0], times[1]) / fmin(times[0], times[1]));
    free(told);
    free(same);
    return known;
}

void stages_say_extra_keys(const struct stages *s) {
    const struct attention_shape *shape = &s->x.which.attention;
    const double u = dtype_of(s->x.which.dtype)->unit_roundoff + 1e-6;
    double extra = NAN;
    for (int64_t r = 0; r < s->x.rows && s->equal; r++) {
        int visible = shape_visible_keys(shape, (int)(r % shape->nq));
        for (int j = 0; j < visible; j++) {
            double more = visible * (1 / times_of(s, r, j) - 1);
            extra = isnan(extra) ? nearbyint(more) : extra;
            if (!(extra >= 1) || visible * 2 * u > 0.3 || fabs(more - extra) > 2 * u * (visible + extra))
                return;
        }
    }
    if (!isnan(extra))
        stages_say(s, "with all scores the same the sum is that of %.0f more key%s than there are", extra,
                   extra > 1 ? "s" : "");
}

bool stages_say_equal_scores(const struct stages *s) {
    const struct attention_shape *shape = &s->x.which.attention;
    char text[MOST_TEXT];
    int64_t row = NONE;
    if (!s->equal)
        return false;
    for (int64_t r = 0; r < s->x.rows && row == NONE; r++)
        for (int j = 0; j < shape->nk && row == NONE; j++)
            if (j < shape_visible_keys(shape, (int)(r % shape->nq)) && !is_times(s, times_of(s, r, j), 1))
                row = r;
    if (row == NONE || !say_times(s, row, text, sizeof text))
        return row != NONE;
    if (!shape->causal && rows_agree(s, 0))
        stages_say(s, "with all scores the same it counts %s", text);
    else
        stages_say(s, "with all scores the same it counts in query %d of batch %d head %d %s", (int)(row % shape->nq),
                   (int)(row / shape->nq / shape->heads), (int)(row / shape->nq % shape->heads), text);
    return true;
}
