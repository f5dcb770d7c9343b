// What a check says of a kernel on the host.
#ifndef JUDGED_H
#define JUDGED_H

#include "fp32_attention.h"
#include "host/verdict.h"
#include "operations/attention_reference.h"

struct judged {
    struct host_problem problem;
    struct row_sample sample;
    struct attention_reference *reference;
    struct verdict verdict, lse; // of o and of the log-sum-exp
};

// Judges at most rows rows, spread evenly, or all where rows is 0. Where the case names no heads of keys, they are
// those of the queries.
void judged_begin(struct judged *judged, const struct problem_case *which, uint64_t seed, int64_t rows);

// True where o is right.
bool judged_kernel(struct judged *judged, enum fp32_kernel kernel);
void judged_end(struct judged *judged);

// All of that: whether o is right and, where the kernel is a right one, the log-sum-exp, too. Where it should be and is
// not, it says what is wrong.
bool judged_passes(struct problem_case which, uint64_t seed, enum fp32_kernel kernel, int64_t rows);

#endif
