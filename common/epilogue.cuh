// The epilogue by TMA: a warpgroup divides its rows of the output by the row sums, writes log-sum-exp, rounds the
// output into shared memory, and one of its threads issues the TMA store from there.
#pragma once

#include "attention.h"
#include "chunk.cuh"
#include "hopper.cuh"
#include "online_softmax.cuh"
#include "tensor_maps.cuh"
#include "work_tile.cuh"

// The address in a panel of the 16-byte chunk that begins at a column. 128-byte swizzle: chunk c of row r is stored at
// position c ^ (r % 8).
template <class E>
__device__ inline E *panel_chunk(E (*panel_smem)[PANEL], int row, int column) {
    return &panel_smem[row][column ^ row % 8 * CHUNK];
}

// Divides a warp's rows, those of the work tile from warp_row0 on, by their sums, rounds them and writes them to
// O_smem. Writes log-sum-exp if p.lse is given.
template <int D, class E, int QUERIES>
__device__ inline void write_rows_to_smem(E (*O_smem)[QUERIES][PANEL], float (&O_rmem)[2][D / LANES_PER_ROW],
                                          const RowState<2> &softmax, const struct attention_problem &p,
                                          const WorkTile &work_tile, int warp_row0) {
    const int lane = threadIdx.x % WARP_SIZE;
#pragma unroll
    for (int i = 0; i < 2; i++) {
        const int row = work_tile.query0 + warp_row0 + row_of(i, lane);
        const float sum = lanes_sum<LANES_PER_ROW>(softmax.sum[i]);
        const float inverse = sum == 0.0f ? 0.0f : __fdividef(1.0f, sum); // a fully masked row is 0
        for (int j = 0; j < D / LANES_PER_ROW; j++)
            O_rmem[i][j] *= inverse;
        if (p.lse != NULL && lane % LANES_PER_ROW == 0 && row < p.nq)
            p.lse[((int64_t)work_tile.batch * p.heads + work_tile.head) * p.nq + row] =
                sum == 0.0f ? -INFINITY : p.softmax_scale * softmax.max[i] + __logf(sum);
    }
#pragma unroll
    for (int column = 0; column < D; column += 16) {
        uint32_t o[4];
        round_x4<E>(o, O_rmem, column);
        stmatrix_x4(panel_chunk(O_smem[column / PANEL], warp_row0 + lane % 16, column % PANEL + lane / 16 * 8), o);
    }
}

// The epilogue of a warpgroup's rows. The output overwrites the queries in Q_smem, from where TMA stores it; TMA writes
// no out-of-bounds element. Does not wait for the store: Q_smem may be overwritten, and the block may exit, after
// cp_async_bulk_wait_group_read() by the warpgroup's first thread. thread: index among the consumer threads. Named
// barrier 1 + consumer warpgroup index: all of a warpgroup's threads have written their rows.
template <int D, class E, int PANELS, int QUERIES>
__device__ inline void store_output_async(E (&Q_smem)[PANELS][QUERIES][PANEL], const TensorMaps &maps,
                                          const struct attention_problem &p, const WorkTile &work_tile, int thread,
                                          float (&O_rmem)[2][D / LANES_PER_ROW], const RowState<2> &softmax) {
    const int warpgroup_row0 = thread / WARPGROUP_SIZE * WARPGROUP_ROWS;
    write_rows_to_smem<D>(Q_smem, O_rmem, softmax, p, work_tile, thread / WARP_SIZE * 16);
    fence_proxy_async();
    bar_sync(1 + thread / WARPGROUP_SIZE, WARPGROUP_SIZE);
    if (thread % WARPGROUP_SIZE == 0) {
        for (int i = 0; i < PANELS; i++)
            cp_async_bulk_tensor_store(&maps.o, Q_smem[i][warpgroup_row0], i * PANEL, work_tile.query0 + warpgroup_row0,
                                       work_tile.head, work_tile.batch);
        cp_async_bulk_commit_group();
    }
}
