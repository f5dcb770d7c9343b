// After a check that failed: names the mistake where the harness can tell which it is.
#ifndef RUNNER_DIAGNOSE_H
#define RUNNER_DIAGNOSE_H

#include "host/diagnosis.h"
#include "runner/worker.h"

void diagnose(const struct worker *worker, const struct evidence *evidence /* [count] */, int count);

// What a finding of the simulator means; -1: there was none.
void diagnose_finding(int finding);

// The same of a kernel that has written nothing at all.
void diagnose_nothing(void);

#endif
