// Loads tiles transposed, so that the operands of adjacent results are contiguous.
#pragma once

#include "float4.cuh"

// As load_rows(), but transposed: to_smem[column][row]. The lanes of a warp load adjacent rows. The trip count is the
// same for every thread and a compile-time constant, so that the compiler issues eight loads before it uses the first.
template <int D, int ROWS, int THREADS, int PITCH>
__device__ inline void load_transposed(float (*to_smem)[PITCH], const float *from /* [rows][head_dim] */, int row0,
                                       int rows, int head_dim, bool vectorized, float scale = 1.0f) {
    static_assert(ROWS % 32 == 0 && THREADS % ROWS == 0, "a warp loads 32 rows");
    const int row = threadIdx.x % ROWS;
    const float *thread_row = from + (int64_t)(row0 + row) * head_dim; // [head_dim]
#pragma unroll 8
    for (int column0 = 0; column0 < D; column0 += THREADS / ROWS * 4) {
        const int column = column0 + threadIdx.x / ROWS * 4;
        float4 value = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        if (row0 + row < rows && column < head_dim)
            value = load_float4(thread_row, column, head_dim, vectorized);
        to_smem[column][row] = scale * value.x;
        to_smem[column + 1][row] = scale * value.y;
        to_smem[column + 2][row] = scale * value.z;
        to_smem[column + 3][row] = scale * value.w;
    }
}
