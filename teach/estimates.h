// The estimate against what was measured: lessons/*/work.csv, which scripts/record-work writes, beside results/.
#ifndef ESTIMATES_H
#define ESTIMATES_H

#include "work.h"

struct compared {
    char lesson[256]; // "solution-04_tiled_online_softmax"
    char kernel[256]; // "solution", or a version's name
    struct works works;
    double estimated_us, measured_us, busy;
    const char *busiest, *as_busy; // by the estimate, see estimate.h
};

struct comparison {
    struct compared *of; // [count]
    int count, near;     // near: those that are at most a quarter off
};

// Of all that was recorded and measured, cold, in the folder of a GPU's results. Empty where there is nothing.
struct comparison comparison_read(const char *results);
// The estimate of the solution's kernel that stands in a lesson's work.csv for the same case, 0 where it does not.
double recorded_us(const char *source, const struct works *works);

void comparison_free(struct comparison *comparison);

#define COMPARED_RESULTS "results/nvidia-h200"

#endif
