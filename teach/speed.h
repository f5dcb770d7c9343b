// The speedup of a lesson over a baseline, from results/*/attention.csv.
#ifndef SPEED_H
#define SPEED_H

#include <stdbool.h>
#include <time.h>

struct speed {
    double ratio;    // baseline time / lesson time, the minimum over head dimensions
    char date[32];   // of the run, in the format of results/
    time_t measured; // the same as a time
};

// At B=1 H=16 N=4096, fp32, non-causal, cold cache, in the newest run that has both kernels. False if there is none.
bool read_speedup(const char *results, const char *lesson, const char *baseline, struct speed *speed);

#endif
