// The explanation of a wrong kernel: which case is wrong, what it needs to be so, and what the kernel does there.
#ifndef OPERATIONS_ATTENTION_EXPLAIN_H
#define OPERATIONS_ATTENTION_EXPLAIN_H

#include "host/diagnosis.h"

#include <stdio.h>

void attention_explain(const struct diagnosed *kernel, const struct evidence *evidence /* [count] */, int count,
                       FILE *out);

// The same of a kernel of the row softmax, whose output is its weights.
void softmax_explain(const struct diagnosed *kernel, const struct evidence *evidence /* [count] */, int count,
                     FILE *out);

#endif
