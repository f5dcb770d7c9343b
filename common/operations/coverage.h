// What operations say of a case that a kernel does not cover. Each function sets the obstacle and returns false.
#ifndef OPERATIONS_COVERAGE_H
#define OPERATIONS_COVERAGE_H

#include "operation.h"

// part: the feature that the kernel does not claim, "causal masks".
bool not_covered(struct obstacle *obstacle, const char *part);

// Whether the device has the compute capability that the kernel `name` needs.
bool is_new_enough(const struct device_limits *limits, int min_compute_capability, const char *name,
                   struct message *reason);

#endif
