// Lesson 14: a short critical path from the arrival of the scores to the issue of the next wgmma.
//
// architecture: sm_90a
#include "accumulator_layout.cuh"
#include "attention.h"
#include "chunk.cuh"
#include "epilogue.cuh"
#include "hopper.cuh"
#include "kernel_config.cuh"
#include "online_softmax.cuh"
#include "tensor_maps.cuh"
#include "tile_counter.cuh"
#include "tile_scheduler.cuh"
#include "tma_pipeline.cuh"

constexpr int NO_CAUSAL_LIMIT = 1 << 30;
constexpr int PINGPONG_BARRIER = 8; // ID of the first of the named barriers of ping-pong scheduling, one per warpgroup

// The sizes of a kernel and its shared memory. D is head_dim rounded up to one of a few sizes, so that register arrays
// have constant sizes and loops unroll. A thread holds LANE_ROWS rows of results, KEYS / LANES_PER_ROW columns of S and
// D / LANES_PER_ROW of O.
template <class E_, int D_, int CONSUMER_WARPGROUPS_, int KEYS_, int STAGES_>
struct KernelTraits {
    using E = E_; // __half or __nv_bfloat16
    static constexpr int D = D_, CONSUMER_WARPGROUPS = CONSUMER_WARPGROUPS_, KEYS = KEYS_, STAGES = STAGES_;
    static constexpr int QUERIES = CONSUMER_WARPGROUPS * WARPGROUP_ROWS,
                         THREADS = (CONSUMER_WARPGROUPS + 1) * WARPGROUP_SIZE;
    static constexpr int LANE_KEYS = KEYS / LANES_PER_ROW, LANE_COLUMNS = D / LANES_PER_ROW;
    static constexpr int EARLY_KEYS = D == 128 ? KEYS / 4 : 0; // keys exponentiated before the wait for P V
    static constexpr int SPECULATIVE_COLUMNS =
        EARLY_KEYS / LANES_PER_ROW / 2;                       // columns exponentiated before the warp vote
    static constexpr bool PINGPONG = CONSUMER_WARPGROUPS < 4; // one of four is always ready to issue
    static constexpr bool PRECOMPUTE = D == 128 || CONSUMER_WARPGROUPS == 4; // descriptors and shifts stay in registers
    static constexpr bool SKIPS_TILES = QUERIES > KEYS; // some tiles are fully masked for some warpgroups
    static constexpr int PANELS = (D + PANEL - 1) / PANEL;
    // Per thread, with 2, 3, 4 consumer warpgroups; the launch allocates 168, 128, 96.
    static constexpr int REGISTERS[] = {232, 160, 112}, PRODUCER_REGISTERS[] = {40, 32, 32};
    static_assert(KEYS % 32 == 0 && D % 32 == 0, "the swizzle repeats every 1024 bytes, and wgmma.cuh has these sizes");

    // Swizzled rows of 128 bytes: a panel has 64 columns of all rows.
    E Q[2][PANELS][QUERIES][PANEL]; // double-buffered; the output of a work tile overwrites its queries
    E K[STAGES][PANELS][KEYS][PANEL];
    E V[STAGES][PANELS][KEYS][PANEL];
    WorkTile work_tile[2];
    uint64_t Q_full[2], K_full[STAGES], V_full[STAGES]; // mbarriers: the TMA load is complete
    uint64_t K_empty[STAGES], V_empty[STAGES];          // the consumer warpgroups have released the stage
    uint64_t Q_empty[2]; // all consumer threads have read the work tile, and TMA the output of each warpgroup
};

// The index of a thread among the consumer threads.
__device__ inline int consumer_thread() {
    return threadIdx.x - WARPGROUP_SIZE;
}

