// What is said of a wrong kernel whose mistake has no name: what follows from asking it for more.
#ifndef OPERATIONS_ATTENTION_ASK_H
#define OPERATIONS_ATTENTION_ASK_H

#include "host/diagnosis.h"

#include <stdio.h>

void attention_ask(const struct diagnosed *kernel, const struct evidence *evidence /* [count] */, int count, FILE *out);

// One head without a mask. q, k, v: [n][d], copied; o: [nq][d]. False where the kernel could not be asked.
bool attention_ask_head(const struct diagnosed *kernel, enum attention_dtype dtype, int d, int nq, int nk,
                        const float *q, const float *k, const float *v, float *o);

// The same with a scale of its own, in the place of 1 / sqrt(d).
bool attention_ask_scaled(const struct diagnosed *kernel, enum attention_dtype dtype, double scale, int d, int nq,
                          int nk, const float *q, const float *k, const float *v, float *o);

// Calls say() with each of what the kernel does that loses precision: queries, keys, weights, values or sums that are
// rounded, an exponential that is not exact.
void attention_precision(const struct diagnosed *kernel, enum attention_dtype dtype,
                         void (*say)(void *context, const char *text), void *context);

#endif
