// Lesson 28: the backward pass with the same bits in every run. The blocks of a head add to a tile of dQ in the order
// of their keys: each waits for the one before it. Blocks take their keys by tickets, so that none waits for a block
// that has not started.
//
// architecture: sm_90a
#include "attention_backward.h"
#include "backward_rows.cuh"
#include "backward_wgmma.cuh"
#include "bulk.cuh"
#include "chunk.cuh"
#include "hopper.cuh"
#include "kernel_config.cuh"
#include "key_gradients.cuh"
#include "semaphore.cuh"
#include "tensor_maps.cuh"
#include "warp_specialization.cuh"

constexpr int CONSUMER_WARPGROUPS = 2, CONSUMER_THREADS = CONSUMER_WARPGROUPS * WARPGROUP_SIZE;
constexpr int THREADS = CONSUMER_THREADS + WARPGROUP_SIZE; // with the warpgroup of the producer and the dQ warp
constexpr int DS_BARRIER = 1;                              // ID of the named barrier of the consumers

// A kernel's compile-time sizes and, as its members, the kernel's shared memory. D is head_dim rounded up to one of a
// few sizes. PARTS warpgroups share 64 keys: each of them computes their scores and D / PARTS columns of dK and dV.
template <class E_, int D_, int PARTS_, int STAGES_>
struct KernelTraits {
    using E = E_; // __half or __nv_bfloat16
    static constexpr int D = D_, PARTS = PARTS_, STAGES = STAGES_, QUERIES = WARPGROUP_ROWS;
    static constexpr int KEYS = CONSUMER_WARPGROUPS / PARTS * WARPGROUP_ROWS;
    static constexpr int LANE_QUERIES = QUERIES / LANES_PER_ROW, LANE_COLUMNS = D / PARTS / LANES_PER_ROW;
    static constexpr int PANELS = D / PANEL;
    using Order = TileOrder<D, CONSUMER_WARPGROUPS>;
    static constexpr int DQ_COLUMNS = Order::COLUMNS;

    // A panel has 64 columns of all rows: rows of 128 bytes, swizzled.
    E K[PANELS][KEYS][PANEL], V[PANELS][KEYS][PANEL];
    E Q[STAGES][PANELS][QUERIES][PANEL], dO[STAGES][PANELS][QUERIES][PANEL];
    E dS[2][KEYS][PANEL]; // dS^T: [key][query]; of this tile and of the one before
    float dQ[CONSUMER_WARPGROUPS][Order::FLOATS];
    float lse[STAGES][QUERIES], delta[STAGES][QUERIES];
    uint64_t KV_full, Q_full[STAGES], dO_full[STAGES]; // mbarriers: the loads are complete
    uint64_t Q_empty[STAGES], dO_empty[STAGES];        // the consumer warpgroups have released the stage
    // The warpgroup has written its part of dQ; the dQ warp has read it.
    uint64_t dQ_full[CONSUMER_WARPGROUPS], dQ_empty[CONSUMER_WARPGROUPS];
    unsigned ticket; // of the block
};

struct BackwardMaps {
    CUtensorMap q, k, v, d_o;
};

// A tile of keys of a key head, and the tiles of queries that see it: the same ones of each head of the group.
struct KeyTile {
    int batch, kv_head, key0, first_tile, tiles, group;

    // Tile i of all heads of the group; of a head, the last one first, to which all blocks add.
    __device__ int head(int i) const {
        return kv_head * group + i / tiles;
    }
    __device__ int query_tile(int i) const {
        return first_tile + tiles - 1 - i % tiles;
    }
};

// Heads whose queries, their gradients and accumulators fit in L2 are worked on at the same time, of all of them the
// first keys first, which most queries see if attention is causal.
template <class T>
__device__ inline KeyTile key_tile_at(const struct attention_problem &p, int index, int heads_at_once) {
    const int key_blocks = (p.nk + T::KEYS - 1) / T::KEYS, query_tiles = (p.nq + T::QUERIES - 1) / T::QUERIES;
    const int causal_offset = p.causal ? p.nk - p.nq : p.nk; // query i sees keys 0 .. i + causal_offset
    KeyTile tile = {};
    const int set = index / (heads_at_once * key_blocks), in_set = index % (heads_at_once * key_blocks);
    const int heads = min(heads_at_once, p.batch * p.kv_heads - set * heads_at_once);
    const int head = set * heads_at_once + in_set % heads;
    tile.batch = head / p.kv_heads, tile.kv_head = head % p.kv_heads, tile.key0 = in_set / heads * T::KEYS;
    tile.first_tile = max(0, tile.key0 - causal_offset) / T::QUERIES;
    tile.tiles = max(0, query_tiles - tile.first_tile);
    tile.group = p.heads / p.kv_heads;
    return tile;
}

