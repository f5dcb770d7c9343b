// One k-step of a GEMM in registers, as in lesson 05: load the operands of a lane, add their outer product.
#pragma once

#include "float4.cuh"

// Defined by the lesson: the index of a lane's i-th row within its warp, and of its j-th column within the tile.
template <class T>
__device__ inline int row_of(int i, int lane);
template <class T>
__device__ inline int column_of(int j, int lane);

// Loads the operands of one k-step of a GEMM: A of the lane's rows and B of the lane's columns.
template <class T, int COLUMNS>
__device__ inline void load_operands(float (&a)[T::ROWS], float (&b)[COLUMNS], const float *a_smem, const float *b_smem,
                                     int lane) {
#pragma unroll
    for (int i = 0; i < T::ROWS; i += 4)
        copy_floats<4>(&a[i], &a_smem[row_of<T>(i, lane)]);
#pragma unroll
    for (int j = 0; j < COLUMNS; j += T::VECTOR)
        copy_floats<T::VECTOR>(&b[j], &b_smem[column_of<T>(j, lane)]);
}

// result[i][j] += a[i] * b[j].
template <int ROWS, int COLUMNS>
__device__ inline void add_outer_product(float (&result)[ROWS][COLUMNS], const float (&a)[ROWS],
                                         const float (&b)[COLUMNS]) {
#pragma unroll
    for (int j = 0; j < COLUMNS; j++)
#pragma unroll
        for (int step = 0; step < ROWS; step++) {
            const int i = j % 2 == 0 ? step : ROWS - 1 - step;
            result[i][j] += a[i] * b[j];
        }
}
