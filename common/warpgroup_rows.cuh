// What a thread of a warpgroup has of a product's 64 rows and any number of columns: rmem[i][j] is row row_of(i),
// column column_of(j), of its warp's 16 rows. And tiles in slices of 64 columns, rows of 128 bytes, as bulk copies and
// wgmma swizzle them.
#pragma once

#include "chunk.cuh"
#include "mma.cuh"
#include "reduce.cuh"

constexpr int WARPGROUP = 128;     // threads of four warps, the first one's number a multiple of four
constexpr int WARPGROUP_ROWS = 64; // of a product
constexpr int WARP_ROWS = 16;
constexpr int LANES_PER_ROW = 4; // that share a row
constexpr int LANE_ROWS = 2;     // of a lane
constexpr int SLICE = 64;        // columns

// Of a lane's rows: the score whose weight is 1, the largest one so far or one near it; the lane's part of the sum of
// weights; what is taken from a scaled score before it is a power of 2.
struct RowState {
    float max[LANE_ROWS] = {-INFINITY, -INFINITY}, sum[LANE_ROWS] = {}, shift[LANE_ROWS] = {};
    int limit[LANE_ROWS] = {}; // what a score may be before the maximum is raised, see limit_of()
};

// The number of a warp's warpgroup, read alike by all lanes, for the same reason as in warp_item().
__device__ inline int warpgroup_of_warp() {
    return __shfl_sync(ALL_LANES, threadIdx.x / WARPGROUP, 0);
}

__device__ inline int row_of(int i, int lane) {
    return i * 8 + lane / LANES_PER_ROW;
}
__device__ inline int column_of(int j, int lane) {
    return j / 2 * 8 + lane % LANES_PER_ROW * 2 + j % 2;
}

// The chunk of a slice's row that begins at a column: in eight rows it has eight places.
template <class E>
__device__ inline E *chunk_of(E (*rows_smem)[SLICE], int row, int column) {
    column ^= row % 8 * CHUNK;
    return &rows_smem[row][column];
}

// -inf for the keys of a tile that row r of the warp does not see, those beyond last_key + r, and for those beyond
// end_key.
template <int COLUMNS>
__device__ inline void hide_keys(float (&S_rmem)[LANE_ROWS][COLUMNS], int last_key, int end_key, int lane) {
#pragma unroll
    for (int i = 0; i < LANE_ROWS; i++) {
        const int last = min(last_key + row_of(i, lane), end_key);
        for (int j = 0; j < COLUMNS; j++)
            S_rmem[i][j] = column_of(j, lane) > last ? -INFINITY : S_rmem[i][j];
    }
}

template <int COLUMNS>
__device__ inline void rescale_rows(float (&rmem)[LANE_ROWS][COLUMNS], const float (&rescale)[LANE_ROWS]) {
    for (int i = 0; i < LANE_ROWS; i++)
        for (int j = 0; j < COLUMNS; j++)
            rmem[i][j] *= rescale[i];
}

template <class R, int ROWS, int COLUMNS>
__device__ inline void clear_rows(R (&rmem)[ROWS][COLUMNS]) {
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++)
            rmem[i][j] = 0;
}

// 16 columns, rounded: four matrices of 8 x 8, the order of a left operand and of stmatrix.
template <class E, int COLUMNS>
__device__ inline void round_x4(uint32_t (&to)[4], const float (&rmem)[LANE_ROWS][COLUMNS], int column) {
    for (int n = 0; n < 4; n++)
        to[n] = cvt_rn_x2<E>(rmem[n % 2][column / 4 + n / 2 * 2], rmem[n % 2][column / 4 + n / 2 * 2 + 1]);
}
