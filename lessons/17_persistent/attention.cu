// Lesson 17: a persistent kernel. One block per SM processes work tile after work tile, assigned in advance: the
// pipelines go on, and the producer loads the next work tile during the epilogue of this one.
//
// architecture: sm_90a
#include "accumulator_layout.cuh"
#include "attention.h"
#include "epilogue.cuh"
#include "hopper.cuh"
#include "kernel_config.cuh"
#include "load_kv.cuh"
#include "online_softmax.cuh"
#include "static_order.cuh"
#include "tensor_maps.cuh"
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
    E Q[2][PANELS][QUERIES][PANEL]; // double-buffered; the output of a work tile overwrites its queries
    E K[STAGES][PANELS][KEYS][PANEL];
    E V[STAGES][PANELS][KEYS][PANEL];
    uint64_t Q_full[2], Q_empty[2]; // mbarriers: the TMA load is complete
    uint64_t K_full[STAGES], V_full[STAGES];
    uint64_t K_empty[STAGES], V_empty[STAGES]; // the consumer warpgroups have released the stage
};

// The work tile that this block processes in a round.
__device__ inline int work_tile_index(int round) {
    // TODO 1 (about 1 line): Deal the work tiles out in snake order: forwards in even rounds, backwards in odd ones. So
    // a block that gets a longer one than its neighbour in one round gets a shorter one in the next.
    // END TODO 1
}

// The producer, one thread.
template <class T>
__device__ inline void produce(T &smem, const TensorMaps &maps, const struct attention_problem &p) {
    PipelineState<T::STAGES> pipe_k, pipe_v;
    PipelineState<2> pipe_q;
    for (int round = 0; work_tile_index(round) < num_work_tiles(p, T::QUERIES); round++, pipe_q.advance()) {
        const WorkTile work_tile = static_work_tile_at<T>(p, work_tile_index(round));
        // TODO 2 (about 3 lines): Load the queries into their buffer, once it may be overwritten.
        // END TODO 2
        load_kv_tiles(smem, maps, work_tile, pipe_k, pipe_v);
    }
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
    RowState<LANE_ROWS> softmax;
    uint32_t P_rmem[T::KEYS / 16][4] = {};
    // The matrix descriptors of the first stages; those of later stages are an addition away.
    const uint32_t q_desc = descriptor_low(smem.Q[0][0][warpgroup_row0]), k_desc = descriptor_low(smem.K[0]);
    const uint32_t v_desc = descriptor_low(smem.V[0], sizeof(T::V[0][0]));

    auto pingpong_sync = [&] { bar_sync(PINGPONG_BARRIER + warpgroup, 2 * WARPGROUP_SIZE); };
    auto pingpong_arrive = [&] {
        bar_arrive(PINGPONG_BARRIER + (warpgroup + 1) % T::CONSUMER_WARPGROUPS, 2 * WARPGROUP_SIZE);
    };
    // One iteration of the main loop: Q K^T and softmax of a tile, and P V of the previous tile. Changes all variables
    // above that are not constant.
    // Tiles go from last to first: the partial tile and, with causal masking, the tiles on the diagonal come first.
    // FIRST: the first tile, so there is no P V.
    auto process_tile = [&](auto is_first, int key0) {
        constexpr bool FIRST = is_first.value;
        mbarrier_wait(&smem.K_full[pipe_k.stage], pipe_k.phase);
        pingpong_sync();
        wgmma_fence(S_rmem, O_rmem, P_rmem);
        issue_qk<T>(S_rmem, q_desc + pipe_q.stage * descriptor_offset(sizeof(T::Q[0])),
                    k_desc + pipe_k.stage * descriptor_offset(sizeof(T::K[0])));
        wgmma_commit_group();
        if constexpr (!FIRST) {
            mbarrier_wait(&smem.V_full[pipe_v.stage], pipe_v.phase);
            issue_pv<T>(O_rmem, P_rmem, v_desc + pipe_v.stage * descriptor_offset(sizeof(T::V[0])));
        }
        wgmma_commit_group();
        pingpong_arrive();
        wgmma_wait_group<1>(S_rmem);
        consumer_release(&smem.K_empty[pipe_k.stage]);

        // Row r of the warp attends to keys 0 .. row0_last_key + r of the tile.
        const int row0_last_key = work_tile.query0 + warp_row0 + causal_offset - key0;
        if (row0_last_key < T::KEYS - 1 || key0 + T::KEYS > p.nk)
            apply_mask(S_rmem, row0_last_key, p.nk - 1 - key0, lane);
        const bool must_rescale = update_row_max_lazily(S_rmem, scale, softmax, rescale);
        exponentiate(S_rmem, scale, softmax);
        wgmma_wait_group<0>(O_rmem, P_rmem);
        if (!FIRST)
            consumer_release(&smem.V_empty[pipe_v.stage]);
        if (must_rescale)
            rescale_rows(O_rmem, rescale);
        for (int key = 0; key < T::KEYS; key += 16)
            round_x4<E>(P_rmem[key / 16], S_rmem, key);
        pipe_v = pipe_k;
        pipe_k.advance();
    };
    auto finish_pv = [&] { // issues the last P V, without another Q K^T
        mbarrier_wait(&smem.V_full[pipe_v.stage], pipe_v.phase);
        wgmma_fence(O_rmem, P_rmem);
        issue_pv<T>(O_rmem, P_rmem, v_desc + pipe_v.stage * descriptor_offset(sizeof(T::V[0])));
        wgmma_commit_group();
        wgmma_wait_group<0>(O_rmem, P_rmem);
        consumer_release(&smem.V_empty[pipe_v.stage]);
    };
    for (int round = 0; work_tile_index(round) < num_work_tiles(p, T::QUERIES); round++, pipe_q.advance()) {
        mbarrier_wait(&smem.Q_full[pipe_q.stage], pipe_q.phase);
        work_tile = static_work_tile_at<T>(p, work_tile_index(round));
        int key0 = (work_tile.end_key - 1) / T::KEYS * T::KEYS;
        // TODO 3 (about 1 line): Begin anew what belongs to one work tile only.
        // END TODO 3
        process_tile(std::true_type(), key0);
        for (key0 -= T::KEYS; key0 >= 0; key0 -= T::KEYS)
            process_tile(std::false_type(), key0);
        finish_pv();
        store_output_async<T::D>(smem.Q[pipe_q.stage], maps, p, work_tile, thread, O_rmem, softmax);
        // TODO 4 (about 2 lines): Release the buffer of Q, from which TMA stores the output. The block must not exit
        // before TMA has read it, either.
        // END TODO 4
    }
}

