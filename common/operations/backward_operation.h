// The backward pass of attention as an operation.
#ifndef OPERATIONS_BACKWARD_H
#define OPERATIONS_BACKWARD_H

#include "operations/attention_operation.h"

// The tensors of its problem: those of attention, Q to LSE, are inputs here, and the gradient of o.
enum { D_O = LSE + 1 };

// The outputs.
enum { OUTPUT_DQ, OUTPUT_DK, OUTPUT_DV };

extern const struct operation backward_operation;

// The problem of a case with inputs drawn from the seed, or without any values. o and lse are those of a forward pass
// in double precision, rounded to their types. Where that would take the host long, o is drawn, too, and lse is what it
// is on average for such q and k: gradients are defined for any o and lse.
void backward_make(const struct problem_case *which, uint64_t seed, bool with_inputs, struct host_problem *problem);

// The cases of a check.
int backward_cases(enum matrix_kind kind, struct problem_case cases[MAX_CASES]);

// Prints the mistake that explains a wrong kernel.
void backward_explain(const struct diagnosed *kernel, const struct evidence *evidence /* [count] */, int count,
                      FILE *out);

#endif
