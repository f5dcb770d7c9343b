// Sums and exponentials: what weights are divided by, and how they hang on the scores.
#include "host/parallel.h"
#include "operations/attention_operation.h"
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

// ---- What a row is divided by ---------------------------------------------------------------------------------------

// The sum of a row, each tile's part relative to the largest score at its time: of the tiles up to it, or, where the
// last one comes first, from it on.
static double sum_as_it_grows(const struct stages *s, int64_t r, int tile, bool last_first) {
    int nk = s->x.which.attention.nk, tiles = (nk + tile - 1) / tile;
    const double *score = s->x.score + r * nk;
    double maximum = -INFINITY, sum = 0;
    for (int i = 0; i < tiles; i++) {
        int first = (last_first ? tiles - 1 - i : i) * tile, end = first + tile < nk ? first + tile : nk;
        for (int j = first; j < end; j++)
            maximum = fmax(maximum, score[j]);
        for (int j = first; j < end && maximum > -INFINITY; j++)
            sum += exp(score[j] - maximum);
    }
    return sum;
}

static bool say_not_rescaled(const struct stages *s) {
    static const int tiles[] = {16, 32, 64, 128};
    for (size_t i = 0; i < 2 * sizeof tiles / sizeof *tiles; i++) {
        bool all = tiles[i / 2] < s->x.which.attention.nk;
        for (int64_t r = 0; r < s->x.rows && all; r++) {
            double divisor = sum_of(s, r) / s->factor[r], grown = sum_as_it_grows(s, r, tiles[i / 2], i % 2);
            all = !s->wrong[r] || fabs(grown - divisor) <= 4 * s->x.near * divisor;
        }
        if (!all)
            continue;
        stages_say(s,
                   "that sum is not rescaled: it has the weights of each %d keys relative to the largest score until "
                   "then%s",
                   tiles[i / 2], i % 2 ? ", the last keys first" : "");
        return true;
    }
    return false;
}

// The sum of a row, each part relative to the largest score of its own keys: those whose numbers are the same modulo so
// many, or runs of so many.
static double sum_of_parts(const struct stages *s, int64_t r, int by, bool runs) {
    const int nk = s->x.which.attention.nk, parts = runs ? (nk + by - 1) / by : by < nk ? by : nk;
    const double *score = s->x.score + r * nk;
    double sum = 0;
    for (int i = 0; i < parts; i++) {
        const int first = runs ? i * by : i, step = runs ? 1 : by, end = runs && first + by < nk ? first + by : nk;
        double maximum = -INFINITY;
        for (int j = first; j < end; j += step)
            maximum = fmax(maximum, score[j]);
        for (int j = first; j < end && maximum > -INFINITY; j += step)
            sum += exp(score[j] - maximum);
    }
    return sum;
}

static bool say_parts_added(const struct stages *s) {
    for (int by = 2; by <= 256 && by < s->x.which.attention.nk; by *= 2)
        for (int runs = 0; runs < 2; runs++) {
            bool all = true;
            for (int64_t r = 0; r < s->x.rows && all; r++) {
                const double divisor = sum_of(s, r) / s->factor[r], parts = sum_of_parts(s, r, by, runs);
                all = !s->wrong[r] || fabs(parts - divisor) <= 4 * s->x.near * divisor;
            }
            if (!all)
                continue;
            stages_say(s,
                       "that sum adds up the sums of %s %d%s, as they stand, each relative to the largest score "
                       "of its own keys",
                       runs ? "runs of" : "keys j, j +", by, runs ? " keys" : ", and so on");
            return true;
        }
    return false;
}

// A sum that is off to both sides, and by no more than roundings.
static bool say_sum_rounded(const struct stages *s, double least, double most) {
    static const double bits8 = 0x1p-8;
    if (!(least < 1 && most > 1 && least > 1 - bits8 && most < 1 + bits8))
        return false;
    stages_say(s,
               "it is off to both sides, and by no more than %.2g, as a sum is whose steps are rounded to 8 or 11 bits",
               fmax(1 - least, most - 1));
    return true;
}

// With a mask: the sum of the first keys, so many that some are hidden.
static double sum_with_hidden(const struct stages *s, int64_t r, int keys) {
    const struct attention_shape *shape = &s->x.which.attention;
    const float *q = s->x.own_q + r * shape->head_dim;
    const double maximum = stages_maximum(s, r);
    const int64_t first = shape_first_key(shape, r);
    double sum = 0;
    for (int j = 0; j < keys; j++) {
        const float *k = host_row(&s->x.problem.tensor[K], first + j);
        double dot = 0;
        for (int c = 0; c < shape->head_dim; c++)
            dot += (double)q[c] * k[c];
        sum += exp(dot * s->x.problem.softmax_scale - maximum);
    }
    return sum;
}

