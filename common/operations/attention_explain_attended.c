// Rows that see a number of keys from the first on which is not theirs, as the case's own weights show it.
#include "operations/attention_explain_weights.h"

#include <math.h>
#include <stdlib.h>

enum { NONE = -1 };

// What the weights of row r before `end` come to, and what those come to that they should be.
static double total_before(const struct explainer *s, int64_t r, int end, double *of_right) {
    double all = 0;
    *of_right = 0;
    for (int j = 0; j < end; j++) {
        all += got_of(s, r)[j];
        *of_right += right_of(s, r)[j];
    }
    return all;
}

// Whether the keys before `end` that row r sees are in the right proportion to each other.
static bool is_right_before(const struct explainer *s, int64_t r, int end) {
    double of_right, all = total_before(s, r, end, &of_right);
    for (int j = 0; j < end; j++)
        if (!observed_matches(&s->x, r, got_of(s, r)[j] * of_right, right_of(s, r)[j] * all))
            return false;
    return true;
}

bool explain_attended(const struct explainer *s) {
    const struct attention_shape *shape = &s->x.which.attention;
    int64_t first = NONE, count = 0, wrong = 0;
    int attended_by_first = 0, difference = 0;
    int64_t in_sum = 0, zero_weight = 0; // rows whose sum has the weights of keys whose values it lacks, and the others
    bool same = true, alike = true;      // by how many keys, and whether too few or too many
    if (!shape->causal)
        return false;
    for (int64_t r = 0; r < s->x.rows; r++) {
        int attended = shape->nk, expected_keys = shape_attended_keys(shape, (int)(r % shape->nq));
        wrong += s->wrong[r];
        while (attended > 0 && fabs(got_of(s, r)[attended - 1]) < 1e-7)
            attended--;
        double missing = 0; // a weight may be too small to be seen
        for (int j = attended; j < expected_keys; j++)
            missing += right_of(s, r)[j];
        bool fewer = missing > 1e-4;
        if (!s->wrong[r] || !(fewer || attended > expected_keys) ||
            !is_right_before(s, r, attended < expected_keys ? attended : expected_keys))
            continue;
        if (!count++) {
            first = r;
            attended_by_first = attended;
            difference = attended - expected_keys;
        }
        same = same && attended - expected_keys == difference;
        alike = alike && (attended < expected_keys) == (difference < 0);
        double of_right, all = total_before(s, r, attended, &of_right);
        if (fewer && missing > 8 * s->x.tolerance)
            *(fabs(all - of_right) <= 2 * s->x.tolerance ? &in_sum : &zero_weight) += 1;
    }
    if (!count || 5 * count < 4 * wrong)
        return false;
    int expected_keys = shape_attended_keys(shape, (int)(first % shape->nq));
    bool attends_to_nothing = true;
    for (int64_t r = 0; r < s->x.rows; r++)
        for (int j = 0; j < shape->nk && s->wrong[r] && attends_to_nothing; j++)
            attends_to_nothing = !shape_attended_keys(shape, (int)(r % shape->nq)) &&
                                 fabs(got_of(s, r)[j] * shape->nk - 1) <= 4 * s->x.tolerance;
    if (in_sum && !zero_weight)
        explain_line(s, "values-missing-for-query",
                     "For query %d the weighted sum has the values of only %d of %d keys instead of %d keys, but the "
                     "row sum is right; at least %lld of %lld rows have too few values",
                     (int)(first % shape->nq), attended_by_first, shape->nk, expected_keys, (long long)count,
                     (long long)s->x.rows);
    else
        explain_line(
            s, "attended-keys-wrong",
            "Query %d attends to %d of %d keys instead of %d keys; at least %lld of %lld rows attend to too %s keys",
            (int)(first % shape->nq), attended_by_first, shape->nk, expected_keys, (long long)count,
            (long long)s->x.rows,
            !alike                              ? "few or too many"
            : attended_by_first < expected_keys ? "few"
                                                : "many");
    if (attends_to_nothing)
        explain_line(s, "masked-rows-have-weights",
                     "Fully masked rows give all keys the same weight: the masked scores are finite instead of "
                     "-infinity, or become finite after subtracting the maximum");
    if (count > 1 && same)
        explain_line(s, "attended-keys-off-by", "Each wrong row attends to %d key%s %s", abs(difference),
                     abs(difference) == 1 ? "" : "s", difference < 0 ? "too few" : "too many");
    return true;
}
