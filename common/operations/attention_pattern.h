// What follows from asking a wrong kernel for more, where no known mistake explains it.
#ifndef OPERATIONS_ATTENTION_PATTERN_H
#define OPERATIONS_ATTENTION_PATTERN_H

#include "host/diagnosis.h"
#include "host/inputs.h"

#include <stdio.h>

// From which head_dim, number of keys, heads ... on a case that was wrong is.
void attention_pattern(const struct diagnosed *kernel, const struct evidence *evidence /* [count] */, int count,
                       FILE *out);

// What comes out for inputs of one number each: which elements and keys are counted, what is rounded.
void attention_probe(const struct diagnosed *kernel, enum attention_dtype dtype, FILE *out);

#endif
