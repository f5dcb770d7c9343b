// Lesson 14: warp specialization. A producer thread prefetches tiles by TMA; consumer warpgroups compute, with the
// registers that the producer's warpgroup deallocates, and release each stage after they have read it.
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
        // TODO 1 (about 6 lines): Load K and V of the tile, each when the consumers have released its stage. A stage
        // that was never used is free: choose the parity of the wait accordingly.
        mbarrier_wait(&smem.K_empty[pipe.stage], pipe.phase ^ 1);
        tma_load_tile<T::PANELS>(smem.K[pipe.stage], &smem.K_full[pipe.stage], maps.k, key0, work_tile.kv_head,
                                 work_tile.batch);
        mbarrier_wait(&smem.V_empty[pipe.stage], pipe.phase ^ 1);
        tma_load_tile<T::PANELS>(smem.V[pipe.stage], &smem.V_full[pipe.stage], maps.v, key0, work_tile.kv_head,
                                 work_tile.batch);
        // END TODO 1
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
    const int warpgroup_row0 = thread / WARPGROUP_SIZE * WARPGROUP_ROWS;
    const float scale = p.softmax_scale * LOG2_E;
    const int causal_offset = p.causal ? p.nk - p.nq : NO_CAUSAL_LIMIT; // query i: keys 0 .. i + causal_offset
    PipelineState<T::STAGES> pipe;
    float S_rmem[LANE_ROWS][T::LANE_KEYS], rescale[LANE_ROWS];
    uint32_t P_rmem[T::KEYS / 16][4];

    // Tiles go from last to first: the partial tile and, with causal masking, the tiles on the diagonal come first.
    int key0 = (work_tile.end_key - 1) / T::KEYS * T::KEYS;
    mbarrier_wait(&smem.Q_full, 0);
    for (; key0 >= 0; key0 -= T::KEYS) {
        mbarrier_wait(&smem.K_full[pipe.stage], pipe.phase);
        wgmma_fence(S_rmem);
        issue_qk<T>(S_rmem, descriptor_low(smem.Q[0][warpgroup_row0]), descriptor_low(smem.K[pipe.stage]));
        wgmma_commit_group();
        wgmma_wait_group<0>(S_rmem);
        consumer_release(&smem.K_empty[pipe.stage]);

        // Row r of the warp attends to keys 0 .. row0_last_key + r of the tile.
        const int row0_last_key = work_tile.query0 + warp_row0 + causal_offset - key0;
        if (row0_last_key < T::KEYS - 1 || key0 + T::KEYS > p.nk)
            apply_mask(S_rmem, row0_last_key, p.nk - 1 - key0, lane);
        const bool must_rescale = update_row_max_lazily(S_rmem, scale, RESCALE_THRESHOLD, softmax, rescale);
        exponentiate<0, T::LANE_KEYS>(S_rmem, scale, softmax);
        if (must_rescale)
            rescale_rows(O_rmem, rescale);
        for (int key = 0; key < T::KEYS; key += 16)
            round_x4<E>(P_rmem[key / 16], S_rmem, key);

        mbarrier_wait(&smem.V_full[pipe.stage], pipe.phase);
        wgmma_fence(O_rmem, P_rmem);
        issue_pv<T>(O_rmem, P_rmem, descriptor_low(smem.V[pipe.stage], sizeof(T::V[0][0])));
        wgmma_commit_group();
        wgmma_wait_group<0>(O_rmem);
        // TODO 2 (about 1 line): Release the stage of V, which this warpgroup's wgmmas have finished reading.
        consumer_release(&smem.V_empty[pipe.stage]);
        // END TODO 2
        pipe.advance();
    }
}

// Grid: one block per work tile of QUERIES queries.
// Warpgroup 0 is the producer: its thread 0 issues the TMA loads and waits on the `empty` mbarriers. The other
// warpgroups are consumers: each computes 64 rows of the output, a warp 16 of them, and a quad of lanes all columns of
// two rows (r and r + 8). Consumers wait on the `full` mbarriers. Named barrier 1 + consumer warpgroup index: its
// threads wait for one another before the TMA store of its rows.
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
        // TODO 3 (about 2 lines): Initialize the `empty` mbarriers with the number of arrivals that free a stage.
        mbarriers_init(smem.K_empty, T::CONSUMER_WARPGROUPS);
        mbarriers_init(smem.V_empty, T::CONSUMER_WARPGROUPS);
        // END TODO 3
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
