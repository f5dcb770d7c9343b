// The interface of the lessons on decoding: few queries, and many keys and values in a cache whose requests differ in
// length. A lesson's attention.cu defines decode_forward() and decode_lesson instead of what attention.h declares.
#ifndef DECODE_H
#define DECODE_H

#include "attention_dtype.h"

#include <cuda_runtime_api.h>
#include <stddef.h>
#include <stdint.h>

enum { DECODE_MAX_NQ = 16, DECODE_MIN_PAGE = 16 };

// One step: for each request o = softmax(softmax_scale * q k^T) v over its first lens[request] keys. All pointers are
// device pointers; the tensors begin at multiples of 16 bytes. The kernel does not modify its inputs.
//
// What a page holds behind a request's last key may be anything, NaN too, and so may be entries of the table that no
// key needs: none of it reaches the output. A request without keys is 0, its lse -inf. Where a length is below 0 or
// more than pages_per_request * page_size, or a page that holds keys is no page of the cache, the output of that
// request, and of no other, is NaN, and nothing is read for it out of bounds: lengths and pages are known to the device
// alone.
struct decode_problem {
    const void *q;          // [batch][heads][nq][head_dim]
    const void *k;          // [pages][kv_heads][page_size][head_dim]
    const void *v;          // the same
    const int *lens;        // [batch]
    const int *block_table; // [batch][pages_per_request], numbers of pages; NULL: request b has page b, and no other
    const float *kv_scale;  // [2][kv_heads]: what each head's keys, and values, are multiplied by; NULL: 1
    void *o;                // [batch][heads][nq][head_dim]
    float *lse;             // [batch][heads][nq], log-sum-exp of the scaled scores; NULL: not requested
    void *workspace;        // decode_lesson.workspace_bytes(problem) bytes, 256-byte aligned, uninitialized
    int64_t page_stride;    // elements from a page of k, and of v, to the next
    int batch, heads, kv_heads, nq, head_dim;
    int pages, page_size, pages_per_request;
    int causal; // 1: the queries are the last of the request: query i attends to keys 0 .. i + lens[request] - nq
    float softmax_scale;
    enum attention_dtype dtype;       // of q and o
    enum attention_dtype cache_dtype; // of k and v: dtype, or e4m3, which has no NaN here: its bits count as 480
};

// The coverage of a lesson, which writes lse, covers causal masks, takes any nq up to DECODE_MAX_NQ and any number of
// heads that kv_heads divides, and returns the same bits for the same call.
struct decode_lesson {
    unsigned dtypes;            // bit 1u << ATTENTION_BF16 and so on; ATTENTION_E4M3: such a cache, bf16 elsewhere
    int max_head_dim;           // head_dim is a multiple of 16 up to it
    int paged;                  // 1: takes a block_table, and page sizes that are multiples of DECODE_MIN_PAGE
    int min_compute_capability; // 80 for sm_80, and so on
    size_t (*workspace_bytes)(const struct decode_problem *problem);
};

// Whether the call is one that every lesson refuses: a number of queries, heads or pages that cannot be. Device memory
// is not looked at.
static inline int decode_is_malformed(const struct decode_problem *p) {
    return p->batch < 1 || p->nq < 1 || p->nq > DECODE_MAX_NQ || p->kv_heads < 1 || p->heads < 1 ||
           p->heads % p->kv_heads != 0 || p->head_dim < 1 || p->pages < 1 || p->page_size < 1 ||
           p->pages_per_request < 1 || (p->block_table == NULL && (p->pages < p->batch || p->pages_per_request != 1));
}

#ifdef __cplusplus
extern "C" {
#endif

extern const struct decode_lesson decode_lesson;

// Launches the lesson's kernels on stream, without waiting for them, and returns the error of the launch, or
// cudaErrorInvalidValue for what it does not cover. Calls in different streams may run concurrently.
cudaError_t decode_forward(const struct decode_problem *problem, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
