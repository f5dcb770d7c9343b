// The contract between a lesson and everything that runs it: the harness, a profiler, another program that loads
// the lesson as a shared library. A lesson's attention.cu defines attention_forward() and attention_lesson, and
// nothing else of it is visible from outside.
#ifndef ATTENTION_H
#define ATTENTION_H

#include "attention_dtype.h"

#include <cuda_runtime_api.h>
#include <stddef.h>
#include <stdint.h>

// Distances in elements. Elements of one row are always next to each other.
struct attention_strides {
    int64_t batch, head, row;
};

// One forward pass: o = softmax(softmax_scale * q k^T) v for each batch and head. All pointers are device pointers; the
// tensors begin at multiples of 16 bytes. The inputs stay as they are. An infinity or a NaN among the elements of q, k
// and v goes into those outputs that arithmetic brings it to, and into no others.
struct attention_problem {
    const void *q;   // [batch][heads][nq][head_dim]
    const void *k;   // [batch][kv_heads][nk][head_dim]
    const void *v;   // [batch][kv_heads][nk][head_dim]
    void *o;         // [batch][heads][nq][head_dim]
    float *lse;      // [batch][heads][nq], log-sum-exp of the scaled scores; NULL where nobody wants it
    void *workspace; // attention_lesson.workspace_bytes(problem) bytes, 256-byte aligned, not initialised
    struct attention_strides q_stride, k_stride, v_stride, o_stride;
    int batch, heads, kv_heads, nq, nk, head_dim;
    int causal; // 1: query i sees keys 0 .. i + nk - nq (aligned at the bottom right); a row that sees nothing is 0
    float softmax_scale; // any number: also 0, or below it
    enum attention_dtype dtype;
};

// What a lesson can do. The harness says what a lesson does not cover instead of skipping it silently.
struct attention_lesson {
    unsigned dtypes;            // bit 1u << ATTENTION_FP32 and so on
    int max_head_dim;           // every head_dim from 1 to this one
    int row_multiple;           // of which head_dim and all strides have to be multiples; 0: any will do
    int causal;                 // 1 where it covers causal masking
    int lse;                    // 1 where it writes lse
    int strided;                // 1 where it takes any strides, 0 where tensors must be contiguous
    int grouped_heads;          // 1 where kv_heads may be less than heads
    int min_compute_capability; // 75 for sm_75, and so on
    size_t (*workspace_bytes)(const struct attention_problem *problem); // device memory it needs; NULL: none
    size_t (*shared_bytes)(const struct attention_problem *problem);    // shared memory a block needs in all, where it
                                                                        // depends on the problem; NULL: it does not
    const char *(*unavailable)(void); // one line on what this machine lacks that the lesson needs: a library, say. It
                                      // returns NULL where nothing is lacking; NULL: nothing but the device is needed
    int positive_scale;               // 1 where softmax_scale must be above 0
    int repeats;                      // 1 where the same call gives the same bits each time
};

#ifdef __cplusplus
extern "C" {
#endif

extern const struct attention_lesson attention_lesson;

// Launches the lesson's kernels on stream and returns what the launch returned; it does not wait for them. Calls in
// different streams may run at the same time.
cudaError_t attention_forward(const struct attention_problem *problem, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
