// An output that is not the values of its head by one weight for each key: weights that change with the values, values
// of other heads, or columns whose weights are not those of the others.
#include "clock.h"
#include "host/parallel.h"
#include "operations/attention_operation.h"
#include "operations/diagnosis_report.h"

#include <math.h>
#include <stdlib.h>

enum { SEED = 4711 };

// Whether twice the values give twice the output, as they do where weights have nothing to do with values.
static bool is_linear(const struct report *s) {
    int64_t values = s->x->problem.tensor[V].rows * s->x->which.attention.head_dim;
    int64_t elements = s->x->rows * s->x->which.attention.head_dim;
    float *v = host_allocate(values, sizeof *v), *twice = host_allocate(elements, sizeof *twice);
    for (int64_t i = 0; i < values; i++)
        v[i] = 2 * s->x->own_v[i];
    bool linear = observed_run(s->x, NULL, v, twice);
    for (int64_t i = 0; i < elements && linear; i++)
        linear = !isfinite(s->x->o[i]) ||
                 fabs(twice[i] - 2.0 * s->x->o[i]) <= 8 * s->x->tolerance * (fabs(s->x->o[i]) + 0.1);
    free(v);
    free(twice);
    return linear;
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
    if (s->x->which.attention.nk * s->x->seconds > most_seconds * time_budget_factor() ||
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
    if (!is_linear(s)) {
        report_line(
            s, "weights-depend-on-values",
            "Twice the values do not give twice the output: the weights depend on the values, or something is left "
            "behind in registers, in O or in shared memory");
        return true;
    }
    const int column = wrong_column(s->x);
    report_line(s, "not-one-weight-per-key",
                "The output of a head is not a sum of that head's values with one weight per key: the weights differ "
                "between columns, or columns or rows are permuted. What follows is of column %d alone",
                column);
    return report_one_column(s, column);
}
