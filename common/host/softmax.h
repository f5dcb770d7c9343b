// The reference of the row softmax in double precision, and the comparison with it.
#ifndef HOST_SOFTMAX_H
#define HOST_SOFTMAX_H

#include "host/sample.h"
#include "shape.h"

#include <stdbool.h>
#include <stdio.h>

struct softmax_verdict {
    struct softmax_shape shape;
    const float *in; // row r at (r % kept) * columns
    int64_t kept;
    bool finite; // no NaN and no infinity in the inputs
    const struct row_sample *sample;
    int64_t next;

    int64_t elements, compared, wrong, unwritten, nan;
    double max_relative_error;
    int64_t first_row; // -1: none
    int first_column;
    bool first_sampled; // false: the row was not in the sample, so that nothing is expected of it
    double first_expected, first_bound;
    float first_got;
};

void softmax_verdict_begin(struct softmax_verdict *verdict, const struct softmax_shape *shape, const float *in,
                           int64_t kept, const struct row_sample *sample);

// The next rows of the output, from first_row on; called once for each row, in order.
void softmax_verdict_rows(struct softmax_verdict *verdict, int64_t first_row, int64_t rows, const float *out);

bool softmax_verdict_end(const struct softmax_verdict *verdict);
void softmax_verdict_explain(const struct softmax_verdict *verdict, FILE *out);

// out[c] = exp(in[c] - maximum) / sum; returns the maximum.
double softmax_reference(const float *in, int columns, double *out);

#endif
