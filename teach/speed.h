// How fast a lesson was beside another kernel, in results/*/attention.csv.
#ifndef SPEED_H
#define SPEED_H

#include <stdbool.h>
#include <time.h>

struct speed {
    double ratio;    // the rival's time over the lesson's, the least over the head dimensions
    char date[32];   // of the run, as results have it
    time_t measured; // the same
};

// At B=1 H=16 N=4096 in fp32, no mask, on cold inputs, in the newest run that has both. False where none has.
bool speed_of(const char *results, const char *lesson, const char *rival, struct speed *speed);

#endif
