// Even shares of a kernel whose results have the accumulator layout of wgmma: which elements a lane holds, the epilogue
// of a whole work tile, and the sum of partial results.
#pragma once

#include "even_shares.cuh"
#include "ex2.cuh"

// The accumulator layout of wgmma: the index of a lane's i-th row among its warp's 16, and of its j-th column.
template <class T>
__device__ inline int row_of(int i, int lane) {
    return i * 8 + lane / T::LANES_PER_ROW;
}
template <class T>
__device__ inline int column_of(int j, int lane) {
    return j / 2 * 8 + lane % T::LANES_PER_ROW * 2 + j % 2;
}

// Divides the lane's rows and columns of the output by the row sums and stores them.
template <class T>
__device__ inline void store_output(float *o /* [rows][head_dim] */, int rows, int head_dim, bool vectorized,
                                    const float (&O_rmem)[T::ROWS][T::LANE_COLUMNS], const float (&row_sum)[T::ROWS]) {
    const int lane = threadIdx.x % WARP_SIZE, warp_row0 = threadIdx.x / WARP_SIZE * T::WARP_ROWS;
#pragma unroll
    for (int i = 0; i < T::ROWS; i++) {
        const int row = warp_row0 + row_of<T>(i, lane);
        const float sum = lanes_sum<T::LANES_PER_ROW>(row_sum[i]);
        const float inverse = sum == 0.0f ? 0.0f : 1.0f / sum; // a fully masked row is 0
        if (row < rows)
#pragma unroll
            for (int j = 0; j < T::LANE_COLUMNS; j += T::VECTOR)
                store_floats<T::VECTOR>(o + (int64_t)row * head_dim, column_of<T>(j, lane), head_dim, &O_rmem[i][j],
                                        inverse, vectorized);
    }
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
