// A kernel on the host whose mistake is looked for.
#ifndef SUBJECT_H
#define SUBJECT_H

#include "fp32_attention.h"
#include "host/diagnosis.h"
#include "operations/attention_variant.h"

struct subject {
    problem_run *run;
    enum fp32_kernel kernel;
    const struct variant *variant;
    bool causal, lse, groups, strides; // what it covers
    unsigned launches;
};

// For subject.run; context is the subject.
bool subject_fp32(void *context, const struct host_problem *problem, float *outputs);
bool subject_variant(void *context, const struct host_problem *problem, float *outputs);

// What the diagnosis is given of it.
struct diagnosed subject_diagnosed(struct subject *subject);

// The mistake that explains the evidence, NULL where none has a name.
const struct mistake *subject_mistake(struct subject *subject, const struct evidence *evidence, int count);

// As a check does: runs the cases until some have failed, then asks for the mistake. "none" where it has no name.
const char *subject_diagnose(struct subject *subject, uint64_t seed, const struct problem_case *list, int length);

#endif
