// Keys of one thread, or of one lane of a quad, whose weights are in proportion, but not from one to the other.
#include "operations/attention_factors.h"

#include <math.h>

// Whether in each wrong row the weights are relative to the largest score of those keys whose number, modulo `threads`,
// differs from their own in the bits of `mask` alone, and are brought to no other.
static bool are_relative_to_threads(const struct stages *s, int threads, int mask) {
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
            const double expected = right * exp(stages_maximum(s, r) - maximum[j % threads & ~mask]);
            if (!(right > 1e-6) || !factors_are_precise(s, got_of(s, r)[j]))
                continue;
            if (isnan(base))
                base = got_of(s, r)[j] / expected;
            if (fabs(got_of(s, r)[j] / base - expected) > 4 * s->x.near * (expected + 1.0 / nk))
                return false;
        }
    }
    return true;
}

static void say_relative_to_threads(const struct stages *s, int threads) {
    for (int mask = 0; mask < threads - 1; mask++) {
        char keys[100] = "";
        int length = 0;
        if (!are_relative_to_threads(s, threads, mask))
            continue;
        for (int t = 0; t < threads && length < (int)sizeof keys - 20; t++)
            if (!(t & ~mask))
                length += snprintf(keys + length, sizeof keys - (size_t)length, "%s%d", length ? ", " : "", t);
        stages_say(s,
                   "each is relative to the largest score of some keys alone, and never brought to the row's: key 0 to "
                   "that of "
                   "keys %s of each %d",
                   keys, threads);
        return;
    }
}

bool stages_say_threads(const struct stages *s) {
    int nk = s->x.which.attention.nk;
    for (int threads = 2; 3 * threads / 2 < nk && threads <= 256 && factors_differ(s); threads *= 2) {
        bool all = true;
        for (int j = threads; j < nk && all; j++)
            all = factors_go_on(s, j, threads);
        for (int t = 0, told = 0; t < threads && all; t++, told = 0)
            all = factors_are_one(s, t, nk, threads, &told) && told > 0;
        if (!all)
            continue;
        stages_say(s, "gives keys j, j + %d, and so on their weights in proportion, but not the same factor for each j",
                   threads);
        say_relative_to_threads(s, threads);
        return true;
    }
    return false;
}

// ---- Keys that a lane of a quad has

enum { QUAD = 4, PAIR = 2, OCTET = QUAD * PAIR };

// Whether the keys of lane t, pairs of each eight, have one factor in each tile of so many keys.
static bool lanes_have_factors(const struct stages *s, int tile, int *told) {
    for (int64_t r = 0; r < s->x.rows; r++) {
        const double *got = got_of(s, r), *right = right_of(s, r), largest = factors_largest(s, r);
        double factor[QUAD];
        for (int j = 0; j < s->x.which.attention.nk && s->wrong[r]; j++) {
            double *of = &factor[j % OCTET / PAIR];
            for (int t = 0; t < QUAD && j % tile == 0; t++)
                factor[t] = NAN;
            if (!factors_tell(s, got[j], right[j], largest))
                continue;
            *told += !isnan(*of);
            if (isnan(*of))
                *of = got[j] / right[j];
            else if (fabs(got[j] / right[j] - *of) > 8 * s->x.near * *of)
                return false;
        }
    }
    return true;
}

// Whether lanes whose numbers differ in the bits of `mask` have one factor in each tile, too.
static bool lanes_share(const struct stages *s, int tile, int mask) {
    for (int64_t r = 0; r < s->x.rows; r++) {
        const double *got = got_of(s, r), *right = right_of(s, r), largest = factors_largest(s, r);
        double factor[QUAD];
        for (int j = 0; j < s->x.which.attention.nk && s->wrong[r]; j++) {
            double *of = &factor[j % OCTET / PAIR & ~mask];
            for (int t = 0; t < QUAD && j % tile == 0; t++)
                factor[t] = NAN;
            if (!factors_tell(s, got[j], right[j], largest))
                continue;
            if (isnan(*of))
                *of = got[j] / right[j];
            else if (fabs(got[j] / right[j] - *of) > 8 * s->x.near * *of)
                return false;
        }
    }
    return true;
}

bool stages_say_quads(const struct stages *s) {
    enum { LEAST_TOLD = 48 };
    for (int tile = 128; tile >= 2 * OCTET && factors_differ(s); tile /= 2) {
        int told = 0;
        // Where all lanes have one factor it is the tiles that differ.
        if (!lanes_have_factors(s, tile, &told) || told < LEAST_TOLD || lanes_share(s, tile, QUAD - 1))
            continue;
        const bool neighbours = lanes_share(s, tile, 1), others = lanes_share(s, tile, 2);
        if (neighbours || others)
            stages_say(
                s,
                "gives in each %d keys those of lanes %s of a quad their weights in proportion, and those of lanes %s, "
                "but not those of one and the other two, where lane t has numbers 2 t and 2 t + 1 of each 8: as if "
                "either two had a maximum of their own",
                tile, neighbours ? "0 and 1" : "0 and 2", neighbours ? "2 and 3" : "1 and 3");
        else
            stages_say(
                s,
                "gives in each %d keys those of the same lane of a quad, numbers 2 t and 2 t + 1 of each 8, their "
                "weights in proportion, but not those of different lanes: as if each lane had a maximum of its own",
                tile);
        return true;
    }
    return false;
}
