// After a check that failed: names the mistake where the harness can tell which it is.
#ifndef RUNNER_DIAGNOSE_H
#define RUNNER_DIAGNOSE_H

#include "host/diagnosis.h"
#include "runner/device.h"
#include "runner/kernel.h"

void diagnose(const struct kernel *kernel, const struct device *device, const struct evidence *evidence /* [count] */,
              int count);

// What the first finding of the simulator means, where there was one.
void diagnose_finding(void);

#endif
