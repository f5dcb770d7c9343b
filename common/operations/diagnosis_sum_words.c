// The sentences about what a row is divided by, and about the sum in its log-sum-exp.
#include "host/parallel.h"
#include "operations/diagnosis.h"
#include "operations/diagnosis_text.h"

#include <math.h>
#include <stdlib.h>

static bool is_undivided(const struct explanation *one) {
    const double *f = one->formula;
    return one->kind == EXPLAINS_DIVISOR && fabs(1 + f[1]) < 1e-3 && !f[0] && !f[2] && !f[3];
}

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
    else if (is_undivided(one))
        fputs("The output is not divided by the row sum", out);
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
        marked[j] = sum_counts_key(one, j, nk) == of_lse;
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
        return of_lse              ? (one->formula[3] && !one->formula[0] && !one->formula[1] && !one->formula[2]
                                          ? "lse-sum-of-earlier-maximum"
                                          : "lse-formula")
               : is_undivided(one) ? "division-missing"
               : one->formula[3]   ? "row-sum-of-earlier-maximum"
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
