// Which rows are wrong, and which other rows' weights they have.
#include "host/parallel.h"
#include "operations/attention_conditions.h"
#include "operations/attention_explain.h"
#include "operations/attention_explain_weights.h"
#include "operations/attention_operation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NONE = -1, MOST_TEXT = 300 };

void explain_queries(const struct explainer *s, const char *code, const char *what, const bool *marked) {
    const struct attention_shape *shape = &s->x.which.attention;
    int64_t heads = s->x.rows / shape->nq, first = 0;
    int bad_heads = 0;
    bool agree = true;
    char text[200], where[64] = "";
    while (first < s->x.rows && !marked[first])
        first++;
    if (first == s->x.rows)
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
        explain_line(s, code, "%s: %s%s%s", what, where, text,
                     agree ? "" : "; some other heads have other such queries");
    else if (count < shape->nq || !agree)
        explain_line(s, code, "%s: some rows; the first one is query %d of batch %d head %d", what,
                     (int)(first % shape->nq), batch, head);
    if (bad_heads < heads)
        explain_line(s, code, "%s: rows of %d of %d heads; the first head is batch %d head %d", what, bad_heads,
                     (int)heads, batch, head);
}

int describe_row(const struct explainer *s, int64_t row, char *text, size_t size) {
    const struct attention_shape *shape = &s->x.which.attention;
    int64_t head = row / shape->nq;
    return snprintf(text, size, "batch %d head %d query %d", (int)(head / shape->heads), (int)(head % shape->heads),
                    (int)(row % shape->nq));
}

// Whether one query of a head without a mask comes out right where there is no other.
static bool is_right_alone(const struct explainer *s, int64_t row) {
    const struct attention_shape *shape = &s->x.which.attention;
    const int d = shape->head_dim;
    const int64_t keys = shape_first_key(shape, row);
    const float *v = s->x.own_v + keys * d;
    float *o = host_allocate(d, sizeof *o);
    bool right = attention_run_head(s->x.kernel, s->x.which.dtype, d, 1, shape->nk, s->x.own_q + row * d,
                                    host_row(&s->x.problem.tensor[K], keys), v, o);
    for (int c = 0; c < d && right; c++) {
        double sum = 0, sizes = 0;
        for (int j = 0; j < shape->nk; j++) {
            sum += right_of(s, row)[j] * v[j * d + c];
            sizes += right_of(s, row)[j] * fabs(v[j * d + c]);
        }
        right = fabs(o[c] - sum) <= s->x.tolerance * sizes;
    }
    free(o);
    return right;
}

bool explain_row_alone(const struct explainer *s) {
    int64_t row = 0;
    while (row < s->x.rows && s->x.missing[row] != ROW_NOT_FINITE && s->x.missing[row] != ROW_ZERO)
        row++;
    if (row == s->x.rows || s->x.rows == 1 || s->x.which.attention.causal || s->x.which.has_scale ||
        !is_right_alone(s, row))
        return false;
    char text[100];
    describe_row(s, row, text, sizeof text);
    explain_line(s, "row-right-alone",
                 "The output of %s is right if the problem has only this row (one query, one head)", text);
    return true;
}

// ---- One row instead of another --------------------------------------------------------------------------------

static double total_of(const struct explainer *s, int64_t r) {
    double total = 0;
    for (int j = 0; j < s->x.which.attention.nk; j++)
        total += got_of(s, r)[j];
    return total;
}

// Whether row r has these weights, times its total.
static bool has_weights(const struct explainer *s, int64_t r, double total, const double *weight /* [nk] */,
                        int64_t like) {
    for (int j = 0; j < s->x.which.attention.nk; j++)
        if (!observed_matches(&s->x, like, got_of(s, r)[j] / total, weight[j]))
            return false;
    return true;
}

// The first few rows with those whose weights they have.
static void report_pairs(const struct explainer *s, const char *code, const char *what,
                         const int64_t *from /* [rows] */) {
    char text[2 * MOST_TEXT];
    int length = 0, reported = 0;
    for (int64_t r = 0; r < s->x.rows && reported < 3; r++) {
        char one[100], other[100];
        if (from[r] == NONE)
            continue;
        describe_row(s, r, one, sizeof one);
        describe_row(s, from[r], other, sizeof other);
        length += snprintf(text + length, sizeof text - (size_t)length, "%s%s has the weights of %s",
                           reported ? ", " : "", one, other);
        reported++;
    }
    explain_line(s, code, "%s %s", what, text);
}

