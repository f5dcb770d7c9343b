// Loads tiles, blocks of rows of a matrix, into shared memory. Out-of-bounds elements become zeros, since stale
// contents would be multiplied by weights of 0, and 0 * NaN is NaN.
#pragma once

#include "float4.cuh"

// Loads ROWS rows of a matrix, from row0 on, times scale. All THREADS threads of the block call it.
template <int D, int ROWS, int THREADS, int PITCH>
__device__ inline void load_rows(float (*to_smem)[PITCH], const float *from /* [rows][head_dim] */, int row0, int rows,
                                 int head_dim, bool vectorized, float scale = 1.0f) {
#pragma unroll 4
    for (int i = threadIdx.x; i < ROWS * (D / 4); i += THREADS) {
        const int row = i / (D / 4), column = i % (D / 4) * 4;
        float4 value = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        if (row0 + row < rows && column < head_dim)
            value = load_float4(from + (int64_t)(row0 + row) * head_dim, column, head_dim, vectorized);
        *reinterpret_cast<float4 *>(&to_smem[row][column]) = scaled(scale, value);
    }
}

// Moves columns BY, BY + 1, ... to columns 0, 1, ...: registers cannot be indexed at run time.
template <int BY, int ROWS, int COLUMNS>
__device__ inline void shift_columns(float (&rmem)[ROWS][COLUMNS]) {
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j + BY < COLUMNS; j++)
            rmem[i][j] = rmem[i][j + BY];
}
