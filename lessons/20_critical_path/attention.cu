// Lesson 20: a short critical path from the completion of S = Q K^T to the issue of the next wgmma: speculative
// exponentials, a lazy maximum with headroom, an early test of the next K's mbarrier, and a main loop without mask.
//
// architecture: sm_90a
#include "accumulator_layout.cuh"
#include "attention.h"
#include "critical_path.cuh"
#include "epilogue.cuh"
#include "hopper.cuh"
#include "kernel_config.cuh"
#include "load_kv.cuh"
#include "online_softmax.cuh"
#include "tensor_maps.cuh"
#include "tile_counter.cuh"
#include "tile_scheduler.cuh"
#include "tma_pipeline.cuh"
#include "warp_specialization.cuh"
#include "warpgroup_gemm.cuh"
#include "wgmma.cuh"
#include "work_tile.cuh"

constexpr int PINGPONG_BARRIER = 8; // ID of the first named barrier of ping-pong scheduling, one per consumer warpgroup

// A kernel's compile-time sizes and, as its members, the kernel's shared memory. D is head_dim rounded up to one of a
// few sizes, so that register arrays have constant sizes and loops unroll. A thread holds LANE_ROWS rows of results,
// KEYS / LANES_PER_ROW columns of S and D / LANES_PER_ROW of O.
template <class E_, int D_, int CONSUMER_WARPGROUPS_, int KEYS_, int STAGES_>
struct KernelTraits : CriticalPathTraits<D_, KEYS_, CONSUMER_WARPGROUPS_> {
    using E = E_; // __half or __nv_bfloat16
    static constexpr int D = D_, CONSUMER_WARPGROUPS = CONSUMER_WARPGROUPS_, KEYS = KEYS_, STAGES = STAGES_;
    static constexpr int QUERIES = CONSUMER_WARPGROUPS * WARPGROUP_ROWS;
    static constexpr int THREADS = (CONSUMER_WARPGROUPS + 1) * WARPGROUP_SIZE; // with the producer warpgroup
    static constexpr int LANE_KEYS = KEYS / LANES_PER_ROW, LANE_COLUMNS = D / LANES_PER_ROW;
    // Registers per thread, with 2, 3, 4 consumer warpgroups. At launch each thread of the block has 168, 128, 96.
    static constexpr int REGISTERS[] = {232, 160, 112}, PRODUCER_REGISTERS[] = {40, 32, 32};
    // Whether a warpgroup skips the tiles that are fully masked for it; otherwise they are too few to pay for the code.
    static constexpr bool SKIPS_TILES = QUERIES > KEYS;
    static constexpr int PANELS = (D + PANEL - 1) / PANEL;
    static_assert(has_wgmma(KEYS) && has_wgmma(D), "wgmma.cuh has a wgmma with N = KEYS, and one with N = D");

    // A panel has 64 columns of all rows: rows of 128 bytes, swizzled.
    E Q[2][PANELS][QUERIES][PANEL]; // double-buffered; the output of a work tile overwrites its queries
    E K[STAGES][PANELS][KEYS][PANEL];
    E V[STAGES][PANELS][KEYS][PANEL];
    WorkTile work_tile[2];          // of these queries
    uint64_t Q_full[2], Q_empty[2]; // mbarriers: the TMA load is complete
    uint64_t K_full[STAGES], V_full[STAGES];
    uint64_t K_empty[STAGES], V_empty[STAGES]; // the consumer warpgroups have released the stage
};

// The producer, one thread. tile_counter: the number of requests by all blocks, including unsuccessful ones.
template <class T>
__device__ inline void produce(T &smem, const TensorMaps &maps, const struct attention_problem &p,
                               unsigned *tile_counter) {
    PipelineState<T::STAGES> pipe_k, pipe_v;
    PipelineState<2> pipe_q;
    WorkTile previous = {};
    for (int index = blockIdx.x;; pipe_q.advance()) {
        const WorkTile work_tile = lpt_work_tile_at<T>(p, index);
        mbarrier_wait(&smem.Q_empty[pipe_q.stage], pipe_q.phase ^ 1);
        smem.work_tile[pipe_q.stage] = work_tile;
        if (work_tile.end_key == 0) {
            mbarrier_arrive(&smem.Q_full[pipe_q.stage]);
            break;
        }
        load_queries(smem.Q[pipe_q.stage], &smem.Q_full[pipe_q.stage], maps, work_tile);
        index = gridDim.x + atomicInc(tile_counter, num_work_tiles(p, T::QUERIES) - 1);
        load_kv_stream(smem, maps, previous, work_tile, pipe_k, pipe_v);
        previous = work_tile;
    }
    load_kv_stream(smem, maps, previous, {}, pipe_k, pipe_v);
}

