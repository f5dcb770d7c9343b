// The harness's own CUDA calls: one that fails ends the process with a line that names the call, the file and the line.
// What a lesson's kernels do wrong is no such failure: it is reported by the check.
#ifndef RUNNER_CUDA_H
#define RUNNER_CUDA_H

#include <cuda_runtime_api.h>

#define CUDA(call) cuda_require((call), #call, __FILE__, __LINE__)

void cuda_require(cudaError_t status, const char *call, const char *file, int line);

// Tells the launcher which step begins; its time limit counts from here.
void step_begin(const char *format, ...) __attribute__((format(printf, 1, 2)));

// The last one, "start-up" where there was none.
const char *step_last(void);

// This process tells the launcher nothing any more, and nothing that it loads can.
void step_detach(void);

// Tells it what has been recorded so far, and how to go on, for when this process is stopped.
void step_kept(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
