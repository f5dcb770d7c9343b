// Which keys of a case have weights that do not belong to them.
#include "operations/attention_pattern.h"
#include "operations/attention_stages.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>

enum { NONE = -1 };

void stages_say(const struct stages *s, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fputs("  ", s->out);
    vfprintf(s->out, format, arguments);
    fputc('\n', s->out);
    va_end(arguments);
}

// The one key whose weight key j has in every wrong row, in proportion to the row's others. NONE: there is none, or no
// telling.
static int weight_from(const struct stages *s, int j) {
    int nk = s->x.which.attention.nk, found = NONE;
    for (int g = 0; g < nk; g++) {
        bool fits = true;
        for (int64_t r = 0; r < s->x.rows && fits; r++)
            fits = !s->wrong[r] || observed_near(&s->x, r, got_of(s, r)[j], s->factor[r] * right_of(s, r)[g]);
        if (fits && found != NONE)
            return NONE;
        if (fits)
            found = g;
    }
    return found;
}

bool stages_left_out(const struct stages *s) {
    int nk = s->x.which.attention.nk;
    for (int64_t r = 0; r < s->x.rows; r++)
        for (int j = 0; j < nk && s->wrong[r]; j++)
            if (s->odd[j] && !observed_near(&s->x, r, got_of(s, r)[j], 0))
                return false;
    return true;
}

// Whether the keys that are not in proportion have the weight that a score of 0 would give them.
static bool as_if_zero(const struct stages *s) {
    int nk = s->x.which.attention.nk;
    for (int64_t r = 0; r < s->x.rows; r++)
        for (int j = 0; j < nk && s->wrong[r]; j++) {
            double zero = s->factor[r] * right_of(s, r)[j] * exp(-s->x.score[r * nk + j]);
            if (s->odd[j] && !observed_near(&s->x, r, got_of(s, r)[j], zero))
                return false;
        }
    return true;
}

// To look for the key that each of so many keys takes its weight from takes nk times as long: a few tell as much.
enum { MOST_FOLLOWED = 64 };

void stages_say_keys(const struct stages *s, int odd) {
    int followed = 0;
    int nk = s->x.which.attention.nk, from = NONE, first = NONE, known = 0, shift = 0;
    bool same_shift = true;
    char text[200];
    for (int j = 0; j < nk && followed < MOST_FOLLOWED; j++) {
        if (!s->odd[j])
            continue;
        int g = weight_from(s, j);
        followed++;
        known += g != NONE;
        if (first == NONE) {
            first = j;
            from = g;
            shift = g - j;
        }
        same_shift = same_shift && g != NONE && g - j == shift;
    }
    if (!pattern_ranges(s->odd, nk, "key", "keys", text, sizeof text))
        snprintf(text, sizeof text, "%d keys, key %d the first one,", odd, first);
    if (stages_left_out(s))
        stages_say(s, "gives %s of %d no weight", text, nk);
    else if (known == followed && odd > 1 && same_shift)
        stages_say(s, "gives %s of %d the weights of the keys %d %s them", text, nk, abs(shift),
                   shift < 0 ? "before" : "after");
    else if (known == 1 && odd == 1)
        stages_say(s, "gives key %d of %d the weight of key %d", first, nk, from);
    else if (known == followed)
        stages_say(s, "gives %s of %d the weights of other keys: key %d that of key %d", text, nk, first, from);
    else
        stages_say(s, "gives %s of %d wrong weights%s; those of the others are in proportion", text, nk,
                   as_if_zero(s) ? ", those of keys that are 0" : "");
}

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

bool stages_say_threads(const struct stages *s) {
    int nk = s->x.which.attention.nk;
    for (int threads = 2; 3 * threads / 2 < nk && threads <= 256; threads *= 2) {
        bool all = true;
        for (int j = threads; j < nk && all; j++)
            all = goes_on(s, j, threads);
        if (!all)
            continue;
        stages_say(s, "gives keys j, j + %d, and so on their weights in proportion, but not the same factor for each j",
                   threads);
        say_relative_to_threads(s, threads);
        return true;
    }
    return false;
}

// ---- Runs of keys that have factors of their own --------------------------------------------------------------------

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
    int nk = s->x.which.attention.nk;
    for (int64_t r = 0; r < s->x.rows; r++) {
        double base = NAN;
        for (int i = 0; i < parts && s->wrong[r]; i++) {
            double maximum = maximum_of_run(s, r, begin, parts, i, kind);
            for (int j = begin[i]; j < begin[i + 1]; j++) {
                double expected = right_of(s, r)[j] * exp((stages_maximum(s, r) - maximum) * (1 - power));
                if (!(right_of(s, r)[j] > 1e-6))
                    continue;
                if (isnan(base))
                    base = got_of(s, r)[j] / expected;
                if (fabs(got_of(s, r)[j] / base - expected) > 4 * s->x.near * (expected + 1.0 / nk))
                    return false;
            }
        }
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

static void say_relative_to(const struct stages *s, const int *begin /* [parts + 1] */, int parts) {
    static const double powers[] = {-1, 0.5, 2, M_LN2, M_LOG2E};
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
    for (size_t i = 0; i < sizeof powers / sizeof *powers; i++)
        for (enum own_maximum kind = OF_ITS_KEYS; kind <= OF_KEYS_FROM_IT_ON; kind++)
            if (are_relative_to(s, begin, parts, kind, powers[i])) {
                stages_say(s, "they are rescaled to the row's largest score by the power %.3g of the right factor",
                           powers[i]);
                return;
            }
}

bool stages_say_parts(const struct stages *s) {
    enum { MOST_PARTS = 8, LEAST_KEYS = 4 };
    int nk = s->x.which.attention.nk, begin[MOST_PARTS + 1], parts = 1;
    begin[0] = 0;
    for (int j = 1; j < nk; j++)
        if (!goes_on(s, j, 1)) {
            if (parts == MOST_PARTS || j - begin[parts - 1] < LEAST_KEYS)
                return false;
            begin[parts++] = j;
        }
    if (parts < 2)
        return false;
    begin[parts] = nk;
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
