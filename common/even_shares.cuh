// Deals out the tiles of all heads and queries to blocks of threads, to each as many as to any other, or one more.
//
// An item is a head's block of queries with the tiles of keys that it sees. Items stand one after the other, heads
// first, so that all tiles have numbers from 0 on. A share is a run of tiles and may begin and end inside an item: then
// it has a piece of that item. This way of cutting is known as stream-K: Osama et al., "Stream-K", PPoPP 2023.
#pragma once

#include "attention.h"

#include <stdint.h>

constexpr int NO_DIAGONAL = 1 << 30;

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

// Deals out to at most `most` shares. cudaErrorInvalidConfiguration where there are more tiles than an int can count.
static inline cudaError_t deal_out(struct EvenShares *work, int64_t heads, int nq, int nk, int diagonal, int queries,
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

// How many blocks of a kernel the device in use holds at a time; allows the kernel that much shared memory.
template <class Kernel>
static cudaError_t blocks_at_a_time(Kernel kernel, int threads, size_t shared_bytes, int *blocks) {
    int device, processors;
    cudaError_t error = cudaGetDevice(&device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    if (error == cudaSuccess)
        error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared_bytes);
    if (error == cudaSuccess)
        error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, kernel, threads, shared_bytes);
    if (error == cudaSuccess)
        *blocks *= processors;
    return error;
}

// Calls use() with a null pointer to the first of the tiles, largest first, that fits into shared memory and of which
// there is one for every SM at least, of the largest two; to the last one if there is none.
template <class T, class... Smaller, class Use>
static auto with_largest(const struct attention_problem *p, Use use) {
    if constexpr (sizeof...(Smaller) > 0) {
        int device = 0, shared = 0, processors = 0;
        cudaGetDevice(&device);
        cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
        cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
        const int enough = sizeof...(Smaller) > 1 ? 2 * processors : processors;
        const int64_t items = (int64_t)p->batch * p->heads * ((p->nq - 1) / T::QUERIES + 1);
        if (sizeof(T) > (size_t)shared || items * ((p->nk - 1) / T::KEYS + 1) < enough)
            return with_largest<Smaller...>(p, use);
    }
    return use((T *)NULL);
}
