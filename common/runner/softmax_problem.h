// A row-softmax problem on the device.
#ifndef RUNNER_SOFTMAX_PROBLEM_H
#define RUNNER_SOFTMAX_PROBLEM_H

#include "host/softmax.h"
#include "message.h"
#include "runner/device.h"
#include "runner/kernel.h"
#include "runner/tensor.h"

struct softmax_device_problem {
    struct softmax_problem problem;
    struct device_tensor in, out, workspace; // workspace: empty where there is none
};

// False and one line where memory is too small for copies of the matrices.
bool softmax_problem_fits(const struct kernel *kernel, const struct softmax_shape *shape, const struct device *device,
                          int copies, struct message *reason);

// Allocates and fills in from the kept rows of in; out and, on a GPU, the workspace are poisoned. kernel says how large
// the workspace is; NULL: none.
struct softmax_device_problem softmax_problem_create(const struct softmax_shape *shape, const float *in, int64_t kept,
                                                     const struct kernel *kernel, const struct device *device);
void softmax_problem_free(struct softmax_device_problem *problem);

// Gives out to the verdict.
void softmax_problem_judge(const struct softmax_device_problem *problem, struct softmax_verdict *verdict);

// The name of a matrix whose guard zone was written to, NULL where all are intact.
const char *softmax_problem_broken_guard(const struct softmax_device_problem *problem);

#endif
