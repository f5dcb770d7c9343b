// Lesson 05: both products in blocks of 8 x 8 results a thread, kept in registers, so that an operand read from shared
// memory serves eight multiply-adds. The tiles of all heads and queries are dealt out evenly to as many blocks as the
// GPU holds at a time, and where the keys of a query went to several of them, their results are combined.
#include "attention.h"
#include "even_shares.cuh"
#include "register_tile.cuh"

constexpr float LOG2_E = 1.44269504f;
constexpr float LAZY = 8.0f; // a weight of 2^8 is as exact as one of 1

constexpr int UNROLL = 8;

// What is known of an item after a part of its keys.
template <class T>
struct Piece {
    float O[T::QUERIES][T::D]; // relative to 2^row_max, not divided yet
    float row_max[T::QUERIES], row_sum[T::QUERIES];
};

// An item that goes on in the shares after the one that it begins in.
struct Cut {
    int head, query0; // head: -1 where there is none
    int first_place, last_share;
};

// result[i][j] += a[i] * b[j].
template <int ROWS, int COLUMNS>
__device__ inline void add_outer_product(float (&result)[ROWS][COLUMNS], const float (&a)[ROWS],
                                         const float (&b)[COLUMNS]) {
    // TODO 1 (about 7 lines): all ROWS x COLUMNS multiply-adds. Any order is right; one is faster. A multiply-add reads
    // three registers; too many of one bank cost a clock. If the next one has b[j] in common, which the multiplier
    // keeps, only a[i] and the result are read: go through the rows of a column, down in one column and up in the next,
    // so that at the turn a[i] stays too. Every loop needs #pragma unroll, or results cannot be registers.
    // END TODO 1
}

// result += sum over steps of the outer products of a column and a row; load(step, a, b) fetches them. AHEAD: those of
// the next step are on their way while this one's are used.
template <int STEPS, bool AHEAD, int ROWS, int COLUMNS, class Load>
__device__ inline void multiply_add(float (&result)[ROWS][COLUMNS], Load load) {
    float a[2][ROWS], b[2][COLUMNS];
    if (AHEAD)
        load(0, a[0], b[0]);
#pragma unroll 1
    for (int step0 = 0; step0 < STEPS; step0 += UNROLL)
#pragma unroll
        for (int step = step0; step < step0 + UNROLL; step++) {
            const int now = (step - step0) % 2;
            if (AHEAD)
                load((step + 1) % STEPS, a[1 - now], b[1 - now]);
            else
                load(step, a[now], b[now]);
            add_outer_product(result, a[now], b[now]);
        }
}

