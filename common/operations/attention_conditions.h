// Probes of a wrong kernel that no known mistake explains.
#ifndef OPERATIONS_ATTENTION_CONDITIONS_H
#define OPERATIONS_ATTENTION_CONDITIONS_H

#include "host/diagnosis.h"
#include "host/inputs.h"

#include <stdio.h>

// The first case that was wrong, small and wrong once more, without what it does not need to be so: inputs of a family,
// a scale, a mask. False where there is none.
bool attention_simplest(const struct diagnosed *kernel, const struct evidence *evidence /* [count] */, int count,
                        struct problem_case *which);

// Whether the kernel is wrong in a case; false if it cannot run the case.
bool attention_still_wrong(const struct diagnosed *kernel, const struct problem_case *which);

// From which head_dim, number of keys, heads ... on a case that is wrong is.
void attention_conditions(const struct diagnosed *kernel, const struct problem_case *which, FILE *out);

// Which tensors' strides the kernel ignores, if it is right with contiguous tensors.
void attention_strides(const struct diagnosed *kernel, const struct problem_case *which, FILE *out);

// Which elements of the output of a case are wrong, if there is a pattern.
void attention_wrong_elements(const struct diagnosed *kernel, const struct problem_case *which, FILE *out);

// Which weights, sums and values of a case that is wrong are. Whether what it has said explains each of them.
bool attention_explain_weights(const struct diagnosed *kernel, const struct problem_case *which, FILE *out);

// What comes out for inputs of one number each, in rows as wide as those of the case: which elements and keys are
// counted, what is rounded. Whether it has said of elements anything.
bool attention_small_probes(const struct diagnosed *kernel, const struct problem_case *which, FILE *out);

// Which order of small and large scores comes out wrong, with the usual scale or with the same below 0.
void attention_extremes(const struct diagnosed *kernel, enum attention_dtype dtype, bool negative, FILE *out);

// Whether a maximum that grows by little comes out wrong at some key where one that grows by far comes out right.
bool attention_survives_steps(const struct diagnosed *kernel, enum attention_dtype dtype);

// "elements 32 to 63 (of 64)", "columns 8 to 15, 24 to 31, ..., 56 to 63 (period 16, of 64)": the marked ones of
// 0 .. count - 1. False if a few words cannot list the marked ones, or if there is none.
bool pattern_ranges(const bool *marked, int count, const char *one, const char *many, char *text, size_t size);

// The same without the name, the period and the count: "8 to 15, 24 to 31, ..., 56 to 63"; *period is 0 if all ranges
// are listed.
bool pattern_list(const bool *marked, int count, int *period, char *text, size_t size);

// "16, 32 and 64", with " and " as the last of its commas: the values that are marked, or those that are not.
void pattern_values(const int *values, const bool *marked, bool which, int count, const char *last, FILE *out);

#endif
