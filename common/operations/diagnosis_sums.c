// What a row is divided by, and the sum in its log-sum-exp: both are the right row sum times something that is sought
// here, by the same rules.
#include "host/parallel.h"
#include "operations/attention_conditions.h"
#include "operations/attention_operation.h"
#include "operations/diagnosis.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

static bool subset_counts(const struct explanation *one, int j, int nk) {
    const int step = one->n[0], width = one->n[2], end = width > 0 ? width : nk + width;
    const int first = one->n[1] < 0 ? (nk - 1) / one->n[1] * one->n[1] : one->n[1];
    return step ? j % step >= first && j % step < first + width : j >= first && j < end;
}

// The weights of masked keys up to the end of the tile in which the limit lies; tile 0: of all.
static double masked_sum(const struct case_seen *s, int64_t r, int tile) {
    const struct attention_shape *shape = &s->x->which.attention;
    const int attended = shape_attended_keys(shape, (int)(r % s->nq));
    const int end = tile ? (attended + tile - 1) / tile * tile : s->nk;
    double sum = 1;
    for (int j = attended; j < end && j < s->nk; j++)
        sum += exp(s->x->raw[r * s->nk + j] - maximum_of(s, r, 0, s->nk)) / row_sum(s, r);
    return sum;
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
            result += subset_counts(one, j, s->nk) ? right[j] : 0;
        return result;
    case SUM_WITH_EXTRA_KEYS: {
        const int extra = one->n[1] ? (one->n[1] - s->nk % one->n[1]) % one->n[1] : one->n[0];
        return 1 + extra * exp(-maximum_of(s, r, 0, s->nk)) / sum;
    }
    case SUM_PLUS_CONSTANT:
        return 1 + one->formula[0] / sum;
    case SUM_WITH_MASKED_KEYS:
        return masked_sum(s, r, one->n[0]);
    case SUM_OF_OTHER_ROW:
        other = other_row(one, s, r);
        return other < 0 ? NAN : row_sum(s, other) / sum;
    case LSE_OF_OTHER_ROW:
        other = other_row(one, s, r);
        return other < 0 ? NAN : exp(s->x->right_lse[other] - s->x->right_lse[r]);
    case MAXIMUM_OF_OTHER_ROW:
        other = other_row(one, s, r);
        return other < 0 ? NAN : exp(maximum_of(s, r, 0, s->nk) - maximum_of(s, other, 0, s->nk));
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

static void try(struct explanation one, const struct case_seen *s, double cost, struct explanations *all) {
    one.cost = cost;
    if (explanation_of_sum_holds(&one, s))
        explanations_add(all, &one);
}

static void try_columns(enum explanation_kind kind, const struct case_seen *s, struct explanations *all) {
    struct partition partitions[MOST_PARTITIONS];
    const int count = s->nk <= 1000 ? partitions_of(s->nk, partitions) : 0;
    for (int i = 0; i < count; i++)
        for (int h = 0; h < hypothesis_count; h++)
            if (hypotheses[h].kind == kind && (hypotheses[h].partitions & partition_class(&partitions[i])))
                try((struct explanation){.kind = kind,
                                         .rule = SUM_BY_COLUMNS,
                                         .by = partitions[i],
                                         .terms = 1,
                                         .column = {hypotheses[h].column},
                                         .a = {hypotheses[h].coefficient},
                                         .meaning = {&hypotheses[h]}},
                    s, 8 + partition_cost(&partitions[i]), all);
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
                try(one, s, 4 + 5 * used + 4 * (i > 0), all);
        }
}

static void try_subsets(enum explanation_kind kind, const struct case_seen *s, struct explanations *all) {
    enum { MOST_KEYS = 200, MOST_STEP = 32 };
    const int nk = s->nk;
    // Without the last or the first few keys, or no more than the first few.
    for (int keys = 1; keys < nk && nk <= MOST_KEYS; keys++) {
        const double cost = keys == 1 ? 6 : 12;
        try((struct explanation){.kind = kind, .rule = SUM_OF_SOME_KEYS, .n = {0, 0, -keys}}, s, cost, all);
        try((struct explanation){.kind = kind, .rule = SUM_OF_SOME_KEYS, .n = {0, keys, 0}}, s, cost, all);
        try((struct explanation){.kind = kind, .rule = SUM_OF_SOME_KEYS, .n = {0, 0, keys}}, s, cost + 1, all);
    }
    for (int tile = 16; tile <= 128 && tile < nk; tile *= 2)
        try((struct explanation){.kind = kind, .rule = SUM_OF_SOME_KEYS, .n = {0, -tile, 0}}, s, 8, all);
    for (int step = 2; step <= MOST_STEP && step < nk; step *= 2)
        for (int first = 0; first < step; first++)
            for (int width = 1; width < step && first + width <= step; width++)
                try((struct explanation){.kind = kind, .rule = SUM_OF_SOME_KEYS, .n = {step, first, width}}, s, 14,
                    all);
}

