// Keys whose weights are in proportion within parts of them, runs or those of the same lanes, but not from one to the
// other.
#include "operations/attention_stages.h"

#include <math.h>

// Whether a weight has all the bits of its type: fp16 ends at 2^-24.
static bool is_precise(const struct stages *s, double weight) {
    return s->x.which.dtype != ATTENTION_FP16 || fabs(weight) > 0x1p-13;
}

// Whether key j has, in every wrong row, the factor of the key that is so many before it.
static bool goes_on(const struct stages *s, int j, int before) {
    for (int64_t r = 0; r < s->x.rows; r++) {
        const double *got = got_of(s, r), *right = right_of(s, r);
        if (s->wrong[r] && right[j] > 0 && right[j - before] > 0 && is_precise(s, got[j]) &&
            is_precise(s, got[j - before]) &&
            !observed_near(&s->x, r, got[j] * right[j - before] / right[j], got[j - before]))
            return false;
    }
    return true;
}

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
            if (!(right > 1e-6) || !is_precise(s, got_of(s, r)[j]))
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

static double largest_got(const struct stages *s, int64_t r) {
    double largest = 0;
    for (int j = 0; j < s->x.which.attention.nk; j++)
        largest = fmax(largest, got_of(s, r)[j]);
    return largest;
}

// Whether a weight is large enough, beside the largest of its row, for its factor to be known.
static bool tells(const struct stages *s, double got, double right, double largest) {
    static const double least = 1e-25;
    return got > largest / 128 && right > least && is_precise(s, got);
}

bool stages_tells(const struct stages *s, int64_t row, int key) {
    return tells(s, got_of(s, row)[key], right_of(s, row)[key], largest_got(s, row));
}

// Whether in some row weights have factors that lie further apart than roundings make them.
static bool factors_differ(const struct stages *s) {
    const int nk = s->x.which.attention.nk;
    for (int64_t r = 0; r < s->x.rows; r++) {
        const double *got = got_of(s, r), *right = right_of(s, r), largest = largest_got(s, r);
        double least = INFINITY, most = 0;
        for (int j = 0; j < nk && s->wrong[r]; j++)
            if (tells(s, got[j], right[j], largest)) {
                least = fmin(least, got[j] / right[j]);
                most = fmax(most, got[j] / right[j]);
            }
        if (most > least * (1 + 32 * s->x.near))
            return true;
    }
    return false;
}

// Whether keys first, first + step, ... before end have one factor in each wrong row, as far as their weights are large
// enough to tell. Adds to *told how many of them told.
static bool have_one_factor(const struct stages *s, int first, int end, int step, int *told) {
    for (int64_t r = 0; r < s->x.rows; r++) {
        const double *got = got_of(s, r), *right = right_of(s, r), largest = largest_got(s, r);
        double factor = NAN;
        for (int j = first; j < end && s->wrong[r]; j += step) {
            if (!tells(s, got[j], right[j], largest))
                continue;
            *told += !isnan(factor);
            if (isnan(factor))
                factor = got[j] / right[j];
            else if (fabs(got[j] / right[j] - factor) > 8 * s->x.near * factor)
                return false;
        }
    }
    return true;
}

