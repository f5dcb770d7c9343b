// The host side of the lessons on decoding; a lesson includes it at its end. The lesson defines MIN_COMPUTE_CAPABILITY,
// IS_PAGED, DTYPES, decode_kernel<T>, launch<T>() and Configs<E, C>, C the type of the
// cache, sorted by head_dim and then by rows.
#pragma once

#include "decode_config.cuh"

// Of the configurations for the head dimension the first one whose rows hold the group, else the last one.
template <class... T>
static const struct DecodeConfig *config_of(const struct decode_problem *p, ConfigList<T...>) {
    static const struct DecodeConfig configs[] = {{T::D, T::ROWS, T::KEYS, T::THREADS, sizeof(T),
                                                   sizeof(DecodePartial<T::ROWS, T::D>), (const void *)decode_kernel<T>,
                                                   launch<T>}...,
                                                  {}};
    const struct DecodeConfig *config = configs;
    while (config->head_dim < p->head_dim)
        config++;
    while (config->rows < rows_of_group(*p) && config[1].head_dim == config->head_dim)
        config++;
    return config;
}

static const struct DecodeConfig *config_of(const struct decode_problem *p) {
    if (p->dtype == ATTENTION_FP16)
        return config_of(p, Configs<__half>());
    return p->cache_dtype == ATTENTION_E4M3 ? config_of(p, Configs<__nv_bfloat16, uint8_t>())
                                            : config_of(p, Configs<__nv_bfloat16>());
}

static size_t workspace_bytes(const struct decode_problem *p) {
    const struct DecodeConfig *config = config_of(p);
    int shares = 0;
    return count_shares(config, p, &shares) == cudaSuccess ? shares * KEPT_PARTIALS * config->partial_bytes : 0;
}

const struct decode_lesson decode_lesson = {
    .dtypes = DTYPES,
    .max_head_dim = 128,
    .paged = IS_PAGED,
    .min_compute_capability = MIN_COMPUTE_CAPABILITY,
    .workspace_bytes = workspace_bytes,
};

static inline bool is_covered(const struct decode_problem *p) {
    const bool paged = p->block_table != NULL;
    return DTYPES >> p->cache_dtype & 1 && p->head_dim % 16 == 0 && p->head_dim <= 128 &&
           p->dtype == (p->cache_dtype == ATTENTION_E4M3 ? ATTENTION_BF16 : p->cache_dtype) &&
           (!paged || (IS_PAGED && p->page_size % DECODE_MIN_PAGE == 0)) &&
           (p->cache_dtype == ATTENTION_E4M3) == (p->kv_scale != NULL);
}

cudaError_t decode_forward(const struct decode_problem *p, cudaStream_t stream) {
    if (decode_is_malformed(p) || !is_covered(p))
        return cudaErrorInvalidValue;
    if (((uintptr_t)p->q | (uintptr_t)p->k | (uintptr_t)p->v | (uintptr_t)p->o) % 16 != 0)
        return cudaErrorMisalignedAddress;
    const struct DecodeConfig *config = config_of(p);
    return config->launch(config, p, stream);
}
