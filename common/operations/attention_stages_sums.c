// Sums, exponentials and the log-sum-exp: what weights are divided by, and how they hang on the scores.
#include "host/parallel.h"
#include "operations/attention_stages.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NONE = -1 };

double stages_maximum(const struct stages *s, int64_t row) {
    int nk = s->x.which.attention.nk;
    double maximum = -INFINITY;
    for (int j = 0; j < nk; j++)
        maximum = fmax(maximum, s->x.score[row * nk + j]);
    return maximum;
}

// The sum of a row's weights, relative to its maximum.
static double sum_of(const struct stages *s, int64_t row) {
    int nk = s->x.which.attention.nk;
    double maximum = stages_maximum(s, row), sum = 0;
    for (int j = 0; j < nk; j++)
        sum += exp(s->x.score[row * nk + j] - maximum);
    return sum;
}

// Every wrong row is divided by some power of its sum, or by that of another row.
static void say_which_divisor(const struct stages *s) {
    int64_t first = NONE, instead = NONE;
    double power = NAN;
    bool one_power = true, other_rows = true;
    for (int64_t r = 0; r < s->x.rows; r++) {
        if (!s->wrong[r])
            continue;
        double sum = sum_of(s, r), divisor = sum / s->factor[r];
        double p = log(divisor) / log(sum);
        power = isnan(power) ? p : power;
        one_power = one_power && sum > 1.1 && fabs(p - power) * log(sum) < 4 * s->x.near;
        int64_t other = 0;
        while (other < s->x.rows && (other == r || fabs(sum_of(s, other) - divisor) > 4 * s->x.near * fabs(divisor)))
            other++;
        other_rows = other_rows && other < s->x.rows;
        if (first == NONE && other < s->x.rows) {
            first = r;
            instead = other;
        }
    }
    const int nq = s->x.which.attention.nq;
    if (one_power && !isnan(power))
        stages_say(s, "that sum is the right one to the power of %.3g", power);
    else if (other_rows && first != NONE)
        stages_say(s, "that sum is another row's: query %d is divided by that of query %d", (int)(first % nq),
                   (int)(instead % nq));
}

void stages_say_divisor(const struct stages *s) {
    const struct attention_shape *shape = &s->x.which.attention;
    int nk = shape->nk;
    double least = INFINITY, most = -INFINITY, extra = NAN;
    bool *lacks = host_allocate(nk, sizeof *lacks);
    int lacking = nk;
    bool extra_fits = true;
    memset(lacks, true, (size_t)nk);
    for (int64_t r = 0; r < s->x.rows; r++) {
        if (!s->wrong[r])
            continue;
        double f = s->factor[r], maximum = stages_maximum(s, r), sum = sum_of(s, r), other = sum / f;
        least = fmin(least, f);
        most = fmax(most, f);
        // Keys past the end count as if their score was 0.
        double keys = (other - sum) / exp(-maximum), near = 4 * s->x.near * other / exp(-maximum);
        if (isnan(extra))
            extra = nearbyint(keys);
        extra_fits = extra_fits && extra >= 1 && near < 0.4 && fabs(keys - extra) <= near;
        for (int j = 0; j < nk; j++)
            if (lacks[j] &&
                fabs(sum - exp(s->x.score[r * nk + j] - maximum) - other) > 4 * s->x.near * fmin(sum, other)) {
                lacks[j] = false;
                lacking--;
            }
    }
    bool same = most - least <= 2 * s->x.near * most;
    if (most == 0)
        stages_say(s, "gives no key any weight");
    else if (same)
        stages_say(s, "gives each key %.4g times its weight: the weights are right, what they are divided by is not",
                   most);
    else
        stages_say(
            s,
            "gives the keys of a row their weights in the right proportion, but divides them by another sum: rows "
            "are %.4g to %.4g times the right ones",
            least, most);
    if (extra_fits)
        stages_say(s, "the sum is larger by as much as %.0f more key%s with a score of 0 would make it", extra,
                   extra > 1 ? "s" : "");
    if (lacking == 1)
        for (int j = 0; j < nk; j++)
            if (lacks[j])
                stages_say(s, "the sum lacks the weight of key %d of %d", j, nk);
    if (!same && !extra_fits && lacking != 1)
        say_which_divisor(s);
    free(lacks);
}

bool stages_say_sums(const struct stages *s) {
    int nk = s->x.which.attention.nk;
    double least = INFINITY, most = -INFINITY;
    for (int64_t r = 0; r < s->x.rows; r++) {
        double total = 0;
        for (int j = 0; j < nk; j++)
            total += got_of(s, r)[j];
        least = s->wrong[r] ? fmin(least, total) : least;
        most = s->wrong[r] ? fmax(most, total) : most;
    }
    if (fabs(least - 1) < 4 * s->x.near && fabs(most - 1) < 4 * s->x.near)
        return false;
    stages_say(s, "they add up to %.4g to %.4g, not to 1: the sum is of other weights than the output", least, most);
    return true;
}

