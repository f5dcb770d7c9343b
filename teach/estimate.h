// Estimates the time of a run on a GPU from the work it gives to each unit. The model and its error:
// lessons/estimate.md.
#ifndef ESTIMATE_H
#define ESTIMATE_H

#include "work.h"

struct estimate {
    double us;
    const char *busiest;      // "shared memory"
    const char *equally_busy; // another unit, busy to within TIE_TOLERANCE as long; NULL: none
    double busy;              // fraction of the time for which it is busy, 0 to 1
};

// bytes: compulsory traffic to and from device memory.
struct estimate estimate_time(const struct run_work *run_work, double bytes);

// Counts are not more accurate than this, so two units this close are both reported as the bottleneck.
#define TIE_TOLERANCE 0.02

// If the busiest unit is busy for less than this fraction of the time, the bottleneck is latency.
#define LATENCY_BOUND_BELOW 0.6

#endif
