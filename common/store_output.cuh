// The direct epilogue: a lane stores its part of the output from registers to global memory.
#pragma once

#include "attention.h"
#include "online_softmax.cuh"
#include "work_tile.cuh"

// Divides a warp's rows, those of the work tile from warp_row0 on, by their sums, rounds them and stores them, and lse
// if requested.
template <class E, int ROWS, int COLUMNS>
__device__ inline void store_output(const struct attention_problem &p, const WorkTile &work_tile, int warp_row0,
                                    const float (&O_rmem)[ROWS][COLUMNS], const RowState<ROWS> &softmax) {
    const int lane = threadIdx.x % WARP_SIZE;
    E *o = (E *)p.o + work_tile.batch * p.o_stride.batch + work_tile.head * p.o_stride.head; // [nq][head_dim]
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        const int row = work_tile.query0 + warp_row0 + row_of(i, lane);
        const float sum = lanes_sum<LANES_PER_ROW>(softmax.sum[i]);
        const float inverse = sum == 0.0f ? 0.0f : 1.0f / sum; // a fully masked row is 0
        if (row >= p.nq)
            continue;
        for (int j = 0; j < COLUMNS; j += 2) {
            const int column = column_of(j, lane);
            E *to = o + row * p.o_stride.row + column;
            if ((uintptr_t)to % sizeof(uint32_t) == 0 && column + 1 < p.head_dim)
                *reinterpret_cast<uint32_t *>(to) = cvt_rn_x2<E>(inverse * O_rmem[i][j], inverse * O_rmem[i][j + 1]);
            else
                for (int n = 0; n < 2 && column + n < p.head_dim; n++)
                    to[n] = E(inverse * O_rmem[i][j + n]);
        }
        if (p.lse != NULL && lane % LANES_PER_ROW == 0)
            p.lse[((int64_t)work_tile.batch * p.heads + work_tile.head) * p.nq + row] =
                sum == 0.0f ? -INFINITY : p.softmax_scale * softmax.max[i] + logf(sum);
    }
}
