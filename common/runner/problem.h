// A problem on the device.
#ifndef RUNNER_PROBLEM_H
#define RUNNER_PROBLEM_H

#include "message.h"
#include "operation.h"
#include "runner/device.h"
#include "runner/kernel.h"
#include "runner/tensor.h"

struct device_problem {
    const struct host_problem *host;
    struct device_tensor tensor[MAX_TENSORS]; // as the host's; empty where an optional output is left away
    struct device_tensor workspace;           // empty where the kernel needs none
};

// False and one line where memory is too small. copies is how many sets of all tensors are wanted at once.
bool problem_fits(const struct kernel *kernel, const struct problem_case *which, const struct device *device,
                  int copies, struct message *reason);

// Allocates all tensors and fills the inputs. Outputs, the gaps between rows and, on a GPU, the workspace are poisoned.
// kernel says how large the workspace is; NULL: none. optional: with the optional outputs. places: draws where each
// tensor begins, at a multiple of 16 bytes; 0: of 256.
struct device_problem problem_create(const struct host_problem *host, const struct kernel *kernel,
                                     const struct device *device, bool optional, uint64_t offset_seed);
void problem_free(struct device_problem *problem);

// Another problem of the same case in the same tensors. What they hold of outputs and workspace stays.
void problem_refill(struct device_problem *problem, const struct host_problem *host);

// Takes the inputs away, and puts into the stream what brings them back after a while: what does not come after it in
// the stream reads poison. *staging is to be freed when that is done. Only where copies of the inputs fit.
void problem_delay(const struct device_problem *problem, cudaStream_t stream, struct device_tensor *staging);

// Keeps the stream busy for two milliseconds; and how many bytes the inputs have.
void problem_rest(cudaStream_t stream);
size_t problem_bytes(const struct host_problem *host);

// Poisons the outputs again.
void problem_poison(const struct device_problem *problem);

// Calls the kernel's function, which does not wait; workspace: its own, or one that several problems share.
cudaError_t problem_launch(const struct device_problem *problem, const struct kernel *kernel,
                           const struct device_tensor *workspace, cudaStream_t stream);

// All outputs that are there, whole, one after the other, in the host's order.
void problem_outputs(const struct device_problem *problem, float *outputs);

// Whether output i was not left away.
bool problem_has_output(const struct device_problem *problem, int i);

// Gives the rows of output i, in the order of the host, to take, a piece at a time.
typedef void problem_receive(void *context, int64_t row, int64_t rows, const float *values, int columns);
void problem_read(const struct device_problem *problem, int i, problem_receive *receive, void *context);

// Gives output verdict->output to the verdict.
void problem_judge(const struct device_problem *problem, struct verdict *verdict);

// The name of an input that is not bit for bit what it was, NULL where there is none. Of a large one the first 2^28
// bytes are compared.
const char *problem_changed_input(const struct device_problem *problem);

// The name of a tensor beside which something was written, in a guard zone or between its rows; NULL where nothing was.
const char *problem_broken_guard(const struct device_problem *problem);

#endif
