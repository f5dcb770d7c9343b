// Which keys of a case have weights that do not belong to them.
#include "operations/attention_pattern.h"
#include "operations/attention_stages.h"

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

void stages_say_keys(const struct stages *s, int odd) {
    int nk = s->x.which.attention.nk, from = NONE, first = NONE, known = 0, shift = 0;
    bool same_shift = true;
    char text[200];
    for (int j = 0; j < nk; j++) {
        if (!s->odd[j])
            continue;
        int g = weight_from(s, j);
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
    else if (known == odd && odd > 1 && same_shift)
        stages_say(s, "gives %s of %d the weights of the keys %d %s them", text, nk, abs(shift),
                   shift < 0 ? "before" : "after");
    else if (known == 1 && odd == 1)
        stages_say(s, "gives key %d of %d the weight of key %d", first, nk, from);
    else if (known == odd)
        stages_say(s, "gives %s of %d the weights of other keys: key %d that of key %d", text, nk, first, from);
    else
        stages_say(s, "gives %s of %d wrong weights; those of the others are in proportion", text, nk);
}

// Whether key j has, in every wrong row, the factor of the key that is so many before it.
static bool goes_on(const struct stages *s, int j, int before) {
    for (int64_t r = 0; r < s->x.rows; r++) {
        const double *got = got_of(s, r), *right = right_of(s, r);
        if (s->wrong[r] && right[j] > 0 && right[j - before] > 0 &&
            !observed_near(&s->x, r, got[j] * right[j - before] / right[j], got[j - before]))
            return false;
    }
    return true;
}

bool stages_say_threads(const struct stages *s) {
    int nk = s->x.which.attention.nk;
    for (int threads = 2; 3 * threads / 2 < nk && threads <= 256; threads *= 2) {
        bool all = true;
        for (int j = threads; j < nk && all; j++)
            all = goes_on(s, j, threads);
        if (!all)
            continue;
        stages_say(s, "gives keys j, j + %d, and so on their weights in proportion, but another factor for each j",
                   threads);
        return true;
    }
    return false;
}

// Whether in every wrong row each key has the weights of all the keys that are `step` or a multiple of it after it
// (all) or of the one that is (the first keys their own, too), and the others none.
static bool are_moved(const struct stages *s, int step, bool all) {
    int nk = s->x.which.attention.nk;
    for (int64_t r = 0; r < s->x.rows; r++)
        for (int j = 0; j < nk && s->wrong[r]; j++) {
            double sum = j < step ? right_of(s, r)[j] : 0;
            for (int from = j + step; from < nk && (j < step || !all); from += step) {
                sum += right_of(s, r)[from];
                if (!all)
                    break;
            }
            if (!observed_near(&s->x, r, got_of(s, r)[j], sum))
                return false;
        }
    return true;
}

bool stages_say_moved(const struct stages *s) {
    int nk = s->x.which.attention.nk;
    for (int step = 4; step < nk; step += 4)
        for (int all = 0; all < 2; all++)
            if (are_moved(s, step, all)) {
                stages_say(s, "gives the weights of keys %d to %d to the values of %s", step, nk - 1,
                           all || nk <= 2 * step ? "the first keys, over and over" : "the keys as many before them");
                if (nk <= 2 * step || all)
                    stages_say(s, "values of keys from %d on are never used", step);
                return true;
            }
    return false;
}

// How many keys from `first` on have in row r, in proportion, the weights of another row.
static int run_of(const struct stages *s, int64_t r, int64_t other, int first) {
    int nk = s->x.which.attention.nk, j = first + 1;
    const double *got = got_of(s, r), *right = right_of(s, other);
    while (j < nk && right[j] > 0 && right[j - 1] > 0 &&
           observed_near(&s->x, other, got[j] * right[j - 1] / right[j], got[j - 1]))
        j++;
    return j - first;
}

bool stages_say_mixture(const struct stages *s) {
    enum { LEAST_KEYS = 4, MOST_ROWS = 128, MOST_TEXT = 300 };
    const struct attention_shape *shape = &s->x.which.attention;
    char text[MOST_TEXT] = "";
    int64_t told = NONE;
    size_t length = 0;
    for (int64_t r = 0; r < s->x.rows; r++) {
        if (!s->wrong[r] || s->x.rows > MOST_ROWS)
            continue;
        int runs = 0, others = 0;
        for (int j = 0, longest; j < shape->nk; j += longest) {
            int64_t from = NONE;
            longest = 0;
            for (int64_t other = 0; other < s->x.rows; other++) {
                int run = run_of(s, r, other, j);
                if (run > longest) {
                    longest = run;
                    from = other;
                }
            }
            if (longest < LEAST_KEYS)
                return false;
            runs++;
            others += from != r;
            if (length < sizeof text && (told == NONE || told == r))
                length += (size_t)snprintf(text + length, sizeof text - length, "%s keys %d to %d those of query %d",
                                           length ? "," : "", j, j + longest - 1, (int)(from % shape->nq));
            told = told == NONE ? r : told;
        }
        if (!others || runs < 2)
            return false;
    }
    if (told == NONE)
        return false;
    stages_say(s, "gives parts of a row the weights of other rows: in query %d%s", (int)(told % shape->nq), text);
    return true;
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
    fprintf(s->out, "  gives keys 0 to %d", begin[1] - 1);
    for (int i = 1; i < parts; i++)
        fprintf(s->out, ", %s%d to %d", i == parts - 1 ? "and " : "", begin[i],
                (i == parts - 1 ? nk : begin[i + 1]) - 1);
    fprintf(s->out, " their weights in proportion, but each of these parts another factor\n");
    return true;
}
