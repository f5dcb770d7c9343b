// Stream-K: partitions the key tiles of all heads and queries into even shares, one per thread block, whose sizes
// differ by at most one tile. Osama et al., "Stream-K", PPoPP 2023. A work tile is one head's block of queries with the
// key tiles to which they attend. A share is a range of the key tiles of all work tiles, numbered head by head.
#pragma once

#include "float4.cuh"
#include "kernel_config.cuh"
#include "mask.cuh"
#include "reduce.cuh"

struct EvenShares {
    int nq, nk, queries, keys; // queries per work tile, keys per key tile
    int causal_offset;         // query i attends to keys 0 .. i + causal_offset; NO_CAUSAL_LIMIT: to all
    int tiles, tiles_per_head, shares;
    int size, larger_shares; // key tiles per share; the first larger_shares shares have one more
    struct WorkTile {
        int head, query0;
        int first_tile, tiles; // index of its first key tile among all, number of its key tiles
    };

    // Queries that attend to no key still have one tile, so that a block writes their zeros.
    __host__ __device__ int num_tiles_of(int query0) const {
        const int end_key = causal_offset == NO_CAUSAL_LIMIT ? nk : min(nk, min(query0 + queries, nq) + causal_offset);
        return end_key <= 0 ? 1 : (end_key - 1) / keys + 1;
    }

    __device__ int first_tile_of(int share) const {
        return share * size + min(share, larger_shares);
    }
    __device__ int share_index(int tile) const {
        const bool larger = tile < larger_shares * (size + 1);
        return (larger ? tile : tile - larger_shares) / (larger ? size + 1 : size);
    }

    __device__ WorkTile work_tile_at(int tile) const {
        WorkTile work_tile = {tile / tiles_per_head, 0, tile / tiles_per_head * tiles_per_head, num_tiles_of(0)};
        for (; work_tile.first_tile + work_tile.tiles <= tile; work_tile.tiles = num_tiles_of(work_tile.query0)) {
            work_tile.first_tile += work_tile.tiles;
            work_tile.query0 += queries;
        }
        return work_tile;
    }

    // The same without a search if attention is not causal, so that all work tiles have as many key tiles.
    __device__ WorkTile find_work_tile(int tile) const {
        const int head = tile / tiles_per_head, index = tile % tiles_per_head / num_tiles_of(0);
        return causal_offset != NO_CAUSAL_LIMIT
                   ? work_tile_at(tile)
                   : WorkTile{head, index * queries, head * tiles_per_head + index * num_tiles_of(0), num_tiles_of(0)};
    }
};

// Makes one share per key tile, but at most max_shares; none if an int cannot count the key tiles.
static inline struct EvenShares make_even_shares(const struct KernelConfig *config, const struct attention_problem *p,
                                                 int max_shares) {
    const int causal_offset = p->causal ? p->nk - p->nq : NO_CAUSAL_LIMIT;
    struct EvenShares scheduler = {p->nq, p->nk, config->queries, config->keys, causal_offset, 0, 0, 0, 0, 0};
    int64_t tiles = 0;
    for (int64_t query0 = 0; query0 < p->nq; query0 += config->queries)
        tiles += scheduler.num_tiles_of((int)query0);
    scheduler.tiles_per_head = (int)tiles;
    tiles *= (int64_t)p->batch * p->heads;
    scheduler.tiles = (int)tiles;
    scheduler.shares = tiles > INT32_MAX ? 0 : min(scheduler.tiles, max_shares);
    scheduler.size = scheduler.shares > 0 ? scheduler.tiles / scheduler.shares : 0;
    scheduler.larger_shares = scheduler.tiles - scheduler.shares * scheduler.size;
    return scheduler;
}

// A partial result: the attention of a work tile's queries to the keys of one share. O is divided by row_sum.
template <class T>
struct Partial {
    float O[T::QUERIES][T::D];
    float row_max[T::QUERIES], row_sum[T::QUERIES];
};

