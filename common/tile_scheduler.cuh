// The tile scheduler: it partitions attention into work tiles and orders them for the blocks of a kernel.
#pragma once

#include "attention.h"
#include "kernel_config.cuh"
#include "reduce.cuh"

// One block of queries of one head. The queries attend to keys 0 .. end_key - 1 at most; end_key 0: no work is left.
struct WorkTile {
    int batch, head, kv_head, query0, end_key;
};

struct TileScheduler {
    int num_work_tiles;
    int lpt_heads;  // the last heads, whose work tiles are ordered by length, the longest first
    int num_blocks; // of a persistent kernel: one per SM, or one per work tile if there are fewer
    // Number of requests by all blocks, including unsuccessful ones. Each work tile makes one when it is processed, so
    // request number num_work_tiles wraps the counter to 0. NULL: block b takes work tiles b, b + num_blocks, ...
    unsigned *tile_counter;
    // softmax_scale log2(e), the factor for ex2(). A kernel parameter is an operand in constant memory; a value that
    // the kernel computes would be one more register that every multiply-add reads.
    float softmax_scale_log2;
};

// Work tiles are ordered head by head, so that the keys and values which one block reads are in L2 for the others. The
// last lpt_heads heads use longest-processing-time-first (LPT) order: short tiles at the end balance the load.
template <class T>
__device__ inline WorkTile work_tile_at(const struct attention_problem &p, const TileScheduler &scheduler,
                                        int work_tile_index) {
    if (work_tile_index >= scheduler.num_work_tiles)
        return {0, 0, 0, 0, 0};
    const int query_blocks = (p.nq + T::QUERIES - 1) / T::QUERIES;
    const int first_lpt_head = p.batch * p.heads - scheduler.lpt_heads;
    const int lpt_index = work_tile_index - first_lpt_head * query_blocks; // negative: before the LPT heads
    const int head = lpt_index < 0 ? work_tile_index / query_blocks : first_lpt_head + lpt_index % scheduler.lpt_heads;
    const int block_from_end = lpt_index < 0 ? work_tile_index % query_blocks : lpt_index / scheduler.lpt_heads;
    const int query0 = (query_blocks - 1 - block_from_end) * T::QUERIES;
    // Queries that attend to no key still get one fully masked tile, so that their zeros are written.
    const int end_key = p.causal ? max(1, min(p.nk, query0 + T::QUERIES + p.nk - p.nq)) : p.nk;
    return {head / p.heads, head % p.heads, head % p.heads / (p.heads / p.kv_heads), query0, end_key};
}

// Broadcasts lane 0's query0 and end_key, the fields that the main loop uses, so that the compiler knows them to be
// warp-uniform: it then computes with them in uniform registers, and branches on them do not diverge.
__device__ inline WorkTile warp_uniform_work_tile(const WorkTile &work_tile) {
    WorkTile uniform = work_tile;
    uniform.query0 = __shfl_sync(ALL_LANES, work_tile.query0, 0);
    uniform.end_key = __shfl_sync(ALL_LANES, work_tile.end_key, 0);
    return uniform;
}

// The end of the keys to which rows row0 .. row0 + rows - 1 of a work tile attend; 0 if the tile has none of these
// rows.
__device__ inline int end_key_of(const struct attention_problem &p, const WorkTile &work_tile, int row0, int rows) {
    const int last = min(work_tile.query0 + row0 + rows, p.nq) - 1;
    if (work_tile.end_key == 0 || last < work_tile.query0 + row0)
        return 0;
    return p.causal ? max(1, min(work_tile.end_key, last + 1 + p.nk - p.nq)) : work_tile.end_key;
}

// Returns cudaErrorInvalidConfiguration if an int cannot count the work tiles.
static inline cudaError_t make_tile_scheduler(struct TileScheduler *scheduler, const struct KernelConfig *config,
                                              const struct attention_problem *p) {
    const int64_t heads = (int64_t)p->batch * p->heads, query_blocks = (p->nq + config->queries - 1) / config->queries;
    const int64_t work_tiles = heads * query_blocks;
    int device, num_sms, l2_bytes;
    if (work_tiles > INT32_MAX / 2)
        return cudaErrorInvalidConfiguration;
    cudaError_t error = cudaGetDevice(&device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&num_sms, cudaDevAttrMultiProcessorCount, device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&l2_bytes, cudaDevAttrL2CacheSize, device);
    if (error != cudaSuccess)
        return error;
    // Four work tiles per block are enough for LPT order to balance the load. All LPT heads are read at the same time,
    // so their keys and values must fit in three quarters of L2; the rest is for Q and O.
    const int64_t head_bytes = 4LL * p->nk * p->head_dim * p->kv_heads / p->heads; // of K and V, 16-bit elements
    const int64_t heads_in_l2 = max(1LL, 3LL * l2_bytes / 4 / head_bytes);
    const int64_t lpt_heads =
        p->causal ? min(min(heads, heads_in_l2), (4 * num_sms + query_blocks - 1) / query_blocks) : 1;
    *scheduler = {(int)work_tiles, (int)lpt_heads, (int)min((int64_t)num_sms, work_tiles), NULL,
                  p->softmax_scale * 1.44269504f};
    return cudaSuccess;
}
