// The weights of a case: a mask, a rounding, a gather, a factor or the divisor that is confirmed by another case; and
// where nothing is, what is certain of them.
#include "operations/diagnosis_report.h"

#include <math.h>

// All weights of each wrong row are off by one factor, of which no more is known. False where that is as small as
// roundings of the weights are.
static bool report_divisor(const struct report *s) {
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
    if (!(fmax(fabs(least - 1), fabs(most - 1)) > 2 * s->x->tolerance))
        return false;
    if (most == 0)
        report_line(s, "no-weights", "No key has any weight");
    else
        report_line(s, "divisor-wrong",
                    "The weights of a row are right up to one common factor, so the divisor is wrong: rows are %.4g to "
                    "%.4g times the right ones",
                    least, most);
    return true;
}

bool report_weights(const struct report *s) {
    bool mask_wrong;
    const bool mask_explained = diagnosis_of_mask(s->x, &mask_wrong, s->out);
    if (mask_wrong)
        return mask_explained;
    if (diagnosis_of_rounding(s->x, s->out))
        return true;
    bool totals_explained;
    if (diagnosis_of_weights(s->x, &totals_explained, s->out)) {
        if (!totals_explained)
            report_totals(s);
        return true;
    }
    if (!(weights_are_proportional(&s->seen) && report_divisor(s))) {
        report_line(s, "weights-wrong", "The weights are wrong, by more than one common factor");
        report_totals(s);
    }
    return false;
}
