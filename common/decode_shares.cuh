// Stream-K over requests of any length: the key tiles of all requests, key heads and row tiles are numbered one after
// another, and each thread block has an even share of them. Lengths are in device memory, so each warp finds its work
// by itself. Lesson 08 has the same with one length for all.
#pragma once

#include "decode.h"
#include "reduce.cuh"

#include <stdint.h>

// The rows that share the keys of a key head, the group's heads with all their queries, are contiguous in q and in o. A
// row tile is up to T::ROWS of them.
struct DecodeWork {
    int request, kv_head, row0; // row0: the first of the group's rows
    int keys;                   // length of the request; -1: a length that cannot be
    int first_tile, tiles;      // index of its first key tile among all, number of its key tiles
    int request_tile;           // index of the request's first key tile, from which the next search starts
};

__host__ __device__ inline int rows_of_group(const struct decode_problem &p) {
    return p.heads / p.kv_heads * p.nq;
}
template <class T>
__host__ __device__ inline int row_tiles_of_request(const struct decode_problem &p) {
    return p.kv_heads * ((rows_of_group(p) - 1) / T::ROWS + 1);
}

// The request's number of keys, -1 if the cache has no room for so many.
__device__ inline int keys_of(const struct decode_problem &p, int request) {
    const int keys = p.lens[request];
    return keys < 0 || keys > (int64_t)p.pages_per_request * p.page_size ? -1 : keys;
}

// A row tile without keys still has one key tile, so that a block writes its zeros.
template <class T>
__host__ __device__ inline int key_tiles_of(int keys) {
    return keys <= 0 ? 1 : (keys - 1) / T::KEYS + 1;
}

// Shares differ by at most one tile: the first `larger` ones have one more.
struct DecodeShares {
    int size, larger;

    __device__ int first_tile_of(int share) const {
        return share * size + min(share, larger);
    }
    __device__ int share_index(int tile) const {
        const bool is_larger = tile < larger * (size + 1);
        return (is_larger ? tile : tile - larger) / (is_larger ? size + 1 : size);
    }
};

// All lanes of a warp call it, and all get the same.
template <class T>
__device__ inline DecodeShares make_decode_shares(const struct decode_problem &p) {
    int tiles = 0;
    for (int request = threadIdx.x % WARP_SIZE; request < p.batch; request += WARP_SIZE)
        tiles += key_tiles_of<T>(keys_of(p, request)) * row_tiles_of_request<T>(p);
    for (int distance = 1; distance < WARP_SIZE; distance *= 2)
        tiles += __shfl_xor_sync(ALL_LANES, tiles, distance);
    return {tiles / (int)gridDim.x, tiles % (int)gridDim.x};
}

// The work to which a key tile belongs; previous: work before it, {} at first. A lane looks at a request each: the
// first whose tiles end behind the tile has it. All lanes of a warp call it, and all get the same.
template <class T>
__device__ inline DecodeWork decode_work_at(const struct decode_problem &p, int tile, const DecodeWork &previous) {
    const int lane = threadIdx.x % WARP_SIZE, row_tiles = row_tiles_of_request<T>(p);
    int request0 = previous.request, begin = previous.request_tile;
    for (;; request0 += WARP_SIZE) {
        const int request = request0 + lane, keys = request < p.batch ? keys_of(p, request) : 0;
        const int own = request < p.batch ? key_tiles_of<T>(keys) * row_tiles : 0;
        int end = own; // of the requests up to this lane's
        for (int distance = 1; distance < WARP_SIZE; distance *= 2) {
            const int before = __shfl_up_sync(ALL_LANES, end, distance);
            end += lane >= distance ? before : 0;
        }
        const unsigned behind = __ballot_sync(ALL_LANES, tile < begin + end);
        if (behind != 0) {
            const int owner = __ffs(behind) - 1;
            DecodeWork work;
            work.request = request0 + owner;
            work.request_tile = begin + __shfl_sync(ALL_LANES, end - own, owner);
            work.keys = __shfl_sync(ALL_LANES, keys, owner);
            work.tiles = key_tiles_of<T>(work.keys);
            const int row_tile = (tile - work.request_tile) / work.tiles, per_head = row_tiles / p.kv_heads;
            work.first_tile = work.request_tile + row_tile * work.tiles;
            work.kv_head = row_tile / per_head;
            work.row0 = row_tile % per_head * T::ROWS;
            return work;
        }
        begin += __shfl_sync(ALL_LANES, end, WARP_SIZE - 1);
    }
}

// The last key that a row of the group attends to: with a mask the queries are the last ones of the request.
__device__ inline int last_key_of(const struct decode_problem &p, int keys, int row) {
    return keys - 1 - (p.causal ? p.nq - 1 - row % p.nq : 0);
}

// A partial result: attention of the rows to some of the keys. Weights are 2^(scaled score - row_max), and O is not
// divided by row_sum.
template <int ROWS, int D>
struct DecodePartial {
    float O[ROWS][D];
    float row_max[ROWS], row_sum[ROWS];
};

// Two partial results of a share are kept: the first of work that began in an earlier share, the second of work that
// begins in this share and continues in the next.
constexpr int KEPT_PARTIALS = 2;
