// Lesson 20: a short critical path from the completion of S = Q K^T to the issue of the next wgmma: speculative
// exponentials, a lazy maximum with headroom, an early test of the next K's mbarrier, and a main loop without mask.
//
// architecture: sm_90a
#include "accumulator_layout.cuh"
#include "attention.h"
#include "chunk.cuh"
#include "epilogue.cuh"
#include "hopper.cuh"
#include "kernel_config.cuh"
#include "online_softmax.cuh"
#include "persistent_producer.cuh"
#include "tensor_maps.cuh"
#include "tile_counter.cuh"
#include "tile_scheduler.cuh"
#include "tma_pipeline.cuh"

constexpr int NO_CAUSAL_LIMIT = 1 << 30;
constexpr int PINGPONG_BARRIER = 8; // ID of the first named barrier of ping-pong scheduling, one per consumer warpgroup

// A kernel's compile-time sizes and, as its members, the kernel's shared memory. D is head_dim rounded up to one of a
// few sizes, so that register arrays have constant sizes and loops unroll. A thread holds LANE_ROWS rows of results,
// KEYS / LANES_PER_ROW columns of S and D / LANES_PER_ROW of O.
template <class E_, int D_, int CONSUMER_WARPGROUPS_, int KEYS_, int STAGES_>
struct KernelTraits {
    using E = E_; // __half or __nv_bfloat16
    static constexpr int D = D_, CONSUMER_WARPGROUPS = CONSUMER_WARPGROUPS_, KEYS = KEYS_, STAGES = STAGES_;
    static constexpr int QUERIES = CONSUMER_WARPGROUPS * WARPGROUP_ROWS;
    static constexpr int THREADS = (CONSUMER_WARPGROUPS + 1) * WARPGROUP_SIZE; // with the producer warpgroup
    static constexpr int LANE_KEYS = KEYS / LANES_PER_ROW, LANE_COLUMNS = D / LANES_PER_ROW;
    // The scores of EARLY_KEYS keys become weights before the wait for P V, the others after it (0: all). It pays at
    // D == 128, whose P V takes twice as long as at D == 64. SPECULATIVE_COLUMNS of them, per lane, do before the vote.
    static constexpr int EARLY_KEYS = D == 128 ? KEYS / 4 : 0;
    static constexpr int SPECULATIVE_COLUMNS = EARLY_KEYS / LANES_PER_ROW / 2;
    static constexpr bool PINGPONG = CONSUMER_WARPGROUPS < 4; // of four, one is always ready to issue without it
    // Descriptors are computed one iteration ahead, and shifts read instead of recomputed, if registers suffice.
    static constexpr bool PRECOMPUTE = D == 128 || CONSUMER_WARPGROUPS == 4;
    // Whether a warpgroup skips the tiles that are fully masked for it; otherwise they are too few to pay for the code.
    static constexpr bool SKIPS_TILES = QUERIES > KEYS;
    static constexpr int PANELS = (D + PANEL - 1) / PANEL;
    // Registers per thread, with 2, 3, 4 consumer warpgroups. At launch each thread of the block has 168, 128, 96.
    static constexpr int REGISTERS[] = {232, 160, 112}, PRODUCER_REGISTERS[] = {40, 32, 32};
    static_assert(has_wgmma(KEYS) && has_wgmma(D), "wgmma.cuh has a wgmma with N = KEYS, and one with N = D");

    // A panel has 64 columns of all rows: rows of 128 bytes, swizzled.
    E Q[2][PANELS][QUERIES][PANEL]; // double-buffered; the output of a work tile overwrites its queries
    E K[STAGES][PANELS][KEYS][PANEL];
    E V[STAGES][PANELS][KEYS][PANEL];
    WorkTile work_tile[2];
    uint64_t Q_full[2], K_full[STAGES], V_full[STAGES]; // mbarriers: the TMA load is complete
    uint64_t K_empty[STAGES], V_empty[STAGES];          // the consumer warpgroups have released the stage
    // Per consumer warpgroup 128 + 1 arrivals: each thread has read work_tile, and TMA has read the output from Q.
    uint64_t Q_empty[2];
};