bool explain_rows_of_others(const struct explainer *s) {
    if (s->x.which.attention.nk < 3)
        return false;
    int64_t *from = host_allocate(s->x.rows, sizeof *from), wrong = 0, found = 0;
    double least = INFINITY, most = 0;
    for (int64_t r = 0; r < s->x.rows; r++) {
        double total = total_of(s, r);
        from[r] = NONE;
        if (!s->wrong[r])
            continue;
        wrong++;
        for (int64_t other = 0; other < s->x.rows && from[r] == NONE && total > 0; other++)
            if (other != r && has_weights(s, r, total, right_of(s, other), other))
                from[r] = other;
        if (from[r] == NONE)
            continue;
        found++;
        least = fmin(least, total);
        most = fmax(most, total);
    }
    bool most_of_them = found > 1 ? 5 * found >= 4 * wrong : found == wrong;
    if (most_of_them) {
        report_pairs(s, found == wrong ? "rows-of-other-rows" : "most-rows-of-other-rows",
                     found == wrong ? "Each wrong row has the weights of another row:"
                                    : "Most wrong rows have the weights of another row:",
                     from);
        if (most - least > 4 * s->x.tolerance)
            explain_line(s, "row-sum-of-third-row",
                         "These rows are divided by the sum of a third row: the weights of a row add up to %.4g to "
                         "%.4g instead of 1",
                         least, most);
    }
    free(from);
    return most_of_them;
}

// The weights of query row r with as many keys as it has, from row `first` of K on. False where K does not go so far.
static bool weigh_with(const struct explainer *s, int64_t r, int64_t first, double *weight /* [nk] */) {
    const struct attention_shape *shape = &s->x.which.attention;
    const struct host_tensor *keys = &s->x.problem.tensor[K];
    const float *q = s->x.own_q + r * shape->head_dim;
    double maximum = -INFINITY, sum = 0;
    if (first < 0 || first + shape->nk > keys->rows)
        return false;
    for (int j = 0; j < shape->nk; j++) {
        const float *k = host_row(keys, first + j);
        double dot = 0;
        for (int c = 0; c < shape->head_dim; c++)
            dot += (double)q[c] * k[c];
        weight[j] = s->x.score[r * shape->nk + j] == -INFINITY ? -INFINITY : dot * s->x.problem.softmax_scale;
        maximum = fmax(maximum, weight[j]);
    }
    for (int j = 0; j < shape->nk; j++)
        sum += weight[j] = exp(weight[j] - maximum);
    for (int j = 0; j < shape->nk; j++)
        weight[j] /= sum;
    return true;
}

// The row of K from which on the keys of row r are taken; NONE: from none.
static int64_t find_keys(const struct explainer *s, int64_t r, double *weight /* [nk] */) {
    const double total = total_of(s, r);
    const int64_t rows = s->x.problem.tensor[K].rows;
    for (int64_t first = 0; first + s->x.which.attention.nk <= rows && total > 0; first++)
        if (weigh_with(s, r, first, weight) && has_weights(s, r, total, weight, r))
            return first;
    return NONE;
}

bool explain_keys_of_others(const struct explainer *s) {
    enum { MOST_WORK = 1 << 25 };
    const struct attention_shape *shape = &s->x.which.attention;
    const int64_t keys = s->x.problem.tensor[K].rows;
    int64_t reported = NONE, actual = NONE;
    if (keys == shape->nk || shape->nk < 3 || keys * shape->nk * shape->head_dim > MOST_WORK)
        return false;
    double *weight = host_allocate(shape->nk, sizeof *weight);
    bool all = true;
    for (int64_t r = 0, last_head = NONE, first = NONE; r < s->x.rows && all; r++) {
        if (!s->wrong[r])
            continue;
        if (r / shape->nq != last_head) {
            last_head = r / shape->nq;
            first = find_keys(s, r, weight);
            actual = reported == NONE ? first : actual;
            reported = reported == NONE ? r / shape->nq : reported;
        }
        // What lies beyond K is not known.
        all = first != NONE && weigh_with(s, r, first, weight) && has_weights(s, r, total_of(s, r), weight, r);
    }
    free(weight);
    if (!all || reported == NONE)
        return false;
    const int batch = (int)(reported / shape->heads), head = (int)(reported % shape->heads);
    const int64_t own = shape_first_key(shape, reported * shape->nq), kv_head = actual / shape->nk;
    if (actual % shape->nk == 0)
        explain_line(s, "keys-of-other-head",
                     "The scores use the keys of another head: batch %d head %d uses batch %d head %d of K", batch,
                     head, (int)(kv_head / shape->kv_heads), (int)(kv_head % shape->kv_heads));
    else
        explain_line(s, "key-offset-wrong",
                     "The keys of a head are read at a wrong offset: batch %d head %d reads %lld rows of K too %s",
                     batch, head, (long long)(own < actual ? actual - own : own - actual),
                     own < actual ? "late" : "early");
    return true;
}

