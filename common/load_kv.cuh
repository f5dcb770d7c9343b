// The producer's loads of K and V, each as soon as the consumers have released its stage.
#pragma once

#include "tma_pipeline.cuh"
#include "work_tile.cuh"

// Loads a tile of K or V into the next stage of its pipeline.
template <int STAGES, int PANELS, int ROWS, class E>
__device__ inline void producer_load(E (&to_smem)[STAGES][PANELS][ROWS][PANEL], uint64_t (&full)[STAGES],
                                     uint64_t (&empty)[STAGES], PipelineState<STAGES> &pipe, const CUtensorMap &from,
                                     int key0, const WorkTile &work_tile) {
    mbarrier_wait(&empty[pipe.stage], pipe.phase ^ 1);
    tma_load_tile(to_smem[pipe.stage], &full[pipe.stage], from, key0, work_tile.kv_head, work_tile.batch);
    pipe.advance();
}

// Loads tile after tile of K and V, V of a tile right after its K.
template <class T>
__device__ inline void load_kv_tiles(T &smem, const TensorMaps &maps, const WorkTile &work_tile,
                                     PipelineState<T::STAGES> &pipe_k, PipelineState<T::STAGES> &pipe_v) {
    for (int key0 = (work_tile.end_key - 1) / T::KEYS * T::KEYS; key0 >= 0; key0 -= T::KEYS) {
        producer_load(smem.K, smem.K_full, smem.K_empty, pipe_k, maps.k, key0, work_tile);
        producer_load(smem.V, smem.V_full, smem.V_empty, pipe_v, maps.v, key0, work_tile);
    }
}

// Loads the tiles in the order in which lesson 19 uses them: K of a tile, then V of the tile before it, which for the
// first tile of a work tile is the last one, that of key 0, of the previous work tile. The last V of the work tile is
// left for the next call. previous.end_key is 0 if there is no previous work tile; work_tile.end_key is 0 if there is
// no next one.
template <class T>
__device__ inline void load_kv_stream(T &smem, const TensorMaps &maps, const WorkTile &previous,
                                      const WorkTile &work_tile, PipelineState<T::STAGES> &pipe_k,
                                      PipelineState<T::STAGES> &pipe_v) {
    const int first_key0 = (work_tile.end_key - 1) / T::KEYS * T::KEYS;
    if (work_tile.end_key > 0)
        producer_load(smem.K, smem.K_full, smem.K_empty, pipe_k, maps.k, first_key0, work_tile);
    if (previous.end_key > 0)
        producer_load(smem.V, smem.V_full, smem.V_empty, pipe_v, maps.v, 0, previous);
    for (int key0 = first_key0 - T::KEYS; key0 >= 0; key0 -= T::KEYS) {
        producer_load(smem.K, smem.K_full, smem.K_empty, pipe_k, maps.k, key0, work_tile);
        producer_load(smem.V, smem.V_full, smem.V_empty, pipe_v, maps.v, key0 + T::KEYS, work_tile);
    }
}
