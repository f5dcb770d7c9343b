// The result of a launch, and the state of the device after it.
#ifndef RUNNER_FINISH_H
#define RUNNER_FINISH_H

#include "message.h"

#include <cuda_runtime_api.h>

enum device_state {
    DEVICE_WELL,
    DEVICE_RESET, // allocations are lost, and the next case can run
    DEVICE_LOST,  // no further case can run in reasonable time
};

struct device_counts;

// Waits for the launched work. False and the cause, in one line, if the launch or a kernel failed; else cause is "".
bool launch_finish(cudaError_t launch, const struct device_counts *before, const char *function,
                   enum device_state *state, struct message *cause);

#endif
