// The timings: several kernels interleaved in one run, each verified at each shape before its time counts.
#ifndef RUNNER_BENCH_H
#define RUNNER_BENCH_H

#include "arguments.h"
#include "runner/device.h"
#include "runner/kernel.h"

// Both return the exit status: 0 where every kernel was right and timed at every shape that it covers.
int bench_attention(const struct kernel *kernels, int count, const struct device *device,
                    const struct arguments *arguments);
int bench_softmax(const struct kernel *kernels, int count, const struct device *device,
                  const struct arguments *arguments);

#endif
