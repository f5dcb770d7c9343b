// The summary of a series of timings, and whether it is too noisy.
#ifndef HOST_NOISE_H
#define HOST_NOISE_H

#include "host/results.h"

#include <stdbool.h>

// The maximum number of attempts to time a shape.
enum { NOISE_ATTEMPTS = 3 };

// The SM clock before, during and after a measurement; 0: unknown.
struct noise_clock {
    unsigned before, after, lowest, highest;
};

void noise_clock_start(struct noise_clock *clock, unsigned mhz);
void noise_clock_record(struct noise_clock *clock, unsigned mhz);

// Fills median, min, p95, max and repeats from the samples, each the time of one launch, and sorts them.
void noise_summarise(double *us /* [count] */, int count, struct results_timing *timing);

// (p95 - min) / median. Times have a floor and a tail: the fastest launch is hardly ever an outlier, and of the slowest
// the twentieth that is left out may be anything.
double noise_spread(const struct results_timing *timing);

// Whether the launches spread over more than 5 % of the median, and, since that is nothing that events can tell, over
// more than 1 us between two events with batch launches between them.
bool noise_is_spread(const struct results_timing *timing, int batch);

// Whether the clock fell by more than 3 % below its highest.
bool noise_clock_dropped(const struct noise_clock *clock);

// Whether attempt a is less noisy than b: fewer noisy rows, then less spread over all rows.
bool noise_better(const struct results_timing *a /* [count] */, const struct results_timing *b /* [count] */,
                  int count);

#endif
