// Stores dK and dV from registers, rounded; rows are keys.
#pragma once

#include "accumulator_layout.cuh"
#include "attention.h"
#include "mma.cuh"

// Stores a warp's 16 rows of one head's gradient, from row0 on, times factor, of the columns from column0 on.
template <class E, int COLUMNS>
__device__ inline void store_key_gradient(E *to /* [rows][head_dim] */, int64_t row_stride, int rows, int head_dim,
                                          int row0, int column0, const float (&from)[2][COLUMNS], float factor) {
    const int lane = threadIdx.x % WARP_SIZE;
#pragma unroll
    for (int i = 0; i < 2; i++) {
        const int row = row0 + row_of(i, lane);
        if (row >= rows)
            continue;
        for (int j = 0; j < COLUMNS; j += 2) {
            const int column = column0 + column_of(j, lane);
            E *at = to + row * row_stride + column;
            if ((uintptr_t)at % sizeof(uint32_t) == 0 && column + 1 < head_dim)
                *reinterpret_cast<uint32_t *>(at) = cvt_rn_x2<E>(factor * from[i][j], factor * from[i][j + 1]);
            else
                for (int n = 0; n < 2 && column + n < head_dim; n++)
                    at[n] = E(factor * from[i][j + n]);
        }
    }
}
