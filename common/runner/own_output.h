// What a user's own files say the output is, beside what the reference says.
#ifndef RUNNER_OWN_OUTPUT_H
#define RUNNER_OWN_OUTPUT_H

#include "host/problem.h"

// Prints how far the two are apart. Ends the process where that is more than a right output may be.
void own_output_compare(const struct host_problem *host, const float *output, uint64_t seed, const char *folder);

// Whether only a sample of the output's rows is compared.
bool own_output_is_sampled(const struct host_problem *host, uint64_t seed);

#endif