// Computes the block's part of the attention.
template <class T, class E = typename T::E>
__device__ inline void attend(T &smem, const TensorMaps &maps, const struct attention_problem &p, float scale) {
    WorkTile work_tile = {};
    PipelineState<2> pipe_q;
    const int thread = consumer_thread(), lane = thread % WARP_SIZE, warp_row0 = thread / WARP_SIZE * WARP_ROWS;
    const int warpgroup = canonical_warpgroup_index() - 1, warpgroup_row0 = warpgroup * WARPGROUP_ROWS;
    const int causal_offset = p.causal ? p.nk - p.nq : NO_CAUSAL_LIMIT; // query i: keys 0 .. i + causal_offset
    PipelineState<T::STAGES> pipe_k, pipe_v; // of the tile whose Q K^T is next, and of the tile whose P V is next
    float S_rmem[LANE_ROWS][T::LANE_KEYS], O_rmem[LANE_ROWS][T::LANE_COLUMNS] = {}, rescale[LANE_ROWS];
    bool pending = false; // whether the last P V of the previous work tile, in the other stage of Q, is to be issued
    uint32_t next_k_desc, next_v_desc; // of the next iteration, so that it issues at once
    bool K_ready = false;              // whether K of the next tile has arrived
    PendingStore pending_store;        // of the previous work tile's output
    RowStateWithHeadroom softmax, pending_softmax;
    uint32_t P_rmem[T::KEYS / 16][4] = {};
    // The matrix descriptors of the first stages; those of later stages are an addition away.
    const uint32_t q_desc = descriptor_low(smem.Q[0][0][warpgroup_row0]), k_desc = descriptor_low(smem.K[0]);
    const uint32_t v_desc = descriptor_low(smem.V[0], sizeof(T::V[0][0]));

    auto pingpong_sync = [&] { bar_sync_if<T::PINGPONG>(PINGPONG_BARRIER + warpgroup, 2 * WARPGROUP_SIZE); };
    auto pingpong_arrive = [&] {
        bar_arrive_if<T::PINGPONG>(PINGPONG_BARRIER + (warpgroup + 1) % T::CONSUMER_WARPGROUPS, 2 * WARPGROUP_SIZE);
    };
    auto store_pending_output = [&] {
        const int q_stage = pipe_q.stage ^ 1;
        store_output_async<T::D>(smem.Q[q_stage], maps, p, smem.work_tile[q_stage], thread, O_rmem, pending_softmax);
        pending_store.q_stage = q_stage;
        pending = false;
    };
    // One iteration of the main loop: Q K^T and softmax of a tile, and P V of the previous tile. Changes all variables
    // above that are not constant.
    // Tiles go from last to first: the partial tile and, with causal masking, the tiles on the diagonal come first.
    // FIRST: the first tile of a work tile. If no P V is pending then, a dummy P V is issued, since ptxas serializes
    // wgmmas that are issued in a branch. It multiplies by K instead of V, so K is released after it; the product is
    // cleared with O.
    // MASK: the tile may have masked keys.
    auto process_tile = [&](auto is_first, auto is_masked, int key0) {
        constexpr bool FIRST = is_first.value, MASK = is_masked.value;
        const bool dummy_pv = FIRST && !pending;
        if (FIRST)
            next_k_desc = k_desc + pipe_k.stage * descriptor_offset(sizeof(T::K[0])),
            next_v_desc = dummy_pv ? descriptor_low(smem.K[pipe_k.stage], sizeof(T::V[0][0]))
                                   : v_desc + pipe_v.stage * descriptor_offset(sizeof(T::V[0]));
        if (!K_ready)
            mbarrier_wait(&smem.K_full[pipe_k.stage], pipe_k.phase);
        pingpong_sync();
        wgmma_fence(S_rmem, O_rmem, P_rmem);
        issue_qk<T>(S_rmem, q_desc + pipe_q.stage * descriptor_offset(sizeof(T::Q[0])), next_k_desc);
        wgmma_commit_group();
        if (!dummy_pv)
            mbarrier_wait(&smem.V_full[pipe_v.stage], pipe_v.phase);
        wgmma_fence(); // without it, ptxas inserts a fence after the branch and serializes wgmmas
        issue_pv<T>(O_rmem, P_rmem, next_v_desc);
        wgmma_commit_group();
        pingpong_arrive();
        next_k_desc = k_desc + (pipe_k.stage + 1) % T::STAGES * descriptor_offset(sizeof(T::K[0]));
        next_v_desc = v_desc + pipe_k.stage * descriptor_offset(sizeof(T::V[0]));
        pending_store.release(smem);
        wgmma_wait_group<1>(S_rmem);
        if (!dummy_pv)
            consumer_release(&smem.K_empty[pipe_k.stage]);
        if (FIRST)
            pending_softmax = softmax, softmax = {};

        // Row r of the warp attends to keys 0 .. row0_last_key + r of the tile.
        const int row0_last_key = work_tile.query0 + warp_row0 + causal_offset - key0;
        if (MASK && (row0_last_key < T::KEYS - 1 || key0 + T::KEYS > p.nk))
            apply_mask(S_rmem, row0_last_key, p.nk - 1 - key0, lane);
        float speculative[LANE_ROWS][T::SPECULATIVE_COLUMNS + 1]; // an array cannot have 0 elements
        if (!FIRST)                                               // fills the MUFU during the vote
            exponentiate_speculatively<T::SPECULATIVE_COLUMNS>(S_rmem, scale, softmax, speculative);
        bool must_rescale = FIRST; // a new work tile starts with new maxima, without a vote
        // TODO 1 (about 3 lines): In other tiles vote whether a score exceeds its row's threshold. Update the row
        // maxima if they must be.
        // END TODO 1
        exponentiate<0, T::EARLY_COLUMNS, T::SPECULATIVE_COLUMNS, T::KEEPS_SHIFT>(S_rmem, scale, softmax, speculative);
        keep_above_wait<(T::EARLY_KEYS > 0)>(S_rmem, &smem.Q_full[pipe_q.stage], pipe_q.phase);
        wgmma_wait_group<0>(O_rmem, P_rmem);
        consumer_release(dummy_pv ? &smem.K_empty[pipe_k.stage] : &smem.V_empty[pipe_v.stage]);
        for (int key = 0; key < T::EARLY_KEYS; key += 16)
            round_x4<E>(P_rmem[key / 16], S_rmem, key);
        if (FIRST && pending)
            store_pending_output();
        if (FIRST)
            clear(O_rmem);
        else if (must_rescale)
            rescale_rows(O_rmem, rescale);
        exponentiate<T::EARLY_COLUMNS, T::LANE_KEYS, 0, T::KEEPS_SHIFT>(S_rmem, scale, softmax, speculative);
        for (int key = T::EARLY_KEYS; key < T::KEYS; key += 16)
            round_x4<E>(P_rmem[key / 16], S_rmem, key);
        pipe_v = pipe_k;
        pipe_k.advance();
        // TODO 2 (about 1 line): Test whether K of the next tile has arrived, so that the next iteration need not wait
        // for the answer.
        // END TODO 2
    };
    auto finish_pv = [&] { // issues the pending P V without another Q K^T, and stores the output
        mbarrier_wait(&smem.V_full[pipe_v.stage], pipe_v.phase);
        wgmma_fence(O_rmem, P_rmem);
        issue_pv<T>(O_rmem, P_rmem, v_desc + pipe_v.stage * descriptor_offset(sizeof(T::V[0])));
        wgmma_commit_group();
        wgmma_wait_group<0>(O_rmem, P_rmem);
        consumer_release(&smem.V_empty[pipe_v.stage]);
        pending_softmax = softmax;
        store_pending_output();
        clear(P_rmem); // ptxas then allocates the registers of the main loop better: 2 % at D == 128
    };
    for (;; pipe_q.advance()) {
        mbarrier_wait(&smem.Q_full[pipe_q.stage], pipe_q.phase);
        work_tile = warp_uniform_work_tile(smem.work_tile[pipe_q.stage]);
        int key0 = (work_tile.end_key - 1) / T::KEYS * T::KEYS;
        const int end_key = end_key_of(p, work_tile, warpgroup_row0, WARPGROUP_ROWS);
        // The pending P V holds a stage of V that the producer needs if STAGES tiles or more are skipped: a deadlock.
        const bool needs_stage = T::SKIPS_TILES && key0 - end_key >= (T::STAGES - 1) * T::KEYS;
        if (pending && (!T::PINGPONG || needs_stage || work_tile.end_key == 0))
            finish_pv();
        if (work_tile.end_key == 0)
            break;
        for (; T::SKIPS_TILES && key0 >= end_key; key0 -= T::KEYS, pipe_k.advance()) {
            K_ready = false;
            pingpong_sync();
            pingpong_arrive();
            if (threadIdx.x % WARPGROUP_SIZE < WARP_SIZE) {
                mbarrier_wait(&smem.K_full[pipe_k.stage], pipe_k.phase);
                consumer_release(&smem.K_empty[pipe_k.stage]);
                mbarrier_wait(&smem.V_full[pipe_k.stage], pipe_k.phase);
                consumer_release(&smem.V_empty[pipe_k.stage]);
            }
            bar_sync(1 + warpgroup, WARPGROUP_SIZE); // no warp runs ahead by a whole phase
        }
        pipe_q.stage = __shfl_sync(ALL_LANES, pipe_q.stage, 0); // warp-uniform, for a uniform register
        process_tile(std::true_type(), std::true_type(), key0);
        // TODO 3 (about 4 lines): First process the tiles that may have masked keys, then the others. The warpgroup's
        // first row attends to the fewest keys.
        // END TODO 3
        pending = true;
        pending_store.release(smem);
    }
    pending_store.release(smem); // the block must not exit before TMA has read its shared memory
}

