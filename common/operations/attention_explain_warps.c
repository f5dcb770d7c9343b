// Runs of keys that several warps take in turn: what they are relative to within a warp, and how warps are put
// together.
#include "operations/attention_factors.h"

#include <math.h>

// The largest score of the runs that the warp of this run has, up to it or of all.
static double maximum_of_warp(const struct explainer *s, int64_t r, const int *begin /* [parts + 1] */, int parts,
                              int run, int warps, bool all) {
    const double *score = s->x.score + r * s->x.which.attention.nk;
    double maximum = -INFINITY;
    for (int i = run % warps; i < parts && (all || i <= run); i += warps)
        for (int j = begin[i]; j < begin[i + 1]; j++)
            maximum = fmax(maximum, score[j]);
    return maximum;
}

// Whether in each wrong row the weights are relative to the largest score until then of their warp, and are brought to
// the warp's last one by the power `within` of the right factor, and from that to the row's by the power `among`.
static bool are_of_warps(const struct explainer *s, const int *begin /* [parts + 1] */, int parts, int warps,
                         double within, double among) {
    bool differs = false;
    for (int64_t r = 0; r < s->x.rows; r++) {
        const double largest = factors_largest(s, r);
        double base = NAN;
        for (int i = 0; i < parts && s->wrong[r]; i++) {
            const double until = maximum_of_warp(s, r, begin, parts, i, warps, false);
            const double of_warp = maximum_of_warp(s, r, begin, parts, i, warps, true);
            const double factor = exp((of_warp - until) * (1 - within) + (score_maximum(s, r) - of_warp) * (1 - among));
            differs = differs || factor != 1;
            for (int j = begin[i]; j < begin[i + 1]; j++) {
                const double expected = right_of(s, r)[j] * factor;
                if (!factor_is_significant(s, got_of(s, r)[j], right_of(s, r)[j], largest))
                    continue;
                base = isnan(base) ? got_of(s, r)[j] / expected : base;
                if (!(fabs(got_of(s, r)[j] - base * expected) <= 8 * s->x.tolerance * base * expected))
                    return false;
            }
        }
    }
    return differs;
}

static const char *power_text(double power, char *text, size_t size) {
    if (power == 0)
        return "without rescaling";
    snprintf(text, size, "with the right factor to the power %.3g", power);
    return text;
}

bool explain_warps(const struct explainer *s, const int *begin /* [parts + 1] */, int parts) {
    static const double powers[] = {0, -1, 0.5, 2, M_LN2, M_LOG2E};
    char text[80];
    for (int warps = 2; warps <= 8 && warps < parts; warps *= 2)
        for (size_t p = 0; p < sizeof powers / sizeof *powers; p++) {
            if (are_of_warps(s, begin, parts, warps, powers[p], 1)) {
                explain_line(s, "warp-tiles-rescaled-wrong",
                             "Each tile is relative to the running maximum over every %d%s tile, including the tile "
                             "itself, and is rescaled to the final maximum of that group %s; the rescaling from that "
                             "maximum to the row max is right",
                             warps, warps == 2 ? "nd" : "th", power_text(powers[p], text, sizeof text));
                return true;
            }
            if (are_of_warps(s, begin, parts, warps, 1, powers[p])) {
                explain_line(s, "warp-tiles-combined-wrong",
                             "Each tile is relative to the maximum over every %d%s tile, including the tile itself, "
                             "and is rescaled from that maximum to the row max %s",
                             warps, warps == 2 ? "nd" : "th", power_text(powers[p], text, sizeof text));
                return true;
            }
        }
    return false;
}
