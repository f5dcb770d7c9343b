// Monotonic time.
#ifndef CLOCK_H
#define CLOCK_H

#include <stdlib.h>
#include <time.h>

// Seconds of the monotonic clock.
static inline double clock_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

// The factor of all time budgets of the diagnosis: PATIENCE, for a busy or slow machine. 1 if it is unset or not a
// number above 0.
static inline double time_budget_factor(void) {
    const char *text = getenv("PATIENCE");
    double factor = text ? strtod(text, NULL) : 1;
    return factor > 0 && factor < 1e6 ? factor : 1;
}

#endif
