// What runs of keys that have factors of their own are relative to: whose maximum, by which power, and how they were
// put together.
#include "operations/attention_factors.h"

#include <math.h>

// What a run's maximum is taken over, where that explains its factor.
enum own_maximum { OF_ITS_KEYS, OF_KEYS_SO_FAR, OF_KEYS_FROM_IT_ON, OF_EVERY_SECOND, OF_EVERY_FOURTH };

// The largest score of the run's own keys, of all up to its end, from its beginning on, or of it and those that come
// two or four runs later and earlier, as those of a warp do.
static double maximum_of_run(const struct explainer *s, int64_t r, const int *begin /* [parts + 1] */, int parts,
                             int run, enum own_maximum kind) {
    const double *score = s->x.score + r * s->x.which.attention.nk;
    const int step = kind == OF_EVERY_SECOND ? 2 : 4;
    double maximum = -INFINITY;
    for (int i = 0; i < parts; i++) {
        const bool counts = i == run || (kind == OF_KEYS_SO_FAR && i < run) ||
                            (kind == OF_KEYS_FROM_IT_ON && i > run) ||
                            (kind >= OF_EVERY_SECOND && i % step == run % step);
        for (int j = begin[i]; j < begin[i + 1] && counts; j++)
            maximum = fmax(maximum, score[j]);
    }
    return maximum;
}

// Whether in each wrong row the weights are relative to such maxima, and are brought from them to the row's by this
// power of the right factor: got is right times exp((row's - run's) (1 - power)), and one factor for the row. 0: they
// are not.
static bool are_relative_to(const struct explainer *s, const int *begin /* [parts + 1] */, int parts,
                            enum own_maximum kind, double power) {
    for (int64_t r = 0; r < s->x.rows; r++) {
        const double largest = factors_largest(s, r);
        double base = NAN;
        for (int pass = 0; pass < 2 && s->wrong[r]; pass++) // base is what the largest weight needs
            for (int i = 0; i < parts; i++) {
                const double maximum = maximum_of_run(s, r, begin, parts, i, kind);
                for (int j = begin[i]; j < begin[i + 1]; j++) {
                    const double got = got_of(s, r)[j];
                    const double expected = right_of(s, r)[j] * exp((score_maximum(s, r) - maximum) * (1 - power));
                    if (pass == 0 && got == largest && expected > 0)
                        base = got / expected;
                    if (pass && fabs(got - base * expected) > 4 * s->x.tolerance * (base * expected + largest / 16))
                        return false;
                }
            }
        if (s->wrong[r] && isnan(base))
            return false;
    }
    return true;
}

// Whether in each wrong row the weights of a part have, beside one factor for the row, that by which older ones are
// brought to a maximum that the part raises: they were there already when that was done. At the first part that is 1 or
// 0.
static bool are_rescaled_too(const struct explainer *s, const int *begin /* [parts + 1] */, int parts,
                             double at_first) {
    bool raised = false;
    for (int64_t r = 0; r < s->x.rows; r++) {
        double base = NAN, before = -INFINITY;
        for (int i = 0; i < parts && s->wrong[r]; i++) {
            const double maximum = maximum_of_run(s, r, begin, parts, i, OF_KEYS_SO_FAR);
            const double factor = i ? exp(before - maximum) : at_first;
            before = maximum;
            raised = raised || (i && factor < 1);
            for (int j = begin[i]; j < begin[i + 1]; j++) {
                const double expected = right_of(s, r)[j] * factor;
                if (!(right_of(s, r)[j] > 1e-6))
                    continue;
                if (isnan(base) && factor > 1e-3)
                    base = got_of(s, r)[j] / expected;
                if (isnan(base) ? !observed_matches(&s->x, r, got_of(s, r)[j], expected)
                                : !observed_matches(&s->x, r, got_of(s, r)[j] / base, expected))
                    return false;
            }
        }
    }
    return raised;
}

// Whether in each wrong row a part is relative to the maximum of its time, and brought to all later ones but to that
// which the next part has. backwards: the last keys come first.
static bool miss_one_rescaling(const struct explainer *s, const int *begin /* [parts + 1] */, int parts,
                               bool backwards) {
    const enum own_maximum kind = backwards ? OF_KEYS_FROM_IT_ON : OF_KEYS_SO_FAR;
    bool raised = false;
    for (int64_t r = 0; r < s->x.rows; r++) {
        const double largest = factors_largest(s, r);
        double base = NAN;
        for (int pass = 0; pass < 2 && s->wrong[r]; pass++)
            for (int i = 0; i < parts; i++) {
                const int next = backwards ? i - (i > 0) : i + (i + 1 < parts);
                const double grown =
                    maximum_of_run(s, r, begin, parts, next, kind) - maximum_of_run(s, r, begin, parts, i, kind);
                raised = raised || grown > 0;
                for (int j = begin[i]; j < begin[i + 1]; j++) {
                    const double got = got_of(s, r)[j], expected = right_of(s, r)[j] * exp(grown);
                    if (pass == 0 && got == largest && expected > 0)
                        base = got / expected;
                    if (pass && fabs(got - base * expected) > 4 * s->x.tolerance * (base * expected + largest / 16))
                        return false;
                }
            }
        if (s->wrong[r] && isnan(base))
            return false;
    }
    return raised;
}