// Grid: work.shares blocks.
template <class T>
__global__ void __launch_bounds__(T::THREADS)
    register_tiled_attention(const float *Q,   // [batch][heads][nq][head_dim]
                             const float *K,   // [batch][heads][nk][head_dim]
                             const float *V,   // [batch][heads][nk][head_dim]
                             float *O,         // [batch][heads][nq][head_dim]
                             Piece<T> *pieces, // [shares][2]
                             Cut *cuts,        // [shares]
                             const EvenShares work, int head_dim, bool wide, float softmax_scale) {
    extern __shared__ float4 smem[];
    T &tile = *reinterpret_cast<T *>(smem);
    const int nq = work.nq, nk = work.nk;
    const int warp = threadIdx.x / WARP_SIZE, m = threadIdx.x % WARP_SIZE / LANES_N, n = threadIdx.x % LANES_N;
    const int warp_row = warp * T::WARP_ROWS;
    float(*P_smem)[4 * T::WARP_ROWS + 4] = tile.P[warp];

    if (threadIdx.x == 0)
        cuts[blockIdx.x] = {-1, 0, 0, 0};
    int first_tile = work.first_of(blockIdx.x);
    const int end_tile = work.first_of(blockIdx.x + 1);
    while (first_tile < end_tile) {
        const EvenShares::Item item = work.item_of(first_tile);
        const float *k = K + (int64_t)item.head * nk * head_dim; // [nk][head_dim]
        const float *v = V + (int64_t)item.head * nk * head_dim; // [nk][head_dim]
        const int first = first_tile - item.first_tile, end = min(item.tiles, end_tile - item.first_tile);
        const bool whole = end - first == item.tiles;

        __syncthreads(); // every warp is done with the piece before
        load_half_of_keys(tile, 0, k, first * T::KEYS, nk, head_dim);
        load_half_of_keys(tile, 1, k, first * T::KEYS, nk, head_dim);
        // With log2(e) in the scale all exponentials are powers of 2.
        load_queries(tile, Q + (int64_t)item.head * nq * head_dim, item.query0, warp_row, nq, head_dim, wide,
                     softmax_scale * LOG2_E);

        float O_rmem[T::ROWS][T::D / LANES_N] = {};
        float row_sum[T::ROWS] = {};              // this thread's columns only
        typename T::RowMax row_max[T::ROWS] = {}; // a power of 2
        unsigned seen = 0;                        // bit i: row i has seen a key

        for (int t = first; t < end; t++) {
            const int key0 = t * T::KEYS;
            float S_rmem[T::ROWS][T::KEYS / LANES_N]; // scores, then weights; relative to row_max from the start
#pragma unroll
            for (int i = 0; i < T::ROWS; i++) {
                const float start = -row_max[i];
#pragma unroll
                for (int j = 0; j < T::KEYS / LANES_N; j++)
                    S_rmem[i][j] = start;
            }

            cp_async_wait_all();
            __syncthreads(); // K is there, and every warp is done with V
            load_values(tile, v, key0, nk, head_dim, wide);
            multiply_add<T::D, true>(S_rmem, [&](int column, auto &a, auto &b) {
                load_quads<T::QUAD>(a, &tile.Q[column][warp_row + T::QUAD * m], LANES_M * T::QUAD);
                load_quads<4>(b, &tile.K[column][4 * n], SLICE);
            });
            cp_async_wait_all();
            __syncthreads(); // V is there, and every warp is done with K
            if (t + 1 < end)
                load_half_of_keys(tile, 0, k, key0 + T::KEYS, nk, head_dim);

            // Row r of the warp sees keys 0 .. last_key + r of the tile.
            const int last_key = item.query0 + warp_row + work.diagonal - key0;
            const bool masked = last_key < T::KEYS - 1;
            if (masked || key0 + T::KEYS > nk)
                hide_keys<T>(S_rmem, last_key, nk - 1 - key0, m, n);

            // row_max need not be the maximum, only near enough that no weight overflows. So a warp looks for a new
            // one, across its lanes, only when a score has passed the old one by far.
            float thread_max[T::ROWS];
            bool passed = seen != (1u << T::ROWS) - 1;
#pragma unroll
            for (int i = 0; i < T::ROWS; i++) {
                thread_max[i] = S_rmem[i][0];
#pragma unroll
                for (int j = 1; j < T::KEYS / LANES_N; j++)
                    thread_max[i] = fmaxf(thread_max[i], S_rmem[i][j]);
                passed |= thread_max[i] > LAZY;
            }
            if (__any_sync(ALL_LANES, passed)) {
#pragma unroll
                for (int i = 0; i < T::ROWS; i++) {
                    const float growth = max_of_row(thread_max[i]);
                    const bool first_key = !(seen >> i & 1) && growth != -INFINITY;
                    if (first_key || growth > 0.0f) {
                        seen |= 1u << i;
                        row_max[i] = row_max[i] + growth;
                        // TODO 2 (about 8 lines): row_max[i] has grown by growth. The scores of this tile, the sum and
                        // the output of row i are still relative to the old one: subtract growth from S_rmem[i][j],
                        // and multiply row_sum[i] and O_rmem[i][j] by 2^-growth. What if this is the row's first key?
                        // END TODO 2
                    }
                }
            }
            if (t + 1 < end)
                load_half_of_keys(tile, 1, k, key0 + T::KEYS, nk, head_dim);
#pragma unroll
            for (int i = 0; i < T::ROWS; i++)
#pragma unroll
                for (int j = 0; j < T::KEYS / LANES_N; j++) {
                    S_rmem[i][j] = ex2(S_rmem[i][j]);
                    row_sum[i] += S_rmem[i][j];
                }

#pragma unroll 1
            for (int slice = 0; slice < T::KEYS / SLICE; slice++) {
                __syncwarp(); // the slice before has been read
                store_weights<T>(P_smem, S_rmem, m, n);
                __syncwarp(); // the weights were written by all lanes and are read by all lanes
                const float(*V_smem)[T::D] = tile.V + slice * SLICE;
                const auto load = [&](int key, auto &a, auto &b) {
                    load_quads<T::QUAD>(a, &P_smem[key / 4][key % 4 * T::WARP_ROWS + T::QUAD * m], LANES_M * T::QUAD);
                    load_quads<4>(b, &V_smem[key][4 * n], SLICE);
                };
                if (!masked)
                    multiply_add<SLICE, false>(O_rmem, load);
                else
#pragma unroll 1
                    for (int key = 0; key < SLICE; key++) {
                        // A hidden value must not even be multiplied by its zero weight: it may be NaN.
                        float a[T::ROWS], b[T::D / LANES_N];
                        load(key, a, b);
#pragma unroll
                        for (int i = 0; i < T::ROWS; i++)
                            if (slice * SLICE + key <= last_key + T::row(i, m))
#pragma unroll
                                for (int j = 0; j < T::D / LANES_N; j++)
                                    O_rmem[i][j] += a[i] * b[j];
                    }
                next_slice(S_rmem);
            }
        }

        const int place = work.place_of(blockIdx.x, item);
        if (first == 0 && !whole && threadIdx.x == 0)
            cuts[blockIdx.x] = {item.head, item.query0, place, work.share_of(item.first_tile + item.tiles - 1)};
        Piece<T> &piece = pieces[place];
        float *o = O + (int64_t)item.head * nq * head_dim; // [nq][head_dim]
#pragma unroll
        for (int i = 0; i < T::ROWS; i++) {
            const float sum = sum_of_row(row_sum[i]);
            const int row = warp_row + T::row(i, m);
            const float factor = !whole ? 1.0f : sum == 0.0f ? 0.0f : 1.0f / sum; // a row that sees no key is 0
            float *to = whole ? o + (int64_t)(item.query0 + row) * head_dim : piece.O[row];
            if (!whole && n == 0) {
                piece.row_max[row] = seen >> i & 1 ? row_max[i] : -INFINITY;
                piece.row_sum[row] = sum;
            }
            if (!whole)
                store_quads<true>(to, O_rmem[i], factor, n, T::D);
            else if (item.query0 + row < nq && wide)
                store_quads<true>(to, O_rmem[i], factor, n, head_dim);
            else if (item.query0 + row < nq)
                store_quads<false>(to, O_rmem[i], factor, n, head_dim);
        }
        first_tile = item.first_tile + end;
    }
}

