// Lesson 21: fp32 on bf16 tensor cores (BF16x6). Every number is split into three bf16 parts whose sum it is, and a
// product of two numbers becomes six products of parts. Tensor cores add up one tile; fp32 additions do the rest.
//
// architecture: sm_90a
#include "attention.h"
#include "bf16_parts.cuh"
#include "even_shares.cuh"
#include "even_shares_wgmma.cuh"
#include "ex2.cuh"
#include "hopper.cuh"
#include "kernel_config.cuh"
#include "mask.cuh"
#include "mma.cuh"
#include "reduce.cuh"
#include "warp_specialization.cuh"
#include "wgmma.cuh"

using E = __nv_bfloat16;
constexpr float LOG2_E = 1.44269504f;

// A kernel's compile-time sizes and, as its members, the kernel's shared memory. D is head_dim rounded up to one of a
// few sizes, so that register arrays have constant sizes and loops unroll. A thread holds ROWS rows of results,
// LANE_KEYS columns of S and LANE_COLUMNS of O.
template <int D_, int CONSUMER_WARPGROUPS_, int KEYS_, int SLOTS_>
struct KernelTraits {
    static constexpr int D = D_, CONSUMER_WARPGROUPS = CONSUMER_WARPGROUPS_, KEYS = KEYS_, SLOTS = SLOTS_;
    static constexpr int QUERIES = CONSUMER_WARPGROUPS * WARPGROUP_ROWS;
    static constexpr int THREADS = (CONSUMER_WARPGROUPS + 1) * WARPGROUP_SIZE; // with the producer warpgroup
    static constexpr int ROWS = LANE_ROWS, WARP_ROWS = ::WARP_ROWS, LANES_PER_ROW = 4, VECTOR = 2;
    static constexpr int LANE_KEYS = KEYS / LANES_PER_ROW, LANE_COLUMNS = D / LANES_PER_ROW;
    static constexpr int PV_COLUMNS = PANEL; // of P V at a time, which needs registers of its own
    static constexpr int BATCH = KEYS * D / 4 / WARPGROUP_SIZE < 8 ? KEYS * D / 4 / WARPGROUP_SIZE : 8; // float4s
    static_assert(has_wgmma(KEYS) && has_wgmma(PV_COLUMNS), "wgmma.cuh has a wgmma with N = KEYS, and N = PV_COLUMNS");

    SplitTile<D, WARPGROUP_ROWS> Q[CONSUMER_WARPGROUPS];
    SplitTile<D, KEYS> KV[SLOTS];       // a ring of tiles of K and of V in turn
    uint64_t full[SLOTS], empty[SLOTS]; // mbarriers: all producer threads have written; the consumers have released
};

// Splits x and y into bf16 parts: x is the sum of the lower halves, y of the upper halves.
__device__ inline void split(uint32_t (&parts)[PARTS], float x, float y) {
    // TODO 1 (about 5 lines): Round x and y to bf16 by cvt_rn_x2<E>(x, y), which packs them; that is the first part.
    // Round what is left of x and y to the next part, and so on. A bf16 number is the upper half of a float.
    // END TODO 1
}

