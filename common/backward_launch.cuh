// The host side of the backward lessons in 16 bits; a lesson includes it at its end. The lesson defines Configs<E>,
// MIN_COMPUTE_CAPABILITY, ALIGNMENT, DETERMINISTIC, launch_backward<T>() and extra_bytes<T>(), what its workspace holds
// beside BackwardRows.
#pragma once

#include "backward_rows.cuh"

struct BackwardConfig {
    int head_dim; // the largest supported one
    size_t shared_bytes;
    size_t (*workspace_bytes)(const struct attention_backward_problem *p);
    cudaError_t (*launch)(const struct attention_backward_problem *p, cudaStream_t stream);
};

template <class T>
static size_t workspace_bytes_of(const struct attention_backward_problem *p) {
    return backward_rows_bytes(p, T::QUERIES, T::D) + extra_bytes<T>(p);
}

template <class... T>
static const struct BackwardConfig *config_of(const struct attention_backward_problem *p, ConfigList<T...>) {
    static const struct BackwardConfig configs[] = {{T::D, sizeof(T), workspace_bytes_of<T>, launch_backward<T>}...};
    const struct BackwardConfig *config = configs;
    while (config->head_dim < p->forward.head_dim)
        config++;
    return config;
}

static const struct BackwardConfig *config_of(const struct attention_backward_problem *p) {
    return p->forward.dtype == ATTENTION_FP16 ? config_of(p, Configs<__half>())
                                              : config_of(p, Configs<__nv_bfloat16>());
}

static size_t shared_bytes(const struct attention_backward_problem *p) {
    return config_of(p)->shared_bytes;
}

static size_t workspace_bytes(const struct attention_backward_problem *p) {
    return config_of(p)->workspace_bytes(p);
}

const struct attention_backward_lesson attention_backward_lesson = {
    .dtypes = 1u << ATTENTION_FP16 | 1u << ATTENTION_BF16,
    .max_head_dim = 256,
    .alignment = ALIGNMENT,
    .causal = 1,
    .strided = 1,
    .grouped_heads = 1,
    .min_compute_capability = MIN_COMPUTE_CAPABILITY,
    .workspace_bytes = workspace_bytes,
    .shared_bytes = shared_bytes,
    .deterministic = DETERMINISTIC,
};

cudaError_t attention_backward(const struct attention_backward_problem *p, cudaStream_t stream) {
    if (p->forward.dtype == ATTENTION_FP32 || p->forward.head_dim > attention_backward_lesson.max_head_dim)
        return cudaErrorInvalidValue;
    return config_of(p)->launch(p, stream);
}
