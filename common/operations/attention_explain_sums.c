// Sums and exponentials: what weights add up to, and how they hang on the scores.
#include "host/parallel.h"
#include "operations/attention_explain_weights.h"
#include "operations/attention_operation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool explain_sums(const struct explainer *s) {
    int nk = s->x.which.attention.nk;
    double least = INFINITY, most = -INFINITY;
    for (int64_t r = 0; r < s->x.rows; r++) {
        double total = 0;
        for (int j = 0; j < nk; j++)
            total += got_of(s, r)[j];
        least = s->wrong[r] ? fmin(least, total) : least;
        most = s->wrong[r] ? fmax(most, total) : most;
    }
    if (fabs(least - 1) < 4 * s->x.tolerance && fabs(most - 1) < 4 * s->x.tolerance)
        return false;
    explain_line(s, "row-sum-of-other-weights",
                 "The weights of a row add up to between %.4g and %.4g instead of 1: the row sum is computed from "
                 "other weights than the output",
                 least, most);
    return true;
}

// The largest score of a row; its weight is what the others are compared with.
static int top_of(const struct explainer *s, int64_t r) {
    int nk = s->x.which.attention.nk, top = 0;
    for (int j = 1; j < nk; j++)
        top = s->x.score[r * nk + j] > s->x.score[r * nk + top] ? j : top;
    return top;
}

bool explain_scale(const struct explainer *s) {
    static const double seen = 1e-5; // smaller weights are too small to be compared
    int nk = s->x.which.attention.nk;
    double products = 0, squares = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int64_t r = 0; r < s->x.rows; r++) {
            const double *got = got_of(s, r), *score = s->x.score + r * nk;
            int top = top_of(s, r);
            for (int j = 0; j < nk && !s->x.missing[r]; j++) {
                double x = score[j] - score[top], y = log(got[j] / got[top]), factor = products / squares;
                if (score[j] == -INFINITY || j == top || (pass && !(got[j] > seen) && exp(factor * x) < 2 * seen))
                    continue;
                if (!(got[top] > 0) || (pass && !(fabs(y - factor * x) <= 4 * s->x.tolerance + seen / got[j])))
                    return false;
                if (!pass && got[j] > seen) {
                    products += x * y;
                    squares += x * x;
                }
            }
        }
    if (!(squares > 0) || fabs(products / squares - 1) < 4 * s->x.tolerance)
        return false;
    const struct problem_case *which = &s->x.which;
    double factor = products / squares;
    bool usual = which->has_scale &&
                 fabs(factor * s->x.problem.softmax_scale * sqrt(which->attention.head_dim) - 1) < 4 * s->x.tolerance;
    explain_line(s, usual ? "scale-ignored" : "scores-scaled",
                 "The weights result from scores that are %.4g times the right scores%s", factor,
                 usual ? ": the kernel uses the scale 1 / sqrt(head_dim) instead of the requested one" : "");
    explain_sums(s);
    return true;
}

// Whether some row gives the key the weight that it should have there.
static bool counts_elsewhere(const struct explainer *s, int key) {
    for (int64_t r = 0; r < s->x.rows; r++)
        if (!s->x.missing[r] && weight_is_significant(s, r, key))
            return true;
    return false;
}

// Whether keys that lie so far below the largest score, until the end of their tile, have no weight, and the nearer
// ones are in proportion. Sets where between *kept and *least the border is, and how many have none.
static bool find_dropped(const struct explainer *s, int tile, double *kept, double *least, int *dropped) {
    enum { LEAST = 3 };
    const int nk = s->x.which.attention.nk;
    bool elsewhere = true; // each of the keys counts in other rows
    *least = INFINITY, *kept = *dropped = 0;
    for (int64_t r = 0; r < s->x.rows; r++) {
        const double *score = s->x.score + r * nk;
        double top = -INFINITY;
        for (int j = 0; j < nk && s->wrong[r]; j++) {
            for (int i = j; i < nk && i < j + tile && j % tile == 0; i++)
                top = fmax(top, score[i]);
            const double below = top - score[j], weight = got_of(s, r)[j];
            if (!(below < INFINITY))
                continue;
            if (weight == 0) {
                *least = fmin(*least, below);
                *dropped += 1;
                elsewhere = elsewhere && counts_elsewhere(s, j);
            } else if (!observed_matches(&s->x, r, weight, s->factor[r] * right_of(s, r)[j])) {
                return false;
            } else {
                *kept = fmax(*kept, below);
            }
        }
    }
    // What is too small for its type is 0 in a kernel that is right, too.
    return *dropped >= (elsewhere ? 1 : LEAST) && *kept<*least && * kept> 0 &&
           *least <= (s->x.which.dtype == ATTENTION_FP32 ? 60 : 8);
}

