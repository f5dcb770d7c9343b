// Recordings of the simulator (simulator/recording/README.md): what it is told of tensors, and when it writes. Nothing
// happens on a GPU, or where no recording was asked for.
#ifndef RUNNER_RECORDING_H
#define RUNNER_RECORDING_H

#include "runner/problem.h"

// Call before the launch that is to be recorded.
void recording_describe(const struct device_problem *problem);

// Call after it. A file that cannot be written is said on stderr.
void recording_write(void);

#endif
