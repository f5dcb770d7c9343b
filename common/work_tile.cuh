// Work tiles: the parts of attention that blocks compute, and their order.
#pragma once

#include "kernel_config.cuh"

// One block of queries of one head. The queries attend to keys 0 .. end_key - 1 at most.
struct WorkTile {
    int batch, head, kv_head, query0, end_key;
};

// The blocks of QUERIES queries per head.
static __host__ __device__ inline int query_blocks_of(const struct attention_problem &p, int queries) {
    return (p.nq + queries - 1) / queries;
}

static __host__ __device__ inline int64_t num_work_tiles(const struct attention_problem &p, int queries) {
    return (int64_t)p.batch * p.heads * query_blocks_of(p, queries);
}

template <class T>
__device__ inline WorkTile make_work_tile(const struct attention_problem &p, int head, int query_block) {
    const int query0 = query_block * T::QUERIES;
    // Queries that attend to no key still get one fully masked tile, so that their zeros are written.
    const int end_key = p.causal ? max(1, min(p.nk, query0 + T::QUERIES + p.nk - p.nq)) : p.nk;
    return {head / p.heads, head % p.heads, head % p.heads / (p.heads / p.kv_heads), query0, end_key};
}

// Head by head, so that the keys and values which one block reads are in L2 for the others; of a head, the last block
// of queries first, which attends to the most keys if attention is causal.
template <class T>
__device__ inline WorkTile work_tile_at(const struct attention_problem &p, int index) {
    const int query_blocks = query_blocks_of(p, T::QUERIES);
    return make_work_tile<T>(p, index / query_blocks, query_blocks - 1 - index % query_blocks);
}
