// The interface of the lessons on several GPUs of one host. A lesson's attention.cu defines ring_attention_forward()
// and ring_attention_lesson, or, if the GPUs have their rows in zigzag order, zigzag_attention_forward() and
// zigzag_attention_lesson.
#ifndef RING_ATTENTION_H
#define RING_ATTENTION_H

#include "attention_dtype.h"

#include <cuda_runtime_api.h>
#include <stddef.h>

enum { RING_MAX_DEVICES = 8 };

// What device r has, in its own memory. Tensors are contiguous and begin at multiples of 16 bytes.
struct ring_attention_part {
    const void *q;   // [batch][heads][n][head_dim]
    const void *k;   // [batch][kv_heads][n][head_dim]
    const void *v;   // [batch][kv_heads][n][head_dim]
    void *o;         // [batch][heads][n][head_dim]
    float *lse;      // [batch][heads][n], log-sum-exp of the scaled scores; NULL: not requested
    void *workspace; // workspace_bytes(problem) bytes, 256-byte aligned, uninitialized
};

// Self-attention over devices * n rows: o = softmax(softmax_scale * q k^T) v for each batch and head. The rows of q, k,
// v and o are split over devices 0 .. devices - 1. ring_attention: device r has rows r * n .. r * n + n - 1 of the
// sequence. zigzag_attention: the sequence has 2 * devices chunks of n / 2 rows, and device r has chunk r and then
// chunk 2 * devices - 1 - r. Inputs are finite and are not modified.
struct ring_attention_problem {
    int devices;
    struct ring_attention_part part[RING_MAX_DEVICES]; // [devices]
    int batch, heads, kv_heads, n, head_dim;           // n: rows of one device
    int causal;                                        // 1: row i of the sequence attends to rows 0 .. i
    float softmax_scale;                               // above 0
    enum attention_dtype dtype;
};

// What a lesson covers.
struct ring_attention_lesson {
    unsigned dtypes;            // bit 1u << ATTENTION_BF16 and so on
    int max_head_dim;           // head_dim is a multiple of alignment up to it
    int alignment;              // elements
    int min_compute_capability; // 90 for sm_90
    size_t (*workspace_bytes)(const struct ring_attention_problem *problem); // per device
};

#ifdef __cplusplus
extern "C" {
#endif

extern const struct ring_attention_lesson ring_attention_lesson, zigzag_attention_lesson;

// stream is one of device 0. The work on all devices begins after what is in it, and what follows in it begins after
// that work. Does not wait. Returns the error of a launch, cudaErrorInvalidDevice if there are fewer GPUs, or
// cudaErrorUnknown if NCCL reports an error. One call at a time. The current device stays 0.
cudaError_t ring_attention_forward(const struct ring_attention_problem *problem, cudaStream_t stream);
cudaError_t zigzag_attention_forward(const struct ring_attention_problem *problem, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
