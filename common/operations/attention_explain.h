// The explanation of a wrong kernel without a diagnosis: probes the kernel, and prints its symptoms and their likely
// causes.
#ifndef OPERATIONS_ATTENTION_EXPLAIN_H
#define OPERATIONS_ATTENTION_EXPLAIN_H

#include "host/diagnosis.h"

#include <stdio.h>

void attention_explain(const struct diagnosed *kernel, const struct evidence *evidence /* [count] */, int count,
                       FILE *out);

// Runs the kernel on one head, not causal. q, k, v: [n][d], copied; o: [nq][d]. False if the kernel cannot run the
// case.
bool attention_run_head(const struct diagnosed *kernel, enum attention_dtype dtype, int d, int nq, int nk,
                        const float *q, const float *k, const float *v, float *o);

// The same with this scale instead of 1 / sqrt(d).
bool attention_run_scaled(const struct diagnosed *kernel, enum attention_dtype dtype, double scale, int d, int nq,
                          int nk, const float *q, const float *k, const float *v, float *o);

// Calls report() for each loss of precision in the kernel: rounded queries, keys, weights, values or sums, an inexact
// exponential.
void attention_precision(const struct diagnosed *kernel, enum attention_dtype dtype,
                         void (*report)(void *context, const char *code, const char *text), void *context);

#endif