// Issues the wgmmas of S_rmem = Q K^T for the warpgroup's rows and all keys of the tile.
template <class T, class E = typename T::E>
__device__ inline void issue_qk(float (&S_rmem)[LANE_ROWS][T::LANE_KEYS], uint32_t q, uint32_t k) {
    q = warp_uniform(q), k = warp_uniform(k);
#pragma unroll
    for (int column = 0; column < T::D; column += 16) {
        const int panel = column / PANEL, panel_column = column % PANEL;
        wgmma<E>(S_rmem, q + descriptor_offset((panel * T::QUERIES * PANEL + panel_column) * sizeof(E)),
                 k + descriptor_offset((panel * T::KEYS * PANEL + panel_column) * sizeof(E)), column > 0);
    }
}

// Issues the wgmmas of O_rmem += P V for the warpgroup's rows and all columns.
template <class T, class E = typename T::E>
__device__ inline void issue_pv(float (&O_rmem)[LANE_ROWS][T::LANE_COLUMNS], const uint32_t (&P_rmem)[T::KEYS / 16][4],
                                uint32_t v) {
    v = warp_uniform(v);
#pragma unroll
    for (int key = 0; key < T::KEYS; key += 16) {
        wgmma<E>(O_rmem, P_rmem[key / 16], v + descriptor_offset(key * PANEL * sizeof(E)));
    }
}

