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

// Template parameters of the kernels that a lesson compiles, sorted by head_dim.
template <class... T>
struct ConfigList {};

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

// Opts in and counts the blocks of a grid with one block per config->queries queries of each head of each batch.
static inline cudaError_t prepare_launch(const struct KernelConfig *config, const struct attention_problem *p,
                                         int *blocks) {
    const int64_t count = (int64_t)p->batch * p->heads * ((p->nq + config->queries - 1) / config->queries);
    *blocks = (int)count;
    return count > INT32_MAX ? cudaErrorInvalidConfiguration : opt_in_shared_memory(config);
}

// The number of blocks that the current device holds at a time. Occupancy depends on the shared memory that the kernel
// has opted in to, so the opt-in comes first.
static inline cudaError_t max_resident_blocks(const struct KernelConfig *config, int *blocks) {
    int device = 0, num_sms = 0, blocks_per_sm = 0;
    cudaError_t error = cudaGetDevice(&device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&num_sms, cudaDevAttrMultiProcessorCount, device);
    if (error == cudaSuccess)
        error = opt_in_shared_memory(config);
    if (error == cudaSuccess)
        error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks_per_sm, config->kernel, config->threads,
                                                              config->shared_bytes);
    *blocks = blocks_per_sm * num_sms;
    return error;
}

// Of the configurations for the head dimension, sorted from large to small tiles, the first one that fits in shared
// memory and yields at least one tile per SM, else the last one. An entry with head_dim 0 ends the list.
static inline const struct KernelConfig *select_config(const struct attention_problem *p,
                                                       const struct KernelConfig *configs) {
    int device = 0, shared = 0, num_sms = 0;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    cudaDeviceGetAttribute(&num_sms, cudaDevAttrMultiProcessorCount, device);
    const struct KernelConfig *config = first_config(p, configs);
    for (; config[1].head_dim == config->head_dim; config++) {
        const int64_t work_tiles = (int64_t)p->batch * p->heads * ((p->nq - 1) / config->queries + 1);
        if (config->shared_bytes <= (size_t)shared && work_tiles * ((p->nk - 1) / config->keys + 1) >= num_sms)
            break;
    }
    return config;
}
