// What a row is divided by, and the sum in its log-sum-exp: both are the right row sum times something that is sought
// here, by the same rules.
#include "host/parallel.h"
#include "operations/diagnosis.h"

#include <math.h>
#include <stdlib.h>

// The sum that was found, over the right one; NAN: it is not known.
static double seen_sum(const struct explanation *one, const struct case_seen *s, int64_t r) {
    const struct observed *x = s->x;
    double got = 0, right = 0;
    if (one->kind == EXPLAINS_LSE)
        return x->lse && isfinite(x->lse[r]) && isfinite(x->right_lse[r]) ? exp(x->lse[r] - x->right_lse[r]) : NAN;
    for (int j = 0; j < s->nk; j++)
        if (!isnan(s->off[r * s->nk + j])) {
            got += case_got(s, r)[j];
            right += case_right(s, r)[j];
        }
    return got > 0 && !x->missing[r] ? right / got : NAN;
}

static double tolerance_of(const struct explanation *one, const struct case_seen *s) {
    return one->kind == EXPLAINS_LSE ? 1e-3 : 4 * s->x->tolerance;
}

static double maximum_of(const struct case_seen *s, int64_t r, int first, int end) {
    double maximum = -INFINITY;
    for (int j = first; j < end && j < s->nk; j++)
        maximum = fmax(maximum, case_score(s, r)[j]);
    return maximum;
}

// The sum of the row's weights relative to its maximum.
static double row_sum(const struct case_seen *s, int64_t r) {
    return 1 / s->x->largest[r];
}

bool sum_counts_key(const struct explanation *one, int j, int nk) {
    const int step = one->n[0], width = one->n[2], end = width > 0 ? width : nk + width;
    const int first = one->n[1] < 0 ? (nk - 1) / one->n[1] * one->n[1] : one->n[1];
    return step ? j % step >= first && j % step < first + width : j >= first && j < end;
}

static double by_columns(const struct explanation *one, const struct case_seen *s, int64_t r) {
    double sum = 0, *weight = host_allocate(s->nk, sizeof *weight);
    explanation_weights(one, s, r, weight);
    for (int j = 0; j < s->nk; j++)
        sum += weight[j];
    free(weight);
    return sum;
}

// The maximum of the first or last tile, or of the row.
static double formula_maximum(const struct explanation *one, const struct case_seen *s, int64_t r) {
    const int tile = one->n[0];
    return !tile       ? maximum_of(s, r, 0, s->nk)
           : one->n[1] ? maximum_of(s, r, (s->nk - 1) / tile * tile, s->nk)
                       : maximum_of(s, r, 0, tile);
}

// The row whose sum or maximum is taken.
static int64_t other_row(const struct explanation *one, const struct case_seen *s, int64_t r) {
    const int other = map_of(&one->map, (int)(r % s->nq), s->nq);
    return other < 0 ? -1 : r - r % s->nq + other;
}

// The sum by a rule, over the right one; NAN: the rule says nothing of this row.
double explanation_of_sum_predicts(const struct explanation *one, const struct case_seen *s, int64_t r) {
    const double *right = case_right(s, r);
    const double sum = row_sum(s, r);
    double result = 0;
    int64_t other;
    switch (one->rule) {
    case SUM_BY_COLUMNS:
        return by_columns(one, s, r);
    case SUM_BY_FORMULA: {
        const double maximum = formula_maximum(one, s, r), all = maximum_of(s, r, 0, s->nk);
        return exp(one->formula[0] * all + one->formula[1] * log(sum) + one->formula[2] +
                   one->formula[3] * (all - maximum));
    }
    case SUM_OF_SOME_KEYS:
        for (int j = 0; j < s->nk; j++)
            result += sum_counts_key(one, j, s->nk) ? right[j] : 0;
        return result;
    case SUM_WITH_EXTRA_KEYS: {
        const int extra = one->n[1] ? (one->n[1] - s->nk % one->n[1]) % one->n[1] : one->n[0];
        return 1 + extra * exp(-maximum_of(s, r, 0, s->nk)) / sum;
    }
    case SUM_PLUS_CONSTANT:
        return 1 + one->formula[0] / sum;
    case SUM_OF_OTHER_ROW:
        other = other_row(one, s, r);
        return other < 0 ? NAN : row_sum(s, other) / sum;
    case SUM_PLUS_EARLIER_ROW:
        for (other = r; other >= 0; other -= one->n[0])
            result += exp(s->x->right_lse[other] - s->x->right_lse[r]);
        return result;
    default:
        return NAN;
    }
}