// The consumers: compute the attention of work tile after work tile.
template <class T, class E = typename T::E>
__device__ inline void consume(T &smem, const TensorMaps &maps, const struct attention_problem &p,
                               const TileScheduler &scheduler) {
    const int lane = threadIdx.x % WARP_SIZE, warp_row0 = consumer_thread() / WARP_SIZE * WARP_ROWS;
    const int consumer_warpgroup = canonical_warpgroup_index() - 1;
    const int next_consumer_warpgroup = (consumer_warpgroup + 1) % T::CONSUMER_WARPGROUPS;
    const int warpgroup_row0 = consumer_warpgroup * WARPGROUP_ROWS;
    const float scale = scheduler.softmax_scale_log2;
    const int causal_offset = p.causal ? p.nk - p.nq : NO_CAUSAL_LIMIT; // query i: keys 0 .. i + causal_offset
    PipelineState<T::STAGES> pipe_k, pipe_v; // of the tile whose Q K^T is next, and of the tile whose P V is next
    PipelineState<2> pipe_q;
    WorkTile work_tile = {};
    // Stages of Q: of the work tile whose P V is pending, and of the one whose output TMA is storing; -1: none
    int pending_q_stage = -1, storing_q_stage = -1;
    float S_rmem[LANE_ROWS][T::LANE_KEYS], O_rmem[LANE_ROWS][T::LANE_COLUMNS] = {}, rescale[LANE_ROWS];
    RowState softmax, pending_softmax;
    uint32_t P_rmem[T::KEYS / 16][4] = {};

    auto pingpong_sync = [&] {
        T::PINGPONG ? bar_sync(PINGPONG_BARRIER + consumer_warpgroup, 2 * WARPGROUP_SIZE) : void();
    };
    auto pingpong_arrive = [&] {
        T::PINGPONG ? bar_arrive(PINGPONG_BARRIER + next_consumer_warpgroup, 2 * WARPGROUP_SIZE) : void();
    };
    auto release_storing_q_stage = [&] { // the stage is free when TMA has read the output
        if (storing_q_stage >= 0 && threadIdx.x % WARPGROUP_SIZE == 0) {
            cp_async_bulk_wait_group_read();
            mbarrier_arrive(&smem.Q_empty[storing_q_stage]);
        }
        storing_q_stage = -1;
    };
    auto store_pending_output = [&] {
        store_output_async(smem, pending_q_stage, maps, p, O_rmem, pending_softmax, consumer_thread());
        storing_q_stage = pending_q_stage;
        pending_q_stage = -1;
    };
    bool K_ready = false; // K of the next tile has arrived
    uint32_t q_desc, k_desc, v_desc;
    // The descriptors of the next Q K^T and P V.
    auto make_descriptors = [&](int K_stage, const E(&V_smem)[T::PANELS][T::KEYS][PANEL]) {
        q_desc = descriptor_low(smem.Q[pipe_q.stage][0][warpgroup_row0]);
        k_desc = descriptor_low(smem.K[K_stage]), v_desc = descriptor_low(V_smem, sizeof(T::V[0][0]));
    };
    // One iteration of the main loop: Q K^T and softmax of a tile, and P V of the previous tile. FIRST: the first tile
    // of a work tile. If no P V is pending then, a dummy P V is issued (P = 0, K instead of V), because ptxas
    // serializes wgmmas that are issued in a branch. K is then released after it. MASK: the tile may have masked keys.
    auto process_tile = [&](auto is_first, auto is_masked, int key0) {
        constexpr bool FIRST = is_first.value, MASK = is_masked.value;
        const bool no_pending_pv = FIRST && pending_q_stage < 0;
        if (FIRST || !T::PRECOMPUTE)
            make_descriptors(pipe_k.stage, no_pending_pv ? smem.K[pipe_k.stage] : smem.V[pipe_v.stage]);
        if (!K_ready)
            mbarrier_wait(&smem.K_full[pipe_k.stage], pipe_k.phase);
        pingpong_sync();
        wgmma_fence(S_rmem, O_rmem, P_rmem);
        issue_qk<T>(S_rmem, q_desc, k_desc);
        wgmma_commit_group();
        if (!no_pending_pv)
            mbarrier_wait(&smem.V_full[pipe_v.stage], pipe_v.phase);
        wgmma_fence(); // without it, ptxas inserts a fence after the branch and serializes wgmmas
        issue_pv<T>(O_rmem, P_rmem, v_desc);
        wgmma_commit_group();
        pingpong_arrive();
        if (T::PRECOMPUTE)
            make_descriptors((pipe_k.stage + 1) % T::STAGES, smem.V[pipe_k.stage]);
        release_storing_q_stage();
        wgmma_wait_group<1>(S_rmem);
        if (!no_pending_pv) // else the dummy P V still reads K
            consumer_release(&smem.K_empty[pipe_k.stage]);
        if (FIRST)
            pending_softmax = softmax, softmax = {};

        // Row r of the warp attends to keys 0 .. row0_last_key + r of the tile.
        const int row0_last_key = work_tile.query0 + warp_row0 + causal_offset - key0;
        if (MASK && (row0_last_key < T::KEYS - 1 || key0 + T::KEYS > p.nk))
            apply_mask(S_rmem, row0_last_key, p.nk - 1 - key0, lane);
        float speculative[LANE_ROWS][T::SPECULATIVE_COLUMNS + 1]; // an array cannot have 0 elements
        if (!FIRST) // fills the MUFU during the vote; recomputed if the maximum changes
            exponentiate_speculatively<T::SPECULATIVE_COLUMNS>(S_rmem, scale, softmax, speculative);
        const bool must_rescale = FIRST || exceeds_threshold(S_rmem, softmax);
        // TODO 1 (about 2 lines): If a score exceeds its row's threshold, update the row maxima. A new work tile starts
        // with new maxima.
        if (must_rescale)
            update_row_max_with_headroom<E, T::SPECULATIVE_COLUMNS>(S_rmem, scale, softmax, rescale, speculative);
        // END TODO 1
        exponentiate_remaining<T::SPECULATIVE_COLUMNS, T::EARLY_KEYS / LANES_PER_ROW, T::PRECOMPUTE>(
            S_rmem, scale, softmax, speculative);
        // Not for synchronization: Q_full's phase is complete. The fence and the branch of this wait keep ptxas from
        // hoisting wgmma_wait_group above the early exponentials.
        warpgroup_fence_operand(S_rmem);
        if (T::EARLY_KEYS > 0)
            mbarrier_wait(&smem.Q_full[pipe_q.stage], pipe_q.phase);
        wgmma_wait_group<0>(O_rmem, P_rmem);
        consumer_release(no_pending_pv ? &smem.K_empty[pipe_k.stage] : &smem.V_empty[pipe_v.stage]);
        for (int key = 0; key < T::EARLY_KEYS; key += 16)
            round_x4<E>(P_rmem[key / 16], S_rmem, key);
        if (!FIRST && must_rescale)
            rescale_rows(O_rmem, rescale);
        if (FIRST && pending_q_stage >= 0)
            store_pending_output();
        if (FIRST)
            clear(O_rmem);
        pending_q_stage = pipe_q.stage;
        exponentiate<T::EARLY_KEYS / LANES_PER_ROW, T::LANE_KEYS, T::PRECOMPUTE>(S_rmem, scale, softmax);
        for (int key = T::EARLY_KEYS; key < T::KEYS; key += 16)
            round_x4<E>(P_rmem[key / 16], S_rmem, key);
        pipe_v = pipe_k;
        pipe_k.advance();
        // TODO 2 (about 1 line): Test whether K of the next tile has arrived, so that the next iteration need not wait
        // for the answer.
        K_ready = mbarrier_test_wait(&smem.K_full[pipe_k.stage], pipe_k.phase);
        // END TODO 2
    };
    auto drain_pv = [&] { // issues the pending P V without another Q K^T, and stores the output
        mbarrier_wait(&smem.V_full[pipe_v.stage], pipe_v.phase);
        wgmma_fence(O_rmem, P_rmem);
        issue_pv<T>(O_rmem, P_rmem, descriptor_low(smem.V[pipe_v.stage], sizeof(T::V[0][0])));
        wgmma_commit_group();
        wgmma_wait_group<0>(O_rmem);
        consumer_release(&smem.V_empty[pipe_v.stage]);
        pending_softmax = softmax;
        store_pending_output();
        clear(P_rmem);
    };
    for (;; pipe_q.advance()) {
        release_storing_q_stage();
        mbarrier_wait(&smem.Q_full[pipe_q.stage], pipe_q.phase);
        work_tile = warp_uniform_work_tile(smem.work_tile[pipe_q.stage]);
        const int warpgroup_end_key =
            T::SKIPS_TILES ? end_key_of(p, work_tile, warpgroup_row0, WARPGROUP_ROWS) : work_tile.end_key;
        // Tiles go from last to first: the partial tile and, with causal masking, the tiles on the diagonal come first.
        int key0 = (work_tile.end_key - 1) / T::KEYS * T::KEYS;
        // Prevents a deadlock: the pending P V holds a stage of V that the producer needs if STAGES tiles or more are
        // skipped. So issue it now; also if this warpgroup has no rows in the work tile, or no work is left.
        if (T::SKIPS_TILES && pending_q_stage >= 0 &&
            (warpgroup_end_key == 0 || key0 - warpgroup_end_key >= (T::STAGES - 1) * T::KEYS))
            drain_pv();
        if (work_tile.end_key == 0)
            break;
        for (; T::SKIPS_TILES && key0 >= warpgroup_end_key; key0 -= T::KEYS, pipe_k.advance()) {
            release_storing_q_stage();
            K_ready = false;
            pingpong_sync();
            pingpong_arrive();
            if (threadIdx.x % WARPGROUP_SIZE < WARP_SIZE) { // only the warp that releases: see consumer_release()
                mbarrier_wait(&smem.K_full[pipe_k.stage], pipe_k.phase);
                consumer_release(&smem.K_empty[pipe_k.stage]);
                mbarrier_wait(&smem.V_full[pipe_k.stage], pipe_k.phase);
                consumer_release(&smem.V_empty[pipe_k.stage]);
            }
        }
        if (warpgroup_end_key == 0) { // no rows: only the warpgroup's 129 arrivals
            mbarrier_arrive(&smem.Q_empty[pipe_q.stage]);
            consumer_release(&smem.Q_empty[pipe_q.stage]);
            continue;
        }
        pipe_q.stage = __shfl_sync(ALL_LANES, pipe_q.stage, 0); // warp-uniform, for a uniform register
        process_tile(std::true_type{}, std::true_type{}, key0);
        key0 -= T::KEYS;
        // TODO 3 (about 4 lines): First process the tiles that may have masked keys, then the others. The warpgroup's
        // first row attends to the fewest keys.
        for (; key0 >= 0 && work_tile.query0 + warpgroup_row0 + causal_offset < key0 + T::KEYS - 1; key0 -= T::KEYS)
            process_tile(std::false_type{}, std::true_type{}, key0);
        for (; key0 >= 0; key0 -= T::KEYS)
            process_tile(std::false_type{}, std::false_type{}, key0);
        // END TODO 3
        if (!T::PINGPONG) // a P V pending across work tiles would take too many registers
            drain_pv();
    }
    if (!T::SKIPS_TILES && pending_q_stage >= 0) // else drained before the break
        drain_pv();
    release_storing_q_stage(); // the block must not exit before TMA has read its shared memory
}

