// Lesson 12: TMA. One thread issues the loads of whole tiles, and an mbarrier counts their bytes as they arrive. The
// MMAs are those of lesson 11.
//
// architecture: sm_90a
#include "accumulator_layout.cuh"
#include "attention.h"
#include "chunk.cuh"
#include "ex2.cuh"
#include "kernel_config.cuh"
#include "mma.cuh"
#include "online_softmax.cuh"
#include "store_output.cuh"
#include "tma_pipeline.cuh"
#include "work_tile.cuh"

// A kernel's compile-time sizes and, as its members, the kernel's shared memory. D is head_dim rounded up to one of a
// few sizes, so that register arrays have constant sizes and loops unroll. A lane holds ROWS rows of results, KEYS /
// LANES_PER_ROW columns of S and D / LANES_PER_ROW of O.
template <class E_, int D_, int WARPS, int ROWS_, int KEYS_, int BLOCKS_>
struct KernelTraits {
    using E = E_; // __half or __nv_bfloat16
    static constexpr int D = D_, ROWS = ROWS_, KEYS = KEYS_, THREADS = WARPS * WARP_SIZE;
    static constexpr int BLOCKS = BLOCKS_; // per SM: one computes while another waits
    static constexpr int WARP_ROWS = WARP_SIZE / LANES_PER_ROW * ROWS, QUERIES = WARPS * WARP_ROWS;
    static constexpr int LANE_KEYS = KEYS / LANES_PER_ROW, LANE_COLUMNS = D / LANES_PER_ROW;
    static constexpr int STAGES = 2; // tiles of K and of V in shared memory: one is read while the other is written
    static constexpr int PANELS = (D + PANEL - 1) / PANEL;
    static_assert(ROWS % 2 == 0 && KEYS % 16 == 0 && D % 16 == 0, "an MMA has 16 rows and a k-step of 16");

    // A panel has 64 columns of all rows: rows of 128 bytes, swizzled.
    using QueryTile = E[PANELS][QUERIES][PANEL];
    using KeyTile = E[PANELS][KEYS][PANEL];
    QueryTile Q;
    KeyTile K[STAGES], V[STAGES];
    uint64_t Q_full; // mbarriers: the TMA load is complete
    uint64_t K_full[STAGES], V_full[STAGES];
};

// The address of the chunk of a row that begins at a column.
template <class E, int ROWS>
__device__ inline E *chunk_of(E (*panels_smem)[ROWS][PANEL], int row, int column) {
    int position = column % PANEL; // of the chunk's first element within the row of the panel
    position ^= row % 8 * CHUNK;
    return &panels_smem[column / PANEL][row][position];
}

// Loads one tile of K and one of V into a stage.
template <class T>
__device__ inline void load_kv_tile(T &smem, const TensorMaps &maps, const WorkTile &work_tile, int stage, int key0) {
    tma_load_tile(smem.K[stage], &smem.K_full[stage], maps.k, key0, work_tile.kv_head, work_tile.batch);
    tma_load_tile(smem.V[stage], &smem.V_full[stage], maps.v, key0, work_tile.kv_head, work_tile.batch);
}

// S_rmem += Q K^T for the warp's rows and all keys of the tile.
template <class T, class E = typename T::E>
__device__ inline void gemm_qk(float (&S_rmem)[T::ROWS][T::LANE_KEYS], const typename T::QueryTile &Q_smem,
                               const typename T::KeyTile &K_smem, int warp_row0, int lane) {
#pragma unroll
    for (int column = 0; column < T::D; column += 16) {
        uint32_t q[T::ROWS / 2][4];
#pragma unroll
        for (int i = 0; i < T::ROWS / 2; i++) {
            ldmatrix_x4(q[i], chunk_of(Q_smem, warp_row0 + 16 * i + lane % 16, column + lane / 16 * 8));
        }
#pragma unroll
        for (int key = 0; key < T::KEYS; key += 16) {
            uint32_t k[4]; // keys 0 .. 7, two registers, and keys 8 .. 15
            ldmatrix_x4(k, chunk_of(K_smem, key + lane / 16 * 8 + lane % 8, column + lane / 8 % 2 * 8));
#pragma unroll
            for (int i = 0; i < T::ROWS; i += 2)
#pragma unroll
                for (int n = 0; n < 2; n++)
                    mma_m16n8k16<E>(&S_rmem[i][key / 4 + 2 * n], &S_rmem[i + 1][key / 4 + 2 * n], q[i / 2], &k[2 * n]);
        }
    }
}

