// The host side of the lessons on tensor cores, which take fp16 and bf16. mma_launch.cuh and hopper_launch.cuh include
// it after they have defined MIN_COMPUTE_CAPABILITY, ALIGNMENT, SMALLER_TILES_MAX_NQ and rows_are_supported(); the
// lesson defines attention_kernel<T>, launch<T>() and Configs<E>.
#pragma once

#include "attention.h"
#include "chunk.cuh"
#include "kernel_config.cuh"

// A configuration may be followed by one with the same head_dim and smaller tiles: with few keys it computes fewer
// masked scores.
template <class... T>
static const struct KernelConfig *config_of(const struct attention_problem *p, ConfigList<T...>) {
    static const struct KernelConfig configs[] = {
        {T::D, T::QUERIES, T::KEYS, T::THREADS, sizeof(T), (const void *)attention_kernel<T>, launch<T>}..., {}};
    const struct KernelConfig *config = first_config(p, configs);
    const bool has_smaller_tiles = config[1].head_dim == config->head_dim;
    return has_smaller_tiles && p->causal && p->nq <= SMALLER_TILES_MAX_NQ ? config + 1 : config;
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
    .alignment = ALIGNMENT,
    .causal = 1,
    .lse = 1,
    .strided = 1,
    .grouped_heads = 1,
    .min_compute_capability = MIN_COMPUTE_CAPABILITY,
    .shared_bytes = shared_bytes,
    .positive_scale = 1,
    .deterministic = 1,
};

cudaError_t attention_forward(const struct attention_problem *p, cudaStream_t stream) {
    if (p->dtype == ATTENTION_FP32 || p->head_dim > attention_lesson.max_head_dim || !(p->softmax_scale > 0.0f))
        return cudaErrorInvalidValue;
    if (!tensors_are_aligned(p) || !rows_are_supported(p))
        return cudaErrorMisalignedAddress;
    const struct KernelConfig *config = config_of(p);
    return config->launch(config, p, stream);
}
