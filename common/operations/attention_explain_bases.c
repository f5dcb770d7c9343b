// Weights that are another power of what they should be, relative to the maximum of their time, where that is brought
// rightly to the row's: the exponential and the rescaling are taken to different bases.
#include "operations/attention_explain_weights.h"

#include <math.h>

enum { MOST_THREADS = 256 };

// The sums of a line through 0: y = slope x.
struct line {
    double xy, xx;
    int64_t points, far; // far: whose x is large enough to tell
};

// Brings the maximum of key j's thread up to date, with which it and the others of its tile are weighed.
static void raise(const double *score, int nk, int threads, int tile, int j, double *maximum /* [threads] */) {
    const int end = j / tile * tile + tile < nk ? j / tile * tile + tile : nk;
    for (int i = j / tile * tile; i < end; i++)
        maximum[i % threads] = fmax(maximum[i % threads], score[i]);
}

// What is another power of what it should be: weights, or what brings them from the maximum of their time to the last
// one.
enum power_of { OF_WEIGHTS, OF_RESCALING };

// For the keys whose numbers are the same modulo threads, one after the other: x is how far a key is below the largest
// score until the end of its tile, or that below the last one; y the logarithm of its factor, less that of the row.
// Where slope is not NAN whether all points lie on the line with it, else sums them up.
static bool follow(const struct explainer *s, enum power_of what, int threads, int tile, double slope,
                   struct line *line) {
    static const double far = 0.2;
    const int nk = s->x.which.attention.nk;
    for (int64_t r = 0; r < s->x.rows; r++) {
        const double *score = s->x.score + r * nk;
        double maximum[MOST_THREADS], last[MOST_THREADS], base = NAN;
        for (int t = 0; t < threads; t++)
            last[t] = -INFINITY;
        for (int j = 0; j < nk; j++)
            last[j % threads] = fmax(last[j % threads], score[j]);
        // The row's own factor is that of a key that has none beside.
        for (int pass = 0; pass < 2; pass++) {
            for (int t = 0; t < threads; t++)
                maximum[t] = -INFINITY;
            for (int j = 0; j < nk && s->wrong[r]; j++) {
                raise(score, nk, threads, tile, j, maximum);
                const double until = maximum[j % threads],
                             x = what == OF_WEIGHTS ? score[j] - until : until - last[j % threads];
                if (!weight_is_significant(s, r, j))
                    continue;
                const double y = log(got_of(s, r)[j] / right_of(s, r)[j]) - (pass ? base : 0);
                if (!pass) {
                    base = x == 0 && isnan(base) ? y : base;
                    continue;
                }
                if (isnan(base))
                    break;
                if (!isnan(slope) && !(fabs(y - slope * x) <= 16 * s->x.tolerance))
                    return false;
                line->xy += x * y;
                line->xx += x * x;
                line->points++;
                line->far += -x > far;
            }
        }
    }
    return true;
}

// Whether all weights, or all factors, are one power of the right ones, relative to the maxima of so many threads or of
// tiles.
static bool report_power(const struct explainer *s, enum power_of what, int threads, int tile) {
    enum { LEAST_FAR = 30 };
    static const double least = 0.05;
    struct line sums = {0}, fitted = {0};
    follow(s, what, threads, tile, NAN, &sums);
    const double slope = sums.xy / sums.xx, power = fabs(1 + slope) < 1e-3 ? 0 : 1 + slope;
    if (sums.far < LEAST_FAR || !(fabs(slope) > least) || !follow(s, what, threads, tile, slope, &fitted))
        return false;
    const bool is_mixed = fabs(power - M_LOG2E) < 1e-2 || fabs(power - M_LN2) < 1e-2;
    char of[60] = "";
    if (threads > 1)
        snprintf(of, sizeof of, " (running maximum of keys j, j + %d, ...)", threads);
    else if (tile > 1)
        snprintf(of, sizeof of, " (in tiles of %d keys)", tile);
    if (what == OF_WEIGHTS)
        explain_line(s, is_mixed ? "weights-mix-bases" : "weights-power",
                     "The weights are exp(s - running maximum) to the power %.4g%s, but the rescale factor is right%s",
                     power, of,
                     is_mixed ? ". The weights mix base 2 and base e: check which exponential (exp or exp2) computes "
                                "the weights, and whether the scale contains log2(e)"
                              : "");
    else if (power == 0)
        explain_line(s, "keys-not-rescaled",
                     "The weight of each key is relative to the running maximum at that key%s, and is not rescaled "
                     "when a later key raises the maximum",
                     of);
    else
        explain_line(s, is_mixed ? "rescaling-mixes-bases" : "rescaling-power",
                     "The weight of each key is relative to the running maximum at that key%s, and is rescaled to the "
                     "final maximum with the right factor to the power %.4g%s",
                     of, power, is_mixed ? ". The rescale factor mixes base 2 and base e" : "");
    return true;
}

bool explain_bases(const struct explainer *s) {
    const int nk = s->x.which.attention.nk;
    for (enum power_of what = OF_WEIGHTS; what <= OF_RESCALING; what++) {
        for (int threads = 1; threads <= MOST_THREADS && threads < nk; threads *= 2)
            if (report_power(s, what, threads, 1))
                return true;
        for (int tile = 16; tile <= 128 && tile < nk; tile *= 2)
            if (report_power(s, what, 1, tile))
                return true;
    }
    return false;
}
