// The pipeline of shared-memory stages: a producer thread fills a stage by TMA loads, and consumer warpgroups release
// it.
#pragma once

#include "accumulator_layout.cuh"
#include "hopper.cuh"
#include "tensor_maps.cuh"
#include "tile_scheduler.cuh"

// Issues the TMA loads of a tile, ROWS rows from row0 on, one load per panel of 64 columns. TMA fills out-of-bounds
// elements with zeros. One thread calls this; threads that wait on the mbarrier `full` wait for all bytes of the tile.
template <int PANELS, int ROWS, class E>
__device__ inline void tma_load_tile(E (*to_smem)[ROWS][PANEL], uint64_t *full, const CUtensorMap &from, int row0,
                                     int head, int batch) {
    mbarrier_arrive_expect_tx(full, PANELS * ROWS * PANEL * sizeof(E));
    for (int i = 0; i < PANELS; i++)
        cp_async_bulk_tensor(to_smem[i], &from, full, i * PANEL, row0, head, batch);
}

// As above, with an L2 cache-eviction policy.
template <int PANELS, int ROWS, class E>
__device__ inline void tma_load_tile(E (*to_smem)[ROWS][PANEL], uint64_t *full, const CUtensorMap &from, int row0,
                                     int head, int batch, uint64_t policy) {
    mbarrier_arrive_expect_tx(full, PANELS * ROWS * PANEL * sizeof(E));
    for (int i = 0; i < PANELS; i++)
        cp_async_bulk_tensor(to_smem[i], &from, full, i * PANEL, row0, head, batch, policy);
}

// Passes a work tile and its queries from the producer to the consumers. Only this block reads these queries:
// evict-first. end_key 0, no work is left: the consumers stop.
template <class T>
__device__ inline void pass_work_tile(T &smem, const TensorMaps &maps, PipelineState<2> &pipe_q,
                                      const WorkTile &work_tile) {
    mbarrier_wait(&smem.Q_empty[pipe_q.stage], pipe_q.phase ^ 1);
    smem.work_tile[pipe_q.stage] = work_tile;
    if (work_tile.end_key > 0)
        tma_load_tile<T::PANELS>(smem.Q[pipe_q.stage], &smem.Q_full[pipe_q.stage], maps.q, work_tile.query0,
                                 work_tile.head, work_tile.batch, createpolicy_evict_first());
    else
        mbarrier_arrive(&smem.Q_full[pipe_q.stage]);
    pipe_q.advance();
}

// Loads one tile of V as soon as the consumers have released its stage. Other blocks read the same values: evict-last.
// Before the first tile of all there is no work tile yet (end_key 0) and nothing to load.
template <class T>
__device__ inline void producer_load_v(T &smem, const TensorMaps &maps, PipelineState<T::STAGES> &pipe_v,
                                       const WorkTile &work_tile, int key0) {
    if (work_tile.end_key == 0)
        return;
    mbarrier_wait(&smem.V_empty[pipe_v.stage], pipe_v.phase ^ 1);
    tma_load_tile<T::PANELS>(smem.V[pipe_v.stage], &smem.V_full[pipe_v.stage], maps.v, key0, work_tile.kv_head,
                             work_tile.batch, createpolicy_evict_last());
    pipe_v.advance();
}

// The index of a thread among the consumer threads: warpgroup 0 is the producer.
__device__ inline int consumer_thread() {
    return threadIdx.x - WARPGROUP_SIZE;
}

// Releases a stage by one arrival per warpgroup. The warpgroup has waited for the wgmmas that read the stage
// (wgmma_wait_group(): a wgmma completes for the whole warpgroup), or none of its warps reads the stage. In the latter
// case only the warp that releases may wait on the `full` mbarrier before: after the release the mbarrier may advance
// by two phases before a slower warp tests it, and that warp would hang.
__device__ inline void consumer_release(uint64_t *empty) {
    if (threadIdx.x % WARPGROUP_SIZE == 0)
        mbarrier_arrive(empty);
}
