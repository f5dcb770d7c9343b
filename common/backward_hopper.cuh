// What the launches of the backward lessons on Hopper have in common. The lesson has defined BackwardMaps.
#pragma once

#include "attention_backward.h"
#include "tensor_maps.cuh"

// Key heads whose queries, gradients and accumulators fit in three quarters of the L2 cache of an H100 or H200.
template <class T>
static inline int heads_at_once(const struct attention_problem &p) {
    constexpr int64_t L2_BYTES = 50 << 20;
    const int64_t bytes = 8 * (int64_t)p.nq * T::D * (p.heads / p.kv_heads); // 2 + 2 of Q and dO, 4 of dQ
    return (int)max((int64_t)1, min((int64_t)p.batch * p.kv_heads, L2_BYTES * 3 / 4 / bytes));
}

// Makes the tensor maps, whose boxes are tiles, counts the blocks, and opts in to the shared memory.
template <class T, class Kernel>
static cudaError_t prepare_backward(BackwardMaps *maps, int *blocks, const struct attention_backward_problem *p,
                                    Kernel *kernel) {
    const struct attention_problem *f = &p->forward;
    const int64_t count = (int64_t)f->batch * f->kv_heads * ((f->nk + T::KEYS - 1) / T::KEYS);
    PFN_cuTensorMapEncodeTiled_v12000 encode;
    cudaError_t error = count > INT32_MAX ? cudaErrorInvalidConfiguration : find_encoder(&encode);
    if (error == cudaSuccess)
        error = make_tensor_map(&maps->q, encode, f, f->q, f->q_stride, f->heads, f->nq, T::QUERIES);
    if (error == cudaSuccess)
        error = make_tensor_map(&maps->d_o, encode, f, p->d_o, p->d_o_stride, f->heads, f->nq, T::QUERIES);
    if (error == cudaSuccess)
        error = make_tensor_map(&maps->k, encode, f, f->k, f->k_stride, f->kv_heads, f->nk, T::KEYS);
    if (error == cudaSuccess)
        error = make_tensor_map(&maps->v, encode, f, f->v, f->v_stride, f->kv_heads, f->nk, T::KEYS);
    *blocks = (int)count;
    return error == cudaSuccess
               ? cudaFuncSetAttribute((const void *)kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)sizeof(T))
               : error;
}