// Grid: one block per SM, or per work tile of QUERIES queries if there are fewer.
// A warpgroup computes 64 rows of the output, a warp 16 of them, and a quad of lanes all columns of two rows.
// Except warpgroup 0, the producer: its thread 0 issues the TMA loads and waits on `empty`, the others on `full`.
// Named barrier PINGPONG_BARRIER + consumer warpgroup index: the warpgroup waits until the previous one has issued its
// GEMMs.
template <class T>
__global__ void __launch_bounds__(T::THREADS, 1)
    attention_kernel(const __grid_constant__ TensorMaps maps, const __grid_constant__ struct attention_problem p,
                     float softmax_scale_log2, unsigned *tile_counter) {
    extern __shared__ __align__(1024) unsigned char dynamic_smem[]; // the swizzle depends on address bits
    T &smem = *reinterpret_cast<T *>(dynamic_smem);
    if (threadIdx.x == 0) {
        mbarriers_init(smem.Q_full, 1);
        mbarriers_init(smem.Q_empty, T::CONSUMER_WARPGROUPS);
        mbarriers_init(smem.K_full, 1);
        mbarriers_init(smem.V_full, 1);
        mbarriers_init(smem.K_empty, T::CONSUMER_WARPGROUPS);
        mbarriers_init(smem.V_empty, T::CONSUMER_WARPGROUPS);
        fence_mbarrier_init();
    }
    __syncthreads();
    if (canonical_warpgroup_index() == 0) {
        setmaxnreg_dec<T::PRODUCER_REGISTERS[T::CONSUMER_WARPGROUPS - 2]>();
        if (threadIdx.x == 0)
            produce(smem, maps, p, tile_counter);
        return;
    }
    setmaxnreg_inc<T::REGISTERS[T::CONSUMER_WARPGROUPS - 2]>();
    if (T::PINGPONG && consumer_thread() / WARPGROUP_SIZE == T::CONSUMER_WARPGROUPS - 1)
        bar_arrive(PINGPONG_BARRIER, 2 * WARPGROUP_SIZE);
    attend(smem, maps, p, softmax_scale_log2);
}

