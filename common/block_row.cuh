// A row of the output that all threads of a block have worked out together: a thread has a float4 of it, of some keys.
#pragma once

#include "float4.cuh"

constexpr int MAX_COLUMNS = 128; // float4s in a row of the longest head

// Adds up what the THREADS threads have of the output row, each a float4 and every keys_at_once-th key, and stores the
// quotient. O_smem may be used again after the next __syncthreads() of the caller.
template <bool WIDE, int THREADS>
__device__ inline void store_row(float *o /* [head_dim] */, float4 acc, float sum, float4 *O_smem /* [THREADS] */,
                                 int head_dim) {
    static_assert(MAX_COLUMNS <= THREADS, "every float4 of a row has a thread of its own");
    const int columns = (head_dim + 3) / 4, keys_at_once = THREADS / columns;
    O_smem[threadIdx.x] = acc;
    __syncthreads();
    if (threadIdx.x < columns) {
        float4 total = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        for (int share = 0; share < keys_at_once; share++)
            add_scaled(total, 1.0f / sum, O_smem[share * columns + threadIdx.x]);
        store_float4<WIDE>(o, 4 * threadIdx.x, head_dim, total);
    }
}
