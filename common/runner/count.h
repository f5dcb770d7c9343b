// A case whose memory traffic the simulator counts; it may run only a sample of its blocks.
#ifndef RUNNER_COUNT_H
#define RUNNER_COUNT_H

#include "runner/report.h"
#include "runner/worker.h"

// Calls the kernel and reports the case as right if the launch succeeded; the results are not compared.
enum device_state count_case(struct report *report, struct worker *worker, const struct host_problem *host);

#endif
