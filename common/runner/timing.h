// Times several kernels in one interleaved run, so that all of them see the same clocks and temperature.
#ifndef RUNNER_TIMING_H
#define RUNNER_TIMING_H

#include "host/results.h"

#include <cuda_runtime_api.h>

// One thing to time. launch is called with the number of the set of inputs that it shall take: another one each time,
// or always 0 where it is to be warm.
struct timed {
    cudaError_t (*launch)(void *context, int set, cudaStream_t stream);
    void *context;
    bool warm;
    struct results_timing result;
};

// Cold launches take the sets in turn, those from first on. Where the sets together do not pass the L2 cache, it is
// overwritten before each launch: flush_bytes, 0 where that is not needed.
struct timing_sets {
    int first, count;
    size_t flush_bytes;
};

// How many sets of bytes bytes it takes to pass twice the L2 cache, so that no launch finds its inputs there; most at
// most. With warm set 0 is kept for the warm launches.
struct timing_sets timing_sets(double bytes, size_t l2_bytes, int most, bool warm);

// Warms up, then launches them in turn, each as often as its share of seconds allows (host/budget.h); the warm ones
// come after the cold ones in timed. What comes out noisy (host/noise.h) is all timed again, and the best attempt is
// kept. False where a launch failed: *failed is its index.
bool timing_run(struct timed *timed, int count, const struct timing_sets *sets, double seconds, int *failed);

#endif
