// Diagnoses the mistake of a kernel with a wrong output: each known mistake predicts an output, and the diagnosis is
// the only mistake that explains all observed outputs. There is no diagnosis if no mistake or several explain them.
#ifndef HOST_DIAGNOSIS_H
#define HOST_DIAGNOSIS_H

#include "operation.h"

// Runs the kernel and writes all outputs of the problem one after the other. False if the call failed.
typedef bool problem_run(void *context, const struct host_problem *problem, float *outputs);

// The kernel that is diagnosed.
struct diagnosed {
    const struct operation *operation;
    bool optional; // it writes the optional outputs
    bool (*covers)(void *context, const struct problem_case *which);
    problem_run *run;
    void *context;
};

// Reruns the kernel on the wrong cases, large ones in a smaller shape, and on probes that distinguish mistakes: a
// diagnosis explains all of them. NULL: no diagnosis.
const struct mistake *diagnosis(const struct diagnosed *kernel, const struct evidence *evidence /* [count] */,
                                int count);

// Advice about a kind of finding of the simulator (simulator/findings.h). NULL: the finding needs none.
const struct advice *diagnosis_finding(int kind);

#endif
