// Which keys of a case have weights that do not belong to them.
#include "operations/attention_conditions.h"
#include "operations/attention_explain_weights.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>

enum { NONE = -1 };

void explain_line(const struct explainer *s, const char *code, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fputs("  ", s->out);
    vfprintf(s->out, format, arguments);
    fprintf(s->out, " [%s]\n", code);
    va_end(arguments);
}

// The one key whose weight key j has in every wrong row, in proportion to the row's others. NONE: there is none, or no
// telling.
static int weight_from(const struct explainer *s, int j) {
    int nk = s->x.which.attention.nk, found = NONE;
    for (int g = 0; g < nk; g++) {
        bool fits = true;
        for (int64_t r = 0; r < s->x.rows && fits; r++)
            fits = !s->wrong[r] || observed_matches(&s->x, r, got_of(s, r)[j], s->factor[r] * right_of(s, r)[g]);
        if (fits && found != NONE)
            return NONE;
        if (fits)
            found = g;
    }
    return found;
}

bool mismatched_keys_have_no_weight(const struct explainer *s) {
    int nk = s->x.which.attention.nk;
    for (int64_t r = 0; r < s->x.rows; r++)
        for (int j = 0; j < nk && s->wrong[r]; j++)
            if (s->mismatched[j] && !observed_matches(&s->x, r, got_of(s, r)[j], 0))
                return false;
    return true;
}

// Whether the keys that are not in proportion have the weight that a score of 0 would give them.
static bool as_if_zero(const struct explainer *s) {
    int nk = s->x.which.attention.nk;
    for (int64_t r = 0; r < s->x.rows; r++)
        for (int j = 0; j < nk && s->wrong[r]; j++) {
            double zero = s->factor[r] * right_of(s, r)[j] * exp(-s->x.score[r * nk + j]);
            if (s->mismatched[j] && !observed_matches(&s->x, r, got_of(s, r)[j], zero))
                return false;
        }
    return true;
}

// Whether each key that is in proportion has, in some wrong row, a weight that is large enough to show it.
static bool all_are_significant(const struct explainer *s) {
    for (int j = 0; j < s->x.which.attention.nk; j++) {
        bool is_significant = s->mismatched[j];
        for (int64_t r = 0; r < s->x.rows && !is_significant; r++)
            is_significant = s->wrong[r] && right_of(s, r)[j] > s->x.largest[r] / 4;
        if (!is_significant)
            return false;
    }
    return true;
}

// To look for the key that each of so many keys takes its weight from takes nk times as long: a few tell as much.
enum { MOST_FOLLOWED = 64 };

void explain_keys(const struct explainer *s, int mismatched) {
    int followed = 0;
    int nk = s->x.which.attention.nk, from = NONE, first = NONE, known = 0, shift = 0;
    bool same_shift = true;
    char text[200];
    for (int j = 0; j < nk && followed < MOST_FOLLOWED; j++) {
        if (!s->mismatched[j])
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
    if (!pattern_ranges(s->mismatched, nk, "key", "keys", text, sizeof text))
        snprintf(text, sizeof text, "%d keys (of %d; the first one is key %d)", mismatched, nk, first);
    if (mismatched_keys_have_no_weight(s))
        explain_line(s, "keys-without-weight", "The weighted sum has no weight for %s", text);
    else if (known == followed && mismatched > 1 && same_shift)
        explain_line(s, "keys-shifted", "Weights are shifted: key j has the weight of key j %c %d, for %s",
                     shift < 0 ? '-' : '+', abs(shift), text);
    else if (known == 1 && mismatched == 1)
        explain_line(s, "key-has-weight-of-other", "Key %d (of %d) has the weight of key %d", first, nk, from);
    else if (known == followed)
        explain_line(s, "keys-permuted",
                     "Weights are permuted: %s have the weights of other keys; key %d has the weight of key %d", text,
                     first, from);
    else
        explain_line(
            s, "keys-wrong",
            "The weights are wrong for %s%s; the weights of the other keys are right up to one common factor%s", text,
            as_if_zero(s) ? ", and equal to the weights of keys whose elements are all 0" : "",
            all_are_significant(s) ? "" : ", or too small to be compared");
}