static void try_extra_keys(enum explanation_kind kind, const struct case_seen *s, struct explanations *all) {
    struct explanation plus = {.kind = kind, .rule = SUM_PLUS_CONSTANT};
    int64_t row = 0;
    while (row < s->rows && isnan(seen_sum(&plus, s, row)))
        row++;
    if (row < s->rows) {
        plus.formula[0] = (seen_sum(&plus, s, row) - 1) * row_sum(s, row);
        try(plus, s, 9, all);
    }
    static const int tiles[] = {0, 16, 32, 64, 128};
    for (int tile = 4; tile <= 256; tile *= 2)
        if (s->nk % tile)
            try((struct explanation){.kind = kind, .rule = SUM_WITH_EXTRA_KEYS, .n = {0, tile}}, s, 7, all);
    for (int extra = 1; extra <= 4; extra++)
        try((struct explanation){.kind = kind, .rule = SUM_WITH_EXTRA_KEYS, .n = {extra, 0}}, s, 8 + extra, all);
    for (size_t i = 0; i < sizeof tiles / sizeof *tiles && s->x->which.attention.causal; i++)
        try((struct explanation){.kind = kind, .rule = SUM_WITH_MASKED_KEYS, .n = {tiles[i]}}, s, 8, all);
}

static void try_other_rows(enum explanation_kind kind, const struct case_seen *s, struct explanations *all) {
    static const enum sum_rule rules[] = {SUM_OF_OTHER_ROW, LSE_OF_OTHER_ROW, MAXIMUM_OF_OTHER_ROW};
    struct index_map maps[MOST_MAPS];
    const int count = s->nq > 1 ? maps_of(s->nq, maps) : 0;
    for (int i = 0; i < count; i++)
        for (int rule = 0; rule < (kind == EXPLAINS_LSE ? 3 : 1); rule++)
            try((struct explanation){.kind = kind, .rule = rules[rule], .map = maps[i]}, s, 8 + map_cost(&maps[i]),
                all);
}

void explain_row_sums(const struct case_seen *s, enum explanation_kind kind, struct explanations *all) {
    try_formulas(kind, s, all);
    try_extra_keys(kind, s, all);
    try_other_rows(kind, s, all);
    try_columns(kind, s, all);
    try_subsets(kind, s, all);
}

// ---- Words ----------------------------------------------------------------------------------------------------------

static void print_formula(const struct explanation *one, FILE *out) {
    const double *f = one->formula;
    const bool of_lse = one->kind == EXPLAINS_LSE, of_row = !f[3];
    char maximum[80];
    if (one->n[0] == 1)
        snprintf(maximum, sizeof maximum, "the score of the %s key", one->n[1] ? "last" : "first");
    else
        snprintf(maximum, sizeof maximum, "the maximum of the %s tile of %d keys", one->n[1] ? "last" : "first",
                 one->n[0]);
    if (of_row && !of_lse && !f[0] && !f[1])
        fprintf(out, "The weights are %.4g times the right ones: the divisor is wrong by this factor", exp(-f[2]));
    else if (of_row && !of_lse && !f[0] && !f[2])
        fprintf(out, "The divisor is the right row sum to the power %.3g", 1 + f[1]);
    else if (of_row && of_lse && !f[0] && !f[1])
        fprintf(out, "lse is off by %.4g: such an lse results from a row sum that is %.4g times the right one", f[2],
                exp(f[2]));
    else if (!f[0] && !f[1] && !f[2])
        fprintf(
            out,
            "%s is relative to %s, but counts as if it were relative to the row max (%.3g times the logarithm of the "
            "factor between the two)",
            of_lse ? "The sum in lse" : "The row sum", maximum, f[3]);
    else if (f[3] && fabs(f[1] - f[0] - f[3]) < 5e-3)
        fprintf(out,
                "%s is %.4g times %s plus %.4g times the logarithm of the row sum, which is relative to this maximum",
                of_lse ? "lse" : "The logarithm of the divisor", (of_lse ? 1 : 0) + f[1] - f[3], maximum, 1 + f[1]);
    else {
        fprintf(out, "%s is %.4g times the row max plus %.4g times the logarithm of the row sum",
                of_lse ? "lse" : "The logarithm of the divisor", (of_lse ? 1 : 0) + f[0], 1 + f[1]);
        if (f[3])
            fprintf(out, " plus %.4g times what the row max is above %s", f[3], maximum);
        if (f[2])
            fprintf(out, " %s %.4g", f[2] < 0 ? "minus" : "plus", fabs(f[2]));
    }
}

