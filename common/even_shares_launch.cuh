// The host side of a lesson with even shares; the lesson includes it at its end. The lesson defines attention_kernel<T>
// and Configs, sorted by head_dim and from large to small tiles.
#pragma once

#include "even_shares.cuh"

template <class T>
static cudaError_t launch(const struct KernelConfig *config, const struct attention_problem *p, cudaStream_t stream) {
    int blocks = 0;
    const cudaError_t error = max_resident_blocks(config, &blocks);
    if (error != cudaSuccess)
        return error;
    const struct EvenShares scheduler = make_even_shares(config, p, blocks);
    attention_kernel<T><<<scheduler.shares, T::THREADS, sizeof(T), stream>>>(*p, rows_are_float4(p), scheduler);
    fix_up<T><<<dim3(scheduler.shares, T::QUERIES / FIX_UP_ROWS), FIX_UP_THREADS, 0, stream>>>(*p, scheduler);
    return cudaGetLastError();
}

template <class... T>
static const struct KernelConfig *config_of(const struct attention_problem *p, ConfigList<T...>) {
    static const struct KernelConfig configs[] = {
        {T::D, T::QUERIES, T::KEYS, T::THREADS, sizeof(T), (const void *)attention_kernel<T>, launch<T>}..., {}};
    return select_config(p, configs);
}

static size_t shared_bytes(const struct attention_problem *p) {
    return config_of(p, Configs())->shared_bytes;
}

static size_t workspace_bytes(const struct attention_problem *p) {
    return partials_bytes(config_of(p, Configs()), p);
}

cudaError_t attention_forward(const struct attention_problem *p, cudaStream_t stream) {
    const struct KernelConfig *config = config_of(p, Configs());
    return config->launch(config, p, stream);
}
