// The epilogue in fp32: a lane stores its part of the output from registers to global memory.
#pragma once

#include "float4.cuh"
#include "lane_layout.cuh"
#include "reduce.cuh"

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