// Grid: one block per SM, or per work tile of QUERIES queries if there are fewer.
// A warpgroup computes 64 rows of the output, a warp 16 of them, and a quad of lanes all columns of two rows.
// Except warpgroup 0, the producer: its thread 0 issues the TMA loads and waits on `empty`, the others on `full`.
// Named barrier PINGPONG_BARRIER + consumer warpgroup index: the warpgroup waits until the previous one has issued its
// GEMMs.
template <class T>
__global__ void __launch_bounds__(T::THREADS, 1)
    attention_kernel(const __grid_constant__ TensorMaps maps, const __grid_constant__ struct attention_problem p,
                     float softmax_scale_log2) {
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
            produce(smem, maps, p);
        return;
    }
    setmaxnreg_inc<T::REGISTERS[T::CONSUMER_WARPGROUPS - 2]>();
    if (consumer_thread() / WARPGROUP_SIZE == T::CONSUMER_WARPGROUPS - 1)
        bar_arrive(PINGPONG_BARRIER, 2 * WARPGROUP_SIZE);
    attend(smem, maps, p, softmax_scale_log2);
}

// softmax_scale_log2 is a kernel parameter, so that it is an operand in constant memory and takes no register.
template <class T>
static cudaError_t launch(const struct KernelConfig *config, const struct attention_problem *p, cudaStream_t stream) {
    struct TensorMaps maps;
    int64_t blocks = num_work_tiles(*p, T::QUERIES);
    cudaError_t error = blocks > INT32_MAX / 2 ? cudaErrorInvalidConfiguration : make_tensor_maps(&maps, p, config);
    if (error == cudaSuccess)
        error = limit_to_sms(&blocks);
    if (error == cudaSuccess)
        error = opt_in_shared_memory(config);
    if (error != cudaSuccess)
        return error;
    attention_kernel<T><<<(unsigned)blocks, T::THREADS, sizeof(T), stream>>>(maps, *p, p->softmax_scale * LOG2_E);
    return cudaGetLastError();
}

template <class E>
using Configs = ConfigList<KernelTraits<E, 64, 3, 128, 3>, KernelTraits<E, 96, 2, 128, 2>,
                           KernelTraits<E, 128, 2, 128, 2>, KernelTraits<E, 256, 2, 64, 1>>;

#include "hopper_launch.cuh"
