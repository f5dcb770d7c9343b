// The timings: several kernels interleaved in one run, each verified at each shape before its time counts.
#ifndef RUNNER_BENCH_H
#define RUNNER_BENCH_H

#include "arguments.h"
#include "runner/device.h"
#include "runner/kernel.h"

// Times attention kernels and row softmaxes over their shapes, between two measurements of what the GPU reaches at
// most. A shape's rows are recorded as soon as all its kernels are timed; a run that was stopped goes on with the
// shapes that are left. Returns the exit status: 0 where every kernel was right and timed at every shape that it
// covers.
int bench(const struct kernel *kernels, int count, const struct device *device, const struct arguments *arguments);

#endif
