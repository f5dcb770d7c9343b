// The numbers of a shape that a wrong case has, and from which of their values on it is wrong.
#ifndef OPERATIONS_ATTENTION_THRESHOLDS_H
#define OPERATIONS_ATTENTION_THRESHOLDS_H

#include "host/diagnosis.h"

#include <stdio.h>

enum case_result { UNKNOWN, NOT_COVERED, RIGHT, WRONG };

// Whether the kernel gives the case right with the inputs of a seed; UNKNOWN: it could not be asked.
enum case_result attention_case_result(const struct diagnosed *kernel, const struct problem_case *which, uint64_t seed);

// Multiply-adds of a product, and of how many a case may have that is asked again and again.
double attention_work(const struct attention_shape *shape);
enum { ATTENTION_MOST_WORK = 1 << 22 };

struct number {
    const char *text;
    size_t at; // its place in struct attention_shape
};
enum { NUMBER_BATCH, NUMBER_HEADS, NUMBER_HEAD_DIM, NUMBER_NQ, NUMBER_NK, NUMBERS };
extern const struct number attention_numbers[NUMBERS];

int number_of(const struct problem_case *which, const struct number *number);

// The case with another value of it; the heads of the keys go with those of the queries.
struct problem_case with_number(const struct problem_case *which, const struct number *number, int value);

// Says with which numbers the case is right, and with which it is wrong. "Right up to", "wrong from" and "where" are
// said only where other values and other inputs bear them out; else what was tried.
void attention_thresholds(const struct diagnosed *kernel, const struct problem_case *which, FILE *out);

#endif
