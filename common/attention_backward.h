// The interface of the lessons on the backward pass. Such a lesson's attention.cu defines attention_backward() and
// attention_backward_lesson and exports nothing else.
#ifndef ATTENTION_BACKWARD_H
#define ATTENTION_BACKWARD_H

#include "attention.h"

// One backward pass. The forward pass was, for each batch and head,
//     s = softmax_scale q k^T,   lse = log(sum of exp(s) over the keys),   p = exp(s - lse),   o = p v.
// d_o is the gradient of a loss by o. With dp = d_o v^T, delta = rowsum(d_o * o) and ds = p * (dp - delta):
//     dv = p^T d_o,   dk = softmax_scale ds^T q,   dq = softmax_scale ds k.
// With grouped heads, dk and dv are the sums over the query heads of the group. A query that sees no key has a dq of 0,
// and a key that no query sees a dk and dv of 0.
//
// All pointers are device pointers; the tensors begin at multiples of 16 bytes. The kernel does not modify its inputs,
// and never reads what is out of bounds. All inputs are finite, except lse, which is -inf for a query that sees no key.
struct attention_backward_problem {
    struct attention_problem forward; // its sizes, its inputs, and the o and lse that it gave; its workspace is NULL
    const void *d_o;                  // [batch][heads][nq][head_dim]
    void *dq;                         // [batch][heads][nq][head_dim]
    void *dk, *dv;                    // [batch][kv_heads][nk][head_dim]
    void *workspace; // attention_backward_lesson.workspace_bytes(problem) bytes, 256-byte aligned, uninitialized
    struct attention_strides d_o_stride, dq_stride, dk_stride, dv_stride;
};

// The coverage of a lesson, as of attention_lesson.
struct attention_backward_lesson {
    unsigned dtypes;            // bit 1u << ATTENTION_FP32 and so on
    int max_head_dim;           // head_dim may be 1 to max_head_dim
    int alignment;              // elements: head_dim and all strides must be multiples of it; 0: no restriction
    int causal;                 // 1: covers causal masking
    int strided;                // 1: any strides; 0: tensors must be contiguous
    int grouped_heads;          // 1: kv_heads may be less than heads
    int min_compute_capability; // 75 for sm_75, and so on
    size_t (*workspace_bytes)(const struct attention_backward_problem *problem); // NULL: none
    size_t (*shared_bytes)(const struct attention_backward_problem *problem);    // per block; NULL: the same for all
    int deterministic; // 1: repeated calls return identical bits
};

#ifdef __cplusplus
extern "C" {
#endif

extern const struct attention_backward_lesson attention_backward_lesson;

// Launches the lesson's kernels on stream, without waiting for them, and returns the error of the launch. Calls in
// different streams may run concurrently.
cudaError_t attention_backward(const struct attention_backward_problem *problem, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
