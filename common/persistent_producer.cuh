// The producer of a persistent kernel, as in lesson 19.
#pragma once

#include "tile_scheduler.cuh"
#include "tma_pipeline.cuh"

// The producer, one thread. In the order of use, it loads K of a tile and then V of the previous tile, which may belong
// to the previous work tile; each as soon as the consumers have released its stage.
template <class T>
__device__ inline void produce(T &smem, const TensorMaps &maps, const struct attention_problem &p,
                               const TileScheduler &scheduler) {
    PipelineState<T::STAGES> pipe_k, pipe_v;
    PipelineState<2> pipe_q;
    int work_tile_index = blockIdx.x, v_key0 = 0;
    WorkTile work_tile = work_tile_at<T>(p, scheduler, work_tile_index), next_work_tile = {}, v_work_tile = {};
    for (; work_tile.end_key > 0; work_tile = next_work_tile) {
        const int last_key0 = (work_tile.end_key - 1) / T::KEYS * T::KEYS;
        for (int key0 = last_key0; key0 >= 0; key0 -= T::KEYS, pipe_k.advance()) {
            mbarrier_wait(&smem.K_empty[pipe_k.stage], pipe_k.phase ^ 1);
            tma_load_tile<T::PANELS>(smem.K[pipe_k.stage], &smem.K_full[pipe_k.stage], maps.k, key0, work_tile.kv_head,
                                     work_tile.batch, createpolicy_evict_last());
            if (key0 == last_key0)
                pass_work_tile(smem, maps, pipe_q, work_tile);
            producer_load_v(smem, maps, pipe_v, v_work_tile, v_key0);
            v_work_tile = work_tile, v_key0 = key0;
            // The atomic is issued at the first tile and its result used at the second one, which hides its latency.
            if (key0 == last_key0 && scheduler.tile_counter)
                work_tile_index = atomicInc(scheduler.tile_counter, scheduler.num_work_tiles - 1);
            if (key0 == max(0, last_key0 - T::KEYS)) {
                work_tile_index += scheduler.num_blocks;
                next_work_tile = work_tile_at<T>(p, scheduler, work_tile_index);
            }
        }
    }
    pass_work_tile(smem, maps, pipe_q, work_tile);
    producer_load_v(smem, maps, pipe_v, v_work_tile, v_key0);
}
