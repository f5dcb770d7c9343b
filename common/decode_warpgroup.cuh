// What the consumer warpgroups of lessons 23 and 24 do alike with a tile: keys are rows of the accumulators, and the
// rows of the group are columns.
#pragma once

#include "accumulator_layout.cuh"
#include "chunk.cuh"
#include "decode_combine.cuh"
#include "wgmma_narrow.cuh"

// What a thread keeps of its work: two keys' scores, or two columns of the head, of LANE_COLUMNS rows of the group. The
// rows are columns of the accumulators: a row's maximum is the same in all threads that have it.
template <class T>
struct State {
    float O[T::PANELS][LANE_ROWS][T::LANE_COLUMNS], row_max[T::LANE_COLUMNS], row_sum[T::LANE_COLUMNS];
};

// The maximum, or the sum, over the eight lanes of a warp that have the same rows; then over the warpgroup's warps.
template <class T, class Reduce>
__device__ inline void reduce_rows(float (&value)[T::LANE_COLUMNS], float (&warp_result)[4][T::ROWS], int barrier,
                                   Reduce reduce) {
    const int lane = threadIdx.x % WARP_SIZE, warp = threadIdx.x / WARP_SIZE % 4;
    for (int j = 0; j < T::LANE_COLUMNS; j++) {
        for (int distance = LANES_PER_ROW; distance < WARP_SIZE; distance *= 2)
            value[j] = reduce(value[j], __shfl_xor_sync(ALL_LANES, value[j], distance));
        if (lane < LANES_PER_ROW)
            warp_result[warp][column_of(j, lane)] = value[j];
    }
    bar_sync(barrier, WARPGROUP_SIZE);
    for (int j = 0; j < T::LANE_COLUMNS; j++) {
        const int row = column_of(j, lane);
        value[j] =
            reduce(reduce(warp_result[0][row], warp_result[1][row]), reduce(warp_result[2][row], warp_result[3][row]));
    }
}

// Replaces the scores S^T of a tile by their weights, rounds them, and stores them as rows of 64 keys; rescales the
// state to the new maxima. key0: the tile's first key.
template <class T, class E = typename T::E>
__device__ inline void softmax_tile(float (&S_rmem)[LANE_ROWS][T::LANE_COLUMNS], State<T> &state,
                                    E (&P_smem)[T::ROWS][PANEL], float (&warp_result)[4][T::ROWS],
                                    const struct decode_problem &p, const DecodeWork &work, int key0, float scale,
                                    int barrier) {
    const int lane = threadIdx.x % WARP_SIZE, warp_key0 = threadIdx.x / WARP_SIZE % 4 * 16;
    float tile_max[T::LANE_COLUMNS];
    for (int j = 0; j < T::LANE_COLUMNS; j++) {
        const int last_key = last_key_of(p, work.keys, work.row0 + column_of(j, lane)) - key0; // of the tile
        for (int i = 0; i < LANE_ROWS; i++)
            S_rmem[i][j] = warp_key0 + row_of(i, lane) <= last_key ? scale * S_rmem[i][j] : -INFINITY;
        tile_max[j] = fmaxf(S_rmem[0][j], S_rmem[1][j]);
    }
    reduce_rows<T>(tile_max, warp_result, barrier, [](float a, float b) { return fmaxf(a, b); });
    for (int j = 0; j < T::LANE_COLUMNS; j++) {
        const float new_max = fmaxf(state.row_max[j], tile_max[j]);
        const float shift = new_max == -INFINITY ? 0.0f : new_max; // -inf - -inf would be NaN
        const float rescale = ex2(state.row_max[j] - shift);
        state.row_max[j] = new_max;
        state.row_sum[j] *= rescale;
        for (int i = 0; i < LANE_ROWS; i++) {
            state.row_sum[j] += S_rmem[i][j] = ex2(S_rmem[i][j] - shift);
            for (int m = 0; m < T::PANELS; m++)
                state.O[m][i][j] *= rescale;
        }
    }
#pragma unroll
    for (int row = 0; row < T::ROWS; row += 8) {
        const int key = warp_key0 + lane / 8 % 2 * 8;
        stmatrix_x2_trans(&P_smem[row + lane % 8][key ^ lane % 8 * CHUNK],
                          cvt_rn_x2<E>(S_rmem[0][row / 4], S_rmem[0][row / 4 + 1]),
                          cvt_rn_x2<E>(S_rmem[1][row / 4], S_rmem[1][row / 4 + 1]));
    }
}

