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

// Whether each key that is in proportion has, in some wrong row, a weight that is large enough to show it.
static bool all_tell(const struct stages *s) {
    for (int j = 0; j < s->x.which.attention.nk; j++) {
        bool tells = s->odd[j];
        for (int64_t r = 0; r < s->x.rows && !tells; r++)
            tells = s->wrong[r] && right_of(s, r)[j] > s->x.largest[r] / 4;
        if (!tells)
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
        stages_say(s, "gives %s of %d wrong weights%s; those of the others are in proportion%s", text, nk,
                   as_if_zero(s) ? ", those of keys that are 0" : "", all_tell(s) ? "" : ", or too small to tell");
}
