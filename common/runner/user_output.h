// Compares the output in a user's own files with the reference.
#ifndef RUNNER_USER_OUTPUT_H
#define RUNNER_USER_OUTPUT_H

#include "host/problem.h"

// Prints the difference. Ends the process if the difference exceeds the tolerance.
void user_output_compare(const struct host_problem *host, const float *output, uint64_t seed, const char *folder);

// Whether only a sample of the output's rows is compared.
bool user_output_is_sampled(const struct host_problem *host, uint64_t seed);

#endif
