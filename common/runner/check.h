// The check: runs a kernel over its matrix of cases, or over the one case that was asked for, and judges each output.
#ifndef RUNNER_CHECK_H
#define RUNNER_CHECK_H

#include "arguments.h"
#include "runner/device.h"
#include "runner/kernel.h"

// Both return the exit status: 0 where every case was right, 1 where one was not, 2 where the input cannot be used.
int check_attention(const struct kernel *kernel, const struct device *device, const struct arguments *arguments);
int check_softmax(const struct kernel *kernel, const struct device *device, const struct arguments *arguments);

// The seed that was given, or a fresh one.
uint64_t check_seed(const struct arguments *arguments);

// In what state an error has left the device.
enum device_state {
    DEVICE_WELL,
    DEVICE_RESET, // what was allocated is gone, and the next case can run
    DEVICE_LOST,  // nothing more can run, or is worth the time
};

// Waits for what launch returned and started. False and the cause, in one line, where the launch or a kernel failed.
bool check_finish(cudaError_t launch, unsigned findings_before, const char *function, enum device_state *state,
                  struct message *cause);

#endif
