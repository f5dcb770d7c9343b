// Lesson 16: overlap of GEMMs and softmax. Q K^T of a tile is issued before P V of the previous tile, so that P V runs
// during the softmax; and by ping-pong scheduling one warpgroup's GEMMs run during another's softmax.
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
#include "tile_scheduler.cuh"
#include "tma_pipeline.cuh"

constexpr float LOG2_E = 1.44269504f;
constexpr float RESCALE_THRESHOLD = 8.0f; // in log2 units: rescale only if a weight would exceed 2^8
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
    static constexpr int PANELS = (D + PANEL - 1) / PANEL;
    // Registers per consumer thread. At launch each thread of the block has 168 or 128 registers.
    static constexpr int REGISTERS = CONSUMER_WARPGROUPS == 2 ? 240 : 160;
    static_assert(has_wgmma(KEYS) && has_wgmma(D), "wgmma.cuh has a wgmma with N = KEYS, and one with N = D");

    // A panel has 64 columns of all rows: rows of 128 bytes, swizzled.
    E Q[PANELS][QUERIES][PANEL];
    E K[STAGES][PANELS][KEYS][PANEL];
    E V[STAGES][PANELS][KEYS][PANEL];
    uint64_t Q_full, K_full[STAGES], V_full[STAGES]; // mbarriers: the TMA load is complete
    uint64_t K_empty[STAGES], V_empty[STAGES];       // the consumer warpgroups have released the stage
};

