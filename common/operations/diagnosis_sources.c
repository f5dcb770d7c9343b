// Rows that have the weights of another query, or of another head's keys, where no index map says which: each wrong row
// is searched for by itself.
#include "host/parallel.h"
#include "operations/attention_operation.h"
#include "operations/diagnosis_report.h"

#include <math.h>
#include <stdlib.h>

enum { NONE = -1, MOST_ROWS = 12, LEAST_KEYS = 4 };

struct source {
    int64_t query, keys; // a row of Q, and the row of K from which on the keys are taken
};

static double dot(const struct case_seen *s, int64_t query, int64_t key) {
    const float *q = s->x->own_q + query * s->x->which.attention.head_dim;
    const float *k = host_row(&s->x->problem.tensor[K], key);
    double sum = 0;
    for (int c = 0; c < s->x->which.attention.head_dim; c++)
        sum += (double)q[c] * k[c];
    return sum * s->x->problem.softmax_scale;
}

// Whether the observed weights of row r are those of the source: the differences of their logarithms are those of the
// scores. Where common is not NAN, of the keys alone whose factor is not this one.
static bool is_source(const struct case_seen *s, int64_t r, const struct source *from, double common) {
    const double *got = case_got(s, r);
    double base = common;
    int compared = 0;
    for (int j = 0; j < s->nk; j++) {
        if (!(got[j] > s->largest[r] / 128))
            continue;
        if (!isnan(common)) {
            const double actual = log(got[j]) - dot(s, from->query, from->keys + j) + s->x->right_lse[r];
            if (fabs(s->off[r * s->nk + j] - common) <= 8 * s->x->tolerance)
                continue;
            if (!(fabs(actual - common) <= 16 * s->x->tolerance))
                return false;
            compared++;
            continue;
        }
        const double far = log(got[j]) - dot(s, from->query, from->keys + j);
        base = isnan(base) ? far : base;
        if (!(fabs(far - base) <= 8 * s->x->tolerance))
            return false;
        compared++;
    }
    return compared >= LEAST_KEYS;
}

static int compare_doubles(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// The other query of the head whose scores some keys have, where the others have the row's own: their factor is among
// the quartiles of all.
static bool find_scores(const struct case_seen *s, int64_t r, struct source *found) {
    double *off = host_allocate(s->nk, sizeof *off);
    int count = 0;
    bool is = false;
    for (int j = 0; j < s->nk; j++)
        if (!isnan(s->off[r * s->nk + j]))
            off[count++] = s->off[r * s->nk + j];
    qsort(off, (size_t)count, sizeof *off, compare_doubles);
    for (int quarter = 1; quarter < 4 && count >= 2 * LEAST_KEYS && !is; quarter++)
        for (int64_t query = r - r % s->nq; query < r - r % s->nq + s->nq && !is; query++) {
            *found = (struct source){query, shape_first_key(&s->x->which.attention, r)};
            is = query != r && is_source(s, r, found, off[quarter * count / 4]);
        }
    free(off);
    return is;
}

// Its own query with other keys first, then other queries with their own keys or this row's; in_part: other queries'
// scores in some keys.
static bool find_source(const struct case_seen *s, int64_t r, bool in_part, struct source *found) {
    enum { MOST_WORK = 1 << 22 };
    const struct attention_shape *shape = &s->x->which.attention;
    const int64_t keys = s->x->problem.tensor[K].rows, own = shape_first_key(shape, r);
    if ((s->rows + keys) * LEAST_KEYS * shape->head_dim > MOST_WORK)
        return false;
    if (in_part)
        return find_scores(s, r, found);
    for (int64_t first = 0; first + s->nk <= keys; first++) {
        *found = (struct source){r, first};
        if (first != own && is_source(s, r, found, NAN))
            return true;
    }
    for (int64_t query = 0; query < s->rows; query++)
        for (int other = 0; other < 2; other++) {
            *found = (struct source){query, other ? shape_first_key(shape, query) : own};
            if (query != r && is_source(s, r, found, NAN))
                return true;
        }
    return false;
}

// How many of the first wrong rows have a source, of how many; the first one's.
static int count_sources(const struct case_seen *s, bool in_part, int64_t *row, struct source *first, int *wrong) {
    int found = 0;
    struct source one;
    *wrong = 0;
    *row = NONE;
    for (int64_t r = 0; r < s->rows && *wrong < MOST_ROWS; r++) {
        if (!s->wrong[r])
            continue;
        *wrong += 1;
        if (!find_source(s, r, in_part, &one))
            continue;
        if (!found++) {
            *row = r;
            *first = one;
        }
    }
    return found;
}

static bool most(int found, int wrong) {
    return found > 1 ? 5 * found >= 4 * wrong : found > 0 && found == wrong;
}

static bool report_found(const struct report *report, bool in_part) {
    enum { OTHER_SEED = 4713 };
    const struct case_seen *s = &report->seen;
    const struct attention_shape *shape = &s->x->which.attention;
    struct source from, again;
    struct observed twin;
    struct case_seen seen;
    int64_t row, twin_row;
    int wrong, found = count_sources(s, in_part, &row, &from, &wrong);
    if (!most(found, wrong) || !attention_observe(s->x->kernel, &s->x->which, OTHER_SEED, s->x->column, &twin))
        return false;
    case_seen_of(&twin, &seen);
    found = count_sources(&seen, in_part, &twin_row, &again, &wrong);
    const bool confirmed =
        most(found, wrong) && twin_row == row && again.query == from.query && again.keys == from.keys;
    case_seen_free(&seen);
    attention_observed_free(&twin);
    if (!confirmed)
        return false;
    char one[100], other[100];
    const int64_t own = shape_first_key(shape, row), head = from.keys / s->nk;
    row_text(report, row, one, sizeof one);
    row_text(report, from.query, other, sizeof other);
    if (in_part)
        report_line(report, "scores-of-other-rows",
                    "Some keys have the scores of other rows: in %s those of %s; so it is with other inputs", one,
                    other);
    else if (from.query == row && from.keys % s->nk)
        report_line(report, "key-offset-wrong",
                    "The keys of a head are read at a wrong offset: %s reads %lld rows of K too %s", one,
                    llabs((long long)(own - from.keys)), own < from.keys ? "late" : "early");
    else if (from.query == row)
        report_line(
            report, "keys-of-other-head",
            "The scores use the keys of another head: %s uses batch %d head %d of K; so it is with other inputs", one,
            (int)(head / shape->kv_heads), (int)(head % shape->kv_heads));
    else
        report_line(
            report, "rows-of-other-rows",
            "Wrong rows have the weights of another row: %s has the weights of %s%s; so it is with other inputs", one,
            other,
            from.keys != own                            ? ""
            : own == shape_first_key(shape, from.query) ? ""
                                                        : ", with its own keys");
    return true;
}

bool report_sources(const struct report *report) {
    return report_found(report, false) || report_found(report, true);
}
