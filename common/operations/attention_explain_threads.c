// Keys of one thread, or of one lane of a quad, whose weights are in proportion, but not from one to the other.
#include "operations/attention_factors.h"

#include <math.h>

// Whether in each wrong row the weights are relative to the largest score of those keys whose number, modulo `threads`,
// differs from their own in the bits of `mask` alone, and are brought to no other.
static bool are_relative_to_threads(const struct explainer *s, int threads, int mask) {
    enum { MOST_THREADS = 256 };
    const int nk = s->x.which.attention.nk;
    double maximum[MOST_THREADS];
    for (int64_t r = 0; r < s->x.rows; r++) {
        const double *score = s->x.score + r * nk;
        double base = NAN;
        for (int t = 0; t < threads; t++)
            maximum[t] = -INFINITY;
        for (int j = 0; j < nk; j++) {
            double *of = &maximum[j % threads & ~mask];
            *of = fmax(*of, score[j]);
        }
        for (int j = 0; j < nk && s->wrong[r]; j++) {
            const double right = right_of(s, r)[j];
            const double expected = right * exp(score_maximum(s, r) - maximum[j % threads & ~mask]);
            if (!(right > 1e-6) || !factors_are_precise(s, got_of(s, r)[j]))
                continue;
            if (isnan(base))
                base = got_of(s, r)[j] / expected;
            if (fabs(got_of(s, r)[j] / base - expected) > 4 * s->x.tolerance * (expected + 1.0 / nk))
                return false;
        }
    }
    return true;
}

static void report_relative_to_threads(const struct explainer *s, int threads) {
    for (int mask = 0; mask < threads - 1; mask++) {
        char keys[100] = "";
        int length = 0;
        if (!are_relative_to_threads(s, threads, mask))
            continue;
        for (int t = 0, of = 1 << __builtin_popcount((unsigned)mask), i = 0;
             t < threads && length < (int)sizeof keys - 20; t++)
            if (!(t & ~mask))
                length += snprintf(keys + length, sizeof keys - (size_t)length, "%s%d",
                                   i++ == 0  ? ""
                                   : i < of  ? ", "
                                   : of == 2 ? " and "
                                             : ", and ",
                                   t);
        explain_line(s, "maximum-of-some-lanes",
                     "The weight of each key is relative to the maximum of only some keys and is never rescaled to the "
                     "row max: key 0 uses the maximum of keys %s (period %d)",
                     keys, threads);
        return;
    }
}

bool explain_threads(const struct explainer *s) {
    int nk = s->x.which.attention.nk;
    for (int threads = 2; 3 * threads / 2 < nk && threads <= 256 && factors_differ(s); threads *= 2) {
        bool all = true;
        for (int j = threads; j < nk && all; j++)
            all = factors_repeat(s, j, threads);
        for (int t = 0, reported = 0; t < threads && all; t++, reported = 0)
            all = factors_are_one(s, t, nk, threads, &reported) && reported > 0;
        if (!all)
            continue;
        explain_line(s, "threads-differ",
                     "The weights of keys j, j + %d, ... are right up to one common factor, but each j has another "
                     "factor: threads or lanes subtract different maxima",
                     threads);
        report_relative_to_threads(s, threads);
        return true;
    }
    return false;
}

// ---- Keys that a lane of a quad has

enum { QUAD = 4, PAIR = 2, OCTET = QUAD * PAIR };

// Whether the keys of lane t, pairs of each eight, have one factor in each tile of so many keys.
static bool lanes_have_factors(const struct explainer *s, int tile, int *reported) {
    for (int64_t r = 0; r < s->x.rows; r++) {
        const double *got = got_of(s, r), *right = right_of(s, r), largest = factors_largest(s, r);
        double factor[QUAD];
        for (int j = 0; j < s->x.which.attention.nk && s->wrong[r]; j++) {
            double *of = &factor[j % OCTET / PAIR];
            for (int t = 0; t < QUAD && j % tile == 0; t++)
                factor[t] = NAN;
            if (!factor_is_significant(s, got[j], right[j], largest))
                continue;
            *reported += !isnan(*of);
            if (isnan(*of))
                *of = got[j] / right[j];
            else if (fabs(got[j] / right[j] - *of) > 8 * s->x.tolerance * *of)
                return false;
        }
    }
    return true;
}

// Whether lanes whose numbers differ in the bits of `mask` have one factor in each tile, too.
static bool lanes_share(const struct explainer *s, int tile, int mask) {
    for (int64_t r = 0; r < s->x.rows; r++) {
        const double *got = got_of(s, r), *right = right_of(s, r), largest = factors_largest(s, r);
        double factor[QUAD];
        for (int j = 0; j < s->x.which.attention.nk && s->wrong[r]; j++) {
            double *of = &factor[j % OCTET / PAIR & ~mask];
            for (int t = 0; t < QUAD && j % tile == 0; t++)
                factor[t] = NAN;
            if (!factor_is_significant(s, got[j], right[j], largest))
                continue;
            if (isnan(*of))
                *of = got[j] / right[j];
            else if (fabs(got[j] / right[j] - *of) > 8 * s->x.tolerance * *of)
                return false;
        }
    }
    return true;
}

bool explain_quads(const struct explainer *s) {
    enum { LEAST_COMPARED = 48 };
    for (int tile = 128; tile >= 2 * OCTET && factors_differ(s); tile /= 2) {
        int reported = 0;
        // Where all lanes have one factor it is the tiles that differ.
        if (!lanes_have_factors(s, tile, &reported) || reported < LEAST_COMPARED || lanes_share(s, tile, QUAD - 1))
            continue;
        const bool neighbours = lanes_share(s, tile, 1), others = lanes_share(s, tile, 2);
        if (neighbours || others)
            explain_line(s, "quad-maximum-half-reduced",
                         "The four lanes that share a row use two different maxima: lanes %s agree, and lanes %s "
                         "agree, but the two pairs differ (lane t holds keys 2t and 2t + 1 of every 8 keys, in tiles "
                         "of %d keys). The row max is reduced over two lanes instead of four",
                         neighbours ? "0 and 1" : "0 and 2", neighbours ? "2 and 3" : "1 and 3", tile);
        else
            explain_line(
                s, "quad-maximum-not-reduced",
                "Each of the four lanes that share a row uses its own maximum (lane t holds keys 2t and 2t + 1 of "
                "every 8 keys, in tiles of %d keys): the row max is not reduced over the four lanes of the quad",
                tile);
        return true;
    }
    return false;
}