// Whether in each wrong row a part counts as if its largest score were that of some of its keys: of each `every`, those
// from number `from` on, half as many.
static bool count_by_some(const struct explainer *s, const int *begin /* [parts + 1] */, int parts, int every,
                          int from) {
    bool differs = false;
    for (int64_t r = 0; r < s->x.rows; r++) {
        const double largest = factors_largest(s, r), *score = s->x.score + r * s->x.which.attention.nk;
        double base = NAN;
        for (int i = 0; i < parts && s->wrong[r]; i++) {
            double some = -INFINITY, all = -INFINITY;
            for (int j = begin[i]; j < begin[i + 1]; j++) {
                const int number = (j - begin[i]) % every;
                all = fmax(all, score[j]);
                if (number >= from && number < from + every / 2)
                    some = fmax(some, score[j]);
            }
            differs = differs || some < all;
            for (int j = begin[i]; j < begin[i + 1]; j++) {
                const double expected = right_of(s, r)[j] * exp(some - all);
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

// Whether in each wrong row the weights of a part are multiplied by this power of the part's own sum, which is relative
// to its own maximum.
static bool are_times_sums(const struct explainer *s, const int *begin /* [parts + 1] */, int parts, int power) {
    for (int64_t r = 0; r < s->x.rows; r++) {
        const double largest = factors_largest(s, r), *score = s->x.score + r * s->x.which.attention.nk;
        double base = NAN;
        for (int i = 0; i < parts && s->wrong[r]; i++) {
            const double maximum = maximum_of_run(s, r, begin, parts, i, OF_ITS_KEYS);
            double sum = 0;
            for (int j = begin[i]; j < begin[i + 1]; j++)
                sum += maximum > -INFINITY ? exp(score[j] - maximum) : 0;
            for (int j = begin[i]; j < begin[i + 1]; j++) {
                const double expected = right_of(s, r)[j] * pow(sum, power);
                if (!factor_is_significant(s, got_of(s, r)[j], right_of(s, r)[j], largest))
                    continue;
                base = isnan(base) ? got_of(s, r)[j] / expected : base;
                if (!(fabs(got_of(s, r)[j] - base * expected) <= 8 * s->x.tolerance * base * expected))
                    return false;
            }
        }
    }
    return true;
}

static bool report_some(const struct explainer *s, const int *begin /* [parts + 1] */, int parts) {
    for (int every = 2; every <= 64; every *= 2)
        for (int from = 0; from < every; from += every / 2)
            if (count_by_some(s, begin, parts, every, from)) {
                char which[60];
                if (every == 2)
                    snprintf(which, sizeof which, "every second key, starting with key %d", from);
                else
                    snprintf(which, sizeof which, "keys %d to %d of every %d", from, from + every / 2 - 1, every);
                explain_line(s, "tile-maximum-incomplete",
                             "Each tile subtracts the maximum of only some keys of the tile: %s, counted from the "
                             "start of the tile",
                             which);
                return true;
            }
    return false;
}

// Whether in each wrong row a part counts as if its sum were that of some of its keys: of each `every`, counted from
// where it begins, `width` from number `from` on.
static bool have_sums_of_some(const struct explainer *s, const int *begin /* [parts + 1] */, int parts, int every,
                              int width, int from) {
    for (int64_t r = 0; r < s->x.rows; r++) {
        const double largest = factors_largest(s, r);
        double base = NAN;
        for (int i = 0; i < parts && s->wrong[r]; i++) {
            double some = 0, all = 0;
            for (int j = begin[i]; j < begin[i + 1]; j++) {
                const int number = (j - begin[i]) % every;
                all += right_of(s, r)[j];
                some += number >= from && number < from + width ? right_of(s, r)[j] : 0;
            }
            for (int j = begin[i]; j < begin[i + 1]; j++) {
                const double expected = right_of(s, r)[j] * some / all;
                if (!factor_is_significant(s, got_of(s, r)[j], right_of(s, r)[j], largest))
                    continue;
                base = isnan(base) ? got_of(s, r)[j] / expected : base;
                if (!(fabs(got_of(s, r)[j] - base * expected) <= 8 * s->x.tolerance * base * expected))
                    return false;
            }
        }
    }
    return true;
}

static bool report_sums_of_some(const struct explainer *s, const int *begin /* [parts + 1] */, int parts) {
    for (int every = 2; every <= 64; every *= 2)
        for (int width = 1; width < every; width *= 2)
            for (int from = 0; from < every; from += width)
                if (have_sums_of_some(s, begin, parts, every, width, from)) {
                    char which[60];
                    if (width == 1)
                        snprintf(which, sizeof which, "key %d of every %d", from, every);
                    else
                        snprintf(which, sizeof which, "keys %d to %d of every %d", from, from + width - 1, every);
                    explain_line(s, "tile-sum-incomplete",
                                 "Each tile has the row sum of only some keys of the tile: %s, counted from the start "
                                 "of the tile",
                                 which);
                    return true;
                }
    return false;
}

// By which power two parts of one row would be rescaled, whose maxima lie far apart; NAN: there are no such.
static double fitting_power(const struct explainer *s, const int *begin /* [parts + 1] */, int parts,
                            enum own_maximum kind) {
    static const double far = 1;
    for (int64_t r = 0; r < s->x.rows; r++) {
        double factor[MOST_PARTS], maximum[MOST_PARTS];
        for (int i = 0; i < parts && s->wrong[r]; i++) {
            double least = factors_largest(s, r) / 128;
            factor[i] = 0;
            maximum[i] = maximum_of_run(s, r, begin, parts, i, kind);
            for (int j = begin[i]; j < begin[i + 1]; j++)
                if (got_of(s, r)[j] > least && factor_is_significant(s, got_of(s, r)[j], right_of(s, r)[j], 0)) {
                    least = got_of(s, r)[j];
                    factor[i] = least / right_of(s, r)[j];
                }
            for (int k = 0; k < i; k++)
                if (factor[i] > 0 && factor[k] > 0 && fabs(maximum[i] - maximum[k]) > far)
                    return 1 - log(factor[i] / factor[k]) / (maximum[k] - maximum[i]);
        }
    }
    return NAN;
}

// Whether there are words for what they are relative to.
static bool report_relation(const struct explainer *s, const int *begin /* [parts + 1] */, int parts) {
    // Of two parts the second one's own is the largest so far in all rows that are wrong.
    if (are_relative_to(s, begin, parts, OF_KEYS_SO_FAR, 0))
        explain_line(s, "tiles-not-rescaled",
                     "The weights of each tile are relative to the running maximum at that tile, and are not rescaled "
                     "when a later tile raises the maximum");
    else if (are_relative_to(s, begin, parts, OF_ITS_KEYS, 0))
        explain_line(s, "tile-maximum-not-combined",
                     "Each tile subtracts the maximum of the tile and is never rescaled to the row max");
    else if (are_relative_to(s, begin, parts, OF_KEYS_FROM_IT_ON, 0))
        explain_line(s, "tiles-not-rescaled-backwards",
                     "The weights of each tile are relative to the maximum of the tile and all later tiles: the tiles "
                     "are processed last to first, and are not rescaled when an earlier tile raises the maximum");
    else if (are_relative_to(s, begin, parts, OF_EVERY_SECOND, 0))
        explain_line(
            s, "two-groups-of-tiles",
            "Each tile subtracts the maximum over every second tile, including itself, and is never rescaled to "
            "the row max");
    else if (are_relative_to(s, begin, parts, OF_EVERY_FOURTH, 0))
        explain_line(
            s, "four-groups-of-tiles",
            "Each tile subtracts the maximum over every fourth tile, including itself, and is never rescaled to "
            "the row max");
    else if (are_rescaled_too(s, begin, parts, 1) || are_rescaled_too(s, begin, parts, 0))
        explain_line(s, "tile-rescaled-with-earlier-ones",
                     "A tile that raises the running maximum is rescaled together with the earlier tiles: the tile is "
                     "added to the accumulator before the accumulator is rescaled");
    else if (parts > 2 && (miss_one_rescaling(s, begin, parts, false) || miss_one_rescaling(s, begin, parts, true)))
        explain_line(s, "tile-misses-next-rescale",
                     "Each tile is rescaled for every later maximum except the maximum of the next tile: the "
                     "accumulator is rescaled before the product of the previous tile is added");
    else
        return false;
    return true;
}

bool explain_tile_maxima(const struct explainer *s, const int *begin /* [parts + 1] */, int parts) {
    static const double powers[] = {-1, 0.5, 2, M_LN2, M_LOG2E};
    if (report_relation(s, begin, parts) || explain_warps(s, begin, parts) || report_some(s, begin, parts) ||
        report_sums_of_some(s, begin, parts))
        return true;
    if (are_times_sums(s, begin, parts, -1)) {
        explain_line(s, "tile-divided-by-own-sum",
                     "Each tile is divided by the row sum of the tile, and is not multiplied by that sum when the "
                     "tiles are combined");
        return true;
    }
    if (are_times_sums(s, begin, parts, 1)) {
        explain_line(s, "tile-multiplied-by-own-sum",
                     "Each tile is multiplied by the row sum of the tile once too often");
        return true;
    }
    for (size_t i = 0; i <= sizeof powers / sizeof *powers; i++)
        for (enum own_maximum kind = OF_ITS_KEYS; kind <= OF_KEYS_FROM_IT_ON; kind++) {
            const double power = i ? powers[i - 1] : fitting_power(s, begin, parts, kind);
            if (isnan(power) || fabs(power) < 0.05 || fabs(power - 1) < 0.05 ||
                !are_relative_to(s, begin, parts, kind, power))
                continue;
            explain_line(s, "tile-rescale-power",
                         "The tiles are rescaled to the row max with the right factor to the power %.3g", power);
            return true;
        }
    return false;
}
