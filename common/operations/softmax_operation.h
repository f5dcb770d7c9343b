// The softmax over the rows of a matrix as an operation.
#ifndef OPERATIONS_SOFTMAX_H
#define OPERATIONS_SOFTMAX_H

#include "operation.h"

extern const struct operation softmax_operation;

// The cases of a check.
int softmax_cases(enum matrix_kind kind, struct problem_case cases[MAX_CASES]);

// The problem of a case with inputs drawn from the seed, or without any values.
void softmax_make(const struct problem_case *which, uint64_t seed, bool with_inputs, struct host_problem *problem);

// out[c] = exp(in[c] - maximum) / sum; returns the maximum.
double softmax_reference(const float *in, int columns, double *out);

#endif