// Zeros instead of what is behind the last key, which may be NaN: 0 * NaN is NaN.
template <class T, class E = typename T::E>
__device__ inline void clear_behind(E (&V_smem)[T::PANELS][T::KEYS][PANEL], int keys) {
    for (int i = threadIdx.x % WARPGROUP_SIZE; keys < T::KEYS && i < T::KEYS * PANEL; i += WARPGROUP_SIZE)
        for (int m = 0; m < T::PANELS && i / PANEL >= keys; m++)
            V_smem[m][i / PANEL][i % PANEL] = E(0.0f);
}

// S^T = K Q^T, complete when it returns.
template <class T, class E = typename T::E>
__device__ inline void gemm_qk(float (&S_rmem)[LANE_ROWS][T::LANE_COLUMNS],
                               const E (&K_smem)[T::PANELS][T::KEYS][PANEL],
                               const E (&Q_smem)[T::PANELS][T::ROWS][PANEL]) {
    const uint32_t k_desc = warp_uniform(descriptor_low(K_smem)), q_desc = warp_uniform(descriptor_low(Q_smem));
    wgmma_fence(S_rmem);
#pragma unroll
    for (int column = 0; column < T::D; column += 16) {
        const int panel = column / PANEL, panel_column = column % PANEL;
        wgmma_narrow<E>(S_rmem, k_desc + descriptor_offset((panel * T::KEYS * PANEL + panel_column) * sizeof(E)),
                        q_desc + descriptor_offset((panel * T::ROWS * PANEL + panel_column) * sizeof(E)), column > 0);
    }
    wgmma_commit_group();
    wgmma_wait_group<0>(S_rmem);
}

// O^T += V^T P^T, complete when it returns.
template <class T, class E = typename T::E>
__device__ inline void gemm_pv(State<T> &state, const E (&V_smem)[T::PANELS][T::KEYS][PANEL],
                               const E (&P_smem)[T::ROWS][PANEL]) {
    const uint32_t v_desc = warp_uniform(descriptor_low(V_smem)), p_desc = warp_uniform(descriptor_low(P_smem));
    for (int m = 0; m < T::PANELS; m++)
        wgmma_fence(state.O[m]);
#pragma unroll
    for (int key = 0; key < T::KEYS; key += 16)
#pragma unroll
        for (int m = 0; m < T::PANELS; m++)
            wgmma_narrow_transposed<E>(state.O[m], v_desc + descriptor_offset((m * T::KEYS + key) * PANEL * sizeof(E)),
                                       p_desc + descriptor_offset(key * sizeof(E)), true);
    wgmma_commit_group();
    for (int m = 0; m < T::PANELS; m++)
        wgmma_wait_group<0>(state.O[m]);
}

// Leaves the warpgroup's partial result in shared memory. head_column(i): the column of the lane's i-th row, of the
// warp's 16 in each panel. All threads of the warpgroup call it.
template <class T, class HeadColumn>
__device__ inline void store_partial(typename T::Partial &partial, State<T> &state, float (&warp_result)[4][T::ROWS],
                                     int barrier, HeadColumn head_column) {
    const int lane = threadIdx.x % WARP_SIZE, warp_column0 = threadIdx.x / WARP_SIZE % 4 * 16;
    reduce_rows<T>(state.row_sum, warp_result, barrier, [](float a, float b) { return a + b; });
    for (int j = 0; j < T::LANE_COLUMNS; j++) {
        const int row = column_of(j, lane);
        partial.row_max[row] = state.row_max[j]; // all threads that have the row store the same value
        partial.row_sum[row] = state.row_sum[j];
        for (int m = 0; m < T::PANELS; m++)
            for (int i = 0; i < LANE_ROWS; i++)
                partial.O[row][m * PANEL + warp_column0 + head_column(i)] = state.O[m][i][j];
    }
}