// softmax_scale_log2 is a kernel parameter, so that it is an operand in constant memory and takes no register.
template <class T>
static cudaError_t launch(const struct KernelConfig *config, const struct attention_problem *p, cudaStream_t stream) {
    struct TensorMaps maps;
    unsigned *tile_counter;
    int64_t blocks = num_work_tiles(*p, T::QUERIES);
    cudaError_t error = blocks > INT32_MAX / 2 ? cudaErrorInvalidConfiguration : make_tensor_maps(&maps, p, config);
    if (error == cudaSuccess)
        error = limit_to_sms(&blocks);
    if (error == cudaSuccess)
        error = acquire_tile_counter(&tile_counter);
    if (error == cudaSuccess)
        error = opt_in_shared_memory(config);
    if (error != cudaSuccess)
        return error;
    attention_kernel<T>
        <<<(unsigned)blocks, T::THREADS, sizeof(T), stream>>>(maps, *p, p->softmax_scale * LOG2_E, tile_counter);
    return cudaGetLastError();
}

template <class E>
using Configs = ConfigList<KernelTraits<E, 64, 3, 128, 3>, KernelTraits<E, 64, 4, 64, 4>, KernelTraits<E, 96, 3, 96, 2>,
                           KernelTraits<E, 128, 2, 128, 2>, KernelTraits<E, 256, 2, 64, 1>>;

#include "hopper_launch.cuh"
