// The diagnosis of an operation whose mistakes are variants of its reference: each model computes what a kernel with
// one mistake would, and the mistake that computes all observed outputs is printed.
#ifndef OPERATIONS_DIAGNOSIS_MODELS_H
#define OPERATIONS_DIAGNOSIS_MODELS_H

#include "host/diagnosis.h"

#include <stdbool.h>
#include <stdio.h>

struct mistake {
    const char *code; // "scale-missing-in-dq"; models with the same code are one mistake with another parameter
    struct advice advice;
};

// Of all outputs of a problem, one after the other.
struct prediction {
    double *value; // [elements]; not finite: the kernel's is not finite either
    double *bound; // [elements], how far it may be off
};

enum { RIGHT_MODEL = -1 };

struct mistake_models {
    int count; // at most MAX_MODELS
    const struct mistake *(*mistake)(int model);
    // The outputs of a kernel with the mistake, or of the right one for RIGHT_MODEL.
    void (*predict)(int model, const struct host_problem *problem, struct prediction *prediction);
    bool (*usable)(const struct problem_case *which); // small enough for a prediction by each model
    const struct problem_case *probe;                 // [probes], cases that tell mistakes apart
    int probes;
};

enum { MAX_MODELS = 256 };

// Runs the kernel on its wrong cases and on the probes. Prints the only mistake that computes all outputs, if at least
// two of them were wrong; false: there is none.
bool diagnosis_by_models(const struct diagnosed *kernel, const struct evidence *evidence /* [count] */, int count,
                         const struct mistake_models *models, FILE *out);

#endif