bool explanation_of_sum_holds(struct explanation *one, const struct case_seen *s) {
    static const double sure = 12; // bits beyond those of the description
    const double tolerance = tolerance_of(one, s);
    double least = INFINITY, most = 0;
    int64_t telling = 0;
    one->fitting = one->rows = 0;
    for (int64_t r = 0; r < s->rows; r++) {
        const double seen = seen_sum(one, s, r);
        if (isnan(seen))
            continue;
        const double predicted = explanation_of_sum_predicts(one, s, r);
        if (isnan(predicted))
            continue;
        if (!(fabs(seen - predicted) <= tolerance * predicted))
            return false;
        one->rows++;
        telling += fabs(seen - 1) > 2 * tolerance;
        least = fmin(least, seen);
        most = fmax(most, seen);
    }
    one->fitting = one->rows;
    // Sums that are all alike, or nearly right, are so by many rules.
    const double bits = (double)telling * log2(fmax(most / least - 1, tolerance) / tolerance);
    const bool is_constant = one->rule == SUM_BY_FORMULA && !one->formula[0] && !one->formula[1] && !one->formula[3];
    return one->rows > 1 && (is_constant ? fabs(most - 1) > 4 * tolerance : bits > one->cost + sure);
}

static void try_columns(enum explanation_kind kind, const struct case_seen *s, struct explanations *all) {
    struct partition partitions[MOST_PARTITIONS];
    const int count = s->nk <= 1000 ? partitions_of(s->nk, partitions) : 0;
    for (int i = 0; i < count; i++)
        for (int h = 0; h < hypothesis_count; h++)
            if (hypotheses[h].kind == kind && (hypotheses[h].partitions & partition_class(&partitions[i])))
                explanations_try(all,
                                 (struct explanation){.kind = kind,
                                                      .rule = SUM_BY_COLUMNS,
                                                      .by = partitions[i],
                                                      .terms = 1,
                                                      .column = {hypotheses[h].column},
                                                      .a = {hypotheses[h].coefficient},
                                                      .meaning = {&hypotheses[h]}},
                                 s, 8 + partition_cost(&partitions[i]));
}

// Least squares of the logarithm on the row max, the logarithm of the sum, 1 and, where it is another one, on how far
// the row max is above the maximum of the formula.
static bool solve_formula(struct explanation *one, const struct case_seen *s) {
    enum { TERMS = 4 };
    const int terms = one->n[0] ? TERMS : TERMS - 1;
    double a[TERMS][TERMS + 1] = {{0}};
    int64_t rows = 0;
    for (int64_t r = 0; r < s->rows; r++) {
        const double seen = seen_sum(one, s, r), all = maximum_of(s, r, 0, s->nk),
                     far = all - formula_maximum(one, s, r);
        if (!(seen > 0) || !isfinite(all) || !isfinite(far))
            continue;
        const double term[] = {all, log(row_sum(s, r)), 1, far};
        for (int i = 0; i < terms; i++) {
            for (int j = 0; j < terms; j++)
                a[i][j] += term[i] * term[j];
            a[i][TERMS] += term[i] * log(seen);
        }
        rows++;
    }
    for (int i = 0; i < terms; i++) {
        if (!(fabs(a[i][i]) > 1e-6))
            return false;
        for (int k = 0; k < terms; k++)
            for (int j = TERMS; j >= i && k != i; j--)
                a[k][j] -= a[k][i] / a[i][i] * a[i][j];
    }
    for (int i = 0; i < terms; i++) {
        one->formula[i] = a[i][TERMS] / a[i][i];
        one->formula[i] = fabs(one->formula[i]) < 2e-3 ? 0 : one->formula[i];
    }
    return rows >= 2 * terms;
}

