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
    struct kernel attention[MAX_KERNELS], softmax[MAX_KERNELS];
    bool left_out[MAX_KERNELS]; // a baseline of attention[] that cannot run here
    int attentions, softmaxes;
    struct results_run run;
    struct estimate estimate;
    int timed, rejected, noisy; // shapes at which something was timed, kernels that were wrong at a shape, rows
};

// One step of the plan each: prints its table and records its rows. False where nothing was timed.
bool bench_attention(struct bench *bench, const struct attention_shape *shape, uint64_t seed);
bool bench_softmax(struct bench *bench, const struct softmax_shape *shape, uint64_t seed);
bool bench_ceilings(struct bench *bench);

// Seconds of timings that a step is meant to take.
extern const double attention_seconds, softmax_seconds, ceilings_seconds;

// Warm inputs are timed up to this many keys; beyond it they would not stay in any GPU's L2 cache.
enum { MOST_WARM_KEYS = 4096 };

#endif