// The producer, one thread: loads the queries of the work tile, and tile after tile of K and V, each as soon as the
// consumers have released its stage.
template <class T>
__device__ inline void produce(T &smem, const TensorMaps &maps, const WorkTile &work_tile) {
    PipelineState<T::STAGES> pipe;
    tma_load_tile<T::PANELS>(smem.Q, &smem.Q_full, maps.q, work_tile.query0, work_tile.head, work_tile.batch);
    for (int key0 = (work_tile.end_key - 1) / T::KEYS * T::KEYS; key0 >= 0; key0 -= T::KEYS, pipe.advance()) {
        mbarrier_wait(&smem.K_empty[pipe.stage], pipe.phase ^ 1);
        tma_load_tile<T::PANELS>(smem.K[pipe.stage], &smem.K_full[pipe.stage], maps.k, key0, work_tile.kv_head,
                                 work_tile.batch);
        mbarrier_wait(&smem.V_empty[pipe.stage], pipe.phase ^ 1);
        tma_load_tile<T::PANELS>(smem.V[pipe.stage], &smem.V_full[pipe.stage], maps.v, key0, work_tile.kv_head,
                                 work_tile.batch);
    }
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

// The epilogue of the warpgroup's rows: output, and lse if requested. The output overwrites the queries in shared
// memory, from where TMA stores it; TMA writes no out-of-bounds element.
template <class T>
__device__ inline void store_output(T &smem, const TensorMaps &maps, const struct attention_problem &p,
                                    const WorkTile &work_tile, float (&O_rmem)[LANE_ROWS][T::LANE_COLUMNS],
                                    const RowState &softmax) {
    const int thread = consumer_thread(), warp_row0 = thread / WARP_SIZE * WARP_ROWS;
    const int warpgroup_row0 = thread / WARPGROUP_SIZE * WARPGROUP_ROWS;
    write_rows_to_smem<T::D>(smem.Q, O_rmem, softmax, p, work_tile.batch, work_tile.head, work_tile.query0, warp_row0);
    fence_proxy_async();
    bar_sync(1 + thread / WARPGROUP_SIZE, WARPGROUP_SIZE);
    if (threadIdx.x % WARPGROUP_SIZE == 0) {
        for (int i = 0; i < T::PANELS; i++)
            cp_async_bulk_tensor_store(&maps.o, smem.Q[i][warpgroup_row0], i * PANEL, work_tile.query0 + warpgroup_row0,
                                       work_tile.head, work_tile.batch);
        cp_async_bulk_commit_group();
        cp_async_bulk_wait_group_read();
    }
}

// Computes the attention of a work tile: the output before the division, the row maxima, and the lane's partial row
// sums.
template <class T, class E = typename T::E>
__device__ inline void consume(T &smem, const struct attention_problem &p, const WorkTile &work_tile,
                               float (&O_rmem)[LANE_ROWS][T::LANE_COLUMNS], RowState &softmax) {
    const int lane = threadIdx.x % WARP_SIZE, thread = consumer_thread(), warp_row0 = thread / WARP_SIZE * WARP_ROWS;
    const int warpgroup_row0 = consumer_thread() / WARPGROUP_SIZE * WARPGROUP_ROWS;
    const float scale = p.softmax_scale * LOG2_E;
    const int causal_offset = p.causal ? p.nk - p.nq : NO_CAUSAL_LIMIT; // query i: keys 0 .. i + causal_offset
    PipelineState<T::STAGES> pipe_k, pipe_v; // of the tile whose Q K^T is next, and of the tile whose P V is next
    float S_rmem[LANE_ROWS][T::LANE_KEYS], rescale[LANE_ROWS];
    uint32_t P_rmem[T::KEYS / 16][4];

    const int consumer_warpgroup = thread / WARPGROUP_SIZE;
    const int next_consumer_warpgroup = (consumer_warpgroup + 1) % T::CONSUMER_WARPGROUPS;
    auto pingpong_sync = [&] { bar_sync(PINGPONG_BARRIER + consumer_warpgroup, 2 * WARPGROUP_SIZE); };
    auto pingpong_arrive = [&] { bar_arrive(PINGPONG_BARRIER + next_consumer_warpgroup, 2 * WARPGROUP_SIZE); };
    // One iteration of the main loop: Q K^T and softmax of a tile, and P V of the previous tile. FIRST: the first
    // tile, so there is no P V.
    auto process_tile = [&](auto is_first, int key0) {
        constexpr bool FIRST = is_first.value;
        mbarrier_wait(&smem.K_full[pipe_k.stage], pipe_k.phase);
        // TODO 1 (about 12 lines): After pingpong_sync(), issue Q K^T of this tile as a group of its own, and P V of
        // the previous tile; then pass the ping-pong order on to the next warpgroup. Wait for Q K^T only.
        // END TODO 1
        consumer_release(&smem.K_empty[pipe_k.stage]);

        // Row r of the warp attends to keys 0 .. row0_last_key + r of the tile.
        const int row0_last_key = work_tile.query0 + warp_row0 + causal_offset - key0;
        if (row0_last_key < T::KEYS - 1 || key0 + T::KEYS > p.nk)
            apply_mask(S_rmem, row0_last_key, p.nk - 1 - key0, lane);
        const bool must_rescale = update_row_max_lazily(S_rmem, scale, RESCALE_THRESHOLD, softmax, rescale);
        exponentiate<0, T::LANE_KEYS>(S_rmem, scale, softmax);
        // TODO 2 (about 3 lines): Wait for the wgmmas that still use O_rmem and P_rmem, before both are modified, and
        // release the stage that they read.
        // END TODO 2
        if (must_rescale)
            rescale_rows(O_rmem, rescale);
        for (int key = 0; key < T::KEYS; key += 16)
            round_x4<E>(P_rmem[key / 16], S_rmem, key);
        pipe_v = pipe_k;
        pipe_k.advance();
    };
    // Tiles go from last to first: the partial tile and, with causal masking, the tiles on the diagonal come first.
    int key0 = (work_tile.end_key - 1) / T::KEYS * T::KEYS;
    mbarrier_wait(&smem.Q_full, 0);
    process_tile(std::true_type{}, key0);
    while ((key0 -= T::KEYS) >= 0)
        process_tile(std::false_type{}, key0);
    // P V of the last iteration's tile is still to be issued.
    mbarrier_wait(&smem.V_full[pipe_v.stage], pipe_v.phase);
    wgmma_fence(O_rmem, P_rmem);
    issue_pv<T>(O_rmem, P_rmem, descriptor_low(smem.V[pipe_v.stage], sizeof(T::V[0][0])));
    wgmma_commit_group();
    wgmma_wait_group<0>(O_rmem);
}

// Grid: one block per work tile of QUERIES queries.
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
        mbarrier_init(&smem.Q_full, 1);
        mbarriers_init(smem.K_full, 1);
        mbarriers_init(smem.V_full, 1);
        mbarriers_init(smem.K_empty, T::CONSUMER_WARPGROUPS);
        mbarriers_init(smem.V_empty, T::CONSUMER_WARPGROUPS);
        fence_mbarrier_init();
    }
    __syncthreads();
    const WorkTile work_tile = work_tile_at<T>(p, scheduler, blockIdx.x);
    if (threadIdx.x < WARPGROUP_SIZE) {
        setmaxnreg_dec<24>();
        if (threadIdx.x == 0)
            produce(smem, maps, work_tile);
        return;
    }
    setmaxnreg_inc<T::REGISTERS>();
    if (consumer_thread() < WARPGROUP_SIZE)
        bar_arrive(PINGPONG_BARRIER, 2 * WARPGROUP_SIZE); // for the last warpgroup: lets the first one begin
    float O_rmem[LANE_ROWS][T::LANE_COLUMNS] = {};
    RowState softmax;
    consume<T>(smem, p, work_tile, O_rmem, softmax);
    store_output<T>(smem, maps, p, work_tile, O_rmem, softmax);
}

template <class T>
static cudaError_t launch(const struct KernelConfig *config, const struct attention_problem *p, cudaStream_t stream) {
    struct TensorMaps maps;
    struct TileScheduler scheduler;
    cudaError_t error = make_tensor_maps(&maps, p, config);
    if (error == cudaSuccess)
        error = make_tile_scheduler(&scheduler, config, p);
    if (error == cudaSuccess)
        error = opt_in_shared_memory(config);
    if (error != cudaSuccess)
        return error;
    attention_kernel<T><<<scheduler.num_work_tiles, T::THREADS, sizeof(T), stream>>>(maps, *p, scheduler);
    return cudaGetLastError();
}

template <class T>
static struct KernelConfig make_config() {
    return {T::D, T::QUERIES, T::KEYS, T::THREADS, sizeof(T), (const void *)attention_kernel<T>, launch<T>};
}

template <class E>
static const struct KernelConfig configs[] = {
    make_config<KernelTraits<E, 64, 3, 128, 2>>(),
    make_config<KernelTraits<E, 96, 2, 128, 2>>(),
    make_config<KernelTraits<E, 128, 2, 128, 2>>(),
    make_config<KernelTraits<E, 256, 2, 64, 2>>(),
};

static const struct KernelConfig *select_config(const struct attention_problem *p) {
    return first_config(p, p->dtype == ATTENTION_FP16 ? configs<__half> : configs<__nv_bfloat16>);
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
