// Keys of whatever numbers that share a factor in every wrong row: halves of pieces, lanes of tiles.
#include "host/parallel.h"
#include "operations/attention_pattern.h"
#include "operations/attention_stages.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CLASSES = 12, LEAST_KEYS = 3, NONE = -1 };

struct classes {
    const struct stages *s;
    int *of; // [nk], the class of a key; NONE: its weights are too small to tell
    int count, size[MOST_CLASSES];
    double *factor; // [rows][MOST_CLASSES], NAN where no key of the class tells
};

// Whether key j has in each wrong row the factor of this class, and in one of them at least there is one.
static bool belongs(const struct classes *c, int j, int class) {
    const struct stages *s = c->s;
    bool told = false;
    for (int64_t r = 0; r < s->x.rows; r++) {
        const double factor = c->factor[r * MOST_CLASSES + class];
        const double got = got_of(s, r)[j], right = right_of(s, r)[j];
        if (!s->wrong[r] || isnan(factor) || !stages_tells(s, r, j))
            continue;
        if (fabs(got / right - factor) > 8 * s->x.near * factor)
            return false;
        told = true;
    }
    return told;
}

static void add(struct classes *c, int j, int class) {
    const struct stages *s = c->s;
    c->of[j] = class;
    for (int64_t r = 0; r < s->x.rows; r++)
        if (s->wrong[r] && isnan(c->factor[r * MOST_CLASSES + class]) && stages_tells(s, r, j))
            c->factor[r * MOST_CLASSES + class] = got_of(s, r)[j] / right_of(s, r)[j];
}

// False where there are more classes, or smaller ones, than a mistake makes.
static bool find(struct classes *c) {
    const int nk = c->s->x.which.attention.nk;
    for (int64_t i = 0; i < c->s->x.rows * MOST_CLASSES; i++)
        c->factor[i] = NAN;
    for (int j = 0; j < nk; j++) {
        bool told = false;
        for (int64_t r = 0; r < c->s->x.rows && !told; r++)
            told = c->s->wrong[r] && stages_tells(c->s, r, j);
        c->of[j] = NONE;
        for (int class = 0; class < c->count && told && c->of[j] == NONE; class ++)
            if (belongs(c, j, class))
                add(c, j, class);
        if (told && c->of[j] == NONE) {
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
    const struct stages *s = c->s;
    for (int64_t r = 0; r < s->x.rows; r++) {
        double base = exact ? 1 : NAN;
        for (int class = 0; class < c->count && s->wrong[r]; class ++) {
            const double factor = c->factor[r * MOST_CLASSES + class];
            const double to = around ? maximum_of(c, r, class, true) : stages_maximum(s, r);
            const double expected = exp(to - maximum_of(c, r, class, false));
            if (isnan(factor) || c->size[class] < LEAST_KEYS) // which a small one lies among is not known
                continue;
            base = isnan(base) ? factor / expected : base;
            if (fabs(factor - base * expected) > 16 * s->x.near * factor)
                return false;
        }
    }
    return true;
}

// ---- Their names ----------------------------------------------------------------------------------------------------

// "keys 0 to 20", "keys 1, 3, ... 19"; false where it takes more words.
static bool name_class(const struct classes *c, int class, char *text, size_t size) {
    const int nk = c->s->x.which.attention.nk;
    int first = NONE, second = NONE, last = NONE, count = 0;
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
        snprintf(text, size, "%d, %d, ... %d", first, second, last);
    else
        named = pattern_ranges(marked, nk, "", "", text, size);
    free(marked);
    return named || count == 1;
}

static bool say_names(const struct classes *c) {
    char all[600] = "", one[200];
    size_t length = 0;
    for (int class = 0; class < c->count; class ++) {
        if (!name_class(c, class, one, sizeof one))
            return false;
        length += (size_t)snprintf(all + length, sizeof all - length, "%s%s", class ? "; " : "", one);
        if (length >= sizeof all)
            return false;
    }
    stages_say(c->s, "gives keys of these groups their weights in proportion, but not those of one and another: %s",
               all);
    return true;
}

bool stages_say_classes(const struct stages *s) {
    struct classes c = {.s = s, .of = host_allocate(s->x.which.attention.nk, sizeof *c.of)};
    c.factor = host_allocate(s->x.rows * MOST_CLASSES, sizeof *c.factor);
    const bool said = find(&c) && say_names(&c);
    if (said && are_relative(&c, false, false))
        stages_say(s, "each group is relative to the largest score of its own keys, and never brought to the row's");
    else if (said && are_mixed(&c) && are_relative(&c, true, true))
        stages_say(s, "each group is relative to the largest score of its own keys, and never brought to that of the "
                      "groups among whose keys they lie");
    else if (said && are_mixed(&c) && are_relative(&c, true, false))
        stages_say(s, "each group is relative to the largest score of its own keys, and never brought to that of the "
                      "groups among whose keys they lie; besides, the rows are divided by another sum");
    if (said)
        stages_say_sums(s);
    free(c.factor);
    free(c.of);
    return said;
}