static void try_formulas(enum explanation_kind kind, const struct case_seen *s, struct explanations *all) {
    static const int tiles[] = {0, 1, 16, 32, 64, 128};
    for (size_t i = 0; i < sizeof tiles / sizeof *tiles; i++)
        for (int last = 0; last < 2; last++) {
            struct explanation one = {.kind = kind, .rule = SUM_BY_FORMULA, .n = {tiles[i], last}};
            double size = 0;
            int used = 0;
            if (tiles[i] >= s->nk || (last && !tiles[i]) || !solve_formula(&one, s) || (i && one.formula[3] == 0))
                continue;
            for (int t = 0; t < 4; t++) {
                size = fmax(size, fabs(one.formula[t]));
                used += one.formula[t] != 0;
            }
            if (size > 0.01 && size < 50)
                explanations_try(all, one, s, 4 + 5 * used + 4 * (i > 0));
        }
}

static void try_subsets(enum explanation_kind kind, const struct case_seen *s, struct explanations *all) {
    enum { MOST_KEYS = 200, MOST_STEP = 32 };
    const int nk = s->nk;
    // Without the last or the first few keys, or no more than the first few.
    for (int keys = 1; keys < nk && nk <= MOST_KEYS; keys++) {
        const double cost = keys == 1 ? 6 : 12;
        explanations_try(all, (struct explanation){.kind = kind, .rule = SUM_OF_SOME_KEYS, .n = {0, 0, -keys}}, s,
                         cost);
        explanations_try(all, (struct explanation){.kind = kind, .rule = SUM_OF_SOME_KEYS, .n = {0, keys, 0}}, s, cost);
        explanations_try(all, (struct explanation){.kind = kind, .rule = SUM_OF_SOME_KEYS, .n = {0, 0, keys}}, s,
                         cost + 1);
    }
    for (int tile = 16; tile <= 128 && tile < nk; tile *= 2)
        explanations_try(all, (struct explanation){.kind = kind, .rule = SUM_OF_SOME_KEYS, .n = {0, -tile, 0}}, s, 8);
    for (int step = 2; step <= MOST_STEP && step < nk; step *= 2)
        for (int first = 0; first < step; first++)
            for (int width = 1; width < step && first + width <= step; width++)
                explanations_try(
                    all, (struct explanation){.kind = kind, .rule = SUM_OF_SOME_KEYS, .n = {step, first, width}}, s,
                    14);
}

static void try_extra_keys(enum explanation_kind kind, const struct case_seen *s, struct explanations *all) {
    struct explanation plus = {.kind = kind, .rule = SUM_PLUS_CONSTANT};
    int64_t row = 0;
    while (row < s->rows && isnan(seen_sum(&plus, s, row)))
        row++;
    if (row < s->rows) {
        plus.formula[0] = (seen_sum(&plus, s, row) - 1) * row_sum(s, row);
        explanations_try(all, plus, s, 9);
    }
    for (int tile = 4; tile <= 256; tile *= 2)
        if (s->nk % tile)
            explanations_try(all, (struct explanation){.kind = kind, .rule = SUM_WITH_EXTRA_KEYS, .n = {0, tile}}, s,
                             7);
    for (int extra = 1; extra <= 4; extra++)
        explanations_try(all, (struct explanation){.kind = kind, .rule = SUM_WITH_EXTRA_KEYS, .n = {extra, 0}}, s,
                         8 + extra);
}

static void try_other_rows(enum explanation_kind kind, const struct case_seen *s, struct explanations *all) {
    struct index_map maps[MOST_MAPS];
    const int count = s->nq > 1 ? maps_of(s->nq, maps) : 0;
    for (int i = 0; i < count; i++)
        explanations_try(all, (struct explanation){.kind = kind, .rule = SUM_OF_OTHER_ROW, .map = maps[i]}, s,
                         8 + map_cost(&maps[i]));
}

static void try_earlier_rows(enum explanation_kind kind, const struct case_seen *s, struct explanations *all) {
    for (int before = 1; before < s->rows; before++)
        explanations_try(all, (struct explanation){.kind = kind, .rule = SUM_PLUS_EARLIER_ROW, .n = {before}}, s, 10);
}

static void explain_sums(enum explanation_kind kind, const struct case_seen *s, struct explanations *all) {
    try_formulas(kind, s, all);
    try_extra_keys(kind, s, all);
    try_other_rows(kind, s, all);
    try_earlier_rows(kind, s, all);
    try_columns(kind, s, all);
    try_subsets(kind, s, all);
}

void explain_divisor(const struct case_seen *s, struct explanations *all) {
    explain_sums(EXPLAINS_DIVISOR, s, all);
}

void explain_lse(const struct case_seen *s, struct explanations *all) {
    explain_sums(EXPLAINS_LSE, s, all);
}