constexpr int COMBINE_WARPS = 8;

// Puts the pieces of an item together: relative to the largest of their maxima, outputs and sums add up. Grid: (shares,
// QUERIES / COMBINE_WARPS), a warp for each row of the item that is cut at the end of the share.
template <class T>
__global__ void __launch_bounds__(COMBINE_WARPS *WARP_SIZE) combine_pieces(float *O, // [batch][heads][nq][head_dim]
                                                                           const Piece<T> *pieces, // [shares][2]
                                                                           const Cut *cuts,        // [shares]
                                                                           int nq, int head_dim) {
    const int lane = threadIdx.x % WARP_SIZE, row = blockIdx.y * COMBINE_WARPS + threadIdx.x / WARP_SIZE;
    const Cut cut = cuts[blockIdx.x];
    if (cut.head < 0 || cut.query0 + row >= nq)
        return;
    const int first = blockIdx.x, last = cut.last_share;

    float row_max = -INFINITY, row_sum = 0.0f, O_rmem[T::D / WARP_SIZE] = {};
    for (int share0 = first; share0 <= last; share0 += WARP_SIZE) {
        // A lane looks after one share's maximum and sum.
        const int share = min(share0 + lane, last), shares = min(WARP_SIZE, last + 1 - share0);
        const Piece<T> &own = pieces[share == first ? cut.first_place : 2 * share];
        const float piece_max = lane < shares ? own.row_max[row] : -INFINITY;
        const float new_max = fmaxf(row_max, warp_max(piece_max));
        // TODO 3 (about 11 lines): the pieces of up to 32 shares, as in lesson 04 the tiles. This lane's share has
        // piece_max and own.row_sum[row]: find its weight relative to new_max, and the factor that mends what was added
        // up so far. Then add up, for i < shares, the outputs of share0 + i, at
        // pieces[share0 + i == first ? cut.first_place : 2 * (share0 + i)], with the weight of lane i.
        // END TODO 3
    }
    float *o = O + ((int64_t)cut.head * nq + cut.query0 + row) * head_dim; // [head_dim]
    for (int j = 0; j < T::D / WARP_SIZE; j++)
        if (j * WARP_SIZE + lane < head_dim)
            o[j * WARP_SIZE + lane] = row_sum == 0.0f ? 0.0f : O_rmem[j] / row_sum;
}