// A share has two partial results: the first of a work tile that began in an earlier share, the second of one that
// begins in this share and continues in the next.
static inline size_t partials_bytes(const struct KernelConfig *config, const struct attention_problem *p) {
    int blocks = 0;
    max_resident_blocks(config, &blocks);
    return make_even_shares(config, p, blocks).shares * 2 * config->queries * (config->head_dim + 2) * sizeof(float);
}

// Dividing O here serves the main loop: if the accumulators themselves were stored as vectors, ptxas would hold them in
// aligned groups of registers, and the multiply-adds would have three times as many bank conflicts.
template <class T>
__device__ inline void store_partial(const struct attention_problem &p, int index,
                                     const float (&O_rmem)[T::ROWS][T::LANE_COLUMNS], const float (&row_max)[T::ROWS],
                                     const float (&row_sum)[T::ROWS]) {
    Partial<T> &partial = ((Partial<T> *)p.workspace)[index];
    const int lane = threadIdx.x % WARP_SIZE, warp_row0 = threadIdx.x / WARP_SIZE * T::WARP_ROWS;
#pragma unroll
    for (int i = 0; i < T::ROWS; i++) {
        const int row = warp_row0 + row_of<T>(i, lane);
        const float sum = lanes_sum<T::LANES_PER_ROW>(row_sum[i]);
        partial.row_max[row] = row_max[i]; // all lanes of the row store the same value
        partial.row_sum[row] = sum;
#pragma unroll
        for (int j = 0; j < T::LANE_COLUMNS; j += T::VECTOR)
            store_floats<T::VECTOR>(partial.O[row], column_of<T>(j, lane), T::D, &O_rmem[i][j],
                                    sum == 0.0f ? 0.0f : 1.0f / sum, true);
    }
}

constexpr int FIX_UP_THREADS = 256, FIX_UP_ROWS = FIX_UP_THREADS / WARP_SIZE;

// Combines the partial results of the work tile that begins in share blockIdx.x and continues after it. Grid: (shares,
// QUERIES / FIX_UP_ROWS), one warp per row. Above D=64, two blocks per SM: with this register budget ptxas keeps the
// loads of eight partial results in flight, not of one.
template <class T>
__global__ void __launch_bounds__(FIX_UP_THREADS, T::D > 64 ? 2 : 0)
    fix_up(const struct attention_problem p, const struct EvenShares scheduler) {
    const Partial<T> *partials = (const Partial<T> *)p.workspace; // [shares][2]
    const int lane = threadIdx.x % WARP_SIZE, row = blockIdx.y * FIX_UP_ROWS + threadIdx.x / WARP_SIZE;
    const int first = blockIdx.x;
    const EvenShares::WorkTile work_tile = scheduler.find_work_tile(scheduler.first_tile_of(first + 1) - 1);
    const int last = scheduler.share_index(work_tile.first_tile + work_tile.tiles - 1);
    if (work_tile.first_tile < scheduler.first_tile_of(first) || last == first || work_tile.query0 + row >= p.nq)
        return;
    float row_max = -INFINITY, row_sum = 0.0f, O_rmem[T::D / WARP_SIZE] = {};
    for (int share = first + lane; share <= last; share += WARP_SIZE)
        row_max = fmaxf(row_max, partials[2 * share + (share == first)].row_max[row]);
    row_max = lanes_max<WARP_SIZE>(row_max);
#pragma unroll 8
    for (int share = first; share <= last; share++)
        add_partial(partials[2 * share + (share == first)], row, row_max, row_sum, O_rmem);           // the lesson's
    float *o = (float *)p.o + ((int64_t)work_tile.head * p.nq + work_tile.query0 + row) * p.head_dim; // [head_dim]
    for (int j = 0; j < T::D / WARP_SIZE; j++)
        if (j * WARP_SIZE + lane < p.head_dim)
            o[j * WARP_SIZE + lane] = row_sum == 0.0f ? 0.0f : O_rmem[j] / row_sum;
}
