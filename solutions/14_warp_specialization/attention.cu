// Lesson 14: warp specialization. A producer thread prefetches tiles by TMA; consumer warpgroups compute, with the
// registers that the producer's warpgroup deallocates, and release each stage after they have read it.
//
// architecture: sm_90a
#include "accumulator_layout.cuh"
#include "attention.h"
#include "epilogue.cuh"
#include "hopper.cuh"
#include "kernel_config.cuh"
#include "online_softmax.cuh"
#include "tensor_maps.cuh"
#include "tma_pipeline.cuh"
#include "warp_specialization.cuh"
#include "wgmma.cuh"
#include "work_tile.cuh"

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
    // Registers per thread, with 2, 3, 4 consumer warpgroups. At launch each thread of the block has 168, 128, 96.
    static constexpr int REGISTERS[] = {232, 160, 112}, PRODUCER_REGISTERS[] = {40, 32, 32};
    static constexpr int PANELS = (D + PANEL - 1) / PANEL;
    static_assert(has_wgmma(KEYS) && has_wgmma(D), "wgmma.cuh has a wgmma with N = KEYS, and one with N = D");

    // A panel has 64 columns of all rows: rows of 128 bytes, swizzled.
    E Q[PANELS][QUERIES][PANEL];
    E K[STAGES][PANELS][KEYS][PANEL];
    E V[STAGES][PANELS][KEYS][PANEL];
    uint64_t Q_full; // mbarriers: the TMA load is complete
    uint64_t K_full[STAGES], V_full[STAGES];
    uint64_t K_empty[STAGES], V_empty[STAGES]; // the consumer warpgroups have released the stage
};

// Loads tile after tile of K and V, each as soon as the consumers have released its stage.
template <class T>
__device__ inline void load_kv_tiles(T &smem, const TensorMaps &maps, const WorkTile &work_tile,
                                     PipelineState<T::STAGES> &pipe) {
    for (int key0 = (work_tile.end_key - 1) / T::KEYS * T::KEYS; key0 >= 0; key0 -= T::KEYS, pipe.advance()) {
        // TODO 1 (about 4 lines): Load K and V of the tile, each when the consumers have released its stage. A stage
        // that was never used is free: choose the parity of the wait accordingly.
        mbarrier_wait(&smem.K_empty[pipe.stage], pipe.phase ^ 1);
        tma_load_tile(smem.K[pipe.stage], &smem.K_full[pipe.stage], maps.k, key0, work_tile.kv_head, work_tile.batch);
        mbarrier_wait(&smem.V_empty[pipe.stage], pipe.phase ^ 1);
        tma_load_tile(smem.V[pipe.stage], &smem.V_full[pipe.stage], maps.v, key0, work_tile.kv_head, work_tile.batch);
        // END TODO 1
    }
}

// The producer, one thread.
template <class T>
__device__ inline void produce(T &smem, const TensorMaps &maps, const struct attention_problem &p) {
    PipelineState<T::STAGES> pipe;
    const WorkTile work_tile = work_tile_at<T>(p, blockIdx.x);
    load_queries(smem.Q, &smem.Q_full, maps, work_tile);
    load_kv_tiles(smem, maps, work_tile, pipe);
}

// Issues the wgmmas of S_rmem = Q K^T for the warpgroup's rows and all keys of the tile. q_desc, k_desc: the matrix
// descriptors of the first column.
template <class T, class E = typename T::E>
__device__ inline void issue_qk(float (&S_rmem)[LANE_ROWS][T::LANE_KEYS], uint32_t q_desc, uint32_t k_desc) {
    q_desc = warp_uniform(q_desc), k_desc = warp_uniform(k_desc);
#pragma unroll
    for (int column = 0; column < T::D; column += 16) {
        const int panel = column / PANEL, panel_column = column % PANEL;
        wgmma<E>(S_rmem, q_desc + descriptor_offset((panel * T::QUERIES * PANEL + panel_column) * sizeof(E)),
                 k_desc + descriptor_offset((panel * T::KEYS * PANEL + panel_column) * sizeof(E)), column > 0);
    }
}

// Issues the wgmmas of O_rmem += P V for the warpgroup's rows and all columns.
template <class T, class E = typename T::E>
__device__ inline void issue_pv(float (&O_rmem)[LANE_ROWS][T::LANE_COLUMNS], const uint32_t (&P_rmem)[T::KEYS / 16][4],
                                uint32_t v_desc) {
    v_desc = warp_uniform(v_desc);
#pragma unroll
    for (int key = 0; key < T::KEYS; key += 16) {
        wgmma<E>(O_rmem, P_rmem[key / 16], v_desc + descriptor_offset(key * PANEL * sizeof(E)));
    }
}