static void print_subset(const struct explanation *one, int nk, FILE *out) {
    bool *marked = host_allocate(nk, sizeof *marked);
    const bool of_lse = one->kind == EXPLAINS_LSE;
    char text[200];
    for (int j = 0; j < nk; j++)
        marked[j] = subset_counts(one, j, nk) == of_lse;
    if (!pattern_ranges(marked, nk, "key", "keys", text, sizeof text))
        snprintf(text, sizeof text, "some keys");
    if (of_lse)
        fprintf(out,
                "lse counts only %s: the row sum of the output contains the other keys, but the sum in lse does not",
                text);
    else
        fprintf(out, "The row sum omits the weight of %s", text);
    free(marked);
}

static const char *sum_code(const struct explanation *one) {
    const bool of_lse = one->kind == EXPLAINS_LSE;
    switch (one->rule) {
    case SUM_BY_FORMULA:
        return of_lse            ? (one->formula[3] && !one->formula[0] && !one->formula[1] && !one->formula[2]
                                        ? "lse-sum-of-earlier-maximum"
                                        : "lse-formula")
               : one->formula[3] ? "row-sum-of-earlier-maximum"
               : !one->formula[0] && !one->formula[1] ? "divisor-off-by-factor"
               : !one->formula[0] && !one->formula[2] ? "row-sum-power"
                                                      : "divisor-formula";
    case SUM_OF_SOME_KEYS:
        return of_lse ? "lse-of-some-keys" : "row-sum-misses-key";
    case SUM_WITH_EXTRA_KEYS:
        return of_lse ? "lse-counts-extra-keys" : "row-sum-counts-extra-keys";
    case SUM_PLUS_CONSTANT:
        return of_lse ? "lse-sum-plus-constant" : "row-sum-plus-constant";
    case SUM_WITH_MASKED_KEYS:
        return of_lse ? "lse-counts-masked-keys" : "row-sum-counts-masked-keys";
    case SUM_OF_OTHER_ROW:
        return of_lse ? "lse-sum-of-other-row" : "row-sum-of-other-row";
    case LSE_OF_OTHER_ROW:
        return "lse-of-other-row";
    case MAXIMUM_OF_OTHER_ROW:
        return "lse-maximum-of-other-row";
    default:
        return one->meaning[0]->code;
    }
}

const char *explanation_of_sum_print(const struct explanation *one, int nk, FILE *out) {
    const char *sum = one->kind == EXPLAINS_LSE ? "The sum in lse" : "The row sum";
    char map[100];
    map_text(&one->map, map, sizeof map);
    switch (one->rule) {
    case SUM_BY_FORMULA:
        print_formula(one, out);
        break;
    case SUM_OF_SOME_KEYS:
        print_subset(one, nk, out);
        break;
    case SUM_WITH_EXTRA_KEYS:
        if (one->n[1])
            fprintf(out,
                    "%s is too large, by the weight of %d more keys with a score of 0: those up to the end of the tile "
                    "of %d keys",
                    sum, (one->n[1] - nk % one->n[1]) % one->n[1], one->n[1]);
        else
            fprintf(out, "%s is too large, by the weight of %d more key%s with a score of 0", sum, one->n[0],
                    one->n[0] == 1 ? "" : "s");
        break;
    case SUM_PLUS_CONSTANT:
        fprintf(out, "%s has %.4g added to it", sum, one->formula[0]);
        break;
    case SUM_WITH_MASKED_KEYS:
        if (one->n[0])
            fprintf(out, "%s counts masked keys, up to the end of their tile of %d keys", sum, one->n[0]);
        else
            fprintf(out, "%s counts all keys, including masked ones", sum);
        break;
    case SUM_OF_OTHER_ROW:
        fprintf(out, "%s is another row's: query i has the sum of query %s", sum, map);
        break;
    case LSE_OF_OTHER_ROW:
        fprintf(out, "lse is the lse of another row: query i has the lse of query %s", map);
        break;
    case MAXIMUM_OF_OTHER_ROW:
        fprintf(out,
                "lse is off by the difference of two row maxima: for query i the kernel has subtracted the row max of "
                "query %s",
                map);
        break;
    default:
        explanation_words(one, 0, out);
    }
    return sum_code(one);
}
