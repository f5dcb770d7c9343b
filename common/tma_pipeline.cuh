// TMA loads of tiles into stages of shared memory.
#pragma once

#include "hopper.cuh"
#include "tensor_maps.cuh"
#include "work_tile.cuh"

// Issues the TMA loads of a tile, ROWS rows from row0 on, one load per panel of 64 columns. TMA fills out-of-bounds
// elements with zeros. One thread calls this; threads that wait on the mbarrier `full` wait for all bytes of the tile.
template <int PANELS, int ROWS, class E>
__device__ inline void tma_load_tile(E (&to_smem)[PANELS][ROWS][PANEL], uint64_t *full, const CUtensorMap &from,
                                     int row0, int head, int batch) {
    mbarrier_arrive_expect_tx(full, PANELS * ROWS * PANEL * sizeof(E));
    for (int i = 0; i < PANELS; i++)
        cp_async_bulk_tensor(to_smem[i], &from, full, i * PANEL, row0, head, batch);
}

// The same for the queries of a work tile.
template <int PANELS, int QUERIES, class E>
__device__ inline void load_queries(E (&Q_smem)[PANELS][QUERIES][PANEL], uint64_t *full, const TensorMaps &maps,
                                    const WorkTile &work_tile) {
    tma_load_tile(Q_smem, full, maps.q, work_tile.query0, work_tile.head, work_tile.batch);
}

// Initializes the mbarriers of Q, K and V, on which threads wait until a TMA load is complete. All threads of the block
// call it.
template <class T>
__device__ inline void init_full_mbarriers(T &smem) {
    if (threadIdx.x == 0) {
        mbarrier_init(&smem.Q_full, 1);
        mbarriers_init(smem.K_full, 1);
        mbarriers_init(smem.V_full, 1);
        fence_mbarrier_init();
    }
    __syncthreads();
}
