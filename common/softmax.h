// The interface of lesson 03's first part, a softmax over the rows of a matrix. softmax.cu defines softmax_forward().
#ifndef SOFTMAX_H
#define SOFTMAX_H

#include <cuda_runtime_api.h>
#include <stddef.h>
#include <stdint.h>

// out[r][c] = exp(in[r][c] - max of row r) / (sum over row r of the same). Device pointers, rows contiguous.
struct softmax_problem {
    const float *in; // [rows][columns]
    float *out;      // [rows][columns], does not overlap with in
    void *workspace; // softmax_workspace_bytes(problem) bytes, 256-byte aligned, uninitialized
    int64_t rows;
    int columns;
};

#ifdef __cplusplus
extern "C" {
#endif

size_t softmax_workspace_bytes(const struct softmax_problem *problem);

// Launches on stream, without waiting, and returns the error of the launch.
cudaError_t softmax_forward(const struct softmax_problem *problem, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
