// One k-step of a GEMM in registers, as in lesson 05: loads the operands of a lane and adds their outer product.
#pragma once

#include "float4.cuh"
#include "lane_layout.cuh"

// result += a b^T: one k-step of a GEMM, for the lane's rows of A and the lane's columns of B. a_smem begins with row 0
// of the warp.
template <class T, int COLUMNS>
__device__ inline void add_outer_product(float (&result)[T::ROWS][COLUMNS], const float *a_smem, const float *b_smem,
                                         int lane) {
    float a[T::ROWS], b[COLUMNS];
#pragma unroll
    for (int i = 0; i < T::ROWS; i += 4)
        copy_floats<4>(&a[i], &a_smem[row_of<T>(i, lane)]);
#pragma unroll
    for (int j = 0; j < COLUMNS; j += T::VECTOR)
        copy_floats<T::VECTOR>(&b[j], &b_smem[column_of<T>(j, lane)]);
        // Only one of a[i] and b[j] changes from one multiply-add to the next, so the other is in the operand reuse
        // cache.
#pragma unroll
    for (int j = 0; j < COLUMNS; j++)
#pragma unroll
        for (int step = 0; step < T::ROWS; step++) {
            const int i = j % 2 == 0 ? step : T::ROWS - 1 - step;
            result[i][j] += a[i] * b[j];
        }
}