static bool say_hidden_counted(const struct stages *s) {
    const struct attention_shape *shape = &s->x.which.attention;
    const int tiles[] = {shape->nk, 16, 32, 64, 128};
    for (size_t i = 0; i < sizeof tiles / sizeof *tiles && shape->causal; i++) {
        bool all = true;
        for (int64_t r = 0; r < s->x.rows && all; r++) {
            int keys = (shape_visible_keys(shape, (int)(r % shape->nq)) + tiles[i] - 1) / tiles[i] * tiles[i];
            keys = keys < shape->nk ? keys : shape->nk;
            double divisor = sum_of(s, r) / s->factor[r];
            all = !s->wrong[r] || fabs(sum_with_hidden(s, r, keys) - divisor) <= 4 * s->x.near * divisor;
        }
        if (!all)
            continue;
        if (i)
            stages_say(s, "that sum counts hidden keys, up to the end of their %d", tiles[i]);
        else
            stages_say(s, "that sum counts all keys, hidden ones, too");
        return true;
    }
    return false;
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
    // A power next to 1 is a sum that is nearly the right one: another cause has to say by what it is not.
    const bool is_one = fabs(power - 1) < 0.05;
    if (one_power && !isnan(power) && !is_one)
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
    // A sum that is nearly the right one is not told from that, whatever else it may be; a rounding does as much.
    const bool tells = fmax(fabs(least - 1), fabs(most - 1)) > 8 * s->x.near;
    if (extra_fits && tells)
        stages_say(s, "the sum is larger by as much as %.0f more key%s with a score of 0 would make it", extra,
                   extra > 1 ? "s" : "");
    if (lacking == 1 && tells)
        for (int j = 0; j < nk; j++)
            if (lacks[j])
                stages_say(s, "the sum lacks the weight of key %d of %d", j, nk);
    if (tells && !same && !extra_fits && lacking != 1 && !say_sum_rounded(s, least, most) && !say_not_rescaled(s) &&
        !say_parts_added(s) && !say_hidden_counted(s))
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
    if (!(squares > 0) || fabs(products / squares - 1) < 4 * s->x.near)
        return false;
    const struct problem_case *which = &s->x.which;
    double factor = products / squares;
    bool usual = which->has_scale &&
                 fabs(factor * s->x.problem.softmax_scale * sqrt(which->attention.head_dim) - 1) < 4 * s->x.near;
    stages_say(s, "weighs as if all scores were %.4g times the right ones%s", factor,
               usual ? ": the scale is 1 / sqrt(head_dim), whatever was asked for" : "");
    stages_say_sums(s);
    return true;
}

bool stages_say_dropped(const struct stages *s) {
    enum { LEAST = 3 };
    int nk = s->x.which.attention.nk, dropped = 0;
    double least = INFINITY, kept = 0;
    for (int64_t r = 0; r < s->x.rows; r++) {
        double top = s->x.score[r * nk + top_of(s, r)];
        for (int j = 0; j < nk && s->wrong[r]; j++) {
            double below = top - s->x.score[r * nk + j], weight = got_of(s, r)[j];
            if (!(below < INFINITY))
                continue;
            if (weight == 0) {
                least = fmin(least, below);
                dropped++;
            } else if (!observed_near(&s->x, r, weight, s->factor[r] * right_of(s, r)[j])) {
                return false;
            } else {
                kept = fmax(kept, below);
            }
        }
    }
    // What is too small for its type is 0 in a kernel that is right, too.
    if (dropped < LEAST || !(kept < least) || !(kept > 0) || least > (s->x.which.dtype == ATTENTION_FP32 ? 60 : 8))
        return false;
    stages_say(s,
               "gives no weight to keys whose score is more than %.3g below the row's largest one, which are to have "
               "up to %.2g of its weight; those of the others are in proportion",
               (kept + least) / 2, exp(-least));
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
    smooth = smooth && largest > 0.02 && between <= 0.1 * about;
    if (smooth) {
        char text[300];
        int length = 0;
        for (int i = 1; i <= TOLD; i++) {
            const struct point *p = &points[(int64_t)i * (count - 1) / TOLD];
            length += snprintf(text + length, sizeof text - (size_t)length, "%s%.2f below it %.4g times the right one",
                               i > 1 ? ", " : "", p->below, p->times);
        }
        stages_say(
            s,
            "weighs keys by how far they are below the largest score, but not by the exponential: %s; from %.4g to "
            "%.4g times",
            text, lowest, highest);
        stages_say_sums(s);
    }
    free(points);
    return smooth;
}
