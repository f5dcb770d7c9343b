// Which keys a query sees, and the scores of those that it does not see, where a lane has rows and columns of a tile of
// scores: T::ROWS rows, T::LANE_KEYS columns.
#pragma once

constexpr int NO_DIAGONAL = 1 << 30; // in the place of nk - nq where there is no causal mask

// The lesson's: the place of a lane's i-th row among the rows of its warp, and of its j-th column among all columns.
template <class T>
__device__ inline int row_of(int i, int lane);
template <class T>
__device__ inline int column_of(int j, int lane);

// -inf for the keys of a tile that row r of the warp does not see, those beyond last_key + r, and for those beyond
// end_key.
template <class T>
__device__ inline void hide_keys(float (&S_rmem)[T::ROWS][T::LANE_KEYS], int last_key, int end_key, int lane) {
    for (int i = 0; i < T::ROWS; i++)
        for (int j = 0; j < T::LANE_KEYS; j++)
            if (column_of<T>(j, lane) > min(last_key + row_of<T>(i, lane), end_key))
                S_rmem[i][j] = -INFINITY;
}
