// A case whose work the simulator counts, of which only a sample of blocks may run.
#ifndef RUNNER_COUNT_H
#define RUNNER_COUNT_H

#include "runner/report.h"
#include "runner/worker.h"

// Has the kernel called, and reports it as right where the launch was well: nobody looks at the results.
enum device_state count_case(struct report *report, const struct worker *worker, const struct host_problem *host);

#endif
