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

static const char *print_formula(const struct explanation *one, FILE *out) {
    const double *f = one->formula;
    const bool of_lse = one->kind == EXPLAINS_LSE, of_row = !f[3];
    char maximum[80];
    if (one->n[0] == 1)
        snprintf(maximum, sizeof maximum, "the score of the %s key", one->n[1] ? "last" : "first");
    else
        snprintf(maximum, sizeof maximum, "the maximum of the %s tile of %d keys", one->n[1] ? "last" : "first",
                 one->n[0]);
    if (is_undivided(one)) {
        fputs("The output is not divided by the row sum", out);
        return "division-missing";
    }
    if (of_row && !of_lse && !f[0] && !f[1]) {
        fprintf(out, "The weights are %.4g times the right ones: the divisor is wrong by this factor", exp(-f[2]));
        return "divisor-off-by-factor";
    }
    if (of_row && !of_lse && !f[0] && !f[2]) {
        fprintf(out, "The divisor is the right row sum to the power %.3g", 1 + f[1]);
        return "row-sum-power";
    }
    if (!of_row && !f[0] && !f[1] && !f[2]) {
        fprintf(out,
                "%s is relative to %s, but counts as if it were relative to the row max (%.3g times the logarithm of "
                "the factor between the two)",
                of_lse ? "The sum in lse" : "The row sum", maximum, f[3]);
        return of_lse ? "lse-sum-of-earlier-maximum" : "row-sum-of-earlier-maximum";
    }
    fprintf(out, "%s is %.4g times the row max plus %.4g times the logarithm of the row sum",
            of_lse ? "lse" : "The logarithm of the divisor", (of_lse ? 1 : 0) + f[0], 1 + f[1]);
    if (f[3])
        fprintf(out, " plus %.4g times what the row max is above %s", f[3], maximum);
    if (f[2])
        fprintf(out, " %s %.4g", f[2] < 0 ? "minus" : "plus", fabs(f[2]));
    return of_lse ? "lse-formula" : "divisor-formula";
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

const char *explanation_of_sum_print(const struct explanation *one, int nk, FILE *out) {
    const bool of_lse = one->kind == EXPLAINS_LSE;
    const char *sum = of_lse ? "The sum in lse" : "The row sum";
    char map[100];
    switch (one->rule) {
    case SUM_BY_FORMULA:
        return print_formula(one, out);
    case SUM_OF_SOME_KEYS:
        print_subset(one, nk, out);
        return of_lse ? "lse-of-some-keys" : "row-sum-misses-key";
    case SUM_WITH_EXTRA_KEYS:
        fprintf(out, "%s is too large, by the weight of %d more key%s with a score of 0", sum,
                one->n[1] ? (one->n[1] - nk % one->n[1]) % one->n[1] : one->n[0], one->n[0] == 1 ? "" : "s");
        if (one->n[1])
            fprintf(out, ": those up to the end of the tile of %d keys", one->n[1]);
        return of_lse ? "lse-counts-extra-keys" : "row-sum-counts-extra-keys";
    case SUM_PLUS_CONSTANT:
        fprintf(out, "%s has %.4g added to it", sum, one->formula[0]);
        return of_lse ? "lse-sum-plus-constant" : "row-sum-plus-constant";
    case SUM_OF_OTHER_ROW:
        map_text(&one->map, map, sizeof map);
        fprintf(out, "%s is another row's: query i has the sum of query %s", sum, map);
        return of_lse ? "lse-sum-of-other-row" : "row-sum-of-other-row";
    case SUM_PLUS_EARLIER_ROW:
        fprintf(out, "%s of each wrong row also contains that of the row %d rows before, counted over all heads", sum,
                one->n[0]);
        return of_lse ? "lse-sum-adds-earlier-row" : "row-sum-adds-earlier-row";
    default:
        explanation_words(one, 0, out);
        return one->meaning[0]->code;
    }
}
