// A stage of shared memory is filled by bulk copies, and given back by those who have read it.
#pragma once

#include "hopper.cuh"
#include "warpgroup_rows.cuh"

// Starts to copy a tile's rows of a matrix, from row0 on, and zeros beyond it. One thread does it for all; who waits
// for the barrier waits for its bytes.
template <int SLICES, int ROWS, class E>
__device__ inline void load_rows(E (*to_smem)[ROWS][SLICE], uint64_t *full, const CUtensorMap &from, int row0, int head,
                                 int batch) {
    mbarrier_arrive_expect_tx(full, SLICES * ROWS * SLICE * sizeof(E));
    for (int i = 0; i < SLICES; i++)
        cp_async_bulk_tensor(to_smem[i], &from, full, i * SLICE, row0, head, batch);
}

// One thread tells it for the warpgroup, whose warps end a product together.
__device__ inline void release(uint64_t *empty) {
    if (threadIdx.x % WARPGROUP == 0)
        mbarrier_arrive(empty);
}