// The producer, one thread.
template <class T, class E = typename T::E>
__device__ inline void produce(T &smem, const BackwardMaps &maps, const struct attention_problem &p,
                               const struct BackwardRows &rows, const KeyTile &tile) {
    auto load = [](auto &to_smem, const CUtensorMap &from, uint64_t *full, int row0, int head, int batch) {
        for (int i = 0; i < T::PANELS; i++)
            cp_async_bulk_tensor(to_smem[i], &from, full, i * PANEL, row0, head, batch);
    };
    const int iterations = tile.group * tile.tiles;
    PipelineState<T::STAGES> pipe;
    if (iterations > 0) {
        mbarrier_arrive_expect_tx(&smem.KV_full, 2 * sizeof smem.K);
        load(smem.K, maps.k, &smem.KV_full, tile.key0, tile.kv_head, tile.batch);
        load(smem.V, maps.v, &smem.KV_full, tile.key0, tile.kv_head, tile.batch);
    }
    for (int i = 0; i < iterations; i++, pipe.advance()) {
        const int stage = pipe.stage, head = tile.head(i), query0 = tile.query_tile(i) * T::QUERIES;
        const int64_t row0 = ((int64_t)tile.batch * p.heads + head) * rows.padded + query0;
        mbarrier_wait(&smem.Q_empty[stage], pipe.phase ^ 1);
        mbarrier_arrive_expect_tx(&smem.Q_full[stage], sizeof smem.Q[0] + sizeof smem.lse[0]);
        load(smem.Q[stage], maps.q, &smem.Q_full[stage], query0, head, tile.batch);
        cp_async_bulk(smem.lse[stage], rows.lse + row0, sizeof smem.lse[0], &smem.Q_full[stage]);
        mbarrier_wait(&smem.dO_empty[stage], pipe.phase ^ 1);
        mbarrier_arrive_expect_tx(&smem.dO_full[stage], sizeof smem.dO[0] + sizeof smem.delta[0]);
        load(smem.dO[stage], maps.d_o, &smem.dO_full[stage], query0, head, tile.batch);
        cp_async_bulk(smem.delta[stage], rows.delta + row0, sizeof smem.delta[0], &smem.dO_full[stage]);
    }
}

// The dQ warp, one thread: adds what the consumers have written to the accumulator, after the blocks of all keys before
// these. turn: [heads of all batches][tiles of queries], the number of blocks that have added to each tile.
template <class T>
__device__ inline void send_dq(T &smem, const struct attention_problem &p, const struct BackwardRows &rows,
                               const KeyTile &tile, unsigned *turn) {
    const unsigned rank = tile.key0 / T::KEYS;
    for (int i = 0; i < tile.group * tile.tiles; i++) {
        const int64_t head = (int64_t)tile.batch * p.heads + tile.head(i);
        const int64_t query_tile = head * (rows.padded / T::QUERIES) + tile.query_tile(i);
        float *to = rows.dq + query_tile * T::QUERIES * T::D;
        // TODO 1 (about 1 line): Wait for this block's turn. All blocks before it, those of smaller keys, add to the
        // tile.
        // END TODO 1
        for (int warpgroup = 0; warpgroup < CONSUMER_WARPGROUPS; warpgroup++) {
            mbarrier_wait(&smem.dQ_full[warpgroup], i % 2);
            cp_reduce_async_bulk_add(to + warpgroup * T::Order::FLOATS, smem.dQ[warpgroup], sizeof smem.dQ[0]);
            cp_async_bulk_commit_group();
            cp_async_bulk_wait_group_read();
            mbarrier_arrive(&smem.dQ_empty[warpgroup]);
        }
        // TODO 2 (about 2 lines): Pass the turn to the next block, once both sums have landed in global memory.
        // END TODO 2
    }
}

