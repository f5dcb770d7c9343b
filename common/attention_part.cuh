// The forward kernel of lesson 20 as a function of the lessons on several GPUs, and what these say of it. It computes
// the attention of some queries to a part of the keys: o of these keys alone, rounded to the tensors' type, and lse.
#pragma once

#define attention_forward attention_part
#define attention_lesson attention_part_lesson
#include "../solutions/20_critical_path/attention.cu"
#undef attention_forward
#undef attention_lesson

#include "ring_attention.h"

// A tensor [batch][heads][rows][head_dim].
static inline attention_strides contiguous(const ring_attention_problem &p, int heads, int64_t rows) {
    return {heads * rows * p.head_dim, rows * p.head_dim, p.head_dim};
}

static inline ncclDataType_t nccl_type(const ring_attention_problem &p) {
    return p.dtype == ATTENTION_FP16 ? ncclFloat16 : ncclBfloat16;
}

// Attention of rank r's queries to its own keys.
static inline attention_problem own_attention(const ring_attention_problem &p, int r) {
    const ring_attention_part &part = p.part[r];
    attention_problem own = {};
    own.q = part.q, own.k = part.k, own.v = part.v, own.o = part.o, own.lse = part.lse;
    own.q_stride = own.o_stride = contiguous(p, p.heads, p.n);
    own.k_stride = own.v_stride = contiguous(p, p.kv_heads, p.n);
    own.batch = p.batch, own.heads = p.heads, own.kv_heads = p.kv_heads, own.nq = own.nk = p.n;
    own.head_dim = p.head_dim, own.causal = p.causal, own.softmax_scale = p.softmax_scale, own.dtype = p.dtype;
    return own;
}

static inline size_t kv_elements(const ring_attention_problem &p) {
    return (size_t)p.batch * p.kv_heads * p.n * p.head_dim; // of K, as many of V
}

// A multiple of 256, so that what follows in a workspace is aligned.
static inline size_t aligned(size_t bytes) {
    return (bytes + 255) / 256 * 256;
}

#define RING_LESSON                                                                                                    \
    {                                                                                                                  \
        .dtypes = 1u << ATTENTION_FP16 | 1u << ATTENTION_BF16, .max_head_dim = 256, .alignment = ALIGNMENT,            \
        .min_compute_capability = MIN_COMPUTE_CAPABILITY, .workspace_bytes = workspace_bytes                           \
    }
