// The weights of a case: a mask, a rounding, a gather, a factor or the divisor that is confirmed by another case; and
// where nothing is, what is certain of them.
#include "operations/diagnosis_report.h"

#include <math.h>

bool report_divisor(const struct report *s) {
    double least = INFINITY, most = -INFINITY;
    for (int64_t r = 0; r < s->x->rows; r++) {
        double got = 0, right = 0;
        for (int j = 0; j < s->seen.nk && s->seen.wrong[r]; j++) {
            got += case_got(&s->seen, r)[j];
            right += case_right(&s->seen, r)[j];
        }
        least = right > 0 ? fmin(least, got / right) : least;
        most = right > 0 ? fmax(most, got / right) : most;
    }
    const double off = fmax(fabs(least - 1), fabs(most - 1));
    // Other weights than the largest may be off by the tolerance, too.
    const bool sure = off > 16 * s->x->tolerance;
    if (!(off > 2 * s->x->tolerance))
        return false;
    if (most == 0)
        report_line(s, "no-weights", "No key has any weight");
    else
        report_line(
            s, sure ? "divisor-wrong" : "rows-off-by-factor",
            "The weights of a row are right up to one common factor%s: rows are %.4g to %.4g times the right ones",
            sure ? ", so the divisor is wrong" : "", least, most);
    return true;
}

// Of keys that have no weight whether the row sum counts them all the same.
static void report_sum_of_table(const struct report *report, const struct key_table *table) {
    const struct case_seen *s = &report->seen;
    bool counts = true, omits = true;
    for (int j = 0; j < s->nk; j++)
        if (table->from[j] >= 0 && (table->from[j] != j || table->times[j] != 1))
            return;
    for (int64_t r = 0; r < s->rows; r++) {
        double total = 0, kept = 0;
        for (int j = 0; j < s->nk && s->wrong[r]; j++) {
            total += case_got(s, r)[j];
            kept += table->from[j] < 0 ? 0 : case_right(s, r)[table->from[j]];
        }
        counts = counts && fabs(total - kept) <= 8 * s->x->tolerance;
        omits = omits && (!s->wrong[r] || fabs(total - 1) <= 8 * s->x->tolerance);
    }
    if (counts && !omits)
        report_line(report, "skipped-keys-in-row-sum", "The row sum counts these keys");
    else if (omits && !counts)
        report_line(report, "skipped-keys-not-in-row-sum", "The row sum does not count these keys, either");
}

// How many keys queries attend to under a mask. False: as many as they should, or only rows that attend to none differ.
static bool report_mask(const struct report *report) {
    const struct case_seen *s = &report->seen;
    const struct attention_shape *shape = &s->x->which.attention;
    int64_t few = 0, many = 0, first = -1;
    bool blind = true;
    for (int64_t r = 0; r < s->rows && s->mask; r++) {
        const int own = shape_attended_keys(shape, (int)(r % s->nq));
        few += s->attended[r] < own;
        many += s->attended[r] > own;
        blind = blind && (s->attended[r] == own || own == 0);
        first = first < 0 && s->attended[r] != own ? r : first;
    }
    if (blind)
        return false;
    const int query = (int)(first % s->nq), own = shape_attended_keys(shape, query), keys = s->attended[first];
    if (s->mask == MASK_OF_VALUES)
        report_line(report, "values-missing-for-query",
                    "For query %d the weighted sum has the values of only %d of %d keys instead of %d keys, but the "
                    "row sum is right; at least %lld of %lld rows have too few values",
                    query, keys, s->nk, own, (long long)few, (long long)s->rows);
    else
        report_line(report, "limit-wrong",
                    "Query %d attends to %d of %d keys instead of %d keys; of %lld rows %lld attend to too few keys, "
                    "and %lld to too many",
                    query, keys, s->nk, own, (long long)s->rows, (long long)few, (long long)many);
    return true;
}

bool report_weights(const struct report *s) {
    struct explanation best;
    const bool masked = s->seen.mask && diagnosis_by(&s->seen, explain_mask, NULL, s->out);
    if ((masked || s->x->which.attention.causal) && report_mask(s))
        return masked;
    if (diagnosis_by(&s->seen, explain_rounding, NULL, s->out))
        return true;
    if (diagnosis_by(&s->seen, explain_weights, &best, s->out)) {
        if (best.gather == GATHER_TABLE)
            report_sum_of_table(s, best.table);
        else if (best.kind != EXPLAINS_DIVISOR)
            report_totals(s);
        return true;
    }
    if (!(weights_are_proportional(&s->seen) && report_divisor(s))) {
        report_line(s, "weights-wrong", "The weights are wrong, by more than one common factor");
        report_totals(s);
    }
    return false;
}
