// Whether a row that is wrong hangs on another row's query or on another head's values, which no row of attention does:
// something of that row or head is left behind, or read in its place.
#include "host/parallel.h"
#include "operations/attention_operation.h"
#include "operations/diagnosis_report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NONE = -1 };

struct influence {
    const struct report *s;
    int64_t row;    // the one that is wrong
    float *in, *o;  // queries or values that are asked about, and what comes of them
    bool of_values; // of heads, instead of queries of rows
    float times;    // others' queries are this one's, multiplied by it
};

// Whether the row comes out otherwise with the queries of rows, or the values of heads, first to end, but for its own,
// replaced. False, too, where that cannot be asked.
static bool changes(struct influence *x, int64_t first, int64_t end) {
    const struct attention_shape *shape = &x->s->x->which.attention;
    const int d = shape->head_dim;
    const int64_t each = x->of_values ? shape->nk : 1,
                  own = x->of_values ? shape_first_key(shape, x->row) / each : x->row;
    const float *all = x->of_values ? x->s->x->own_v : x->s->x->own_q, *o = x->o + x->row * d,
                *base = x->s->x->o + x->row * d;
    double largest = 0, worst = 0;
    memcpy(x->in, all, (size_t)(x->s->x->problem.tensor[x->of_values ? V : Q].rows * d) * sizeof *x->in);
    for (int64_t i = first * each * d; i < end * each * d; i++)
        if (i / d / each != own)
            x->in[i] = x->of_values ? 0 : x->times * all[x->row * d + i % d];
    if (!observed_run(x->s->x, x->of_values ? NULL : x->in, x->of_values ? x->in : NULL, x->o))
        return false;
    for (int c = 0; c < d; c++) {
        if (isfinite(o[c]) != isfinite(base[c]))
            return true;
        if (!isfinite(o[c]))
            continue;
        largest = fmax(largest, fmax(fabsf(o[c]), fabsf(base[c])));
        worst = fmax(worst, fabsf(o[c] - base[c]));
    }
    return worst > 4 * x->s->x->tolerance * largest;
}

// The row or head that alone makes the difference. NONE: there is none, or only several together do.
static int64_t find(struct influence *x, int64_t count) {
    int64_t first = 0, end = count;
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

static bool report_found(const struct report *s, const struct influence *x, int64_t other) {
    const struct attention_shape *shape = &s->x->which.attention;
    char one[100], another[100];
    row_text(s, x->row, one, sizeof one);
    if (!x->of_values)
        row_text(s, other, another, sizeof another);
    if (x->of_values)
        report_line(s, "depends-on-other-head",
                    "The output of %s changes when only the values of batch %d head %d of V change: the kernel reads, "
                    "or adds, data of the other head",
                    one, (int)(other / shape->kv_heads), (int)(other % shape->kv_heads));
    else
        report_line(s, "depends-on-other-query",
                    "The output of %s changes when only the query of %s changes: the kernel reads, or has left behind, "
                    "data of the other row",
                    one, another);
    return true;
}

bool report_influence(const struct report *s, bool of_values) {
    const int d = s->x->which.attention.head_dim;
    const int64_t count = of_values ? s->x->problem.tensor[V].rows / s->x->which.attention.nk : s->x->rows;
    struct influence x = {.s = s, .of_values = of_values};
    while (x.row < s->x->rows && !s->x->missing[x.row] && observed_is_right(s->x, x.row, ANY_COLUMN))
        x.row++;
    if (x.row == s->x->rows || !s->x->repeats || count < 2)
        return false;
    x.in = host_allocate(s->x->problem.tensor[of_values ? V : Q].rows * d, sizeof *x.in);
    x.o = host_allocate(s->x->rows * d, sizeof *x.o);
    int64_t other = NONE;
    // What the same query leaves behind does no harm; scores of 0 take a large maximum away, and those of the other
    // sign make one.
    for (x.times = 1; x.times >= -1 && other == NONE; x.times -= of_values ? 3 : 1)
        other = find(&x, count);
    free(x.in);
    free(x.o);
    return other != NONE && report_found(s, &x, other);
}
