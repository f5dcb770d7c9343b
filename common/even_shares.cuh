// Deals out the tiles of all heads and queries to blocks of threads, to each as many as to any other, or one more.
//
// An item is a head's block of queries with the tiles of keys that it sees. Items stand one after the other, heads
// first, so that all tiles have numbers from 0 on. A share is a run of tiles and may begin and end inside an item: then
// it has a piece of that item. This way of cutting is known as stream-K: Osama et al., "Stream-K", PPoPP 2023.
#pragma once

#include "mask.cuh"
#include "variant.cuh"

#include <stdint.h>

struct EvenShares {
    int nq, nk, queries, keys; // queries of an item, keys of a tile
    int diagonal;              // query i sees keys 0 .. i + diagonal; NO_DIAGONAL: all
    int tiles, tiles_a_head, shares;

    struct Item {
        int head, query0;
        int first_tile, tiles; // first_tile: counted over all items
    };

    // An item that sees no key has a tile all the same, or nobody would write its zeros.
    __host__ __device__ int tiles_of(int query0) const {
        const int visible = diagonal == NO_DIAGONAL ? nk : min(nk, min(query0 + queries, nq) + diagonal);
        return visible <= 0 ? 1 : (visible - 1) / keys + 1;
    }

    // The first tiles % shares shares have one tile more than the others.
    __device__ int first_of(int share) const {
        return share * (tiles / shares) + min(share, tiles % shares);
    }
    __device__ int share_of(int tile) const {
        const int few = tiles / shares, larger = tiles % shares;
        return tile < larger * (few + 1) ? tile / (few + 1) : larger + (tile - larger * (few + 1)) / few;
    }

    __device__ Item item_of(int tile) const {
        Item item = {tile / tiles_a_head, 0, tile / tiles_a_head * tiles_a_head, tiles_of(0)};
        while (item.first_tile + item.tiles <= tile) {
            item.first_tile += item.tiles;
            item.query0 += queries;
            item.tiles = tiles_of(item.query0);
        }
        return item;
    }

    // Where a share keeps its piece of an item that it has not alone. It has two places: one for the item that it
    // begins with, one for an item that begins inside it.
    __device__ int place_of(int share, const Item &item) const {
        return 2 * share + (first_of(share) < item.first_tile ? 1 : 0);
    }
};

// The attention of an item's queries to a part of their keys.
template <class T>
struct Piece {
    float O[T::QUERIES][T::D];
    float row_max[T::QUERIES], row_sum[T::QUERIES]; // row_max is a power of 2
};

// An item that goes on in the shares after the one that it begins in; head is -1 where there is none.
struct Cut {
    int head, query0, first_place, last_share;
};

// Deals out to as many shares as there are tiles, at most to `most`. cudaErrorInvalidConfiguration where there are more
// tiles than an int can count.
static inline cudaError_t deal_out_to(struct EvenShares *work, int64_t heads, int nq, int nk, int diagonal, int queries,
                                      int keys, int most) {
    *work = {nq, nk, queries, keys, diagonal, 0, 0, 0};
    int64_t tiles_a_head = 0;
    for (int64_t query0 = 0; query0 < nq; query0 += queries)
        tiles_a_head += work->tiles_of((int)query0);
    if (tiles_a_head * heads > INT32_MAX)
        return cudaErrorInvalidConfiguration;
    work->tiles_a_head = (int)tiles_a_head;
    work->tiles = (int)(tiles_a_head * heads);
    work->shares = work->tiles < most ? work->tiles : most;
    return cudaSuccess;
}

// Deals out a problem to as many blocks of a kernel as the device in use holds at a time; allows the kernel its shared
// memory.
static inline cudaError_t deal_out(struct EvenShares *work, const struct Variant *v,
                                   const struct attention_problem *p) {
    int device, processors, blocks;
    cudaError_t error = cudaGetDevice(&device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    if (error == cudaSuccess)
        error = allow_shared_bytes(v);
    if (error == cudaSuccess)
        error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, v->kernel, v->threads, v->shared_bytes);
    if (error != cudaSuccess)
        return error;
    return deal_out_to(work, (int64_t)p->batch * p->heads, p->nq, p->nk, p->causal ? p->nk - p->nq : NO_DIAGONAL,
                       v->queries, v->keys, blocks * processors);
}

// What the pieces of a problem and the cuts take in device memory.
static inline size_t pieces_bytes(const struct Variant *v, const struct attention_problem *p) {
    struct EvenShares work;
    const size_t piece_bytes = v->queries * (v->head_dim + 2) * sizeof(float);
    return deal_out(&work, v, p) == cudaSuccess ? work.shares * (2 * piece_bytes + sizeof(Cut)) : 0;
}

// Of the variants for the head dimension, largest first, the first one that fits into shared memory and has a tile at
// least for every SM; the last one if there is none. Where variants end stands one of head_dim 0.
static inline const struct Variant *busy_variant(const struct attention_problem *p, const struct Variant *variants) {
    int device = 0, shared = 0, processors = 0;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    const struct Variant *v = first_variant(p, variants);
    for (; v[1].head_dim == v->head_dim; v++) {
        const int64_t items = (int64_t)p->batch * p->heads * ((p->nq - 1) / v->queries + 1);
        if (v->shared_bytes <= (size_t)shared && items * ((p->nk - 1) / v->keys + 1) >= processors)
            break;
    }
    return v;
}
