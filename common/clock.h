// The time that goes by.
#ifndef CLOCK_H
#define CLOCK_H

#include <stdlib.h>
#include <time.h>

// Seconds since some moment; never steps back.
static inline double clock_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

// How many times as long as usual what is wrong may be looked for: PATIENCE, for a machine that is busy or slow. 1
// where it is not set, or is no number above 0.
static inline double patience_factor(void) {
    const char *text = getenv("PATIENCE");
    double factor = text ? strtod(text, NULL) : 1;
    return factor > 0 && factor < 1e6 ? factor : 1;
}

#endif