// The largest score of a row; its weight is what the others are compared with.
static int top_of(const struct stages *s, int64_t r) {
    int nk = s->x.which.attention.nk, top = 0;
    for (int j = 1; j < nk; j++)
        top = s->x.score[r * nk + j] > s->x.score[r * nk + top] ? j : top;
    return top;
}

bool stages_say_scale(const struct stages *s) {
    static const double seen = 1e-5; // smaller weights are too small to be compared
    int nk = s->x.which.attention.nk;
    double products = 0, squares = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int64_t r = 0; r < s->x.rows; r++) {
            const double *got = got_of(s, r), *score = s->x.score + r * nk;
            int top = top_of(s, r);
            for (int j = 0; j < nk && !s->x.lost[r]; j++) {
                double x = score[j] - score[top], y = log(got[j] / got[top]), factor = products / squares;
                if (score[j] == -INFINITY || j == top || (pass && !(got[j] > seen) && exp(factor * x) < 2 * seen))
                    continue;
                if (!(got[top] > 0) || (pass && !(fabs(y - factor * x) <= 4 * s->x.near + seen / got[j])))
                    return false;
                if (!pass && got[j] > seen) {
                    products += x * y;
                    squares += x * x;
                }
            }
        }
    if (!(squares > 0))
        return false;
    stages_say(s, "weighs as if all scores were %.4g times the right ones", products / squares);
    stages_say_sums(s);
    return true;
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
static int collect_points(const struct stages *s, struct point *points /* [rows * nk] */) {
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

bool stages_say_curve(const struct stages *s) {
    enum { LEAST = 100, TOLD = 4 };
    int nk = s->x.which.attention.nk;
    struct point *points = host_allocate(s->x.rows * nk, sizeof *points);
    int count = collect_points(s, points);
    bool smooth = count >= LEAST;
    double largest = 0, near = 16 * s->x.near;
    // Neighbours, which belong to other rows and keys, are off by the same factor.
    for (int i = 1; i < count && smooth; i++) {
        double far = fabs(points[i].times - points[i - 1].times), gap = points[i].below - points[i - 1].below;
        smooth = far <= (near + 2 * gap) * (fabs(points[i].times) + fabs(points[i - 1].times)) && gap < 2;
        largest = fmax(largest, fabs(points[i].times - 1));
    }
    // A random factor would stay within such steps only where nearly all lie as close together as a rounding.
    double wandered = 0, moved = count ? fabs(points[count - 1].times - points[0].times) : 0;
    for (int i = 1; i < count; i++)
        wandered += fabs(points[i].times - points[i - 1].times);
    smooth = smooth && largest > 0.02 && wandered <= 3 * moved + near * count / 16;
    if (smooth) {
        char text[300];
        int length = 0;
        for (int i = 1; i <= TOLD; i++) {
            const struct point *p = &points[(int64_t)i * (count - 1) / TOLD];
            length += snprintf(text + length, sizeof text - (size_t)length, "%s%.2f below it %.4g times the right one",
                               i > 1 ? ", " : "", p->below, p->times);
        }
        stages_say(s, "weighs keys by how far they are below the largest score, but not by the exponential: %s", text);
        stages_say_sums(s);
    }
    free(points);
    return smooth;
}

// ---- The log-sum-exp ------------------------------------------------------------------------------------------------

// The largest score of the first `tile` keys, or of the last ones: one that is raised late.
static double maximum_of_tile(const struct stages *s, int64_t r, int tile, bool last) {
    const int nk = s->x.which.attention.nk;
    const double *score = s->x.score + r * nk;
    double maximum = -INFINITY;
    for (int j = last ? (nk - 1) / tile * tile : 0; j < nk && (last || j < tile); j++)
        maximum = fmax(maximum, score[j]);
    return maximum;
}

// lse as a times such a maximum plus b times the logarithm of the sum relative to it, plus c: the best of all rows,
// which each of them must then fit.
static bool fits_lse(const struct stages *s, int tile, bool last, double x[3]) {
    enum { TERMS = 3 };
    double a[TERMS][TERMS + 1] = {{0}};
    int64_t rows = 0;
    for (int64_t r = 0; r < s->x.rows; r++) {
        double maximum = maximum_of_tile(s, r, tile, last);
        const double term[] = {maximum, s->x.right_lse[r] - maximum, 1, s->x.lse[r]};
        if (!isfinite(s->x.right_lse[r]) || !isfinite(s->x.lse[r]) || !isfinite(maximum))
            continue;
        for (int i = 0; i < TERMS; i++)
            for (int j = 0; j <= TERMS; j++)
                a[i][j] += term[i] * term[j];
        rows++;
    }
    if (rows < 2 * TERMS)
        return false;
    for (int i = 0; i < TERMS; i++) { // the normal equations, which are positive definite where rows differ
        if (!(fabs(a[i][i]) > 1e-6))
            return false;
        for (int k = 0; k < TERMS; k++) {
            double f = a[k][i] / a[i][i];
            for (int j = 0; j <= TERMS && k != i; j++)
                a[k][j] -= f * a[i][j];
        }
    }
    for (int i = 0; i < TERMS; i++)
        x[i] = a[i][TERMS] / a[i][i];
    for (int64_t r = 0; r < s->x.rows; r++) {
        double maximum = maximum_of_tile(s, r, tile, last);
        if (isfinite(s->x.right_lse[r]) && isfinite(maximum) &&
            !(fabs(x[0] * maximum + x[1] * (s->x.right_lse[r] - maximum) + x[2] - s->x.lse[r]) < 2e-3))
            return false;
    }
    return fabs(x[0]) < 100 && fabs(x[1]) < 100;
}

static bool say_combination(const struct stages *s) {
    const int nk = s->x.which.attention.nk, tiles[] = {nk, 128, 64, 32, 16};
    double x[3];
    for (size_t i = 0; i < sizeof tiles / sizeof *tiles; i++)
        for (int last = 0; last < 2; last++)
            if (tiles[i] <= nk && fits_lse(s, tiles[i], last, x)) {
                stages_say(s, "lse is %.4g times the maximum plus %.4g times the logarithm of the sum%s", x[0], x[1],
                           fabs(x[2]) > 0.01 ? ", and a constant" : "");
                return true;
            }
    return false;
}

// Nearly every row that is off is so by as much as its maximum lies from that of another row: one of the two is taken
// for the other. Maxima that are raised late are those of a first or last tile.
static bool say_other_maximum(const struct stages *s, const bool *off) {
    const int nk = s->x.which.attention.nk, nq = s->x.which.attention.nq, tiles[] = {nk, 128, 64, 32, 16};
    for (size_t i = 0; i < 2 * sizeof tiles / sizeof *tiles; i++) {
        const int tile = tiles[i / 2];
        int64_t first = NONE, instead = NONE, rows = 0, found = 0;
        for (int64_t r = 0; r < s->x.rows && tile <= nk; r++) {
            int64_t other = 0;
            double difference = s->x.lse[r] - s->x.right_lse[r] - maximum_of_tile(s, r, tile, i % 2);
            while (off[r] && other < s->x.rows &&
                   (other == r || !(fabs(difference + maximum_of_tile(s, other, tile, i % 2)) < 1e-3)))
                other++;
            rows += off[r];
            found += off[r] && other < s->x.rows;
            if (off[r] && other < s->x.rows && first == NONE) {
                first = r;
                instead = other;
            }
        }
        if (found > 1 && 5 * found >= 4 * rows) { // a row beyond the last one has no number
            stages_say(s,
                       "off by the difference of two rows' maxima: query %d of head %d has subtracted that of query "
                       "%d of head %d",
                       (int)(first % nq), (int)(first / nq), (int)(instead % nq), (int)(instead / nq));
            return true;
        }
    }
    return false;
}

bool stages_say_lse(struct stages *s) {
    const double rounding = dtype_of(s->x.which.dtype)->unit_roundoff;
    const int nq = s->x.which.attention.nq;
    double least = INFINITY, most = -INFINITY;
    int64_t rows = 0, others = 0, off_rows = 0, first = NONE, instead = NONE;
    bool *off = host_allocate(s->x.rows, sizeof *off);
    for (int64_t r = 0; r < s->x.rows && s->x.lse; r++) {
        off[r] = isfinite(s->x.right_lse[r]) && !(fabs(s->x.lse[r] - s->x.right_lse[r]) <= 1e-4);
        if (!isfinite(s->x.right_lse[r]))
            continue;
        least = fmin(least, s->x.lse[r] - s->x.right_lse[r]);
        most = fmax(most, s->x.lse[r] - s->x.right_lse[r]);
        rows++;
        off_rows += off[r];
        for (int64_t o = 0; o < s->x.rows && off[r]; o++)
            if (o != r && fabs(s->x.lse[r] - s->x.right_lse[o]) < 1e-4) {
                instead = first == NONE ? o : instead;
                first = first == NONE ? r : first;
                others++;
                break;
            }
    }
    double largest = fmax(most, -least);
    bool wrong = rows && !(largest <= 1e-5);
    if (wrong)
        stages_say(s, "gives every key its right weight, and an lse that is off by %.2g to %.2g", least, most);
    if (wrong && s->x.which.dtype != ATTENTION_FP32 && rows > 4 && least < 0 && most > 0 && largest < 8 * rounding)
        stages_say(s, "that is some roundings to %s of the sum: lse wants it in fp32",
                   dtype_of(s->x.which.dtype)->name);
    else if (wrong && off_rows && others == off_rows)
        stages_say(s, "lse is another row's: query %d of head %d has that of query %d of head %d", (int)(first % nq),
                   (int)(first / nq), (int)(instead % nq), (int)(instead / nq));
    else if (wrong && !say_combination(s) && off_rows && !say_other_maximum(s, off)) {
        s->unexplained = true;
        stages_say_queries(s, "lse wrong", off);
    }
    free(off);
    return wrong;
}
