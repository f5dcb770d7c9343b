// Stream-K: partitions the key tiles of all heads and queries into even shares, one per thread block, whose sizes
// differ by at most one tile. Osama et al., "Stream-K", PPoPP 2023.
//
// A work tile is one head's block of queries with the key tiles to which they attend. The key tiles of all work tiles
// are numbered from 0 on, head by head. A share is a range of these indices. If it begins or ends inside a work tile,
// the block computes a partial result of that work tile, and the fix-up combines the partial results.
#pragma once

#include "kernel_config.cuh"
#include "mask.cuh"

#include <stdint.h>

struct EvenShares {
    int nq, nk, queries, keys; // queries per work tile, keys per key tile
    int causal_offset;         // query i attends to keys 0 .. i + causal_offset; NO_CAUSAL_LIMIT: to all
    int tiles, tiles_per_head, shares;

    struct WorkTile {
        int head, query0;
        int first_tile, tiles; // index of its first key tile among all, number of its key tiles
    };

    // Queries that attend to no key still have one tile, so that a block writes their zeros.
    __host__ __device__ int num_tiles_of(int query0) const {
        const int end_key = causal_offset == NO_CAUSAL_LIMIT ? nk : min(nk, min(query0 + queries, nq) + causal_offset);
        return end_key <= 0 ? 1 : (end_key - 1) / keys + 1;
    }

    // The first tiles % shares shares have one more tile than the others.
    __device__ int first_tile_of(int share) const {
        return share * (tiles / shares) + min(share, tiles % shares);
    }
    __device__ int share_index(int tile) const {
        const int small = tiles / shares, larger_shares = tiles % shares;
        return tile < larger_shares * (small + 1) ? tile / (small + 1)
                                                  : larger_shares + (tile - larger_shares * (small + 1)) / small;
    }

    __device__ WorkTile work_tile_at(int tile) const {
        WorkTile work_tile = {tile / tiles_per_head, 0, tile / tiles_per_head * tiles_per_head, num_tiles_of(0)};
        while (work_tile.first_tile + work_tile.tiles <= tile) {
            work_tile.first_tile += work_tile.tiles;
            work_tile.query0 += queries;
            work_tile.tiles = num_tiles_of(work_tile.query0);
        }
        return work_tile;
    }

    // The index of a share's partial result of a work tile. A share has two: 2 * share for a work tile that began in an
    // earlier share, 2 * share + 1 for one that begins inside this share.
    __device__ int partial_index(int share, const WorkTile &work_tile) const {
        return 2 * share + (first_tile_of(share) < work_tile.first_tile ? 1 : 0);
    }
};

// A partial result: the attention of a work tile's queries to the keys of one share.
template <class T>
struct Partial {
    float O[T::QUERIES][T::D];
    float row_max[T::QUERIES], row_sum[T::QUERIES]; // row_max: in units of log2, as ex2() takes it
};

// A work tile that is split: it continues in the shares up to last_share. head -1: no work tile of this share is split.
struct Split {
    int head, query0, first_partial, last_share;
};

// Makes one share per key tile, but at most max_shares. Returns cudaErrorInvalidConfiguration if an int cannot count
// the key tiles.
static inline cudaError_t partition_tiles(struct EvenShares *scheduler, int64_t heads, int nq, int nk,
                                          int causal_offset, int queries, int keys, int max_shares) {
    *scheduler = {nq, nk, queries, keys, causal_offset, 0, 0, 0};
    int64_t tiles_per_head = 0;
    for (int64_t query0 = 0; query0 < nq; query0 += queries)
        tiles_per_head += scheduler->num_tiles_of((int)query0);
    if (tiles_per_head * heads > INT32_MAX)
        return cudaErrorInvalidConfiguration;
    scheduler->tiles_per_head = (int)tiles_per_head;
    scheduler->tiles = (int)(tiles_per_head * heads);
    scheduler->shares = scheduler->tiles < max_shares ? scheduler->tiles : max_shares;
    return cudaSuccess;
}

// Makes one share per block that is resident on the current device at a time. Occupancy depends on the shared memory
// that the kernel has opted in to, so the opt-in comes first.
static inline cudaError_t make_even_shares(struct EvenShares *scheduler, const struct KernelConfig *config,
                                           const struct attention_problem *p) {
    int device, num_sms, blocks_per_sm;
    cudaError_t error = cudaGetDevice(&device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&num_sms, cudaDevAttrMultiProcessorCount, device);
    if (error == cudaSuccess)
        error = opt_in_shared_memory(config);
    if (error == cudaSuccess)
        error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks_per_sm, config->kernel, config->threads,
                                                              config->shared_bytes);
    if (error != cudaSuccess)
        return error;
    return partition_tiles(scheduler, (int64_t)p->batch * p->heads, p->nq, p->nk,
                           p->causal ? p->nk - p->nq : NO_CAUSAL_LIMIT, config->queries, config->keys,
                           blocks_per_sm * num_sms);
}

// The device memory that the partial results and the splits of a problem take.
static inline size_t partials_bytes(const struct KernelConfig *config, const struct attention_problem *p) {
    struct EvenShares scheduler;
    const size_t partial_bytes = config->queries * (config->head_dim + 2) * sizeof(float);
    return make_even_shares(&scheduler, config, p) == cudaSuccess
               ? scheduler.shares * (2 * partial_bytes + sizeof(Split))
               : 0;
}

// Of the configurations for the head dimension, sorted from large to small tiles, the first one that fits in shared
// memory and yields at least one tile per SM, else the last one. An entry with head_dim 0 ends the list.
static inline const struct KernelConfig *select_config(const struct attention_problem *p,
                                                       const struct KernelConfig *configs) {
    int device = 0, shared = 0, num_sms = 0;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    cudaDeviceGetAttribute(&num_sms, cudaDevAttrMultiProcessorCount, device);
    const struct KernelConfig *config = first_config(p, configs);
    for (; config[1].head_dim == config->head_dim; config++) {
        const int64_t work_tiles = (int64_t)p->batch * p->heads * ((p->nq - 1) / config->queries + 1);
        if (config->shared_bytes <= (size_t)shared && work_tiles * ((p->nk - 1) / config->keys + 1) >= num_sms)
            break;
    }
    return config;
}
