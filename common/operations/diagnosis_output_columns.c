// An output that is not the values of its head by one weight for each key: weights that change with the values, values
// of other heads, or columns whose weights are not those of the others.
#include "clock.h"
#include "host/parallel.h"
#include "operations/attention_operation.h"
#include "operations/diagnosis_report.h"

#include <math.h>
#include <stdlib.h>

enum { SEED = 4711 };

// Whether the output with so many times the values is as many times the output, or that could not be asked.
static bool is_multiple(const struct report *s, float times) {
    int64_t values = s->x->problem.tensor[V].rows * s->x->which.attention.head_dim;
    int64_t elements = s->x->rows * s->x->which.attention.head_dim;
    float *v = host_allocate(values, sizeof *v), *o = host_allocate(elements, sizeof *o);
    for (int64_t i = 0; i < values; i++)
        v[i] = times * s->x->own_v[i];
    const bool ran = observed_run(s->x, NULL, v, o);
    bool is = true;
    for (int64_t i = 0; i < elements && ran && is; i++)
        is = !isfinite(s->x->o[i]) ||
             fabs(o[i] - times * (double)s->x->o[i]) <= 8 * s->x->tolerance * (fabs(s->x->o[i]) + 0.1);
    free(v);
    free(o);
    return is;
}

// The first column that is wrong.
static int wrong_column(const struct observed *x) {
    const int d = x->which.attention.head_dim;
    for (int c = 0; c < d; c++)
        for (int64_t r = 0; r < x->rows; r++)
            if (!x->missing[r] && !observed_is_right(x, r, c))
                return c;
    return 0;
}

// The same passes for the weights that this column alone has: one call for each key.
static bool report_one_column(const struct report *s, int column) {
    static const double most_seconds = 1; // and as many for the case that confirms it
    struct observed x;
    struct report one = {.x = &x, .out = s->out};
    if (s->x->which.attention.nk * s->x->seconds > most_seconds ||
        !attention_observe(s->x->kernel, &s->x->which, SEED, column, &x))
        return false;
    case_seen_of(&x, &one.seen);
    const bool explained = report_weights(&one);
    case_seen_free(&one.seen);
    attention_observed_free(&x);
    return explained;
}

bool report_columns(const struct report *s) {
    if (report_influence(s, true))
        return true;
    if (!is_multiple(s, 2)) {
        report_line(s, "output-not-proportional", "Twice the values do not give twice the output%s",
                    is_multiple(s, 0) ? "" : ": it is not 0 where all values are, so it contains something else");
        return true;
    }
    report_line(s, "not-one-weight-per-key",
                "The output of a head is not a sum of that head's values with one weight per key");
    return report_one_column(s, wrong_column(s->x));
}
