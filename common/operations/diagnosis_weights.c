// The weights of a case: a mask, a gather, a rounding, a factor or the divisor that is confirmed by another case; and
// where nothing is, what is certain of them.
#include "host/parallel.h"
#include "operations/attention_conditions.h"
#include "operations/attention_operation.h"
#include "operations/diagnosis_report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- A weight as a function of its score ----------------------------------------------------------------------------

// The largest score of a row; its weight is what the others are compared with.
static int top_of(const struct report *s, int64_t r) {
    int nk = s->x->which.attention.nk, top = 0;
    for (int j = 1; j < nk; j++)
        top = s->x->score[r * nk + j] > s->x->score[r * nk + top] ? j : top;
    return top;
}

struct point {
    double below,
        times; // below the row's largest score; the weight, relative to that of the largest one, over the right
};

static int compare_points(const void *a, const void *b) {
    const struct point *p = a, *q = b;
    return (p->below > q->below) - (p->below < q->below);
}

// The points of all wrong rows, in order. Returns how many.
static int collect_points(const struct report *s, struct point *points /* [rows * nk] */) {
    int nk = s->x->which.attention.nk, count = 0;
    for (int64_t r = 0; r < s->x->rows; r++) {
        int top = top_of(s, r);
        for (int j = 0; j < nk && s->seen.wrong[r] && case_got(&s->seen, r)[top] > 0; j++) {
            double right = case_right(&s->seen, r)[j] / case_right(&s->seen, r)[top];
            if (right > 1e-5)
                points[count++] = (struct point){s->x->score[r * nk + top] - s->x->score[r * nk + j],
                                                 case_got(&s->seen, r)[j] / case_got(&s->seen, r)[top] / right};
        }
    }
    qsort(points, (size_t)count, sizeof *points, compare_points);
    return count;
}

static bool report_exponential(const struct report *s) {
    enum { LEAST = 100, MOST_REPORTED = 4 };
    int nk = s->x->which.attention.nk;
    struct point *points = host_allocate(s->x->rows * nk, sizeof *points);
    int count = collect_points(s, points);
    bool smooth = count >= LEAST;
    double largest = 0, tolerance = 16 * s->x->tolerance;
    // Neighbours, which belong to other rows and keys, are off by the same factor.
    for (int i = 1; i < count && smooth; i++) {
        double far = fabs(points[i].times - points[i - 1].times), gap = points[i].below - points[i - 1].below;
        smooth = far <= (tolerance + 2 * gap) * (fabs(points[i].times) + fabs(points[i - 1].times)) && gap < 2;
        largest = fmax(largest, fabs(points[i].times - 1));
    }
    // Of random factors neighbours would differ by twice as much, squared, as all do from their mean.
    double mean = 0, between = 0, about = 0, lowest = INFINITY, highest = 0;
    for (int i = 0; i < count; i++)
        mean += points[i].times / count;
    for (int i = 0; i < count; i++) {
        about += pow(points[i].times - mean, 2);
        between += i ? pow(points[i].times - points[i - 1].times, 2) : 0;
        lowest = fmin(lowest, points[i].times);
        highest = fmax(highest, points[i].times);
    }
    smooth = smooth && largest > 40 * s->x->tolerance && between <= 0.1 * about;
    if (smooth) {
        char text[300];
        int length = 0;
        for (int i = 1; i <= MOST_REPORTED; i++) {
            const struct point *p = &points[(int64_t)i * (count - 1) / MOST_REPORTED];
            length +=
                snprintf(text + length, sizeof text - (size_t)length,
                         "%s%.2f below the maximum %.4g times the right weight", i > 1 ? ", " : "", p->below, p->times);
        }
        report_line(s, "not-an-exponential",
                    "The weights depend only on the distance of a score from the row max, but the function is not "
                    "exp: %s; over all distances the factor is %.4g to %.4g",
                    text, lowest, highest);
    }
    free(points);
    return smooth;
}

// ---- What is certain ------------------------------------------------------------------------------------------------

// What the weights of the wrong rows add up to. also_1: it is worth saying where that is 1, too.
static void report_totals(const struct report *s, bool also_1) {
    double least = INFINITY, most = -INFINITY;
    for (int64_t r = 0; r < s->x->rows; r++) {
        double total = 0;
        for (int j = 0; j < s->seen.nk && s->seen.wrong[r]; j++)
            total += case_got(&s->seen, r)[j];
        least = s->seen.wrong[r] ? fmin(least, total) : least;
        most = s->seen.wrong[r] ? fmax(most, total) : most;
    }
    if (fabs(least - 1) >= 4 * s->x->tolerance || fabs(most - 1) >= 4 * s->x->tolerance)
        report_line(s, "row-sum-of-other-weights",
                    "The weights of a row add up to between %.4g and %.4g instead of 1: the row sum is computed from "
                    "other weights than the output",
                    least, most);
    else if (also_1)
        report_line(s, "row-sum-of-these-weights",
                    "The weights of a row add up to 1: the row sum is that of the weights that the output has");
}

