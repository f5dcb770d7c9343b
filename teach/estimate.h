// The time that a run would take on a GPU, estimated from what it asks of the GPU's parts. How, and how far it is off:
// lessons/estimate.md.
#ifndef ESTIMATE_H
#define ESTIMATE_H

#include "work.h"

struct estimate {
    double us;
    const char *busiest; // "shared memory"
    const char *as_busy; // another part, whose count is as large but for ESTIMATE_TIE; NULL: none
    double busy;         // so much of the time, 0 to 1
};

// bytes: that have to come from device memory or go there.
struct estimate estimate_of(const struct works *works, double bytes);

// Counts are no more exact than this, so that neither of two parts can be said to be the limit.
#define ESTIMATE_TIE 0.02

// Below it the GPU waits more than any part of it works: what limits a kernel then is latency.
#define ESTIMATE_WAITS 0.6

#endif
