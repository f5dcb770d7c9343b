#include "operations/attention_factors.h"

#include <math.h>

bool factors_are_precise(const struct stages *s, double weight) {
    return s->x.which.dtype != ATTENTION_FP16 || fabs(weight) > 0x1p-13;
}

bool factors_go_on(const struct stages *s, int j, int before) {
    for (int64_t r = 0; r < s->x.rows; r++) {
        const double *got = got_of(s, r), *right = right_of(s, r);
        if (s->wrong[r] && right[j] > 0 && right[j - before] > 0 && factors_are_precise(s, got[j]) &&
            factors_are_precise(s, got[j - before]) &&
            !observed_near(&s->x, r, got[j] * right[j - before] / right[j], got[j - before]))
            return false;
    }
    return true;
}

double factors_largest(const struct stages *s, int64_t r) {
    double largest = 0;
    for (int j = 0; j < s->x.which.attention.nk; j++)
        largest = fmax(largest, got_of(s, r)[j]);
    return largest;
}

bool factors_tell(const struct stages *s, double got, double right, double largest) {
    static const double least = 1e-25;
    return got > largest / 128 && right > least && factors_are_precise(s, got);
}

bool stages_tells(const struct stages *s, int64_t row, int key) {
    return factors_tell(s, got_of(s, row)[key], right_of(s, row)[key], factors_largest(s, row));
}

bool factors_differ(const struct stages *s) {
    const int nk = s->x.which.attention.nk;
    for (int64_t r = 0; r < s->x.rows; r++) {
        const double *got = got_of(s, r), *right = right_of(s, r), largest = factors_largest(s, r);
        double least = INFINITY, most = 0;
        for (int j = 0; j < nk && s->wrong[r]; j++)
            if (factors_tell(s, got[j], right[j], largest)) {
                least = fmin(least, got[j] / right[j]);
                most = fmax(most, got[j] / right[j]);
            }
        if (most > least * (1 + 32 * s->x.near))
            return true;
    }
    return false;
}

bool factors_are_one(const struct stages *s, int first, int end, int step, int *told) {
    for (int64_t r = 0; r < s->x.rows; r++) {
        const double *got = got_of(s, r), *right = right_of(s, r), largest = factors_largest(s, r);
        double factor = NAN;
        for (int j = first; j < end && s->wrong[r]; j += step) {
            if (!factors_tell(s, got[j], right[j], largest))
                continue;
            *told += !isnan(factor);
            if (isnan(factor))
                factor = got[j] / right[j];
            else if (fabs(got[j] / right[j] - factor) > 8 * s->x.near * factor)
                return false;
        }
    }
    return true;
}