// O_rmem += P V, 16 keys at a time, so that the exponentials of some weights overlap with the MMAs of others.
template <class T, class E = typename T::E>
__device__ inline void gemm_pv(float (&O_rmem)[T::ROWS][T::LANE_COLUMNS], const float (&S_rmem)[T::ROWS][T::LANE_KEYS],
                               const typename T::KeyTile &V_smem, float scale, RowState<T::ROWS> &softmax, int lane) {
#pragma unroll
    for (int key = 0; key < T::KEYS; key += 16) {
        uint32_t P_rmem[T::ROWS / 2][4]; // the A operands of 16 keys
#pragma unroll
        for (int i = 0; i < T::ROWS; i++) {
            const float shift = softmax.max[i] == -INFINITY ? 0.0f : scale * softmax.max[i]; // -inf - -inf would be NaN
            for (int n = 0; n < 2; n++) { // the lane's columns of keys 0 .. 7, and of 8 .. 15
                const float *scores = &S_rmem[i][key / 4 + 2 * n];
                const float weights[2] = {ex2(scale * scores[0] - shift), ex2(scale * scores[1] - shift)};
                softmax.sum[i] += weights[0] + weights[1];
                P_rmem[i / 2][i % 2 + 2 * n] = cvt_rn_x2<E>(weights[0], weights[1]);
            }
        }
#pragma unroll
        for (int column = 0; column < T::D; column += 16) {
            uint32_t v[4]; // columns 0 .. 7, two registers, and columns 8 .. 15
            ldmatrix_x4_trans(v, chunk_of(V_smem, key + lane % 16, column + lane / 16 * 8));
#pragma unroll
            for (int i = 0; i < T::ROWS; i += 2)
#pragma unroll
                for (int n = 0; n < 2; n++)
                    mma_m16n8k16<E>(&O_rmem[i][column / 4 + 2 * n], &O_rmem[i + 1][column / 4 + 2 * n], P_rmem[i / 2],
                                    &v[2 * n]);
        }
    }
}

// Computes the block's part of the attention.
template <class T, class E = typename T::E>
__device__ inline void attend(T &smem, const TensorMaps &maps, const struct attention_problem &p, float scale) {
    const WorkTile work_tile = work_tile_at<T>(p, blockIdx.x);
    const int lane = threadIdx.x % WARP_SIZE, warp_row0 = threadIdx.x / WARP_SIZE * T::WARP_ROWS;
    const int causal_offset = p.causal ? p.nk - p.nq : NO_CAUSAL_LIMIT; // query i: keys 0 .. i + causal_offset
    float O_rmem[T::ROWS][T::LANE_COLUMNS] = {}, rescale[T::ROWS];
    RowState<T::ROWS> softmax;

    // Tiles go from last to first: the partial tile and, with causal masking, the tiles on the diagonal come first.
    int key0 = (work_tile.end_key - 1) / T::KEYS * T::KEYS;
    // TODO 1 (about 4 lines): One thread issues the loads of the queries and of the first tile, into stage 0. All
    // threads wait for the queries.
    if (threadIdx.x == 0) {
        tma_load_tile(smem.Q, &smem.Q_full, maps.q, work_tile.query0, work_tile.head, work_tile.batch);
        load_kv_tile(smem, maps, work_tile, 0, key0);
    }
    mbarrier_wait(&smem.Q_full, 0);
    // END TODO 1
    for (PipelineState<T::STAGES> pipe; key0 >= 0; key0 -= T::KEYS, pipe.advance()) {
        // TODO 2 (about 3 lines): Wait until the stage of the previous tile may be overwritten, then issue the loads of
        // the next tile, if there is one, into it.
        __syncthreads(); // every warp has finished reading the previous tile
        if (threadIdx.x == 0 && key0 > 0)
            load_kv_tile(smem, maps, work_tile, 1 - pipe.stage, key0 - T::KEYS);
        // END TODO 2
        // TODO 3 (about 1 line): Wait for the keys of this tile.
        mbarrier_wait(&smem.K_full[pipe.stage], pipe.phase);
        // END TODO 3
        // Row r of the warp attends to keys 0 .. row0_last_key + r of the tile.
        const int row0_last_key = work_tile.query0 + warp_row0 + causal_offset - key0;
        const int stage = pipe.stage;
        float S_rmem[T::ROWS][T::LANE_KEYS] = {};
        gemm_qk<T>(S_rmem, smem.Q, smem.K[stage], warp_row0, lane);
        if (row0_last_key < T::KEYS - 1 || key0 + T::KEYS > p.nk)
            apply_mask(S_rmem, row0_last_key, p.nk - 1 - key0, lane);
        if (update_row_max_lazily(S_rmem, scale, softmax, rescale))
            rescale_rows(O_rmem, rescale);
        // TODO 4 (about 1 line): Wait for the values of this tile, also if the whole tile is masked for this warp: what
        // if all warps skipped it and the block ended?
        mbarrier_wait(&smem.V_full[pipe.stage], pipe.phase);
        // END TODO 4
        gemm_pv<T>(O_rmem, S_rmem, smem.V[stage], scale, softmax, lane);
    }
    store_output<E>(p, work_tile, warp_row0, O_rmem, softmax);
}

// Grid: one block per work tile of QUERIES queries.
// A warp computes WARP_ROWS rows of the output, and a quad of lanes all columns of ROWS rows.
// Thread 0 also issues the TMA loads. All threads wait on the `full` mbarriers before they read a tile, and at
// __syncthreads() before thread 0 overwrites it.
template <class T>
__global__ void __launch_bounds__(T::THREADS, T::BLOCKS)
    attention_kernel(const __grid_constant__ TensorMaps maps, const __grid_constant__ struct attention_problem p,
                     float softmax_scale_log2) {
    extern __shared__ __align__(1024) unsigned char dynamic_smem[]; // the swizzle depends on address bits
    T &smem = *reinterpret_cast<T *>(dynamic_smem);
    init_full_mbarriers(smem);
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
using Configs = ConfigList<KernelTraits<E, 64, 4, 4, 64, 3>, KernelTraits<E, 128, 4, 4, 64, 2>,
                           KernelTraits<E, 128, 4, 2, 64, 2>, KernelTraits<E, 256, 4, 2, 32, 2>>;

#include "hopper_launch.cuh"