bool explain_added_rows(const struct explainer *s) {
    enum { LEAST_KEYS = 4 }; // of fewer, two rows make nearly any third one
    int nk = s->x.which.attention.nk;
    if (nk < LEAST_KEYS)
        return false;
    int64_t *from = host_allocate(s->x.rows, sizeof *from);
    bool all = true;
    for (int64_t r = 0; r < s->x.rows && all; r++) {
        int largest = 0;
        bool found = false;
        from[r] = NONE;
        if (!s->wrong[r])
            continue;
        for (int j = 1; j < nk; j++)
            if (fabs(got_of(s, r)[j] - right_of(s, r)[j]) > fabs(got_of(s, r)[largest] - right_of(s, r)[largest]))
                largest = j;
        for (int64_t other = 0; other < s->x.rows && !found; other++) {
            double factor = (got_of(s, r)[largest] - right_of(s, r)[largest]) / right_of(s, other)[largest];
            found = other != r && isfinite(factor);
            for (int j = 0; j < nk && found; j++)
                found = observed_matches(&s->x, r, got_of(s, r)[j], right_of(s, r)[j] + factor * right_of(s, other)[j]);
            if (found)
                from[r] = other;
        }
        all = found;
    }
    if (all)
        report_pairs(s, "rows-added", "The weights of another row are added to each wrong row:", from);
    free(from);
    return all;
}

// ---- Several rows instead of one -------------------------------------------------------------------------------

// How many keys from `first` on have in row r, in proportion, the weights of another row.
static int run_of(const struct explainer *s, int64_t r, int64_t other, int first) {
    int nk = s->x.which.attention.nk, j = first + 1;
    const double *got = got_of(s, r), *right = right_of(s, other);
    while (j < nk && right[j] > 0 && right[j - 1] > 0 &&
           observed_matches(&s->x, other, got[j] * right[j - 1] / right[j], got[j - 1]))
        j++;
    return j - first;
}

// The runs of keys in which row r has the weights of other rows. False where there are none, or they are short.
static bool find_mixture(const struct explainer *s, int64_t r, char *text, size_t size) {
    enum { LEAST_KEYS = 4 };
    const struct attention_shape *shape = &s->x.which.attention;
    size_t length = 0;
    int others = 0;
    for (int j = 0, longest; j < shape->nk; j += longest) {
        int64_t from = r;
        longest = run_of(s, r, r, j);
        for (int64_t other = 0; other < s->x.rows; other++) {
            int run = run_of(s, r, other, j);
            if (run > longest) {
                longest = run;
                from = other;
            }
        }
        if (longest < LEAST_KEYS && j + longest < shape->nk)
            return false;
        others += from != r && longest >= LEAST_KEYS;
        if (length < size)
            length += (size_t)snprintf(text + length, size - length, "%s keys %d to %d have the weights of query %d",
                                       length ? "," : "", j, j + longest - 1, (int)(from % shape->nq));
    }
    return others > 0;
}

bool explain_mixed_rows(const struct explainer *s) {
    enum { MOST_ROWS = 128 };
    char text[MOST_TEXT], reported[MOST_TEXT] = "";
    int64_t first = NONE, wrong = 0, found = 0;
    for (int64_t r = 0; r < s->x.rows && s->x.rows <= MOST_ROWS; r++) {
        if (!s->wrong[r])
            continue;
        wrong++;
        if (!find_mixture(s, r, text, sizeof text))
            continue;
        found++;
        if (first == NONE) {
            first = r;
            memcpy(reported, text, sizeof reported);
        }
    }
    if (!found || 5 * found < 4 * wrong)
        return false;
    explain_line(s, "key-ranges-of-other-rows", "Ranges of keys have the weights of other rows. In query %d%s",
                 (int)(first % s->x.which.attention.nq), reported);
    return true;
}