template <class T>
static cudaError_t plan(const struct attention_problem *p, struct EvenShares *work) {
    int slots;
    const cudaError_t error = blocks_at_a_time(register_tiled_attention<T>, T::THREADS, sizeof(T), &slots);
    if (error != cudaSuccess)
        return error;
    return deal_out(work, (int64_t)p->batch * p->heads, p->nq, p->nk, p->causal ? p->nk - p->nq : NO_DIAGONAL,
                    T::QUERIES, T::KEYS, slots);
}

template <class T>
static cudaError_t launch(const struct attention_problem *p, cudaStream_t stream) {
    struct EvenShares work;
    const cudaError_t error = plan<T>(p, &work);
    if (error != cudaSuccess)
        return error;
    Piece<T> *pieces = (Piece<T> *)p->workspace;
    Cut *cuts = (Cut *)(pieces + 2 * work.shares);
    const bool wide =
        rows_are_float4(p->q, p->head_dim) && rows_are_float4(p->v, p->head_dim) && rows_are_float4(p->o, p->head_dim);
    register_tiled_attention<T><<<work.shares, T::THREADS, sizeof(T), stream>>>(
        (const float *)p->q, (const float *)p->k, (const float *)p->v, (float *)p->o, pieces, cuts, work, p->head_dim,
        wide, p->softmax_scale);
    combine_pieces<T><<<dim3(work.shares, T::QUERIES / COMBINE_WARPS), COMBINE_WARPS * WARP_SIZE, 0, stream>>>(
        (float *)p->o, pieces, cuts, p->nq, p->head_dim);
    return cudaGetLastError();
}

// Calls use() with the tile for the problem: warps, rows of a thread and keys as measured best for each size.
template <class Use>
static auto with_tile(const struct attention_problem *p, Use use) {
    const int d = p->head_dim;
    return d <= 32    ? with_largest<Tile<32, 4, 8, 64>, Tile<32, 4, 4, 64>, Tile<32, 2, 4, 32>>(p, use)
           : d <= 64  ? with_largest<Tile<64, 4, 8, 64>, Tile<64, 4, 4, 64>, Tile<64, 2, 4, 32>>(p, use)
           : d <= 96  ? with_largest<Tile<96, 8, 8, 64>, Tile<96, 4, 4, 64>, Tile<96, 2, 4, 32>>(p, use)
           : d <= 128 ? with_largest<Tile<128, 8, 8, 64>, Tile<128, 4, 4, 64>, Tile<128, 2, 4, 32>>(p, use)
           : d <= 256 ? with_largest<Tile<256, 8, 4, 32>, Tile<256, 4, 4, 64>, Tile<256, 2, 4, 32>>(p, use)
                      : with_largest<Tile<512, 4, 2, 32>>(p, use);
}

static size_t workspace_bytes(const struct attention_problem *p) {
    return with_tile(p, [=](auto *tile) {
        using T = std::remove_pointer_t<decltype(tile)>;
        struct EvenShares work;
        return plan<T>(p, &work) == cudaSuccess ? work.shares * (2 * sizeof(Piece<T>) + sizeof(Cut)) : 0;
    });
}

static size_t shared_bytes(const struct attention_problem *p) {
    return with_tile(p, [](auto *tile) { return sizeof(std::remove_pointer_t<decltype(tile)>); });
}

const struct attention_lesson attention_lesson = {
    .dtypes = 1u << ATTENTION_FP32,
    .max_head_dim = 512,
    .causal = 1,
    .lse = 0,
    .strided = 0,
    .grouped_heads = 0,
    .min_compute_capability = 75,
    .workspace_bytes = workspace_bytes,
    .shared_bytes = shared_bytes,
};

cudaError_t attention_forward(const struct attention_problem *p, cudaStream_t stream) {
    return with_tile(p, [=](auto *tile) { return launch<std::remove_pointer_t<decltype(tile)>>(p, stream); });
}
