// What the parts of a bench share.
#ifndef RUNNER_BENCH_RUN_H
#define RUNNER_BENCH_RUN_H

#include "arguments.h"
#include "host/estimate.h"
#include "host/results.h"
#include "runner/device.h"
#include "runner/kernel.h"

struct bench {
    const struct device *device;
    const struct arguments *arguments;
    const struct kernel *kernel; // [kernels]
    int kernels;
    bool skipped[MAX_KERNELS]; // a baseline that cannot run here
    struct results_run run;
    struct estimate estimate;
    int timed, rejected, noisy; // cases in which something was timed, kernels that were wrong in a case, rows
};

// One step of the plan each: prints its table and records its rows. False where nothing was timed.
bool bench_case(struct bench *bench, const struct operation *operation, const struct problem_case *which,
                uint64_t seed);
bool bench_ceilings(struct bench *bench);

// Seconds of timings that the ceilings are meant to take.
extern const double ceilings_seconds;

#endif