// A consumer warpgroup: 64 keys, and D / PARTS columns of their dK and dV.
template <class T, class E = typename T::E>
__device__ inline void consume(T &smem, const struct attention_backward_problem &p, const KeyTile &tile, float scale) {
    constexpr int KEY_WARPGROUPS = CONSUMER_WARPGROUPS / T::PARTS;
    const struct attention_problem &f = p.forward;
    const int thread = threadIdx.x % WARPGROUP_SIZE, lane = threadIdx.x % WARP_SIZE;
    const int warpgroup = canonical_warpgroup_index() - 1, part = warpgroup / KEY_WARPGROUPS;
    const int row0 = warpgroup % KEY_WARPGROUPS * WARPGROUP_ROWS, warp_row0 = row0 + thread / WARP_SIZE * WARP_ROWS;
    const int causal_offset = f.causal ? f.nk - f.nq : f.nk;
    const int first_column = part * (T::D / T::PARTS), dq_column = warpgroup * T::DQ_COLUMNS;
    // The matrix descriptors of the first stages; those of later stages are an addition away. Rows of Q and dO are
    // columns of the products Q^T and dO^T, and the sum of dS K goes over rows of K: these have panels side by side.
    const uint32_t k_desc = descriptor_low(smem.K[0][row0]), v_desc = descriptor_low(smem.V[0][row0]);
    const uint32_t q_desc = descriptor_low(smem.Q[0]), do_desc = descriptor_low(smem.dO[0]);
    const uint32_t q_rows = descriptor_low(smem.Q[0][first_column / PANEL], sizeof smem.Q[0][0]);
    const uint32_t do_rows = descriptor_low(smem.dO[0][first_column / PANEL], sizeof smem.dO[0][0]);
    const uint32_t ds_desc = descriptor_low(smem.dS[0]);
    const uint32_t k_rows = descriptor_low(&smem.K[dq_column / PANEL][0][dq_column % PANEL], sizeof smem.K[0]);
    const uint32_t stage_bytes = descriptor_offset(sizeof smem.Q[0]);

    float dK_rmem[LANE_ROWS][T::LANE_COLUMNS] = {}, dV_rmem[LANE_ROWS][T::LANE_COLUMNS] = {};
    PipelineState<T::STAGES> pipe;
    const int iterations = tile.group * tile.tiles;
    if (iterations > 0)
        mbarrier_wait(&smem.KV_full, 0);
#pragma unroll 1
    for (int i = 0; i < iterations; i++, pipe.advance()) {
        const int stage = pipe.stage, query0 = tile.query_tile(i) * T::QUERIES;
        float S_rmem[LANE_ROWS][T::LANE_QUERIES], dP_rmem[LANE_ROWS][T::LANE_QUERIES];
        mbarrier_wait(&smem.Q_full[stage], pipe.phase);
        wgmma_fence(S_rmem, dP_rmem);
        issue_abt<E, T::D, T::KEYS, T::QUERIES>(S_rmem, k_desc, q_desc + stage * stage_bytes);
        wgmma_commit_group();
        mbarrier_wait(&smem.dO_full[stage], pipe.phase);
        issue_abt<E, T::D, T::KEYS, T::QUERIES>(dP_rmem, v_desc, do_desc + stage * stage_bytes);
        wgmma_commit_group();
        wgmma_wait_group<1>(S_rmem);
        weights_of(S_rmem, smem.lse[stage], scale, f.nk - tile.key0 - warp_row0,
                   tile.key0 + warp_row0 - query0 - causal_offset, lane);
        wgmma_wait_group<0>(dP_rmem);
        ds_of(dP_rmem, S_rmem, smem.delta[stage], lane);

        uint32_t P_rmem[T::QUERIES / 16][4], dS_rmem[T::QUERIES / 16][4];
        for (int query = 0; query < T::QUERIES; query += 16) {
            round_x4<E>(P_rmem[query / 16], S_rmem, query);
            round_x4<E>(dS_rmem[query / 16], dP_rmem, query);
        }
        wgmma_fence(dV_rmem, dK_rmem, P_rmem, dS_rmem);
        issue_ab<E>(dV_rmem, P_rmem, do_rows + stage * stage_bytes);
        wgmma_commit_group();
        for (int query = 0; query < T::QUERIES && part == 0; query += 16)
            stmatrix_x4(panel_chunk(smem.dS[i % 2], warp_row0 + lane % 16, query + lane / 16 * 8), dS_rmem[query / 16]);
        fence_proxy_async();
        bar_sync(DS_BARRIER, CONSUMER_THREADS);
        float dQ_rmem[LANE_ROWS][T::DQ_COLUMNS / LANES_PER_ROW];
        wgmma_fence(dQ_rmem);
        issue_atb<E, T::KEYS>(dQ_rmem, ds_desc + i % 2 * descriptor_offset(sizeof smem.dS[0]), k_rows);
        wgmma_commit_group();
        issue_ab<E>(dK_rmem, dS_rmem, q_rows + stage * stage_bytes);
        wgmma_commit_group();
        wgmma_wait_group<1>(dV_rmem, dQ_rmem, P_rmem); // while dK is computed, dQ goes out
        consumer_release(&smem.dO_empty[stage]);
        mbarrier_wait(&smem.dQ_empty[warpgroup], i % 2 ^ 1);
        T::Order::store(smem.dQ[warpgroup], dQ_rmem, thread);
        fence_proxy_async();
        mbarrier_arrive(&smem.dQ_full[warpgroup]);
        wgmma_wait_group<0>(dK_rmem, dS_rmem);
        consumer_release(&smem.Q_empty[stage]);
    }
    E *dk = (E *)p.dk + tile.batch * p.dk_stride.batch + tile.kv_head * p.dk_stride.head;
    E *dv = (E *)p.dv + tile.batch * p.dv_stride.batch + tile.kv_head * p.dv_stride.head;
    const int row = tile.key0 + warp_row0;
    store_key_gradient<E>(dk, p.dk_stride.row, f.nk, f.head_dim, row, first_column, dK_rmem, f.softmax_scale);
    store_key_gradient<E>(dv, p.dv_stride.row, f.nk, f.head_dim, row, first_column, dV_rmem, 1.0f);
}

