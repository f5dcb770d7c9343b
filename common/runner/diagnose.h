// After a check that failed: prints what explains it.
#ifndef RUNNER_DIAGNOSE_H
#define RUNNER_DIAGNOSE_H

#include "host/diagnosis.h"
#include "runner/worker.h"

void diagnose(struct worker *worker, const struct evidence *evidence /* [count] */, int count);

// Prints advice about a finding of the simulator; -1: there was none.
void diagnose_finding(int finding);

// Prints the diagnosis of a kernel that has written no output.
void diagnose_nothing(void);

#endif
