// The products of a backward tile as wgmmas, and what lies between them. Scores are transposed: a warpgroup has 64 keys
// as rows, and the queries of the tile as columns.
#pragma once

#include "accumulator_layout.cuh"
#include "ex2.cuh"
#include "mma.cuh"
#include "tensor_maps.cuh"
#include "wgmma_transposed.cuh"

// Issues the wgmmas of result = A B^T for 64 rows of A and all rows of B, over D columns; tiles of panels of A_ROWS and
// B_ROWS rows.
template <class E, int D, int A_ROWS, int B_ROWS>
__device__ inline void issue_abt(float (&result)[LANE_ROWS][B_ROWS / LANES_PER_ROW], uint32_t a_desc, uint32_t b_desc) {
    a_desc = warp_uniform(a_desc), b_desc = warp_uniform(b_desc);
#pragma unroll
    for (int column = 0; column < D; column += 16) {
        const int panel = column / PANEL, panel_column = column % PANEL;
        wgmma<E>(result, a_desc + descriptor_offset((panel * A_ROWS * PANEL + panel_column) * sizeof(E)),
                 b_desc + descriptor_offset((panel * B_ROWS * PANEL + panel_column) * sizeof(E)), column > 0);
    }
}

// Issues the wgmmas of result += A B, A in registers; B has a row for each column of A.
template <class E, int COLUMNS, int STEPS>
__device__ inline void issue_ab(float (&result)[LANE_ROWS][COLUMNS], const uint32_t (&a_rmem)[STEPS][4],
                                uint32_t b_desc) {
    b_desc = warp_uniform(b_desc);
#pragma unroll
    for (int i = 0; i < STEPS; i++)
        wgmma<E>(result, a_rmem[i], b_desc + descriptor_offset(i * 16 * PANEL * sizeof(E)));
}

// Issues the wgmmas of result = A^T B over ROWS rows; A is one panel.
template <class E, int ROWS, int COLUMNS>
__device__ inline void issue_atb(float (&result)[LANE_ROWS][COLUMNS], uint32_t a_desc, uint32_t b_desc) {
    a_desc = warp_uniform(a_desc), b_desc = warp_uniform(b_desc);
#pragma unroll
    for (int row = 0; row < ROWS; row += 16)
        wgmma_atb<E>(result, a_desc + descriptor_offset(row * PANEL * sizeof(E)),
                     b_desc + descriptor_offset(row * PANEL * sizeof(E)), row > 0);
}

// Replaces S^T by P^T. lse: of the tile's queries, in base 2, as the scores times scale. Of the keys from the warp's
// first one on `keys` exist, and query q sees key k of them if k + offset <= q.
template <int COLUMNS>
__device__ inline void weights_of(float (&S_rmem)[LANE_ROWS][COLUMNS], const float *lse_smem, float scale, int keys,
                                  int offset, int lane) {
    const bool masked = keys < WARP_ROWS || offset > 1 - WARP_ROWS;
#pragma unroll
    for (int j = 0; j < COLUMNS; j += 2) {
        const int query = column_of(j, lane);
        const float2 lse = *reinterpret_cast<const float2 *>(&lse_smem[query]);
#pragma unroll
        for (int i = 0; i < LANE_ROWS; i++) {
            const int key = row_of(i, lane);
            S_rmem[i][j] = ex2(scale * S_rmem[i][j] - lse.x);
            S_rmem[i][j + 1] = ex2(scale * S_rmem[i][j + 1] - lse.y);
            if (masked && (key >= keys || key + offset > query))
                S_rmem[i][j] = 0.0f;
            if (masked && (key >= keys || key + offset > query + 1))
                S_rmem[i][j + 1] = 0.0f;
        }
    }
}

// Replaces dP^T by dS^T.
template <int COLUMNS>
__device__ inline void ds_of(float (&dP_rmem)[LANE_ROWS][COLUMNS], const float (&P_rmem)[LANE_ROWS][COLUMNS],
                             const float *delta_smem, int lane) {
#pragma unroll
    for (int j = 0; j < COLUMNS; j += 2) {
        const float2 delta = *reinterpret_cast<const float2 *>(&delta_smem[column_of(j, lane)]);
#pragma unroll
        for (int i = 0; i < LANE_ROWS; i++) {
            dP_rmem[i][j] = P_rmem[i][j] * (dP_rmem[i][j] - delta.x);
            dP_rmem[i][j + 1] = P_rmem[i][j + 1] * (dP_rmem[i][j + 1] - delta.y);
        }
    }
}

// Rounds 16 columns of accumulators to E and packs them: the layout of an A operand, and of stmatrix.
template <class E, int COLUMNS>
__device__ inline void round_x4(uint32_t (&to)[4], const float (&rmem)[LANE_ROWS][COLUMNS], int column) {
    for (int n = 0; n < 4; n++)
        to[n] = cvt_rn_x2<E>(rmem[n % 2][column / 4 + n / 2 * 2], rmem[n % 2][column / 4 + n / 2 * 2 + 1]);
}

// The address in a panel of the 16-byte chunk that begins at a column: 128-byte swizzle.
template <class E>
__device__ inline E *panel_chunk(E (*panel_smem)[PANEL], int row, int column) {
    return &panel_smem[row][column ^ row % 8 * CHUNK];
}

// The accumulator of dQ in global memory: tiles of QUERIES = 64 rows, in each the columns of one warpgroup after those
// of another, and of those, element by element, what each thread holds: so threads store float4s side by side.
template <int D, int WARPGROUPS>
struct TileOrder {
    static constexpr int COLUMNS = D / WARPGROUPS; // of a warpgroup
    static constexpr int FLOATS = WARPGROUP_ROWS * COLUMNS;

    static __device__ int64_t index(int row, int column) {
        const int in_tile = row % WARPGROUP_ROWS,
                  thread = in_tile / WARP_ROWS * WARP_SIZE + in_tile % 8 * 4 + column % 8 / 2;
        const int vector = column % COLUMNS / 8;
        return (int64_t)(row / WARPGROUP_ROWS * WARPGROUPS + column / COLUMNS) * FLOATS +
               (vector * WARPGROUP_SIZE + thread) * 4 + in_tile % WARP_ROWS / 8 * 2 + column % 2;
    }

    // Stores a warpgroup's part of a tile. thread: within the warpgroup.
    static __device__ void store(float *to_smem, const float (&dQ_rmem)[LANE_ROWS][COLUMNS / LANES_PER_ROW],
                                 int thread) {
#pragma unroll
        for (int vector = 0; vector < COLUMNS / 8; vector++)
            reinterpret_cast<float4 *>(to_smem)[vector * WARPGROUP_SIZE + thread] = make_float4(
                dQ_rmem[0][2 * vector], dQ_rmem[0][2 * vector + 1], dQ_rmem[1][2 * vector], dQ_rmem[1][2 * vector + 1]);
    }
};
