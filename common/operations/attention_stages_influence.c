// Whether a row that is wrong hangs on another row's query, which no row of attention does: something of that row is
// left behind, or read in its place.
#include "host/parallel.h"
#include "operations/attention_stages.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NONE = -1 };

struct influence {
    struct stages *s;
    int64_t row;       // the one that is wrong
    const float *base; // [head_dim], what it is
    float *q, *o;      // [rows][head_dim]
    float times;       // others' queries are this one's, multiplied by it
};

// Whether the row comes out otherwise with the queries of rows first to end, but for its own, turned round. false, too,
// where that cannot be asked.
static bool changes(struct influence *x, int64_t first, int64_t end) {
    const int d = x->s->x.which.attention.head_dim;
    const float *o = x->o + x->row * d;
    double largest = 0, worst = 0;
    memcpy(x->q, x->s->x.own_q, (size_t)(x->s->x.rows * d) * sizeof *x->q);
    for (int64_t i = first * d; i < end * d; i++)
        if (i / d != x->row)
            x->q[i] = x->times * x->s->x.own_q[x->row * d + i % d];
    if (!observed_ask(&x->s->x, x->q, NULL, x->o))
        return false;
    for (int c = 0; c < d; c++) {
        if (isfinite(o[c]) != isfinite(x->base[c]))
            return true;
        if (!isfinite(o[c]))
            continue;
        largest = fmax(largest, fmax(fabsf(o[c]), fabsf(x->base[c])));
        worst = fmax(worst, fabsf(o[c] - x->base[c]));
    }
    return worst > 4 * x->s->x.near * largest;
}

// The row whose query alone makes the difference. NONE: there is none, or only several together do.
static int64_t find(struct influence *x) {
    int64_t first = 0, end = x->s->x.rows;
    if (!changes(x, first, end))
        return NONE;
    while (end - first > 1) {
        const int64_t middle = first + (end - first) / 2;
        if (changes(x, first, middle))
            end = middle;
        else if (changes(x, middle, end))
            first = middle;
        else
            return NONE;
    }
    return first;
}

bool stages_say_influence(struct stages *s) {
    const struct attention_shape *shape = &s->x.which.attention;
    const int d = shape->head_dim;
    int64_t row = 0;
    while (row < s->x.rows && !s->wrong[row] && !s->x.lost[row])
        row++;
    if (row == s->x.rows || s->x.rows < 2 || !s->x.repeats)
        return false;
    float *base = host_allocate(s->x.rows * d, sizeof *base);
    struct influence x = {.s = s, .row = row, .base = base + row * d};
    x.q = host_allocate(s->x.rows * d, sizeof *x.q);
    x.o = host_allocate(s->x.rows * d, sizeof *x.o);
    int64_t other = NONE;
    // What the same query leaves behind does no harm; scores of 0 take a large maximum away, and those of the other
    // sign make one.
    for (x.times = 1; x.times >= -1 && other == NONE && observed_ask(&s->x, NULL, NULL, base); x.times--)
        other = find(&x);
    free(base);
    free(x.q);
    free(x.o);
    if (other == NONE)
        return false;
    char one[100], another[100];
    stages_name_row(s, row, one, sizeof one);
    stages_name_row(s, other, another, sizeof another);
    stages_say(
        s,
        "the output of %s changes when only the query of %s is changed: something of that row is left behind, or read",
        one, another);
    return true;
}
