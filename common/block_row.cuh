// The block-wide reduction of an output row, of which each thread holds one float4, summed over some of the keys.
#pragma once

#include "float4.cuh"

constexpr int MAX_ROW_FLOAT4S = 128; // float4s in a row of the largest head_dim

// Reduces the threads' partial sums of an output row (thread t holds float4 t % columns, summed over every
// keys_per_iteration-th key), divides by the sum of the weights and stores the row. O_smem may be reused after the
// caller's next __syncthreads().
template <bool VECTORIZED, int THREADS>
__device__ inline void reduce_and_store_row(float *o /* [head_dim] */, float4 acc, float sum,
                                            float4 *O_smem /* [THREADS] */, int head_dim) {
    static_assert(MAX_ROW_FLOAT4S <= THREADS, "one thread per float4 of a row");
    const int columns = (head_dim + 3) / 4, keys_per_iteration = THREADS / columns;
    O_smem[threadIdx.x] = acc;
    __syncthreads();
    if (threadIdx.x < columns) {
        float4 total = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        for (int partial = 0; partial < keys_per_iteration; partial++)
            add_scaled(total, 1.0f / sum, O_smem[partial * columns + threadIdx.x]);
        store_float4<VECTORIZED>(o, 4 * threadIdx.x, head_dim, total);
    }
}
