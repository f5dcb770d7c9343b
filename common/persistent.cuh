// What the orders of work tiles of persistent kernels have in common.
#pragma once

#include "work_tile.cuh"

constexpr int L2_BYTES = 50 << 20; // of an H100 or H200

// The number of heads whose keys and values fit in three quarters of L2; the rest is for Q and O. So many heads may be
// read at the same time.
static __host__ __device__ inline int heads_in_l2(const struct attention_problem &p) {
    const int elements = L2_BYTES / 4 * 3 / 4; // of K, as many of V, 2 bytes each
    return max(1, min(p.batch * p.heads, elements / p.nk / p.head_dim * (p.heads / p.kv_heads)));
}

// A persistent kernel has at most one block per SM.
static inline cudaError_t limit_to_sms(int64_t *blocks) {
    int device, sms;
    cudaError_t error = cudaGetDevice(&device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
    if (error == cudaSuccess)
        *blocks = min(*blocks, (int64_t)sms);
    return error;
}
