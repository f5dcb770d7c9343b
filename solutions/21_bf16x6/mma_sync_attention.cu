// Lesson 21 for GPUs without wgmma: the same parts and products by mma.sync, from sm_80 on. All warps of a block load a
// tile, split it and store its parts; while they compute, the loads of the next tile are in flight.
//
// architecture: sm_80
#include "attention.h"
#include "bf16_parts.cuh"
#include "even_shares.cuh"
#include "even_shares_wgmma.cuh"
#include "ex2.cuh"
#include "kernel_config.cuh"
#include "mask.cuh"
#include "mma.cuh"
#include "reduce.cuh"

using E = __nv_bfloat16;
constexpr float LOG2_E = 1.44269504f;

// A kernel's compile-time sizes and, as its members, the kernel's shared memory. D is head_dim rounded up to one of a
// few sizes, so that register arrays have constant sizes and loops unroll. A lane holds ROWS rows of results,
// LANE_KEYS columns of S and LANE_COLUMNS of O.
template <int D_, int KEYS_>
struct KernelTraits {
    static constexpr int D = D_, KEYS = KEYS_, THREADS = WARPGROUP_SIZE;
    static constexpr int ROWS = 2, WARP_ROWS = 16, LANES_PER_ROW = 4, VECTOR = 2;
    static constexpr int QUERIES = THREADS / WARP_SIZE * WARP_ROWS;
    static constexpr int LANE_KEYS = KEYS / LANES_PER_ROW, LANE_COLUMNS = D / LANES_PER_ROW;
    static constexpr int PV_COLUMNS = 32; // of P V at a time, which needs registers of its own
    static constexpr int BATCH = 8;       // float4s that a thread loads at a time
    static_assert(KEYS * D == THREADS * BATCH * 4, "a tile of K or V is one batch of each thread");

    SplitTile<D, QUERIES> Q;
    SplitTile<D, KEYS> K, V;
};

// Splits x and y into bf16 parts: x is the sum of the lower halves, y of the upper halves.
__device__ inline void split(uint32_t (&parts)[PARTS], float x, float y) {
#pragma unroll
    for (int part = 0; part < PARTS; part++) {
        parts[part] = cvt_rn_x2<E>(x, y);
        x -= __uint_as_float(parts[part] << 16);
        y -= __uint_as_float(parts[part] & 0xffff0000);
    }
}

// The address of the chunk of a row that begins at a column, as store_parts() has swizzled it.
template <int D, int ROWS>
__device__ inline const E *chunk_of(const SplitTile<D, ROWS> &tile_smem, int part, int row, int column) {
    return &tile_smem[part][column / PANEL][row][column % PANEL ^ row % 8 * CHUNK];
}

// The sums of the products of parts: the first parts' in `large`, all others', at most 2^-8 of them, in `small`. Tensor
// cores cut off what a sum has no place for, so small products must not be added to a large sum.
template <int ROWS, int COLUMNS>
struct SplitSum {
    float large[ROWS][COLUMNS] = {}, small[ROWS][COLUMNS] = {};

    // Adds a product of a k-step for the 16 columns from lane column j on: six MMAs for each 8 columns.
    __device__ void add(const uint32_t (&a)[PARTS][4], const uint32_t (&b)[PARTS][4], int j) {
#pragma unroll
        for (int n = 0; n < 2; n++) {
            auto multiply = [&](float(&sum)[ROWS][COLUMNS], int i, int k) {
                mma_m16n8k16<E>(&sum[0][j + 2 * n], &sum[1][j + 2 * n], a[i], &b[k][2 * n]);
            };
            multiply(small, 2, 0);
            multiply(small, 0, 2);
            multiply(small, 1, 1);
            multiply(small, 1, 0);
            multiply(small, 0, 1);
            multiply(large, 0, 0);
        }
    }
};

// S_rmem = Q K^T for the warp's rows and all keys of the tile.
template <class T>
__device__ inline void gemm_qk(float (&S_rmem)[T::ROWS][T::LANE_KEYS], const T &smem, int warp_row0, int lane) {
    SplitSum<T::ROWS, T::LANE_KEYS> sum;
#pragma unroll
    for (int column = 0; column < T::D; column += 16) {
        uint32_t q[PARTS][4];
        for (int part = 0; part < PARTS; part++)
            ldmatrix_x4(q[part],
                        chunk_of<T::D, T::QUERIES>(smem.Q, part, warp_row0 + lane % 16, column + lane / 16 * 8));
#pragma unroll
        for (int key = 0; key < T::KEYS; key += 16) {
            uint32_t k[PARTS][4]; // keys 0 .. 7, two registers, and keys 8 .. 15
            for (int part = 0; part < PARTS; part++)
                ldmatrix_x4(k[part], chunk_of<T::D, T::KEYS>(smem.K, part, key + lane / 16 * 8 + lane % 8,
                                                             column + lane / 8 % 2 * 8));
            sum.add(q, k, key / T::LANES_PER_ROW);
        }
    }
    for (int i = 0; i < T::ROWS; i++)
        for (int j = 0; j < T::LANE_KEYS; j++)
            S_rmem[i][j] = sum.large[i][j] + sum.small[i][j];
}

