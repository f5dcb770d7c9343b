// Even shares of a kernel whose results have the accumulator layout of wgmma: which elements a lane holds, and the sum
// of partial results.
#pragma once

#include "even_shares.cuh"
#include "ex2.cuh"
#include "store_output_fp32.cuh"

// The accumulator layout of wgmma: the index of a lane's i-th row among its warp's 16, and of its j-th column.
template <class T>
__device__ inline int row_of(int i, int lane) {
    return i * 8 + lane / T::LANES_PER_ROW;
}
template <class T>
__device__ inline int column_of(int j, int lane) {
    return j / 2 * 8 + lane % T::LANES_PER_ROW * 2 + j % 2;
}

// Fix-up: adds a row of a partial result, rescaled to the maximum of the row over all partial results (lesson 08).
template <class T>
__device__ inline void add_partial(const Partial<T> &partial, int row, float row_max, float &row_sum,
                                   float (&O_rmem)[T::D / WARP_SIZE]) {
    const float weight = row_max == -INFINITY ? 0.0f : partial.row_sum[row] * ex2(partial.row_max[row] - row_max);
    row_sum += weight;
    for (int j = 0; j < T::D / WARP_SIZE; j++)
        O_rmem[j] += weight * partial.O[row][j * WARP_SIZE + threadIdx.x % WARP_SIZE];
}