// The producer warpgroup: loads the tiles of K and V of the block's share, splits them, and writes the parts to the
// ring. While it splits a batch, the loads of the next one are in flight.
template <class T>
__device__ inline void produce(T &smem, const struct attention_problem &p, bool vectorized,
                               const struct EvenShares &scheduler) {
    constexpr int BATCHES = T::KEYS * T::D / 4 / WARPGROUP_SIZE / T::BATCH; // of a tile
    const int end_tile = scheduler.first_tile_of(blockIdx.x + 1);
    PipelineState<T::SLOTS> ring;
    for (int tile = scheduler.first_tile_of(blockIdx.x); tile < end_tile;) {
        const EvenShares::WorkTile work_tile = scheduler.work_tile_at(tile);
        const int first = tile - work_tile.first_tile, end = min(work_tile.tiles, end_tile - work_tile.first_tile);
        const int64_t offset = (int64_t)work_tile.head * p.nk * p.head_dim;
        const int batches = (end - first) * 2 * BATCHES;
        float4 next[T::BATCH];
        auto load = [&](int i) { // batch i of the K and V tiles in the order of the ring
            const float *from = (const float *)(i / BATCHES % 2 ? p.v : p.k) + offset;
            load_batch<T::D>(next, from, (first + i / BATCHES / 2) * T::KEYS, p.nk, p.head_dim, i % BATCHES * T::BATCH,
                             vectorized);
        };
        load(0);
#pragma unroll 1
        for (int i = 0; i < batches; i++) {
            float4 batch[T::BATCH];
            for (int n = 0; n < T::BATCH; n++)
                batch[n] = next[n];
            if (i + 1 < batches)
                load(i + 1);
            if (i % BATCHES == 0)
                mbarrier_wait(&smem.empty[ring.stage], ring.phase ^ 1);
            store_parts<T::D>(smem.KV[ring.stage], batch, i % BATCHES * T::BATCH);
            if (i % BATCHES == BATCHES - 1) {
                fence_proxy_async();
                mbarrier_arrive(&smem.full[ring.stage]);
                ring.advance();
            }
        }
        tile += end - first;
    }
}

// Calls multiply(i, j) for the products of part i of A and part j of B that are added up.
template <class Multiply>
__device__ inline void for_each_product(Multiply multiply) {
    // TODO 2 (about 6 lines): Six of the nine products are larger than 2^-24 of the whole. Tensor cores cut off what a
    // sum has no place for: begin with the smallest products.
    // END TODO 2
}

// Issues the wgmmas of S_rmem = Q K^T for the warpgroup's rows and all keys of the tile.
template <class T>
__device__ inline void issue_qk(float (&S_rmem)[LANE_ROWS][T::LANE_KEYS], uint32_t q_desc, uint32_t k_desc) {
    q_desc = warp_uniform(q_desc), k_desc = warp_uniform(k_desc);
    bool add = false;
    for_each_product([&](int i, int j) {
#pragma unroll
        for (int column = 0; column < T::D; column += 16) {
            const int panel = column / PANEL, panel_column = column % PANEL;
            const int q = (i * (T::D / PANEL) + panel) * WARPGROUP_ROWS * PANEL + panel_column;
            const int k = (j * (T::D / PANEL) + panel) * T::KEYS * PANEL + panel_column;
            wgmma<E>(S_rmem, q_desc + descriptor_offset(q * sizeof(E)), k_desc + descriptor_offset(k * sizeof(E)), add);
            add = true;
        }
    });
}

