// A kernel's shared library, loaded.
#ifndef RUNNER_KERNEL_H
#define RUNNER_KERNEL_H

#include "arguments.h"
#include "attention.h"
#include "softmax.h"

// Either an attention lesson or a row softmax; the functions of the other one are NULL.
struct kernel {
    const struct kernel_argument *argument;
    const struct attention_lesson *lesson;
    cudaError_t (*attention_forward)(const struct attention_problem *problem, cudaStream_t stream);
    cudaError_t (*softmax_forward)(const struct softmax_problem *problem, cudaStream_t stream);
    size_t (*softmax_workspace_bytes)(const struct softmax_problem *problem);
};

// Ends the process with one line where the library cannot be used.
struct kernel kernel_load(const struct kernel_argument *argument);

#endif