// Grid: one block per tile of KEYS keys of each key head of each batch, the longest first. tickets: the number of
// blocks that have started; after it, send_dq()'s turns. All of them begin with 0. Warpgroup 0: warp 0 loads, warp 1
// adds dQ to global memory. The other warpgroups have 64 keys each, or share them, and compute D / 2 columns of dQ of
// each tile. Named barrier DS_BARRIER: all consumer threads have stored their dS.
template <class T>
__global__ void __launch_bounds__(THREADS, 1)
    backward_kernel(const __grid_constant__ BackwardMaps maps,
                    const __grid_constant__ struct attention_backward_problem p,
                    const __grid_constant__ struct BackwardRows rows, float scale, int heads_at_once,
                    unsigned *tickets) {
    extern __shared__ __align__(1024) unsigned char dynamic_smem[]; // the swizzle depends on address bits
    T &smem = *reinterpret_cast<T *>(dynamic_smem);
    if (threadIdx.x == 0) {
        mbarrier_init(&smem.KV_full, 1);
        mbarriers_init(smem.Q_full, 1), mbarriers_init(smem.dO_full, 1);
        mbarriers_init(smem.Q_empty, CONSUMER_WARPGROUPS), mbarriers_init(smem.dO_empty, CONSUMER_WARPGROUPS);
        mbarriers_init(smem.dQ_full, WARPGROUP_SIZE), mbarriers_init(smem.dQ_empty, 1);
        fence_mbarrier_init();
        // TODO 3 (about 1 line): Blocks may start in any order, and wait for blocks of smaller keys. Take the number of
        // a tile of keys so that those have started when this block waits: tickets counts the blocks that have begun.
        // END TODO 3
    }
    __syncthreads();
    const KeyTile tile = key_tile_at<T>(p.forward, smem.ticket, heads_at_once);
    if (canonical_warpgroup_index() > 0) {
        setmaxnreg_inc<240>();
        consume(smem, p, tile, scale);
        return;
    }
    setmaxnreg_dec<24>();
    if (threadIdx.x == 0)
        produce(smem, maps, p.forward, rows, tile);
    else if (threadIdx.x == WARP_SIZE)
        send_dq(smem, p.forward, rows, tile, tickets + 1);
}

template <class T>
static size_t extra_bytes(const struct attention_backward_problem *p) { // of the tickets and turns
    const int query_tiles = (p->forward.nq + T::QUERIES - 1) / T::QUERIES;
    return sizeof(unsigned) * (1 + (size_t)p->forward.batch * p->forward.heads * query_tiles);
}

#include "backward_hopper.cuh"

template <class T, class E = typename T::E>
static cudaError_t launch_backward(const struct attention_backward_problem *p, cudaStream_t stream) {
    const struct BackwardRows rows = backward_rows(p, T::QUERIES, T::D);
    BackwardMaps maps;
    int blocks;
    cudaError_t error = prepare_backward<T>(&maps, &blocks, p, backward_kernel<T>);
    unsigned *tickets = (unsigned *)((char *)p->workspace + backward_rows_bytes(p, T::QUERIES, T::D));
    if (error == cudaSuccess)
        error = launch_delta<E, T::D>(p, rows, stream);
    if (error == cudaSuccess)
        error = cudaMemsetAsync(tickets, 0, extra_bytes<T>(p), stream);
    if (error != cudaSuccess)
        return error;
    backward_kernel<T><<<blocks, THREADS, sizeof(T), stream>>>(maps, *p, rows, p->forward.softmax_scale * LOG2_E,
                                                               heads_at_once<T>(p->forward), tickets);
    error = cudaGetLastError();
    return error == cudaSuccess ? launch_finish_dq<E, T::D, typename T::Order>(p, rows, stream) : error;
}

template <class E>
using Configs = ConfigList<KernelTraits<E, 64, 1, 2>, KernelTraits<E, 128, 1, 2>, KernelTraits<E, 256, 2, 1>>;

constexpr int MIN_COMPUTE_CAPABILITY = 90, ALIGNMENT = CHUNK, DETERMINISTIC = 1;
#include "backward_launch.cuh"
