// Tiles: some rows of a matrix on their way into shared memory, and results of a tile in registers. Zeros are written
// beyond the matrix, since a weight of 0 must not meet what lay there before: 0 * NaN is NaN.
#pragma once

#include "float4.cuh"

// ROWS rows of a matrix, from row0 on, times scale. All THREADS threads of the block take part.
template <int D, int ROWS, int THREADS, int PITCH>
__device__ inline void load_rows(float (*to_smem)[PITCH], const float *from /* [rows][head_dim] */, int row0, int rows,
                                 int head_dim, bool wide, float scale = 1.0f) {
#pragma unroll 4
    for (int i = threadIdx.x; i < ROWS * (D / 4); i += THREADS) {
        const int row = i / (D / 4), column = i % (D / 4) * 4;
        float4 value = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        if (row0 + row < rows && column < head_dim)
            value = load_float4(from + (int64_t)(row0 + row) * head_dim, column, head_dim, wide);
        *reinterpret_cast<float4 *>(&to_smem[row][column]) = scaled(scale, value);
    }
}

// The same, transposed: to_smem[column][row]. The lanes of a warp take neighbouring rows. Every thread takes the same
// number of steps, which the compiler knows: else it would not put the loads of eight before what uses the first.
template <int D, int ROWS, int THREADS, int PITCH>
__device__ inline void load_transposed(float (*to_smem)[PITCH], const float *from /* [rows][head_dim] */, int row0,
                                       int rows, int head_dim, bool wide, float scale = 1.0f) {
    static_assert(ROWS % 32 == 0 && THREADS % ROWS == 0, "a warp takes 32 rows");
    const int row = threadIdx.x % ROWS;
    const float *own = from + (int64_t)(row0 + row) * head_dim; // [head_dim]
#pragma unroll 8
    for (int column0 = 0; column0 < D; column0 += THREADS / ROWS * 4) {
        const int column = column0 + threadIdx.x / ROWS * 4;
        float4 value = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        if (row0 + row < rows && column < head_dim)
            value = load_float4(own, column, head_dim, wide);
        to_smem[column][row] = scale * value.x;
        to_smem[column + 1][row] = scale * value.y;
        to_smem[column + 2][row] = scale * value.z;
        to_smem[column + 3][row] = scale * value.w;
    }
}

// Moves what stands in columns BY and on to column 0 and on: registers cannot be indexed at run time.
template <int BY, int ROWS, int COLUMNS>
__device__ inline void move_to_front(float (&rmem)[ROWS][COLUMNS]) {
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j + BY < COLUMNS; j++)
            rmem[i][j] = rmem[i][j + BY];
}
