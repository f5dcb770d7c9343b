// What operations say of a case that a kernel does not cover. Each function that returns false has set the obstacle.
#ifndef OPERATIONS_COVERAGE_H
#define OPERATIONS_COVERAGE_H

#include "operation.h"

// part: the feature that the kernel does not claim, "causal masks".
bool not_covered(struct obstacle *obstacle, const char *part);

// Whether a kernel that takes these types (bit 1u << ATTENTION_FP32 and so on) takes the type of the case.
bool is_dtype_covered(unsigned dtypes, const char *name, const struct problem_case *which, struct obstacle *obstacle);

// What of attention a kernel covers, forward or backward: fields of the same names in attention.h.
struct attention_coverage {
    bool strided, grouped_heads, causal, positive_scale;
    int max_head_dim;
};
bool is_attention_covered(const struct attention_coverage *covered, const char *name, const struct problem_case *which,
                          struct obstacle *obstacle);

// Whether the device has that much shared memory for a block.
bool has_shared_memory(const struct device_limits *limits, size_t bytes, const char *name, struct message *reason);

// Whether the device has the compute capability that the kernel `name` needs.
bool is_new_enough(const struct device_limits *limits, int min_compute_capability, const char *name,
                   struct message *reason);

#endif