// The producer, one thread: loads the tiles of work tile after work tile, each as soon as the consumers have released
// its stage, in the order of their use: K of a tile, then V of the previous tile, possibly the last one of the previous
// work tile.
template <class T>
__device__ inline void produce(T &smem, const TensorMaps &maps, const struct attention_problem &p,
                               const TileScheduler &scheduler) {
    PipelineState<T::STAGES> pipe_k, pipe_v;
    PipelineState<2> pipe_q;
    int work_tile_index = blockIdx.x, v_key0 = 0;
    WorkTile work_tile = work_tile_at<T>(p, scheduler, work_tile_index), next_work_tile = {}, v_work_tile = {};
    for (; work_tile.end_key > 0; work_tile = next_work_tile) {
        const int last_key0 = (work_tile.end_key - 1) / T::KEYS * T::KEYS;
        for (int key0 = last_key0; key0 >= 0; key0 -= T::KEYS, pipe_k.advance()) {
            mbarrier_wait(&smem.K_empty[pipe_k.stage], pipe_k.phase ^ 1);
            tma_load_tile<T::PANELS>(smem.K[pipe_k.stage], &smem.K_full[pipe_k.stage], maps.k, key0, work_tile.kv_head,
                                     work_tile.batch, createpolicy_evict_last());
            if (key0 == last_key0)
                pass_work_tile(smem, maps, pipe_q, work_tile);
            producer_load_v(smem, maps, pipe_v, v_work_tile, v_key0);
            v_work_tile = work_tile, v_key0 = key0;
            // The atomic is issued at the first tile and its result used at the second one, which hides its latency.
            if (key0 == last_key0 && scheduler.tile_counter)
                work_tile_index = atomicInc(scheduler.tile_counter, scheduler.num_work_tiles - 1);
            if (key0 == max(0, last_key0 - T::KEYS)) {
                work_tile_index += scheduler.num_blocks;
                next_work_tile = work_tile_at<T>(p, scheduler, work_tile_index);
            }
        }
    }
    pass_work_tile(smem, maps, pipe_q, work_tile);
    producer_load_v(smem, maps, pipe_v, v_work_tile, v_key0);
}

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
    const int consumer_warpgroup = canonical_warpgroup_index() - 1,
              next_consumer_warpgroup = (consumer_warpgroup + 1) % T::CONSUMER_WARPGROUPS;
    const int warpgroup_row0 = consumer_warpgroup * WARPGROUP_ROWS;
    const float scale = scheduler.softmax_scale_log2;
    const int causal_offset = p.causal ? p.nk - p.nq : NO_CAUSAL_LIMIT; // query i: keys 0 .. i + causal_offset
    PipelineState<T::STAGES> pipe_k, pipe_v; // of the tile whose Q K^T is next, and of the tile whose P V is next
    PipelineState<2> pipe_q;
    WorkTile work_tile = {};
    // Q buffers: of the work tile whose P V is pending, of the one whose output TMA is storing; -1: none
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
    auto release_storing_q_stage = [&] { // the Q buffer is free when TMA has read the output from it
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
    auto make_descriptors = [&](int K_stage,
                                const E(&V_smem)[T::PANELS][T::KEYS][PANEL]) { // of the next wgmmas
        q_desc = descriptor_low(smem.Q[pipe_q.stage][0][warpgroup_row0]);
        k_desc = descriptor_low(smem.K[K_stage]), v_desc = descriptor_low(V_smem, sizeof(T::V[0][0]));
    };
    // One iteration of the main loop: Q K^T and softmax of a tile, and P V of the previous tile. FIRST: the previous
    // tile belongs to another work tile, or there is none. Without one, P V multiplies weights of 0 by this tile's
    // keys, which have arrived: ptxas would serialize wgmmas in a branch. MASK: the tile may have masked keys.
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
        wgmma_fence();
        issue_pv<T>(O_rmem, P_rmem, v_desc);
        wgmma_commit_group();
        pingpong_arrive();
        if (T::PRECOMPUTE)
            make_descriptors((pipe_k.stage + 1) % T::STAGES, smem.V[pipe_k.stage]);
        release_storing_q_stage();
        wgmma_wait_group<1>(S_rmem);
        if (!no_pending_pv)
            consumer_release(&smem.K_empty[pipe_k.stage]);
        if (FIRST)
            pending_softmax = softmax, softmax = {};

        // Row r of the warp attends to keys 0 .. row0_last_key + r of the tile.
        const int row0_last_key = work_tile.query0 + warp_row0 + causal_offset - key0;
        if (MASK && (row0_last_key < T::KEYS - 1 || key0 + T::KEYS > p.nk))
            apply_mask(S_rmem, row0_last_key, p.nk - 1 - key0, lane);
        float speculative[LANE_ROWS][T::SPECULATIVE_COLUMNS + 1]; // an array cannot have 0 elements
        const bool must_rescale =
            FIRST || exceeds_threshold<T::SPECULATIVE_COLUMNS>(S_rmem, scale, softmax, speculative);
        // TODO 1 (about 2 lines): If a score exceeds its row's threshold, update the row maxima. A new work tile starts
        // with new maxima.
        if (must_rescale)
            update_row_max_with_headroom<E, T::SPECULATIVE_COLUMNS>(S_rmem, scale, softmax, rescale, speculative);
        // END TODO 1
        exponentiate_remaining<T::SPECULATIVE_COLUMNS, T::EARLY_KEYS / LANES_PER_ROW, T::PRECOMPUTE>(
            S_rmem, scale, softmax, speculative);
        warpgroup_fence_operand(S_rmem);
        if (T::EARLY_KEYS > 0) // returns at once, but its branch keeps ptxas from hoisting the wgmma wait
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
        // The last tile comes first: it is the one that needs a mask.
        int key0 = (work_tile.end_key - 1) / T::KEYS * T::KEYS;
        // Each skipped tile occupies a stage, and the pending P V holds another one: the skipped tiles must not need
        // all stages.
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
            if (threadIdx.x % WARPGROUP_SIZE < WARP_SIZE) { // after the release, other warps could miss a phase
                mbarrier_wait(&smem.K_full[pipe_k.stage], pipe_k.phase);
                consumer_release(&smem.K_empty[pipe_k.stage]);
                mbarrier_wait(&smem.V_full[pipe_k.stage], pipe_k.phase);
                consumer_release(&smem.V_empty[pipe_k.stage]);
            }
        }
        if (warpgroup_end_key == 0) {
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
        if (!T::PINGPONG)
            drain_pv();
    }
    if (!T::SKIPS_TILES && pending_q_stage >= 0)
        drain_pv();
    release_storing_q_stage(); // the block must not exit before TMA has read its shared memory
}

// Grid: scheduler.num_blocks persistent blocks, which process work tiles of QUERIES queries.
// Warpgroup 0 is the producer: its thread 0 issues the TMA loads and waits on the `empty` mbarriers. The other
// warpgroups are consumers: each computes 64 rows of the output, a warp 16 of them, and a quad of lanes all columns of
// a row. Consumers wait on the `full` mbarriers. Named barrier 1 + consumer: the threads of a consumer warpgroup wait
// for one another before the TMA store of its rows.
// Named barrier PINGPONG_BARRIER + consumer: a consumer waits for the previous one to have issued its GEMMs.
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
        bar_arrive(PINGPONG_BARRIER, 2 * WARPGROUP_SIZE); // the first consumer warpgroup goes first
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
    make_config<KernelTraits<E, 64, 4, 64, 4>>(), // the second one computes fewer masked scores
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