bool stages_say_threads(const struct stages *s) {
    int nk = s->x.which.attention.nk;
    for (int threads = 2; 3 * threads / 2 < nk && threads <= 256 && factors_differ(s); threads *= 2) {
        bool all = true;
        for (int j = threads; j < nk && all; j++)
            all = goes_on(s, j, threads);
        for (int t = 0, told = 0; t < threads && all; t++, told = 0)
            all = have_one_factor(s, t, nk, threads, &told) && told > 0;
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
// ------------------------------------------------------------------------------------

enum { QUAD = 4, PAIR = 2, OCTET = QUAD * PAIR };

// Whether the keys of lane t, pairs of each eight, have one factor in each tile of so many keys.
static bool lanes_have_factors(const struct stages *s, int tile, int *told) {
    for (int64_t r = 0; r < s->x.rows; r++) {
        const double *got = got_of(s, r), *right = right_of(s, r), largest = largest_got(s, r);
        double factor[QUAD];
        for (int j = 0; j < s->x.which.attention.nk && s->wrong[r]; j++) {
            double *of = &factor[j % OCTET / PAIR];
            for (int t = 0; t < QUAD && j % tile == 0; t++)
                factor[t] = NAN;
            if (!tells(s, got[j], right[j], largest))
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
        const double *got = got_of(s, r), *right = right_of(s, r), largest = largest_got(s, r);
        double factor[QUAD];
        for (int j = 0; j < s->x.which.attention.nk && s->wrong[r]; j++) {
            double *of = &factor[j % OCTET / PAIR & ~mask];
            for (int t = 0; t < QUAD && j % tile == 0; t++)
                factor[t] = NAN;
            if (!tells(s, got[j], right[j], largest))
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
        if (!lanes_have_factors(s, tile, &told) || told < LEAST_TOLD)
            continue;
        const bool neighbours = lanes_share(s, tile, 1), others = lanes_share(s, tile, 2);
        stages_say(s,
                   "gives in each %d keys those of the same lane of a quad, numbers 2 t and 2 t + 1 of each 8, their "
                   "weights in proportion, but not those of different lanes: as if %s",
                   tile,
                   neighbours ? "lanes 0 and 1 of a quad had one maximum, and 2 and 3 another"
                   : others   ? "lanes 0 and 2 of a quad had one maximum, and 1 and 3 another"
                              : "each lane had a maximum of its own");
        return true;
    }
    return false;
}

// ---- Runs of keys that have factors of their own --------------------------------------------------------------------

enum { MOST_PARTS = 8 };

// What a run's maximum is taken over, where that explains its factor.
enum own_maximum { OF_ITS_KEYS, OF_KEYS_SO_FAR, OF_KEYS_FROM_IT_ON, OF_EVERY_SECOND, OF_EVERY_FOURTH };

// The largest score of the run's own keys, of all up to its end, from its beginning on, or of it and those that come
// two or four runs later and earlier, as those of a warp do.
static double maximum_of_run(const struct stages *s, int64_t r, const int *begin /* [parts + 1] */, int parts, int run,
                             enum own_maximum kind) {
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
static bool are_relative_to(const struct stages *s, const int *begin /* [parts + 1] */, int parts,
                            enum own_maximum kind, double power) {
    for (int64_t r = 0; r < s->x.rows; r++) {
        const double largest = largest_got(s, r);
        double base = NAN;
        for (int pass = 0; pass < 2 && s->wrong[r]; pass++) // base is what the largest weight needs
            for (int i = 0; i < parts; i++) {
                const double maximum = maximum_of_run(s, r, begin, parts, i, kind);
                for (int j = begin[i]; j < begin[i + 1]; j++) {
                    const double got = got_of(s, r)[j];
                    const double expected = right_of(s, r)[j] * exp((stages_maximum(s, r) - maximum) * (1 - power));
                    if (pass == 0 && got == largest && expected > 0)
                        base = got / expected;
                    if (pass && fabs(got - base * expected) > 4 * s->x.near * (base * expected + largest / 16))
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
static bool are_rescaled_too(const struct stages *s, const int *begin /* [parts + 1] */, int parts, double at_first) {
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
                if (isnan(base) ? !observed_near(&s->x, r, got_of(s, r)[j], expected)
                                : !observed_near(&s->x, r, got_of(s, r)[j] / base, expected))
                    return false;
            }
        }
    }
    return raised;
}

// Whether in each wrong row a part is relative to the maximum of its time, and brought to all later ones but to that
// which the next part has. backwards: the last keys come first.
static bool miss_one_rescaling(const struct stages *s, const int *begin /* [parts + 1] */, int parts, bool backwards) {
    const enum own_maximum kind = backwards ? OF_KEYS_FROM_IT_ON : OF_KEYS_SO_FAR;
    bool raised = false;
    for (int64_t r = 0; r < s->x.rows; r++) {
        const double largest = largest_got(s, r);
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
                    if (pass && fabs(got - base * expected) > 4 * s->x.near * (base * expected + largest / 16))
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
static bool count_by_some(const struct stages *s, const int *begin /* [parts + 1] */, int parts, int every, int from) {
    bool differs = false;
    for (int64_t r = 0; r < s->x.rows; r++) {
        const double largest = largest_got(s, r), *score = s->x.score + r * s->x.which.attention.nk;
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
                if (!tells(s, got_of(s, r)[j], right_of(s, r)[j], largest))
                    continue;
                base = isnan(base) ? got_of(s, r)[j] / expected : base;
                if (!(fabs(got_of(s, r)[j] - base * expected) <= 8 * s->x.near * base * expected))
                    return false;
            }
        }
    }
    return differs;
}

static bool say_some(const struct stages *s, const int *begin /* [parts + 1] */, int parts) {
    for (int every = 2; every <= 64; every *= 2)
        for (int from = 0; from < every; from += every / 2)
            if (count_by_some(s, begin, parts, every, from)) {
                char which[60];
                if (every == 2)
                    snprintf(which, sizeof which, "every second key, from number %d on", from);
                else
                    snprintf(which, sizeof which, "numbers %d to %d of each %d keys", from, from + every / 2 - 1,
                             every);
                stages_say(s,
                           "each part counts as if its largest score were that of some of its keys alone: of %s, "
                           "counted from where it begins",
                           which);
                return true;
            }
    return false;
}

// By which power two parts of one row would be rescaled, whose maxima lie far apart; NAN: there are no such.
static double fitting_power(const struct stages *s, const int *begin /* [parts + 1] */, int parts,
                            enum own_maximum kind) {
    static const double far = 1;
    for (int64_t r = 0; r < s->x.rows; r++) {
        double factor[MOST_PARTS], maximum[MOST_PARTS];
        for (int i = 0; i < parts && s->wrong[r]; i++) {
            double least = largest_got(s, r) / 128;
            factor[i] = 0;
            maximum[i] = maximum_of_run(s, r, begin, parts, i, kind);
            for (int j = begin[i]; j < begin[i + 1]; j++)
                if (got_of(s, r)[j] > least && tells(s, got_of(s, r)[j], right_of(s, r)[j], 0)) {
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
static bool say_relation(const struct stages *s, const int *begin /* [parts + 1] */, int parts) {
    // Of two parts the second one's own is the largest so far in all rows that are wrong.
    if (are_relative_to(s, begin, parts, OF_KEYS_SO_FAR, 0))
        stages_say(s, "each part is relative to the largest score up to its end, also where a later one is larger");
    else if (are_relative_to(s, begin, parts, OF_ITS_KEYS, 0))
        stages_say(s, "each part is relative to the largest score of its own keys, and never brought to the row's");
    else if (are_relative_to(s, begin, parts, OF_KEYS_FROM_IT_ON, 0))
        stages_say(s, "each part is relative to the largest score from its beginning on, also where an earlier one is "
                      "larger: the last keys come first");
    else if (are_relative_to(s, begin, parts, OF_EVERY_SECOND, 0))
        stages_say(s, "each part is relative to the largest score of every second part, itself among them");
    else if (are_relative_to(s, begin, parts, OF_EVERY_FOURTH, 0))
        stages_say(s, "each part is relative to the largest score of every fourth part, itself among them");
    else if (are_rescaled_too(s, begin, parts, 1) || are_rescaled_too(s, begin, parts, 0))
        stages_say(s,
                   "a part that raises the row's maximum is rescaled with the keys before it, as if it had been added "
                   "first: only what was there before it has to be");
    else if (parts > 2 && (miss_one_rescaling(s, begin, parts, false) || miss_one_rescaling(s, begin, parts, true)))
        stages_say(
            s, "each part is brought to every later maximum but to that of the part that comes next: it is added after "
               "the rescaling that it needs");
    else
        return false;
    return true;
}

static void say_relative_to(const struct stages *s, const int *begin /* [parts + 1] */, int parts) {
    static const double powers[] = {-1, 0.5, 2, M_LN2, M_LOG2E};
    if (say_relation(s, begin, parts) || say_some(s, begin, parts))
        return;
    for (size_t i = 0; i <= sizeof powers / sizeof *powers; i++)
        for (enum own_maximum kind = OF_ITS_KEYS; kind <= OF_KEYS_FROM_IT_ON; kind++) {
            const double power = i ? powers[i - 1] : fitting_power(s, begin, parts, kind);
            if (isnan(power) || fabs(power) < 0.05 || fabs(power - 1) < 0.05 ||
                !are_relative_to(s, begin, parts, kind, power))
                continue;
            stages_say(s, "they are rescaled to the row's largest score by the power %.3g of the right factor", power);
            return;
        }
}

// ---- Which runs they are

// Where one key after the other shows it. Returns how many runs there are; 0: too many, or short ones.
static int find_runs(const struct stages *s, int *begin /* [MOST_PARTS + 1] */) {
    enum { LEAST_KEYS = 4 };
    int nk = s->x.which.attention.nk, parts = 1;
    begin[0] = 0;
    for (int j = 1; j < nk; j++)
        if (!goes_on(s, j, 1)) {
            if (parts == MOST_PARTS || j - begin[parts - 1] < LEAST_KEYS)
                return 0;
            begin[parts++] = j;
        }
    begin[parts] = nk;
    return parts;
}

// Tiles of so many keys.
static int cut(const struct stages *s, int keys, int *begin /* [MOST_PARTS + 1] */) {
    int nk = s->x.which.attention.nk, parts = 0;
    if ((nk + keys - 1) / keys > MOST_PARTS)
        return 0;
    for (; parts * keys < nk; parts++)
        begin[parts] = parts * keys;
    begin[parts] = nk;
    return parts;
}

static bool have_factors(const struct stages *s, const int *begin, int parts) {
    int told = 0;
    for (int i = 0; i < parts; i++)
        if (!have_one_factor(s, begin[i], begin[i + 1], 1, &told))
            return false;
    return parts > 1 && told > parts && factors_differ(s);
}

bool stages_say_parts(const struct stages *s) {
    static const int tiles[] = {128, 64, 32, 16};
    int begin[MOST_PARTS + 1], parts = find_runs(s, begin);
    // Where most weights are too small to tell, a run's end is not seen.
    for (size_t i = 0; i < sizeof tiles / sizeof *tiles && !have_factors(s, begin, parts); i++)
        parts = tiles[i] < s->x.which.attention.nk ? cut(s, tiles[i], begin) : 0;
    if (!have_factors(s, begin, parts))
        return false;
    fprintf(s->out, "  gives keys 0 to %d", begin[1] - 1);
    for (int i = 1; i < parts; i++) {
        fprintf(s->out, "%s%d", i < parts - 1 ? ", " : parts == 2 ? " and " : ", and ", begin[i]);
        if (begin[i + 1] - begin[i] > 1)
            fprintf(s->out, " to %d", begin[i + 1] - 1);
    }
    fprintf(s->out, " their weights in proportion, but not all of these parts by the same factor\n");
    say_relative_to(s, begin, parts);
    return true;
}