// The factor that most of a row's larger weights share; 0 where the row has none.
static double common_factor(const struct report *s, int64_t r) {
    double least = INFINITY, most = -INFINITY;
    for (int j = 0; j < s->seen.nk; j++)
        if (!isnan(s->seen.off[r * s->seen.nk + j])) {
            least = fmin(least, s->seen.off[r * s->seen.nk + j]);
            most = fmax(most, s->seen.off[r * s->seen.nk + j]);
        }
    return most >= least ? exp((least + most) / 2) : 0;
}

// All weights of each wrong row are off by one factor, of which no more is known. False where that is as small as
// roundings of the weights are.
static bool report_divisor(const struct report *s) {
    static const double bits8 = 0x1p-8;
    double least = INFINITY, most = -INFINITY;
    for (int64_t r = 0; r < s->x->rows; r++)
        if (s->seen.wrong[r]) {
            least = fmin(least, common_factor(s, r));
            most = fmax(most, common_factor(s, r));
        }
    if (fmax(fabs(least - 1), fabs(most - 1)) <= 2 * s->x->tolerance)
        return false;
    if (most == 0)
        report_line(s, "no-weights", "No key has any weight");
    else
        report_line(s, "divisor-wrong",
                    "The weights of a row are right up to one common factor, so the divisor is wrong: rows are %.4g to "
                    "%.4g times the right ones",
                    least, most);
    if (least < 1 && most > 1 && least > 1 - bits8 && most < 1 + bits8)
        report_line(s, "row-sum-rounded",
                    "The row sum is too large in some rows and too small in others, by at most %.2g, like a sum whose "
                    "additions are rounded to 8 or 11 bits",
                    fmax(1 - least, most - 1));
    return true;
}

// Which keys are wrong in some row by another factor than the row's other keys, where some are right.
static bool report_keys(const struct report *s) {
    const int nk = s->seen.nk;
    bool *marked = host_zeros(nk, sizeof *marked);
    int wrong = 0, first = nk;
    char text[200];
    for (int j = 0; j < nk; j++) {
        for (int64_t r = 0; r < s->x->rows && !marked[j]; r++)
            marked[j] =
                s->seen.wrong[r] && !observed_matches(s->x, r, case_got(&s->seen, r)[j], case_right(&s->seen, r)[j]);
        wrong += marked[j];
        first = marked[j] && j < first ? j : first;
    }
    const bool some = wrong && wrong < nk;
    if (some && !pattern_ranges(marked, nk, "key", "keys", text, sizeof text))
        snprintf(text, sizeof text, "%d keys (of %d; the first one is key %d)", wrong, nk, first);
    if (some)
        report_line(s, "keys-wrong", "The weights are wrong for %s; the weights of the other keys are right", text);
    free(marked);
    return some;
}

// Weights that are off by no more than numbers of 16 bits are.
static bool report_rounded(const struct report *s) {
    static const double bits8 = 0x1p-8, bits11 = 0x1p-11, least = 0x1p-14;
    double worst = 0, of_small = 0; // weights; of the small ones no more is known than whether they are there
    for (int64_t r = 0; r < s->x->rows; r++)
        for (int j = 0; j < s->seen.nk && s->seen.wrong[r]; j++) {
            const double right = case_right(&s->seen, r)[j], off = fabs(case_got(&s->seen, r)[j] / right - 1);
            if (right > 1e-3 * s->x->largest[r])
                worst = fmax(worst, off);
            else if (right > 1e-6 * s->x->largest[r])
                of_small = fmax(of_small, off);
        }
    if (s->x->which.dtype != ATTENTION_FP32 || !(worst > least && worst <= 2 * bits8) || of_small > 0.1)
        return false;
    report_line(s, "weights-rounded",
                "The weights are nearly right, off by at most %.2g: an intermediate result is rounded, %s", worst,
                worst <= 2 * bits11 ? "as in TF32 or fp16" : "as in bf16");
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
            report_totals(s, false);
        return true;
    }
    if (report_sources(s))
        return true;
    if (weights_are_proportional(&s->seen) && report_divisor(s)) {
        report_equal_scores(s);
        return false;
    }
    if (report_exponential(s)) {
        report_totals(s, false);
        return true;
    }
    report_equal_scores(s);
    if (report_rounded(s))
        return true;
    if (!report_keys(s))
        report_line(s, "weights-wrong", "The weights are wrong, by more than one common factor");
    report_totals(s, true);
    return false;
}