// O_rmem = O_rmem * rescale + P V. Tensor cores add up the keys of one tile; an fp32 multiply-add, which rounds to
// nearest, adds the tile to the output.
template <class T>
__device__ inline void gemm_pv(float (&O_rmem)[T::ROWS][T::LANE_COLUMNS], const float (&rescale)[T::ROWS],
                               const uint32_t (&P_rmem)[PARTS * T::KEYS / 16][4], const T &smem, int lane) {
#pragma unroll
    for (int column0 = 0; column0 < T::D; column0 += T::PV_COLUMNS) {
        SplitSum<T::ROWS, T::PV_COLUMNS / T::LANES_PER_ROW> sum;
#pragma unroll
        for (int key = 0; key < T::KEYS; key += 16) {
            uint32_t weights[PARTS][4];
            for (int part = 0; part < PARTS; part++)
                for (int n = 0; n < 4; n++)
                    weights[part][n] = P_rmem[(part * T::KEYS + key) / 16][n];
#pragma unroll
            for (int column = 0; column < T::PV_COLUMNS; column += 16) {
                uint32_t v[PARTS][4]; // columns 0 .. 7, two registers, and columns 8 .. 15
                for (int part = 0; part < PARTS; part++)
                    ldmatrix_x4_trans(v[part], chunk_of<T::D, T::KEYS>(smem.V, part, key + lane % 16,
                                                                       column0 + column + lane / 16 * 8));
                sum.add(weights, v, column / T::LANES_PER_ROW);
            }
        }
        for (int i = 0; i < T::ROWS; i++)
            for (int j = 0; j < T::PV_COLUMNS / T::LANES_PER_ROW; j++) {
                float &o = O_rmem[i][column0 / T::LANES_PER_ROW + j];
                o = o * rescale[i] + (sum.large[i][j] + sum.small[i][j]);
            }
    }
}

// Replaces the scores of a tile by their weights, and updates maxima and sums. The caller multiplies the output
// accumulator by rescale[].
template <class T>
__device__ inline void online_softmax(float (&S_rmem)[T::ROWS][T::LANE_KEYS], float (&row_max)[T::ROWS],
                                      float (&row_sum)[T::ROWS], float (&rescale)[T::ROWS]) {
#pragma unroll
    for (int i = 0; i < T::ROWS; i++) {
        float lane_max = S_rmem[i][0], lane_sum = 0.0f;
        for (int j = 1; j < T::LANE_KEYS; j++)
            lane_max = fmaxf(lane_max, S_rmem[i][j]);
        const float new_max = fmaxf(row_max[i], lanes_max<T::LANES_PER_ROW>(lane_max));
        const float shift = new_max == -INFINITY ? 0.0f : new_max; // -inf - -inf would be NaN
        rescale[i] = ex2(row_max[i] - shift);
        row_max[i] = new_max;
        for (int j = 0; j < T::LANE_KEYS; j++) {
            S_rmem[i][j] = ex2(S_rmem[i][j] - shift);
            lane_sum += S_rmem[i][j];
        }
        row_sum[i] = row_sum[i] * rescale[i] + lane_sum;
    }
}

// Loads the block's queries, scales and splits them.
template <class T>
__device__ inline void load_queries(T &smem, const struct attention_problem &p, bool vectorized, int head, int query0) {
    const float *q = (const float *)p.q + (int64_t)head * p.nq * p.head_dim; // [nq][head_dim]
    const float scale = p.softmax_scale * LOG2_E;
#pragma unroll 1
    for (int n = 0; n < T::QUERIES * T::D / 4 / T::THREADS; n += T::BATCH) {
        float4 batch[T::BATCH];
        load_batch<T::D>(batch, q, query0, p.nq, p.head_dim, n, vectorized);
        for (int i = 0; i < T::BATCH; i++)
            batch[i] = scaled(scale, batch[i]);
        store_parts<T::D>(smem.Q, batch, n);
    }
}