// Issues the wgmmas of PV_rmem = P V for the warpgroup's rows and PV_COLUMNS columns.
template <class T>
__device__ inline void issue_pv(float (&PV_rmem)[LANE_ROWS][T::PV_COLUMNS / T::LANES_PER_ROW],
                                const uint32_t (&P_rmem)[PARTS * T::KEYS / 16][4], uint32_t v_desc) {
    v_desc = warp_uniform(v_desc);
    bool add = false;
    for_each_product([&](int i, int j) {
#pragma unroll
        for (int key = 0; key < T::KEYS; key += 16) {
            const int v = (j * (T::D / PANEL) * T::KEYS + key) * PANEL;
            wgmma<E>(PV_rmem, P_rmem[(i * T::KEYS + key) / 16], v_desc + descriptor_offset(v * sizeof(E)), add);
            add = true;
        }
    });
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

// Loads the warpgroup's queries, scales and splits them. Named barrier 1 + warpgroup: its threads wait for one another.
template <class T>
__device__ inline void load_queries(SplitTile<T::D, WARPGROUP_ROWS> &Q_smem, const struct attention_problem &p,
                                    bool vectorized, int head, int query0, int warpgroup) {
    const int row0 = query0 + warpgroup * WARPGROUP_ROWS;
    const float *q = (const float *)p.q + (int64_t)head * p.nq * p.head_dim; // [nq][head_dim]
    const float scale = p.softmax_scale * LOG2_E;
    bar_sync(1 + warpgroup, WARPGROUP_SIZE); // no wgmma of another warp reads the previous queries
#pragma unroll 1
    for (int n = 0; n < WARPGROUP_ROWS * T::D / 4 / WARPGROUP_SIZE; n += T::BATCH) {
        float4 batch[T::BATCH];
        load_batch<T::D>(batch, q, row0, p.nq, p.head_dim, n, vectorized);
        for (int i = 0; i < T::BATCH; i++)
            batch[i] = scaled(scale, batch[i]);
        store_parts<T::D>(Q_smem, batch, n);
    }
    fence_proxy_async();
    bar_sync(1 + warpgroup, WARPGROUP_SIZE);
}

// Adds the attention of the warpgroup's queries to tiles first .. end - 1 of the keys: the output before the division,
// the row maxima, and the lane's partial row sums.
template <class T>
__device__ inline void attend(T &smem, const struct attention_problem &p, int query0, int first, int end,
                              PipelineState<T::SLOTS> &ring, float (&O_rmem)[T::ROWS][T::LANE_COLUMNS],
                              float (&row_max)[T::ROWS], float (&row_sum)[T::ROWS]) {
    const int lane = threadIdx.x % WARP_SIZE, warp_row0 = threadIdx.x / WARP_SIZE * T::WARP_ROWS;
    const int causal_offset = p.causal ? p.nk - p.nq : NO_CAUSAL_LIMIT; // query i: keys 0 .. i + causal_offset
    const uint32_t q_desc = descriptor_low(smem.Q[threadIdx.x / WARPGROUP_SIZE]);
#pragma unroll 1
    for (int key0 = first * T::KEYS; key0 < end * T::KEYS; key0 += T::KEYS) {
        float S_rmem[T::ROWS][T::LANE_KEYS], rescale[T::ROWS];
        mbarrier_wait(&smem.full[ring.stage], ring.phase);
        wgmma_fence(S_rmem);
        issue_qk<T>(S_rmem, q_desc, descriptor_low(smem.KV[ring.stage]));
        wgmma_commit_group();
        wgmma_wait_group<0>(S_rmem);
        consumer_release(&smem.empty[ring.stage]);
        ring.advance();

        // Row r of the warp attends to keys 0 .. row0_last_key + r of the tile.
        const int row0_last_key = query0 + warp_row0 + causal_offset - key0;
        if (row0_last_key < T::KEYS - 1 || key0 + T::KEYS > p.nk)
            apply_mask<T>(S_rmem, row0_last_key, p.nk - 1 - key0, lane);
        online_softmax<T>(S_rmem, row_max, row_sum, rescale);
        uint32_t P_rmem[PARTS * T::KEYS / 16][4];
        split_weights<T>(P_rmem, S_rmem);

        mbarrier_wait(&smem.full[ring.stage], ring.phase);
        const uint32_t v_desc = descriptor_low(smem.KV[ring.stage]);
#pragma unroll
        for (int column = 0; column < T::D; column += T::PV_COLUMNS) {
            float PV_rmem[LANE_ROWS][T::PV_COLUMNS / T::LANES_PER_ROW];
            wgmma_fence(PV_rmem, P_rmem);
            issue_pv<T>(PV_rmem, P_rmem, v_desc + descriptor_offset(column * T::KEYS * sizeof(E)));
            wgmma_commit_group();
            wgmma_wait_group<0>(PV_rmem, P_rmem);
            // TODO 3 (about 4 lines): Multiply the columns of O_rmem by rescale[], and add PV_rmem to them.
            // END TODO 3
        }
        consumer_release(&smem.empty[ring.stage]);
        ring.advance();
    }
}

// A consumer warpgroup: computes its rows of the output of the block's share.
template <class T>
__device__ inline void consume(T &smem, const struct attention_problem &p, bool vectorized,
                               const struct EvenShares &scheduler, int warpgroup) {
    const int end_tile = scheduler.first_tile_of(blockIdx.x + 1);
    PipelineState<T::SLOTS> ring;
    for (int tile = scheduler.first_tile_of(blockIdx.x); tile < end_tile;) {
        const EvenShares::WorkTile work_tile = scheduler.work_tile_at(tile);
        const int head = work_tile.head, query0 = work_tile.query0;
        const int first = tile - work_tile.first_tile, end = min(work_tile.tiles, end_tile - work_tile.first_tile);
        float *o = (float *)p.o + ((int64_t)head * p.nq + query0) * p.head_dim; // [nq - query0][head_dim]
        load_queries<T>(smem.Q[warpgroup], p, vectorized, head, query0, warpgroup);
        float O_rmem[T::ROWS][T::LANE_COLUMNS] = {}, row_max[] = {-INFINITY, -INFINITY}, row_sum[T::ROWS] = {};
        attend<T>(smem, p, query0, first, end, ring, O_rmem, row_max, row_sum);
        if (end - first == work_tile.tiles)
            store_output<T>(o, p.nq - query0, p.head_dim, vectorized, O_rmem, row_sum);
        else
            store_partial<T>(p, 2 * blockIdx.x + (first == 0), O_rmem, row_max, row_sum);
        tile += end - first;
    }
}

// Grid: one block per share of the key tiles, all resident at the same time; no block waits for another.
// Warpgroups 0 .. CONSUMER_WARPGROUPS - 1 compute 64 rows of the output each, a warp 16 of them, and a quad of lanes
// all columns of two rows. The last warpgroup is the producer: it waits on `empty`, the others on `full`.
template <class T>
__global__ void __launch_bounds__(T::THREADS, 1)
    attention_kernel(const __grid_constant__ struct attention_problem p, bool vectorized,
                     const __grid_constant__ struct EvenShares scheduler) {
    extern __shared__ __align__(1024) unsigned char dynamic_smem[]; // the swizzle depends on address bits
    T &smem = *reinterpret_cast<T *>(dynamic_smem);
    if (threadIdx.x == 0) {
        mbarriers_init(smem.full, WARPGROUP_SIZE);
        mbarriers_init(smem.empty, T::CONSUMER_WARPGROUPS);
    }
    __syncthreads();
    const int warpgroup = canonical_warpgroup_index();
    if (warpgroup < T::CONSUMER_WARPGROUPS) {
        if (T::CONSUMER_WARPGROUPS > 1) // one consumer warpgroup may have 255 registers a thread as it is
            setmaxnreg_inc<192>();
        consume(smem, p, vectorized, scheduler, warpgroup);
        return;
    }
    if (T::CONSUMER_WARPGROUPS > 1)
        setmaxnreg_dec<120>();
    produce(smem, p, vectorized, scheduler);
}

using Configs = ConfigList<KernelTraits<64, 2, 64, 6>, KernelTraits<64, 1, 64, 6>, KernelTraits<64, 1, 32, 4>,
                           KernelTraits<128, 2, 64, 2>, KernelTraits<128, 1, 64, 3>, KernelTraits<128, 1, 32, 4>,
                           KernelTraits<256, 1, 32, 2>>;

#include "even_shares_launch.cuh"

const struct attention_lesson attention_lesson = {
    .dtypes = 1u << ATTENTION_FP32,
    .max_head_dim = 256,
    .causal = 1,
    .min_compute_capability = 90,
    .workspace_bytes = workspace_bytes,
    .shared_bytes = shared_bytes,
    .deterministic = 1,
};