bool explain_dropped(const struct explainer *s) {
    const int nk = s->x.which.attention.nk, tiles[] = {nk, 16, 32, 64, 128, 256, 1};
    double kept, least;
    int dropped;
    for (size_t i = 0; i < sizeof tiles / sizeof *tiles; i++) {
        if (tiles[i] > nk || !find_dropped(s, tiles[i], &kept, &least, &dropped))
            continue;
        char until[80] = "row max";
        if (tiles[i] == 1)
            snprintf(until, sizeof until, "running maximum");
        else if (tiles[i] < nk)
            snprintf(until, sizeof until, "running maximum (in tiles of %d keys)", tiles[i]);
        explain_line(s, "small-weights-dropped",
                     "Keys with a score of more than %.3g below the %s have weight 0 instead of up to %.2g of the "
                     "largest weight; the weights of the other keys are right up to one common factor",
                     (kept + least) / 2, until, exp(-least));
        return true;
    }
    return false;
}

// ---- A weight as a function of its score ----------------------------------------------------------------------------

struct point {
    double below,
        times; // below the row's largest score; the weight, relative to that of the largest one, over the right
};

static int compare_points(const void *a, const void *b) {
    const struct point *p = a, *q = b;
    return (p->below > q->below) - (p->below < q->below);
}

// The points of all wrong rows, in order. Returns how many.
static int collect_points(const struct explainer *s, struct point *points /* [rows * nk] */) {
    int nk = s->x.which.attention.nk, count = 0;
    for (int64_t r = 0; r < s->x.rows; r++) {
        int top = top_of(s, r);
        for (int j = 0; j < nk && s->wrong[r] && got_of(s, r)[top] > 0; j++) {
            double right = right_of(s, r)[j] / right_of(s, r)[top];
            if (right > 1e-5)
                points[count++] = (struct point){s->x.score[r * nk + top] - s->x.score[r * nk + j],
                                                 got_of(s, r)[j] / got_of(s, r)[top] / right};
        }
    }
    qsort(points, (size_t)count, sizeof *points, compare_points);
    return count;
}

bool explain_exponential(const struct explainer *s) {
    enum { LEAST = 100, MOST_REPORTED = 4 };
    int nk = s->x.which.attention.nk;
    struct point *points = host_allocate(s->x.rows * nk, sizeof *points);
    int count = collect_points(s, points);
    bool smooth = count >= LEAST;
    double largest = 0, tolerance = 16 * s->x.tolerance;
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
    smooth = smooth && largest > 40 * s->x.tolerance && between <= 0.1 * about;
    if (smooth) {
        char text[300];
        int length = 0;
        for (int i = 1; i <= MOST_REPORTED; i++) {
            const struct point *p = &points[(int64_t)i * (count - 1) / MOST_REPORTED];
            length +=
                snprintf(text + length, sizeof text - (size_t)length,
                         "%s%.2f below the maximum %.4g times the right weight", i > 1 ? ", " : "", p->below, p->times);
        }
        explain_line(s, "not-an-exponential",
                     "The weights depend only on the distance of a score from the row max, but the function is not "
                     "exp: %s; over all distances the factor is %.4g to %.4g",
                     text, lowest, highest);
        explain_sums(s);
    }
    free(points);
    return smooth;
}
