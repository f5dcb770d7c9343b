// What became of a launch, and in what state it has left the device.
#ifndef RUNNER_FINISH_H
#define RUNNER_FINISH_H

#include "message.h"

#include <cuda_runtime_api.h>

enum device_state {
    DEVICE_WELL,
    DEVICE_RESET, // what was allocated is gone, and the next case can run
    DEVICE_LOST,  // nothing more can run, or is worth the time
};

struct device_counts;

// Waits for what launch returned and started. False and the cause, in one line, where the launch or a kernel failed;
// cause is "" where it did not.
bool launch_finish(cudaError_t launch, const struct device_counts *before, const char *function,
                   enum device_state *state, struct message *cause);

#endif
