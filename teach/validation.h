// Validates the model: estimates from lessons/*/work.csv (scripts/record-work) compared with the times in results/.
#ifndef ESTIMATES_H
#define ESTIMATES_H

#include "work.h"

struct validated_case {
    char lesson[256]; // "solution-04_tiled_online_softmax"
    char kernel[256]; // "solution", or the name of an ablation
    struct run_work run_work;
    double estimated_us, measured_us, busy;
    const char *busiest, *equally_busy; // estimated, see estimate.h
};

struct validation {
    struct validated_case *of;   // [count]
    int count, within_tolerance; // of them within 25 %
};

// All cases that have both recorded work and a measured time with a cold cache in a GPU's folder of results.
struct validation validate_estimates(const char *results);
// The estimate for the solution from the lesson's work.csv, for the same case; 0 if that case is not recorded.
double estimate_solution_us(const char *source, const struct run_work *run_work);

void validation_free(struct validation *validation);

#define VALIDATION_RESULTS "results/nvidia-h200"

#endif
