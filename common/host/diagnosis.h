// The explanation of a wrong output by more calls of the kernel, and of a finding of the simulator.
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

struct advice {
    const char *title;     // "race within a warp"
    const char *reasoning; // a teacher's two or three sentences, which do not give the solution away
};

// Prints advice in lines of 100 characters. code: NULL for a finding of the simulator, which has printed its own.
void advice_print(const char *heading, const struct advice *advice, const char *code, FILE *out);

// Advice about a kind of finding of the simulator (simulator/findings.h). NULL: the finding needs none.
const struct advice *diagnosis_finding(int kind);

#endif