// Grid: scheduler.num_blocks persistent blocks, which process work tiles of QUERIES queries.
// Warpgroup 0 is the producer: its thread 0 issues the TMA loads and waits on the `empty` mbarriers. The other
// warpgroups are consumers: each computes 64 rows of the output, a warp 16 of them, and a quad of lanes all columns of
// two rows (r and r + 8). Consumers wait on the `full` mbarriers. Named barrier 1 + consumer warpgroup index: its
// threads wait for one another before the TMA store of its rows.
// Named barrier PINGPONG_BARRIER + the same index: the warpgroup waits until the previous one has issued its GEMMs.
template <class T>
__global__ void __launch_bounds__(T::THREADS, 1)
    attention_kernel(const __grid_constant__ TensorMaps maps, const __grid_constant__ struct attention_problem p,
                     const TileScheduler scheduler) {
    extern __shared__ __align__(1024) unsigned char dynamic_smem[]; // the swizzle depends on address bits
    T &smem = *reinterpret_cast<T *>(dynamic_smem);
    if (threadIdx.x == 0) {
        mbarriers_init(smem.Q_full, 1);
        mbarriers_init(smem.Q_empty, T::CONSUMER_WARPGROUPS * (WARPGROUP_SIZE + 1));
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
            produce(smem, maps, p, scheduler);
        return;
    }
    setmaxnreg_inc<T::REGISTERS[T::CONSUMER_WARPGROUPS - 2]>();
    if (T::PINGPONG && consumer_thread() < WARPGROUP_SIZE)
        bar_arrive(PINGPONG_BARRIER, 2 * WARPGROUP_SIZE); // for the last warpgroup: lets the first one begin
    consume(smem, maps, p, scheduler);
}

