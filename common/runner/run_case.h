// One case of a check: its calls, its verdict, and what is printed of it.
#ifndef RUNNER_RUN_CASE_H
#define RUNNER_RUN_CASE_H

#include "runner/cases.h"
#include "runner/report.h"
#include "runner/worker.h"

// A check, and what is known after the cases so far.
struct check {
    struct report report;
    struct worker *worker;
    const struct operation *operation; // the kernel's
    const struct device *device;       // the worker's
    const struct arguments *arguments;
    enum device_state state;             // after the last launch
    int first_finding;                   // of the simulator's, -1: none
    struct evidence evidence[MAX_CASES]; // [tried], for the diagnosis
    int tried;
    bool wrote;              // something to the first output, in any case
    bool wrong, ended_badly; // of any case: its output, its launch
};

// optional: the kernel also writes its optional outputs, if it has them.
void run_case(struct check *check, const struct host_problem *host, uint64_t seed, bool optional);

#endif
