// The mask of a tile of scores, of which a lane holds T::ROWS rows and T::LANE_KEYS columns.
#pragma once

#include "lane_layout.cuh"

constexpr int NO_CAUSAL_LIMIT = 1 << 30; // instead of nk - nq if attention is not causal

// Sets the scores of masked keys of a tile to -inf. Row r of the warp attends to keys 0 .. row0_last_key + r of the
// tile; keys after last_valid_key are out of bounds. Both limits are inclusive.
template <class T>
__device__ inline void apply_mask(float (&S_rmem)[T::ROWS][T::LANE_KEYS], int row0_last_key, int last_valid_key,
                                  int lane) {
    for (int i = 0; i < T::ROWS; i++)
        for (int j = 0; j < T::LANE_KEYS; j++)
            if (column_of<T>(j, lane) > min(row0_last_key + row_of<T>(i, lane), last_valid_key))
                S_rmem[i][j] = -INFINITY;
}
