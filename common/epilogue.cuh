// The epilogue of a work tile: divides the output by the row sums, writes log-sum-exp, rounds the output into shared
// memory, and issues the TMA store from there.
#pragma once

#include "accumulator_layout.cuh"
#include "attention.h"
#include "ex2.cuh"
#include "hopper.cuh"
#include "tensor_maps.cuh"
#include "tile_scheduler.cuh"

// Computes the attention of one query by one warp, key by key from global memory; o[i] is the output in column lane +
// 32 i. Slow, but it reads no masked value.
template <int D, class E>
__device__ inline void recompute_row(float (&o)[D / WARP_SIZE], const struct attention_problem &p, int batch, int head,
                                     int query, int lane) {
    const int kv_head = head / (p.heads / p.kv_heads);
    const E *q = (const E *)p.q + batch * p.q_stride.batch + head * p.q_stride.head + query * p.q_stride.row;
    const E *k = (const E *)p.k + batch * p.k_stride.batch + kv_head * p.k_stride.head;
    const E *v = (const E *)p.v + batch * p.v_stride.batch + kv_head * p.v_stride.head;
    const int end_key = p.causal ? min(p.nk, query + 1 + p.nk - p.nq) : p.nk;
    const float scale = p.softmax_scale * 1.44269504f; // for ex2()
    float row_max = -INFINITY, row_sum = 0.0f;
    for (int i = 0; i < D / WARP_SIZE; i++)
        o[i] = 0.0f;
#pragma unroll 1
    for (int key = 0; key < end_key; key++, k += p.k_stride.row, v += p.v_stride.row) {
        float dot_product = 0.0f;
        for (int i = 0, column = lane; i < D / WARP_SIZE; i++, column += WARP_SIZE)
            dot_product += column < p.head_dim ? float(q[column]) * float(k[column]) : 0.0f;
        const float score = scale * lanes_sum<WARP_SIZE>(dot_product), new_max = fmaxf(row_max, score);
        const float shift = new_max == -INFINITY ? 0.0f : new_max; // -inf - -inf would be NaN
        const float rescale = ex2(row_max - shift), weight = ex2(score - shift);
        row_max = new_max;
        row_sum = row_sum * rescale + weight;
        for (int i = 0, column = lane; i < D / WARP_SIZE; i++, column += WARP_SIZE)
            o[i] = o[i] * rescale + (column < p.head_dim ? weight * float(v[column]) : 0.0f);
    }
    for (int i = 0; i < D / WARP_SIZE; i++)
        o[i] *= row_sum == 0.0f ? 0.0f : 1.0f / row_sum;
}

// Divides a warp's rows, those of the block from warp_row0 on, by their sums, rounds them and writes them to O_smem,
// swizzled panels. Writes log-sum-exp if p.lse is given.
//
// P V multiplies masked values by weights of 0, and 0 times an infinity or a NaN is NaN. So if attention is causal and
// an output is NaN, the warp recomputes its rows key by key.
template <int D, class E, int QUERIES>
__device__ inline void write_rows_to_smem(E (*O_smem)[QUERIES][PANEL], float (&O_rmem)[LANE_ROWS][D / LANES_PER_ROW],
                                          const RowState &softmax, const struct attention_problem &p, int batch,
                                          int head, int query0, int warp_row0) {
    const int lane = threadIdx.x % WARP_SIZE;
    uint32_t max_bits = 0; // over the rounded outputs as 16-bit integers, of which NaN (0x7fff) is the largest
#pragma unroll
    for (int i = 0; i < LANE_ROWS; i++) {
        const int row = query0 + warp_row0 + row_of(i, lane);
        const float sum = lanes_sum<LANES_PER_ROW>(softmax.sum[i]);
        const float inverse = sum == 0.0f ? 0.0f : __fdividef(1.0f, sum); // a fully masked row is 0
        for (int j = 0; j < D / LANES_PER_ROW; j++)
            O_rmem[i][j] *= inverse;
        if (p.lse != NULL && lane % LANES_PER_ROW == 0 && row < p.nq)
            p.lse[((int64_t)batch * p.heads + head) * p.nq + row] =
                sum == 0.0f ? -INFINITY : p.softmax_scale * softmax.max[i] + __logf(sum);
    }
#pragma unroll
    for (int column = 0; column < D; column += 16) {
        uint32_t o[4];
        round_x4<E>(o, O_rmem, column);
        max_bits = __vimax3_s16x2(__vimax3_s16x2(max_bits, o[0], o[1]), o[2], o[3]);
        stmatrix_x4(chunk_of(O_smem[column / PANEL], warp_row0 + lane % 16, column % PANEL + lane / 16 * 8), o);
    }
    if (!p.causal || __all_sync(ALL_LANES, max_bits >> 16 < 0x7fff && (max_bits & 0xffff) < 0x7fff))
        return;
#pragma unroll 1
    for (int row = warp_row0; row < warp_row0 + WARP_ROWS && query0 + row < p.nq; row++) {
        float o[D / WARP_SIZE];
        recompute_row<D, E>(o, p, batch, head, query0 + row, lane);
        __syncwarp(); // all lanes have stored the rows that are overwritten now
        for (int i = 0; i < D / WARP_SIZE; i++) {
            const int column = i * WARP_SIZE + lane, chunk = column % PANEL / CHUNK * CHUNK;
            chunk_of(O_smem[column / PANEL], row, chunk)[column % CHUNK] = E(o[i]);
        }
    }
}

// The epilogue of a warpgroup's rows in a persistent kernel. The output overwrites the queries in stage q_stage of Q,
// from where TMA stores it, without waiting for it; TMA writes no out-of-bounds element. thread: index among the
// consumer threads.
template <class T>
__device__ inline void
store_output_async(T &smem, int q_stage, const TensorMaps &maps, const struct attention_problem &p,
                   float (&O_rmem)[LANE_ROWS][T::D / LANES_PER_ROW], const RowState &softmax, int thread) {
    const int warp_row0 = thread / WARP_SIZE * WARP_ROWS, warpgroup_row0 = thread / WARPGROUP_SIZE * WARPGROUP_ROWS;
    const WorkTile work_tile = smem.work_tile[q_stage];
    write_rows_to_smem<T::D>(smem.Q[q_stage], O_rmem, softmax, p, work_tile.batch, work_tile.head, work_tile.query0,
                             warp_row0);
    fence_proxy_async();
    bar_sync(1 + thread / WARPGROUP_SIZE, WARPGROUP_SIZE);
    mbarrier_arrive(&smem.Q_empty[q_stage]); // this thread has read smem.work_tile[q_stage]
    if (threadIdx.x % WARPGROUP_SIZE == 0) {
        for (int i = 0; i < T::PANELS; i++)
            cp_async_bulk_tensor_store(&maps.o, smem.Q[q_stage][i][warpgroup_row0], i * PANEL,
                                       work_tile.query0 + warpgroup_row0, work_tile.head, work_tile.batch);
        cp_async_bulk_commit_group();
    }
}
