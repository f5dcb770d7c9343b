// The tile scheduler's order of work tiles, and what the consumers of a work tile need to know about it.
#pragma once

#include "persistent.cuh"
#include "reduce.cuh"

// Head by head, so that the keys and values which one block reads are in L2 for the others. The last heads use
// longest-processing-time-first (LPT) order: short tiles at the end balance the load. Four work tiles per block are
// enough for that. If index is after the last work tile, end_key is 0: no work is left.
template <class T>
__device__ inline WorkTile lpt_work_tile_at(const struct attention_problem &p, int index) {
    const int heads = p.batch * p.heads, query_blocks = query_blocks_of(p, T::QUERIES);
    const int enough_heads = (4 * gridDim.x + query_blocks - 1) / query_blocks;
    const int lpt_heads = p.causal ? min(heads_in_l2(p), enough_heads) : 1;
    const int lpt_index = index - (heads - lpt_heads) * query_blocks; // negative: before the LPT heads
    if (index >= heads * query_blocks)
        return {};
    if (lpt_index < 0)
        return work_tile_at<T>(p, index);
    return make_work_tile<T>(p, heads - lpt_heads + lpt_index % lpt_heads, query_blocks - 1 - lpt_index / lpt_heads);
}

// Broadcasts lane 0's query0 and end_key, the fields that the main loop uses, so that the compiler knows them to be
// warp-uniform: it then computes with them in uniform registers, and branches on them do not diverge.
__device__ inline WorkTile warp_uniform_work_tile(const WorkTile &work_tile) {
    WorkTile uniform = work_tile;
    uniform.query0 = __shfl_sync(ALL_LANES, work_tile.query0, 0);
    uniform.end_key = __shfl_sync(ALL_LANES, work_tile.end_key, 0);
    return uniform;
}

// The end of the keys to which a warpgroup's rows attend, from row0 of the work tile on. It is at least 1: if the work
// tile has none of these rows, the warpgroup computes one tile of keys, which keeps its path the same.
__device__ inline int end_key_of(const struct attention_problem &p, const WorkTile &work_tile, int row0, int rows) {
    const int end_row = min(work_tile.query0 + row0 + rows, p.nq);
    if (end_row <= work_tile.query0 + row0)
        return 1;
    return p.causal ? max(1, min(work_tile.end_key, end_row + p.nk - p.nq)) : work_tile.end_key;
}