template <class T>
static cudaError_t launch(const struct KernelConfig *config, const struct attention_problem *p, cudaStream_t stream) {
    struct TensorMaps maps;
    struct TileScheduler scheduler;
    cudaError_t error = make_tensor_maps(&maps, p, config);
    if (error == cudaSuccess)
        error = make_tile_scheduler(&scheduler, config, p);
    if (error == cudaSuccess)
        error = acquire_tile_counter(&scheduler.tile_counter);
    if (error == cudaSuccess)
        error = opt_in_shared_memory(config);
    if (error != cudaSuccess)
        return error;
    attention_kernel<T><<<scheduler.num_blocks, T::THREADS, sizeof(T), stream>>>(maps, *p, scheduler);
    return cudaGetLastError();
}

template <class T>
static struct KernelConfig make_config() {
    return {T::D, T::QUERIES, T::KEYS, T::THREADS, sizeof(T), (const void *)attention_kernel<T>, launch<T>};
}

template <class E>
static const struct KernelConfig configs[] = {
    make_config<KernelTraits<E, 64, 3, 128, 3>>(),
    make_config<KernelTraits<E, 64, 4, 64, 4>>(), // for causal, nq <= 1024: smaller key tiles mask less
    make_config<KernelTraits<E, 96, 3, 96, 2>>(),
    make_config<KernelTraits<E, 128, 2, 128, 2>>(),
    make_config<KernelTraits<E, 256, 2, 64, 1>>(),
};

static const struct KernelConfig *select_config(const struct attention_problem *p) {
    const struct KernelConfig *config =
        first_config(p, p->dtype == ATTENTION_FP16 ? configs<__half> : configs<__nv_bfloat16>);
    return p->causal && config->head_dim == 64 && p->nq <= 1024 ? config + 1 : config;
}

static size_t shared_bytes(const struct attention_problem *p) {
    return select_config(p)->shared_bytes;
}

const struct attention_lesson attention_lesson = {
    .dtypes = 1u << ATTENTION_FP16 | 1u << ATTENTION_BF16,
    .max_head_dim = 256,
    .alignment = CHUNK,
    .causal = 1,
    .lse = 1,
    .strided = 1,
    .grouped_heads = 1,
    .min_compute_capability = 90,
    .shared_bytes = shared_bytes,
    .positive_scale = 1,
    .deterministic = 1,
};

// Tensors and their rows begin at multiples of 16 bytes, as TMA requires.
cudaError_t attention_forward(const struct attention_problem *p, cudaStream_t stream) {
    if (p->dtype == ATTENTION_FP32 || p->head_dim > attention_lesson.max_head_dim || !(p->softmax_scale > 0.0f))
        return cudaErrorInvalidValue;
    if (!tensors_are_aligned(p) || !rows_are_chunks(p))
        return cudaErrorMisalignedAddress;
    const struct KernelConfig *config = select_config(p);
    return config->launch(config, p, stream);
}
