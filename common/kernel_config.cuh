// The kernel configurations of a lesson: it compiles one kernel for each of several tile sizes.
#pragma once

#include "attention.h"

struct KernelConfig {
    int head_dim;               // the largest supported one
    int queries, keys, threads; // queries per block, keys per tile, threads per block
    size_t shared_bytes;        // dynamic shared memory per block
    const void *kernel;
    cudaError_t (*launch)(const struct KernelConfig *config, const struct attention_problem *p, cudaStream_t stream);
};

// The first configuration for the head dimension; configurations are sorted by head_dim.
static inline const struct KernelConfig *first_config(const struct attention_problem *p,
                                                      const struct KernelConfig *configs) {
    while (configs->head_dim < p->head_dim)
        configs++;
    return configs;
}

// A kernel must opt in to more than 48 KB of dynamic shared memory per block.
static inline cudaError_t opt_in_shared_memory(const struct KernelConfig *config) {
    return cudaFuncSetAttribute(config->kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)config->shared_bytes);
}
