// The host side of the lessons that use TMA; a lesson includes it at its end. The lesson defines attention_kernel<T>,
// launch<T>() and Configs<E>.
#pragma once

#include "attention.h"
#include "chunk.cuh"
#include "kernel_config.cuh"

// Whether each row is whole chunks and begins, in an aligned tensor, at a multiple of 16 bytes. The stride of a
// dimension of size 1 is never used and may have any value.
static inline bool rows_are_chunks(const struct attention_problem *p) {
    const struct attention_strides all[] = {p->q_stride, p->o_stride, p->k_stride, p->v_stride};
    bool chunks = p->head_dim % CHUNK == 0;
    for (int i = 0; i < 4; i++) {
        const int heads = i < 2 ? p->heads : p->kv_heads, rows = i < 2 ? p->nq : p->nk;
        chunks &= (p->batch == 1 || all[i].batch % CHUNK == 0) && (heads == 1 || all[i].head % CHUNK == 0) &&
                  (rows == 1 || all[i].row % CHUNK == 0);
    }
    return chunks;
}

// A configuration may be followed by one with the same head_dim and smaller tiles of keys: with few keys it computes
// fewer masked scores.
template <class... T>
static const struct KernelConfig *config_of(const struct attention_problem *p, ConfigList<T...>) {
    static const struct KernelConfig configs[] = {
        {T::D, T::QUERIES, T::KEYS, T::THREADS, sizeof(T), (const void *)attention_kernel<T>, launch<T>}..., {}};
    const struct KernelConfig *config = first_config(p, configs);
    return config[1].head_dim == config->head_dim && p->causal && p->nq <= 1024 ? config + 1 : config;
}

static const struct KernelConfig *config_of(const struct attention_problem *p) {
    return p->dtype == ATTENTION_FP16 ? config_of(p, Configs<__half>()) : config_of(p, Configs<__nv_bfloat16>());
}

static size_t shared_bytes(const struct attention_problem *p) {
    return config_of(p)->shared_bytes;
}

const struct attention_lesson attention_lesson = {
    .dtypes = 1u << ATTENTION_FP16 | 1u << ATTENTION_BF16,
    .max_head_dim = 256,
    .alignment = CHUNK,
    .causal = 1,
    .lse = 1,
    .strided = 1,
    .grouped_heads = 1,
    .min_compute_capability = 90,
    .shared_bytes = shared_bytes,
    .positive_scale = 1,
    .deterministic = 1,
};

// Tensors and their rows begin at multiples of 16 bytes, as TMA requires.
cudaError_t attention_forward(const struct attention_problem *p, cudaStream_t stream) {
    if (p->dtype == ATTENTION_FP32 || p->head_dim > attention_lesson.max_head_dim || !(p->softmax_scale > 0.0f))
        return cudaErrorInvalidValue;
    if (!tensors_are_aligned(p) || !rows_are_chunks(p))
        return cudaErrorMisalignedAddress;
    const struct KernelConfig *config = config_of(p);
    return config->launch(config, p, stream);
}
