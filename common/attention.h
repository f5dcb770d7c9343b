// The interface between a lesson and the programs that run it: the harness, a profiler, any program that loads the
// lesson as a shared library. A lesson's attention.cu defines attention_forward() and attention_lesson and exports
// nothing else.
#ifndef ATTENTION_H
#define ATTENTION_H

#include "attention_dtype.h"

#include <cuda_runtime_api.h>
#include <stddef.h>
#include <stdint.h>

// Strides in elements. The elements of a row are always contiguous.
struct attention_strides {
    int64_t batch, head, row;
};

// One forward pass: o = softmax(softmax_scale * q k^T) v for each batch and head. All pointers are device pointers; the
// tensors begin at multiples of 16 bytes. The kernel does not modify its inputs, and never reads what is out of bounds.
// Masked keys and values are finite: a kernel may multiply them by weights of 0. Elsewhere an infinity or a NaN in q, k
// or v gives what arithmetic gives in the outputs that depend on it, and does not reach others.
struct attention_problem {
    const void *q;   // [batch][heads][nq][head_dim]
    const void *k;   // [batch][kv_heads][nk][head_dim]
    const void *v;   // [batch][kv_heads][nk][head_dim]
    void *o;         // [batch][heads][nq][head_dim]
    float *lse;      // [batch][heads][nq], log-sum-exp of the scaled scores; NULL: not requested
    void *workspace; // attention_lesson.workspace_bytes(problem) bytes, 256-byte aligned, uninitialized
    struct attention_strides q_stride, k_stride, v_stride, o_stride;
    int batch, heads, kv_heads, nq, nk, head_dim;
    int causal;          // 1: query i attends to keys 0 .. i + nk - nq (bottom-right aligned); a fully masked row is 0
    float softmax_scale; // any finite value, also 0 or negative
    enum attention_dtype dtype;
};

// The coverage of a lesson. The harness reports the cases that a lesson does not cover instead of skipping them
// silently.
struct attention_lesson {
    unsigned dtypes;            // bit 1u << ATTENTION_FP32 and so on
    int max_head_dim;           // head_dim may be 1 to max_head_dim
    int alignment;              // elements: head_dim and all strides must be multiples of it; 0: no restriction
    int causal;                 // 1: covers causal masking
    int lse;                    // 1: writes lse
    int strided;                // 1: any strides; 0: tensors must be contiguous
    int grouped_heads;          // 1: kv_heads may be less than heads
    int min_compute_capability; // 75 for sm_75, and so on
    size_t (*workspace_bytes)(const struct attention_problem *problem); // device memory that it needs; NULL: none
    size_t (*shared_bytes)(const struct attention_problem *problem);    // shared memory per block, if it depends on the
                                                                        // problem; NULL: it does not
    const char *(*unavailable)(void); // one line on what this machine lacks, for example a library; returns NULL if
                                      // nothing is lacking. NULL: the lesson needs only the device
    int positive_scale;               // 1: softmax_scale must be above 0
    int deterministic;                // 1: repeated calls return identical bits
};

#ifdef __cplusplus
extern "C" {
#endif

extern const struct attention_lesson attention_lesson;

// Launches the lesson's kernels on stream, without waiting for them, and returns the error of the launch. Calls in
// different streams may run concurrently.
cudaError_t attention_forward(const struct attention_problem *problem, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
