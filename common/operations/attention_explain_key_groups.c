// Keys of whatever numbers that share a factor in every wrong row: halves of pieces, lanes of tiles.
#include "host/parallel.h"
#include "operations/attention_conditions.h"
#include "operations/attention_explain_weights.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CLASSES = 12, LEAST_KEYS = 3, NONE = -1 };

struct classes {
    const struct explainer *s;
    int *of; // [nk], the class of a key; NONE: its weights are too small to tell
    int count, size[MOST_CLASSES];
    double *factor; // [rows][MOST_CLASSES], NAN where no key of the class tells
};

// Whether key j has in each wrong row the factor of this class, and in one of them at least there is one.
static bool belongs(const struct classes *c, int j, int class) {
    const struct explainer *s = c->s;
    bool reported = false;
    for (int64_t r = 0; r < s->x.rows; r++) {
        const double factor = c->factor[r * MOST_CLASSES + class];
        const double got = got_of(s, r)[j], right = right_of(s, r)[j];
        if (!s->wrong[r] || isnan(factor) || !weight_is_significant(s, r, j))
            continue;
        if (fabs(got / right - factor) > 8 * s->x.tolerance * factor)
            return false;
        reported = true;
    }
    return reported;
}

static void add(struct classes *c, int j, int class) {
    const struct explainer *s = c->s;
    c->of[j] = class;
    for (int64_t r = 0; r < s->x.rows; r++)
        if (s->wrong[r] && isnan(c->factor[r * MOST_CLASSES + class]) && weight_is_significant(s, r, j))
            c->factor[r * MOST_CLASSES + class] = got_of(s, r)[j] / right_of(s, r)[j];
}

// False where there are more classes, or smaller ones, than a mistake makes.
static bool find(struct classes *c) {
    const int nk = c->s->x.which.attention.nk;
    for (int64_t i = 0; i < c->s->x.rows * MOST_CLASSES; i++)
        c->factor[i] = NAN;
    for (int j = 0; j < nk; j++) {
        bool reported = false;
        for (int64_t r = 0; r < c->s->x.rows && !reported; r++)
            reported = c->s->wrong[r] && weight_is_significant(c->s, r, j);
        c->of[j] = NONE;
        for (int class = 0; class < c->count && reported && c->of[j] == NONE; class ++)
            if (belongs(c, j, class))
                add(c, j, class);
        if (reported && c->of[j] == NONE) {
            if (c->count == MOST_CLASSES)
                return false;
            add(c, j, c->count++);
        }
        if (c->of[j] != NONE)
            c->size[c->of[j]]++;
    }
    int large = 0, in_small = 0; // the last tile may have a key or two
    for (int class = 0; class < c->count; class ++) {
        large += c->size[class] >= LEAST_KEYS;
        in_small += c->size[class] < LEAST_KEYS ? c->size[class] : 0;
    }
    if (large < 2 || 16 * in_small > nk)
        return false;
    return c->count > 1;
}

// ---- What they are relative to --------------------------------------------------------------------------------------

// The first and last key of a class.
static void range_of(const struct classes *c, int class, int *first, int *last) {
    const int nk = c->s->x.which.attention.nk;
    *first = nk, *last = 0;
    for (int j = 0; j < nk; j++)
        if (c->of[j] == class) {
            *first = j < *first ? j : *first;
            *last = j;
        }
}

// The largest score of the keys of a class; around: of those, too, of classes that lie among them.
static double maximum_of(const struct classes *c, int64_t r, int class, bool around) {
    const int nk = c->s->x.which.attention.nk;
    int first, last, other_first, other_last;
    double maximum = -INFINITY;
    range_of(c, class, &first, &last);
    for (int other = 0; other < c->count; other++) {
        range_of(c, other, &other_first, &other_last);
        for (int j = 0; j < nk; j++)
            if (c->of[j] == other && (other == class || (around && other_first <= last && first <= other_last)))
                maximum = fmax(maximum, c->s->x.score[r * nk + j]);
    }
    return maximum;
}

