// Time on the clock, and the processor time of this process.
#ifndef CLOCK_H
#define CLOCK_H

#include <time.h>

// Seconds of the monotonic clock.
static inline double clock_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

// Seconds that all threads of this process have computed. What the diagnosis may spend is counted in them, so that it
// says the same on a busy machine.
static inline double processor_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

#endif
