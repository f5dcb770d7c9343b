// A stage of shared memory is filled by bulk copies, and given back by those who have read it.
#pragma once

#include "hopper.cuh"
#include "items.cuh"
#include "tensor_maps.cuh"
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

// The same, with a hint for L2 about them.
template <int SLICES, int ROWS, class E>
__device__ inline void load_rows(E (*to_smem)[ROWS][SLICE], uint64_t *full, const CUtensorMap &from, int row0, int head,
                                 int batch, uint64_t policy) {
    mbarrier_arrive_expect_tx(full, SLICES * ROWS * SLICE * sizeof(E));
    for (int i = 0; i < SLICES; i++)
        cp_async_bulk_tensor(to_smem[i], &from, full, i * SLICE, row0, head, batch, policy);
}

// An item for the warpgroups, with its queries, which no other item has; one without keys ends their work.
template <class T>
__device__ inline void load_item(T &tile, const TensorMaps &maps, Ring<2> &q, const Item &item) {
    mbarrier_wait(&tile.Q_empty[q.stage], q.parity ^ 1);
    tile.item[q.stage] = item;
    if (item.end_key > 0)
        load_rows<T::SLICES>(tile.Q[q.stage], &tile.Q_full[q.stage], maps.q, item.query0, item.head, item.batch,
                             createpolicy_evict_first());
    else
        mbarrier_arrive(&tile.Q_full[q.stage]);
    q.next();
}

// The values of an item's tile, as soon as their stage is free; nothing where the item has no keys. Other blocks read
// them, too.
template <class T>
__device__ inline void load_values(T &tile, const TensorMaps &maps, Ring<T::STAGES> &ring, const Item &item, int key0) {
    if (item.end_key == 0)
        return;
    mbarrier_wait(&tile.V_empty[ring.stage], ring.parity ^ 1);
    load_rows<T::SLICES>(tile.V[ring.stage], &tile.V_full[ring.stage], maps.v, key0, item.kv_head, item.batch,
                         createpolicy_evict_last());
    ring.next();
}

// One thread tells it for the warpgroup, whose warps end a product together.
__device__ inline void release(uint64_t *empty) {
    if (threadIdx.x % WARPGROUP == 0)
        mbarrier_arrive(empty);
}
