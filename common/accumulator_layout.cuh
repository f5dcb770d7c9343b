// The accumulator layout of mma.sync (m16n8k16) and of wgmma: a warp holds 8 ROWS rows of a tile, and a lane's
// rmem[i][j] is row row_of(i, lane), column column_of(j, lane) of its warp's rows.
#pragma once

#include "reduce.cuh"

constexpr int LANES_PER_ROW = 4;         // a quad of lanes holds all columns of its rows
constexpr int NO_CAUSAL_LIMIT = 1 << 30; // instead of nk - nq if attention is not causal

__device__ inline int row_of(int i, int lane) {
    return i * 8 + lane / LANES_PER_ROW;
}
__device__ inline int column_of(int j, int lane) {
    return j / 2 * 8 + lane % LANES_PER_ROW * 2 + j % 2;
}

// Sets the scores of masked keys of a tile to -inf. Row r of the warp attends to keys 0 .. row0_last_key + r of the
// tile; keys after last_valid_key are out of bounds. Both limits are inclusive.
template <int ROWS, int COLUMNS>
__device__ inline void apply_mask(float (&S_rmem)[ROWS][COLUMNS], int row0_last_key, int last_valid_key, int lane) {
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        const int last = min(row0_last_key + row_of(i, lane), last_valid_key);
        for (int j = 0; j < COLUMNS; j++)
            S_rmem[i][j] = column_of(j, lane) > last ? -INFINITY : S_rmem[i][j];
    }
}

template <int ROWS, int COLUMNS>
__device__ inline void rescale_rows(float (&rmem)[ROWS][COLUMNS], const float (&rescale)[ROWS]) {
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++)
            rmem[i][j] *= rescale[i];
}
