// Times several kernels in one interleaved run, so that all of them see the same clocks and temperature.
#ifndef RUNNER_TIMING_H
#define RUNNER_TIMING_H

#include "host/results.h"

#include <cuda_runtime_api.h>

// One thing to time. launch is called with the number of the set of inputs that it shall take, another one each time.
struct timed {
    cudaError_t (*launch)(void *context, int set, cudaStream_t stream);
    void *context;
    struct results_timing result;
};

// How many sets of bytes bytes it takes to pass twice the L2 cache, so that no launch finds its inputs there; most at
// most, and 1 where a single set does.
int timing_sets(double bytes, size_t l2_bytes, int most);

// Warms up, then launches them in turn, each as often as its share of seconds allows, at least 5 times. False where a
// launch failed: *failed is its index.
bool timing_run(struct timed *timed, int count, int sets, double seconds, int *failed);

#endif
