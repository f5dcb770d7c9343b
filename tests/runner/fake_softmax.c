// The row softmax as a C function: right, or with the mistake that MISTAKE names.
#include "softmax.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool mistake(const char *name) {
    const char *chosen = getenv("MISTAKE");
    return chosen && !strcmp(chosen, name);
}

size_t softmax_workspace_bytes(const struct softmax_problem *problem) {
    return (size_t)problem->rows * sizeof(float);
}

cudaError_t softmax_forward(const struct softmax_problem *p, cudaStream_t stream) {
    (void)stream;
    float *sum = p->workspace;
    for (int64_t r = 0; r < p->rows; r++) {
        const float *in = p->in + r * p->columns;
        float *out = p->out + r * p->columns, maximum = -INFINITY;
        for (int c = 0; c < p->columns; c++)
            maximum = fmaxf(maximum, in[c]);
        sum[r] = 0;
        if (mistake("maximum"))
            maximum = 0;
        for (int c = 0; c < p->columns; c++)
            sum[r] += out[c] = expf(in[c] - maximum);
        for (int c = 0; c < p->columns; c++)
            out[c] /= sum[r];
    }
    if (mistake("past-the-end"))
        p->out[p->rows * p->columns] = 1;
    if (mistake("unwritten"))
        memset(p->out, 0xFF, sizeof *p->out);
    return cudaSuccess;
}
