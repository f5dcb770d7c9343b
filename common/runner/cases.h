// The cases of a check: those of the matrix, as the variables change them and as the kernel covers them.
#ifndef RUNNER_CASES_H
#define RUNNER_CASES_H

#include "runner/worker.h"

#include <stdio.h>

// What INPUTS= says. Ends the process with one line where it is no name.
enum input_family cases_family(const struct arguments *arguments);

// The cases of the matrix in one type, and how many.
int cases_list(const struct worker *worker, const struct arguments *arguments, enum attention_dtype dtype,
               struct problem_case *cases);

// Leaves out large cases, and every second of those that are there for their shape alone, another half with another
// seed; 0: none. A kernel's second type has its own way of rounding, and the same loops. Returns how many are left.
int cases_thin(const struct operation *operation, struct problem_case *cases, int count, uint64_t seed);

// Keeps the cases that can be run, and writes to skipped why the others are not. Ends the process where none can.
int cases_select(const struct worker *worker, struct problem_case *cases, int count, FILE *skipped);

#endif
