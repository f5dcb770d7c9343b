// The smallest case that is wrong, and what it needs to be wrong.
#ifndef OPERATIONS_ATTENTION_CONDITIONS_H
#define OPERATIONS_ATTENTION_CONDITIONS_H

#include "host/diagnosis.h"

#include <stdio.h>

enum case_result { CASE_UNKNOWN, CASE_NOT_COVERED, CASE_RIGHT, CASE_WRONG };

// What the kernel makes of a case with the inputs of a seed; CASE_UNKNOWN: it could not be asked.
enum case_result attention_case_result(const struct diagnosed *kernel, const struct problem_case *which, uint64_t seed);

// Multiply-adds of a product, and of how many a case may have that is asked again and again.
double attention_work(const struct attention_shape *shape);
enum { ATTENTION_MOST_WORK = 1 << 22 };

// The first case that was wrong, small and wrong once more, without what it does not need to be so: inputs of a family,
// a scale, a mask. False where there is none.
bool attention_simplest(const struct diagnosed *kernel, const struct evidence *evidence /* [count] */, int count,
                        struct problem_case *which);

// What the case needs to be wrong: one property of it is changed at a time.
void attention_conditions(const struct diagnosed *kernel, const struct problem_case *which, FILE *out);

#endif