// Whether classes lie among each other, so that what is around one is more than itself.
static bool are_mixed(const struct classes *c) {
    const int nk = c->s->x.which.attention.nk;
    int runs = 1;
    for (int j = 1; j < nk; j++)
        runs += c->of[j] != NONE && c->of[j - 1] != NONE && c->of[j] != c->of[j - 1];
    return runs > c->count;
}

// Whether in each wrong row the factors of the classes are exp(what around it is the maximum, or the row's, less its
// own), by one more factor for the row, which is 1 where exact.
static bool are_relative(const struct classes *c, bool around, bool exact) {
    const struct explainer *s = c->s;
    for (int64_t r = 0; r < s->x.rows; r++) {
        double base = exact ? 1 : NAN;
        for (int class = 0; class < c->count && s->wrong[r]; class ++) {
            const double factor = c->factor[r * MOST_CLASSES + class];
            const double to = around ? maximum_of(c, r, class, true) : score_maximum(s, r);
            const double expected = exp(to - maximum_of(c, r, class, false));
            if (isnan(factor) || c->size[class] < LEAST_KEYS) // which a small one lies among is not known
                continue;
            base = isnan(base) ? factor / expected : base;
            if (fabs(factor - base * expected) > 16 * s->x.tolerance * factor)
                return false;
        }
    }
    return true;
}

// ---- Their names ----------------------------------------------------------------------------------------------------

// "keys 0 to 20", "keys 1, 3, ..., 19"; false where it takes more words.
static bool name_class(const struct classes *c, int class, char *text, size_t size) {
    const int nk = c->s->x.which.attention.nk;
    int first = NONE, second = NONE, last = NONE, count = 0, period;
    bool even_steps = true;
    bool *marked = host_allocate(nk, sizeof *marked);
    for (int j = 0; j < nk; j++) {
        marked[j] = c->of[j] == class;
        if (!marked[j])
            continue;
        if (first == NONE)
            first = j;
        else if (second == NONE)
            second = j;
        else
            even_steps = even_steps && j - last == second - first;
        last = j;
        count++;
    }
    bool named = even_steps && second != NONE;
    if (count == 1)
        snprintf(text, size, "%d", first);
    else if (named && second == first + 1)
        snprintf(text, size, "%d to %d", first, last);
    else if (named && count > 1)
        snprintf(text, size, "%d, %d, ..., %d", first, second, last);
    else
        named = pattern_list(marked, nk, &period, text, size);
    free(marked);
    return named || count == 1;
}

static bool report_names(const struct classes *c) {
    char all[600] = "", one[200];
    size_t length = 0;
    for (int class = 0; class < c->count; class ++) {
        if (!name_class(c, class, one, sizeof one))
            return false;
        length += (size_t)snprintf(all + length, sizeof all - length, "%s%s", class ? "; " : "", one);
        if (length >= sizeof all)
            return false;
    }
    explain_line(c->s, "key-groups-differ",
                 "Within each of these groups of keys the weights are right up to one common factor, but each group "
                 "has another factor: keys %s",
                 all);
    return true;
}

bool explain_key_groups(const struct explainer *s) {
    struct classes c = {.s = s, .of = host_allocate(s->x.which.attention.nk, sizeof *c.of)};
    c.factor = host_allocate(s->x.rows * MOST_CLASSES, sizeof *c.factor);
    const bool explained = find(&c) && report_names(&c);
    if (explained && are_relative(&c, false, false))
        explain_line(s, "group-maximum-not-reduced",
                     "Each group of keys subtracts the maximum of the group and is never rescaled to the row max");
    else if (explained && are_mixed(&c) && are_relative(&c, true, true))
        explain_line(s, "overlapping-group-maximum-not-reduced",
                     "Each group of keys subtracts the maximum of the group and is never rescaled to the maximum of "
                     "the groups with overlapping key ranges");
    else if (explained && are_mixed(&c) && are_relative(&c, true, false))
        explain_line(s, "overlapping-group-maximum-and-sum",
                     "Each group of keys subtracts the maximum of the group and is never rescaled to the maximum of "
                     "the groups with overlapping key ranges. In addition, the rows are divided by a wrong sum");
    if (explained)
        explain_sums(s);
    free(c.factor);
    free(c.of);
    return explained;
}
