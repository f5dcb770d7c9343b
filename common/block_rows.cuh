// Several rows at a time: loads queries into shared memory, and reduces and stores their output rows.
#pragma once

#include "block_row.cuh"

// Loads QUERIES queries, from query0 on, into shared memory. Past the last query it loads the last query again.
template <bool VECTORIZED, int QUERIES, int THREADS>
__device__ inline void load_queries(float4 *Q_smem /* [QUERIES][columns] */, const float *q /* [nq][head_dim] */,
                                    int query0, int nq, int head_dim) {
    const int columns = (head_dim + 3) / 4;
    for (int i = threadIdx.x; i < QUERIES * columns; i += THREADS) {
        const int query = min(query0 + i / columns, nq - 1), column = i % columns;
        Q_smem[i] = load_float4<VECTORIZED>(q + (int64_t)query * head_dim, 4 * column, head_dim);
    }
}

// reduce_and_store_row() for the first `rows` of QUERIES rows.
template <bool VECTORIZED, int THREADS, int QUERIES>
__device__ inline void reduce_and_store_rows(float *o /* [rows][head_dim] */, int rows, const float4 (&acc)[QUERIES],
                                             const float (&sum)[QUERIES], float4 *O_smem /* [THREADS] */,
                                             int head_dim) {
    for (int i = 0; i < QUERIES && i < rows; i++) {
        reduce_and_store_row<VECTORIZED, THREADS>(o + (int64_t)i * head_dim, acc[i], sum[i], O_smem, head_dim);
        __syncthreads(); // the next row overwrites O_smem
    }
}