// Computes the block's part of the attention.
template <class T, class E = typename T::E>
__device__ inline void attend(T &smem, const TensorMaps &maps, const struct attention_problem &p, float scale) {
    const WorkTile work_tile = work_tile_at<T>(p, blockIdx.x);
    const int thread = consumer_thread(), lane = thread % WARP_SIZE, warp_row0 = thread / WARP_SIZE * WARP_ROWS;
    const int warpgroup_row0 = thread / WARPGROUP_SIZE * WARPGROUP_ROWS;
    const int causal_offset = p.causal ? p.nk - p.nq : NO_CAUSAL_LIMIT; // query i: keys 0 .. i + causal_offset
    PipelineState<T::STAGES> pipe;
    float S_rmem[LANE_ROWS][T::LANE_KEYS], O_rmem[LANE_ROWS][T::LANE_COLUMNS] = {}, rescale[LANE_ROWS];
    RowState<LANE_ROWS> softmax;
    uint32_t P_rmem[T::KEYS / 16][4] = {};
    // The matrix descriptors of the first stages; those of later stages are an addition away.
    const uint32_t q_desc = descriptor_low(smem.Q[0][warpgroup_row0]), k_desc = descriptor_low(smem.K[0]);
    const uint32_t v_desc = descriptor_low(smem.V[0], sizeof(T::V[0][0]));

    // Tiles go from last to first: the partial tile and, with causal masking, the tiles on the diagonal come first.
    int key0 = (work_tile.end_key - 1) / T::KEYS * T::KEYS;
    mbarrier_wait(&smem.Q_full, 0);
    for (; key0 >= 0; key0 -= T::KEYS) {
        mbarrier_wait(&smem.K_full[pipe.stage], pipe.phase);
        wgmma_fence(S_rmem);
        issue_qk<T>(S_rmem, q_desc, k_desc + pipe.stage * descriptor_offset(sizeof(T::K[0])));
        wgmma_commit_group();
        wgmma_wait_group<0>(S_rmem);
        // TODO 2 (about 1 line): Release the stage of K, which this warpgroup's wgmmas have finished reading.
        consumer_release(&smem.K_empty[pipe.stage]);
        // END TODO 2

        // Row r of the warp attends to keys 0 .. row0_last_key + r of the tile.
        const int row0_last_key = work_tile.query0 + warp_row0 + causal_offset - key0;
        if (row0_last_key < T::KEYS - 1 || key0 + T::KEYS > p.nk)
            apply_mask(S_rmem, row0_last_key, p.nk - 1 - key0, lane);
        const bool must_rescale = update_row_max_lazily(S_rmem, scale, softmax, rescale);
        exponentiate(S_rmem, scale, softmax);
        if (must_rescale)
            rescale_rows(O_rmem, rescale);
        for (int key = 0; key < T::KEYS; key += 16)
            round_x4<E>(P_rmem[key / 16], S_rmem, key);

        mbarrier_wait(&smem.V_full[pipe.stage], pipe.phase);
        wgmma_fence(O_rmem, P_rmem);
        issue_pv<T>(O_rmem, P_rmem, v_desc + pipe.stage * descriptor_offset(sizeof(T::V[0])));
        wgmma_commit_group();
        wgmma_wait_group<0>(O_rmem, P_rmem);
        // TODO 3 (about 1 line): Likewise the stage of V.
        consumer_release(&smem.V_empty[pipe.stage]);
        // END TODO 3
        pipe.advance();
    }
    store_output_async<T::D>(smem.Q, maps, p, work_tile, thread, O_rmem, softmax);
    cp_async_bulk_wait_group_read(); // the block must not exit before TMA has read its shared memory
}

// Grid: one block per work tile of QUERIES queries.
// A warpgroup computes 64 rows of the output, a warp 16 of them, and a quad of lanes all columns of two rows.
// Except warpgroup 0, the producer: its thread 0 issues the TMA loads and waits on `empty`, the others on `full`.
template <class T>
__global__ void __launch_bounds__(T::THREADS, 1)
    attention_kernel(const __grid_constant__ TensorMaps maps, const __grid_constant__ struct attention_problem p,
                     float softmax_scale_log2) {
    extern __shared__ __align__(1024) unsigned char dynamic_smem[]; // the swizzle depends on address bits
    T &smem = *reinterpret_cast<T *>(dynamic_smem);
    if (threadIdx.x == 0) {
        mbarriers_init(smem.Q_full, 1);
        mbarriers_init(smem.K_full, 1);
        mbarriers_init(smem.V_full, 1);
        // TODO 4 (about 2 lines): Initialize the `empty` mbarriers with the number of arrivals that free a stage.
        mbarriers_init(smem.K_empty, T::CONSUMER_WARPGROUPS);
        mbarriers_init(smem.V_empty, T::CONSUMER_WARPGROUPS);
        // END TODO 4
        fence_mbarrier_init();
    }
    __syncthreads();
    if (canonical_warpgroup_index() == 0) {
        setmaxnreg_dec<T::PRODUCER_REGISTERS[T::CONSUMER_WARPGROUPS - 2]>();
        if (threadIdx.x == 0)
            produce(smem, maps, p);
        return;
    }
    setmaxnreg_inc<T::REGISTERS[T::CONSUMER_WARPGROUPS - 2]>();
    attend(smem, maps, p, softmax_scale_log2);
}

// softmax_scale_log2 is a kernel parameter, so that it is an operand in constant memory and takes no register.
template <class T>
static cudaError_t launch(const struct KernelConfig *config, const struct attention_problem *p, cudaStream_t stream) {
    struct TensorMaps maps;
    int64_t blocks = num_work_tiles(*p, T::QUERIES);
    cudaError_t error = blocks > INT32_MAX / 2 ? cudaErrorInvalidConfiguration : make_tensor_maps(&maps, p, config);
    if (error == cudaSuccess)
        error = opt_in_shared_memory(config);
    if (error != cudaSuccess)
        return error;
    attention_kernel<T><<<(unsigned)blocks, T::THREADS, sizeof(T), stream>>>(maps, *p, p->softmax_scale * LOG2_E);
    return cudaGetLastError();
}

template <class E>
using Configs = ConfigList<KernelTraits<E, 64, 3, 128, 2>, KernelTraits<E, 96, 2, 128, 2>,
                           KernelTraits<E, 128, 2, 128, 2>, KernelTraits<E, 256, 2, 64, 2>>;

#include "hopper_launch.cuh"
