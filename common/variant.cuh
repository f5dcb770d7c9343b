// The kernels of a lesson that compiles one for each of some sizes of its tiles.
#pragma once

#include "attention.h"

struct Variant {
    int head_dim;               // the largest that it can do
    int queries, keys, threads; // queries of a block, keys of a tile, threads of a block
    size_t shared_bytes;        // of a block
    const void *kernel;
    cudaError_t (*launch)(const struct Variant *variant, const struct attention_problem *p, cudaStream_t stream);
};

// The first variant for the head dimension; they are sorted by it.
static inline const struct Variant *first_variant(const struct attention_problem *p, const struct Variant *variants) {
    while (variants->head_dim < p->head_dim)
        variants++;
    return variants;
}

// A block gets more than 48 KB of shared memory only after the kernel has been allowed to.
static inline cudaError_t allow_shared_bytes(const struct Variant *v) {
    return cudaFuncSetAttribute(v->kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)v->shared_bytes);
}
