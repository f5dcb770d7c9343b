#include "operations/attention_factors.h"

#include <math.h>

bool factors_are_precise(const struct explainer *s, double weight) {
    return s->x.which.dtype != ATTENTION_FP16 || fabs(weight) > 0x1p-13;
}

bool factors_repeat(const struct explainer *s, int j, int before) {
    for (int64_t r = 0; r < s->x.rows; r++) {
        const double *got = got_of(s, r), *right = right_of(s, r);
        if (s->wrong[r] && right[j] > 0 && right[j - before] > 0 && factors_are_precise(s, got[j]) &&
            factors_are_precise(s, got[j - before]) &&
            !observed_matches(&s->x, r, got[j] * right[j - before] / right[j], got[j - before]))
            return false;
    }
    return true;
}

double factors_largest(const struct explainer *s, int64_t r) {
    double largest = 0;
    for (int j = 0; j < s->x.which.attention.nk; j++)
        largest = fmax(largest, got_of(s, r)[j]);
    return largest;
}

bool factor_is_significant(const struct explainer *s, double got, double right, double largest) {
    static const double least = 1e-25;
    return got > largest / 128 && right > least && factors_are_precise(s, got);
}

bool weight_is_significant(const struct explainer *s, int64_t row, int key) {
    return factor_is_significant(s, got_of(s, row)[key], right_of(s, row)[key], factors_largest(s, row));
}

bool factors_differ(const struct explainer *s) {
    const int nk = s->x.which.attention.nk;
    for (int64_t r = 0; r < s->x.rows; r++) {
        const double *got = got_of(s, r), *right = right_of(s, r), largest = factors_largest(s, r);
        double least = INFINITY, most = 0;
        for (int j = 0; j < nk && s->wrong[r]; j++)
            if (factor_is_significant(s, got[j], right[j], largest)) {
                least = fmin(least, got[j] / right[j]);
                most = fmax(most, got[j] / right[j]);
            }
        if (most > least * (1 + 32 * s->x.tolerance))
            return true;
    }
    return false;
}

bool factors_are_one(const struct explainer *s, int first, int end, int step, int *reported) {
    for (int64_t r = 0; r < s->x.rows; r++) {
        const double *got = got_of(s, r), *right = right_of(s, r), largest = factors_largest(s, r);
        double factor = NAN;
        for (int j = first; j < end && s->wrong[r]; j += step) {
            if (!factor_is_significant(s, got[j], right[j], largest))
                continue;
            *reported += !isnan(factor);
            if (isnan(factor))
                factor = got[j] / right[j];
            else if (fabs(got[j] / right[j] - factor) > 8 * s->x.tolerance * factor)
                return false;
        }
    }
    return true;
}