// Adds the attention of the block's queries to tiles first .. end - 1 of the keys: the output before the division, the
// row maxima, and the lane's partial row sums. K and V lie in buffers of their own, so that one __syncthreads() a tile
// of either is enough: a thread that overwrites one has passed the barrier that all reach when they have read it.
template <class T>
__device__ inline void attend(T &smem, const struct attention_problem &p, bool vectorized, int head, int query0,
                              int first, int end, float (&O_rmem)[T::ROWS][T::LANE_COLUMNS], float (&row_max)[T::ROWS],
                              float (&row_sum)[T::ROWS]) {
    const int lane = threadIdx.x % WARP_SIZE, warp_row0 = threadIdx.x / WARP_SIZE * T::WARP_ROWS;
    const int causal_offset = p.causal ? p.nk - p.nq : NO_CAUSAL_LIMIT; // query i: keys 0 .. i + causal_offset
    const int64_t offset = (int64_t)head * p.nk * p.head_dim;
    const float *k = (const float *)p.k + offset, *v = (const float *)p.v + offset; // [nk][head_dim]
    float4 next[T::BATCH];
    load_batch<T::D>(next, k, first * T::KEYS, p.nk, p.head_dim, 0, vectorized);
#pragma unroll 1
    for (int key0 = first * T::KEYS; key0 < end * T::KEYS; key0 += T::KEYS) {
        float S_rmem[T::ROWS][T::LANE_KEYS], rescale[T::ROWS];
        store_parts<T::D>(smem.K, next, 0);
        load_batch<T::D>(next, v, key0, p.nk, p.head_dim, 0, vectorized);
        __syncthreads();
        gemm_qk<T>(S_rmem, smem, warp_row0, lane);

        // Row r of the warp attends to keys 0 .. row0_last_key + r of the tile.
        const int row0_last_key = query0 + warp_row0 + causal_offset - key0;
        if (row0_last_key < T::KEYS - 1 || key0 + T::KEYS > p.nk)
            apply_mask<T>(S_rmem, row0_last_key, p.nk - 1 - key0, lane);
        online_softmax<T>(S_rmem, row_max, row_sum, rescale);
        uint32_t P_rmem[PARTS * T::KEYS / 16][4];
        split_weights<T>(P_rmem, S_rmem);

        store_parts<T::D>(smem.V, next, 0);
        if (key0 + T::KEYS < end * T::KEYS)
            load_batch<T::D>(next, k, key0 + T::KEYS, p.nk, p.head_dim, 0, vectorized);
        __syncthreads();
        gemm_pv<T>(O_rmem, rescale, P_rmem, smem, lane);
    }
}

// Grid: one block per share of the key tiles, all resident at the same time; no block waits for another. A warp
// computes 16 rows of the output, and a quad of lanes all columns of two rows.
template <class T>
__global__ void __launch_bounds__(T::THREADS)
    attention_kernel(const __grid_constant__ struct attention_problem p, bool vectorized,
                     const __grid_constant__ struct EvenShares scheduler) {
    extern __shared__ float4 dynamic_smem[];
    T &smem = *reinterpret_cast<T *>(dynamic_smem);
    const int end_tile = scheduler.first_tile_of(blockIdx.x + 1);
    for (int tile = scheduler.first_tile_of(blockIdx.x); tile < end_tile;) {
        const EvenShares::WorkTile work_tile = scheduler.work_tile_at(tile);
        const int head = work_tile.head, query0 = work_tile.query0;
        const int first = tile - work_tile.first_tile, end = min(work_tile.tiles, end_tile - work_tile.first_tile);
        float *o = (float *)p.o + ((int64_t)head * p.nq + query0) * p.head_dim; // [nq - query0][head_dim]
        __syncthreads(); // every warp has read the previous work tile's queries and its last tile of K
        load_queries(smem, p, vectorized, head, query0);
        float O_rmem[T::ROWS][T::LANE_COLUMNS] = {}, row_max[] = {-INFINITY, -INFINITY}, row_sum[T::ROWS] = {};
        attend<T>(smem, p, vectorized, head, query0, first, end, O_rmem, row_max, row_sum);
        if (end - first == work_tile.tiles)
            store_output<T>(o, p.nq - query0, p.head_dim, vectorized, O_rmem, row_sum);
        else
            store_partial<T>(p, 2 * blockIdx.x + (first == 0), O_rmem, row_max, row_sum);
        tile += end - first;
    }
}

using Configs = ConfigList<KernelTraits<64, 64>, KernelTraits<128, 32>, KernelTraits<256, 16>>;

#include "even_shares_launch.cuh"

const struct attention_lesson attention_lesson = {
    .dtypes = 1u << ATTENTION_FP32,
    .max_head_dim = 256,
    .causal = 1,
    .min_compute_capability = 80,
    .workspace_bytes = workspace_bytes,
    .shared_bytes = shared_bytes,
    .deterministic = 1,
};
