// What a kernel computed, as files of a user's own (OUT=folder).
#ifndef RUNNER_OUTPUT_H
#define RUNNER_OUTPUT_H

#include "runner/problem.h"

// Makes the folder where there is none. Ends the process with one line where nothing can be written there.
void output_prepare(const char *folder);

// Writes each output of the problem that was not left away to folder/NAME.npy, in its type: attention's as
// [batch][heads][n][head_dim], its log-sum-exp without the last, a matrix as [rows][columns]. Ends the process with one
// line where that cannot be done.
void output_write(const struct device_problem *problem, const char *folder);

#endif
