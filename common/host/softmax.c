#include "host/softmax.h"

#include "host/parallel.h"
#include "host/tolerance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double softmax_reference(const float *in, int columns, double *out) {
    double maximum = -INFINITY, sum = 0;
    for (int c = 0; c < columns; c++)
        maximum = fmax(maximum, in[c]);
    for (int c = 0; c < columns; c++)
        sum += out[c] = exp(in[c] - maximum);
    for (int c = 0; c < columns; c++)
        out[c] /= sum;
    return maximum;
}

void softmax_verdict_begin(struct softmax_verdict *v, const struct softmax_shape *shape, const float *in, int64_t kept,
                           const struct row_sample *sample) {
    *v = (struct softmax_verdict){.shape = *shape, .in = in, .kept = kept, .sample = sample, .first_row = -1};
    v->finite = true;
    for (int64_t i = 0; i < kept * shape->columns; i++)
        v->finite = v->finite && isfinite(in[i]);
}

static void remember_first(struct softmax_verdict *v, int64_t row, int column, bool sampled, double expected, float got,
                           double bound) {
    if (v->first_row >= 0)
        return;
    v->first_row = row;
    v->first_column = column;
    v->first_sampled = sampled;
    v->first_expected = expected;
    v->first_got = got;
    v->first_bound = bound;
}

static void check_row(struct softmax_verdict *v, int64_t row, const float *out, const double *reference,
                      double maximum) {
    const float *in = v->in + row % v->kept * v->shape.columns;
    for (int c = 0; c < v->shape.columns; c++) {
        bool poison = is_poison(out[c]);
        v->unwritten += poison;
        if (!reference) {
            bool stray = !poison && v->finite && !isfinite(out[c]);
            v->nan += stray;
            if (poison || stray)
                remember_first(v, row, c, false, NAN, out[c], 0);
            continue;
        }
        double bound = tolerance_softmax(reference[c], in[c], maximum, v->shape.columns);
        v->compared++;
        v->nan += !poison && isnan(out[c]) && !isnan(reference[c]);
        if (poison || !tolerance_holds(out[c], reference[c], bound)) {
            v->wrong++;
            remember_first(v, row, c, true, reference[c], out[c], bound);
        }
        if (reference[c] > 0x1p-100) // results near the denormals have no relative error to speak of
            v->max_relative_error = fmax(v->max_relative_error, fabs(out[c] - reference[c]) / reference[c]);
    }
}

void softmax_verdict_rows(struct softmax_verdict *v, int64_t first_row, int64_t rows, const float *out) {
    int columns = v->shape.columns;
    double *reference = host_allocate(columns, sizeof *reference);
    v->elements += rows * columns;
    for (int64_t row = first_row; row < first_row + rows; row++, out += columns) {
        bool sampled = v->next < v->sample->count && v->sample->row[v->next] == row;
        double maximum = sampled ? softmax_reference(v->in + row % v->kept * columns, columns, reference) : 0;
        v->next += sampled;
        check_row(v, row, out, sampled ? reference : NULL, maximum);
    }
    free(reference);
}

bool softmax_verdict_end(const struct softmax_verdict *v) {
    return v->next == v->sample->count && !v->wrong && !v->unwritten && !v->nan;
}

void softmax_verdict_explain(const struct softmax_verdict *v, FILE *out) {
    if (v->wrong)
        fprintf(out, "  %lld of %lld elements wrong%s\n", (long long)v->wrong, (long long)v->compared,
                v->compared < v->elements ? " (a sample of the rows)" : "");
    if (v->unwritten)
        fprintf(out, "  %lld of %lld elements were never written: they still hold the poison\n",
                (long long)v->unwritten, (long long)v->elements);
    if (v->nan)
        fprintf(out, "  %lld elements are NaN where the reference is a number\n", (long long)v->nan);
    if (v->first_row < 0)
        return;
    fprintf(out, "  first: out[%lld][%d] (row, column)", (long long)v->first_row, v->first_column);
    if (is_poison(v->first_got))
        fprintf(out, " was not written");
    else if (isnan(v->first_got))
        fprintf(out, " is NaN");
    else
        fprintf(out, " is %.8g", v->first_got);
    if (v->first_sampled && isnan(v->first_expected))
        fprintf(out, ", expected NaN");
    else if (v->first_sampled)
        fprintf(out, ", expected %.8g (tolerance %.1e)", v->first_expected, v->first_bound);
    fputc('\n', out);
}
