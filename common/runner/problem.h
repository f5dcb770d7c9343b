// An attention problem on the device.
#ifndef RUNNER_PROBLEM_H
#define RUNNER_PROBLEM_H

#include "host/verdict.h"
#include "message.h"
#include "runner/device.h"
#include "runner/kernel.h"
#include "runner/tensor.h"

struct device_problem {
    struct attention_problem problem;
    struct device_tensor q, k, v, o, lse, workspace; // lse, workspace: empty where the problem has none
};

// False and one line where the lesson or the device cannot run the shape: head_dim, causal, strides, shared memory, ...
bool problem_covered(const struct kernel *kernel, const struct attention_shape *shape, const struct device *device,
                     struct message *reason);

// False and one line where memory is too small. copies is how many sets of q, k, v and o are wanted at once.
bool problem_fits(const struct kernel *kernel, const struct attention_shape *shape, const struct device *device,
                  int copies, struct message *reason);

// What the lesson works in at this shape; 0 where it needs nothing.
size_t problem_workspace_bytes(const struct kernel *kernel, const struct attention_shape *shape);

// Allocates and fills q, k and v. o, lse and, on a GPU, the workspace are poisoned. kernel says how large the workspace
// is; NULL: none.
struct device_problem problem_create(const struct host_inputs *inputs, const struct kernel *kernel,
                                     const struct device *device, bool with_lse);
void problem_free(struct device_problem *problem);

// Gives o, and lse where there is one, to the verdict.
void problem_judge(const struct device_problem *problem, struct verdict *verdict);

// The name of a tensor whose guard zone was written to, NULL where all are intact.
const char *problem_broken_guard(const struct device_problem *problem);

#endif
