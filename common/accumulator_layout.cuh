// The accumulator layout of wgmma: a warpgroup holds 64 rows, each of its warps 16, and a lane's rmem[i][j] is row
// row_of(i, lane), column column_of(j, lane) of its warp's rows. Also the layout of tiles in shared memory: panels of
// 64 columns, that is rows of 128 bytes, with the 128-byte swizzle of TMA and wgmma.
#pragma once

#include "chunk.cuh"
#include "mma.cuh"
#include "reduce.cuh"

// Threads of a warpgroup: four consecutive warps, the first with an index that is a multiple of four.
constexpr int WARPGROUP_SIZE = 128;
constexpr int WARPGROUP_ROWS = 64; // of a wgmma
constexpr int WARP_ROWS = 16;
constexpr int LANES_PER_ROW = 4; // a quad of lanes holds all columns of two rows, r and r + 8
constexpr int LANE_ROWS = 2;     // rows per lane
constexpr int PANEL = 64;        // columns

// The softmax state of a lane's rows. max: the score whose weight is 1, the largest score at the last rescaling plus
// headroom (0, in lesson 20 up to 48 in log2 units). sum: this lane's partial sum of weights. shift: a weight is
// 2^(scaled score - shift).
struct RowState {
    float max[LANE_ROWS] = {-INFINITY, -INFINITY}, sum[LANE_ROWS] = {}, shift[LANE_ROWS] = {};
    int limit[LANE_ROWS] = {}; // the rescale threshold, see score_limit()
};

// The index of the warp's warpgroup, warp-uniform for the reason given at warp_uniform_work_tile().
__device__ inline int canonical_warpgroup_index() {
    return __shfl_sync(ALL_LANES, threadIdx.x / WARPGROUP_SIZE, 0);
}

__device__ inline int row_of(int i, int lane) {
    return i * 8 + lane / LANES_PER_ROW;
}
__device__ inline int column_of(int j, int lane) {
    return j / 2 * 8 + lane % LANES_PER_ROW * 2 + j % 2;
}

// The address of the 16-byte chunk of a panel's row that begins at a column. 128-byte swizzle: chunk c of row r is
// stored at position c ^ (r % 8).
template <class E>
__device__ inline E *chunk_of(E (*rows_smem)[PANEL], int row, int column) {
    column ^= row % 8 * CHUNK;
    return &rows_smem[row][column];
}

// Sets the scores of masked keys of a tile to -inf. Row r of the warp attends to keys 0 .. row0_last_key + r of the
// tile; keys after last_valid_key are out of bounds. Both limits are inclusive.
template <int COLUMNS>
__device__ inline void apply_mask(float (&S_rmem)[LANE_ROWS][COLUMNS], int row0_last_key, int last_valid_key,
                                  int lane) {
#pragma unroll
    for (int i = 0; i < LANE_ROWS; i++) {
        const int last = min(row0_last_key + row_of(i, lane), last_valid_key);
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
__device__ inline void clear(R (&rmem)[ROWS][COLUMNS]) {
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++)
            rmem[i][j] = 0;
}

// Rounds 16 columns to E and packs them as four 8 x 8 matrices: the layout of an A operand and of stmatrix.
template <class E, int COLUMNS>
__device__ inline void round_x4(uint32_t (&to)[4], const float (&rmem)[LANE_ROWS][COLUMNS], int column) {
    for (int n = 0; n < 4; n++)
        to[n] = cvt_rn_x2<E>(rmem[n % 2][column / 4 + n / 2 * 2], rmem[n % 2][column / 4 + n / 2 * 2 + 1]);
}
