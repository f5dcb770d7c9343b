// Names the mistake of a kernel whose output is wrong, where it can tell: it computes what the output would be with
// each classic mistake in it, and names the one that explains all that was seen. What no mistake of the list explains,
// or more than one, stays without a name.
#ifndef HOST_DIAGNOSIS_H
#define HOST_DIAGNOSIS_H

#include "operation.h"

// Runs the kernel and writes all outputs of the problem, whole, one after the other. False where it did not end well.
typedef bool problem_run(void *context, const struct host_problem *problem, float *outputs);

// What the diagnosis knows of the kernel.
struct diagnosed {
    const struct operation *operation;
    bool optional; // it gives the optional outputs, too
    bool (*covers)(void *context, const struct problem_case *which);
    problem_run *run;
    void *context;
};

// Runs the kernel once more on the cases that were wrong, large ones in a smaller shape, and on a few that tell
// mistakes apart: a name holds for all of them. NULL: no name.
const struct mistake *diagnosis(const struct diagnosed *kernel, const struct evidence *evidence /* [count] */,
                                int count);

// What a finding of the simulator means, by its kind (simulator/findings.h). NULL: its line says it all.
const struct mistake *diagnosis_finding(int kind);

#endif
