// Lesson 10: a software pipeline. K and V have two stages in shared memory: while the MMAs read one tile, cp.async
// copies the next one into the other stage.
//
// architecture: sm_80
#include "accumulator_layout.cuh"
#include "attention.h"
#include "chunk.cuh"
#include "cp_async.cuh"
#include "ex2.cuh"
#include "kernel_config.cuh"
#include "load_rows.cuh"
#include "mma.cuh"
#include "online_softmax.cuh"
#include "reduce.cuh"
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
    static constexpr int PITCH = D + CHUNK; // rows start four banks apart
    static_assert(ROWS % 2 == 0 && KEYS % 16 == 0 && D % 16 == 0, "an MMA has 16 rows and a k-step of 16");

    using QueryTile = E[QUERIES][PITCH];
    using KeyTile = E[KEYS][PITCH];
    QueryTile Q;
    KeyTile K[STAGES], V[STAGES];
};

// The address of the chunk of a row that begins at a column.
template <class E, int PITCH>
__device__ inline E *chunk_of(E (*rows_smem)[PITCH], int row, int column) {
    return &rows_smem[row][column];
}

// Issues the copy of a chunk; both addresses are aligned. If not valid, writes zeros and reads nothing.
template <class E>
__device__ inline void load_chunk(E *to_smem, const E *from, bool valid) {
    // TODO 1 (about 1 line): Copy without waiting, and without a register in between. Out of bounds, too, something has
    // to arrive: why not leave the stale chunk?
    // END TODO 1
}

// Loads one tile of K and one of V into a stage.
template <class T>
__device__ inline void load_kv_tile(T &smem, const struct attention_problem &p, const WorkTile &work_tile, int stage,
                                    int key0) {
    load_rows<T, T::KEYS>(smem.K[stage], p, p.k, p.k_stride, p.nk, key0, work_tile.kv_head, work_tile.batch);
    load_rows<T, T::KEYS>(smem.V[stage], p, p.v, p.v_stride, p.nk, key0, work_tile.kv_head, work_tile.batch);
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

// Divides the rows of a warp by their sums and stores them, and lse if requested.
template <class E, int ROWS, int COLUMNS>
__device__ inline void store_output(const struct attention_problem &p, const WorkTile &work_tile, int warp_row0,
                                    const float (&O_rmem)[ROWS][COLUMNS], const RowState<ROWS> &softmax) {
    const int lane = threadIdx.x % WARP_SIZE;
    E *o = (E *)p.o + work_tile.batch * p.o_stride.batch + work_tile.head * p.o_stride.head; // [nq][head_dim]
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        const int row = work_tile.query0 + warp_row0 + row_of(i, lane);
        const float sum = lanes_sum<LANES_PER_ROW>(softmax.sum[i]);
        const float inverse = sum == 0.0f ? 0.0f : 1.0f / sum; // a fully masked row is 0
        if (row >= p.nq)
            continue;
        for (int j = 0; j < COLUMNS; j += 2) {
            const int column = column_of(j, lane);
            E *to = o + row * p.o_stride.row + column;
            if ((uintptr_t)to % sizeof(uint32_t) == 0 && column + 1 < p.head_dim)
                *reinterpret_cast<uint32_t *>(to) = cvt_rn_x2<E>(inverse * O_rmem[i][j], inverse * O_rmem[i][j + 1]);
            else
                for (int n = 0; n < 2 && column + n < p.head_dim; n++)
                    to[n] = E(inverse * O_rmem[i][j + n]);
        }
        if (p.lse != NULL && lane % LANES_PER_ROW == 0)
            p.lse[((int64_t)work_tile.batch * p.heads + work_tile.head) * p.nq + row] =
                sum == 0.0f ? -INFINITY : p.softmax_scale * softmax.max[i] + logf(sum);
    }
}

// Computes the block's part of the attention.
template <class T, class E = typename T::E>
__device__ inline void attend(T &smem, const struct attention_problem &p, float scale) {
    const WorkTile work_tile = work_tile_at<T>(p, blockIdx.x);
    const int lane = threadIdx.x % WARP_SIZE, warp_row0 = threadIdx.x / WARP_SIZE * T::WARP_ROWS;
    const int causal_offset = p.causal ? p.nk - p.nq : NO_CAUSAL_LIMIT; // query i: keys 0 .. i + causal_offset
    float O_rmem[T::ROWS][T::LANE_COLUMNS] = {}, rescale[T::ROWS];
    RowState<T::ROWS> softmax;

    // Tiles go from last to first: the partial tile and, with causal masking, the tiles on the diagonal come first.
    int key0 = (work_tile.end_key - 1) / T::KEYS * T::KEYS;
    // TODO 2 (about 2 lines): Issue the copies of the queries and of the first tile, into stage 0.
    // END TODO 2
    for (int stage = 0; key0 >= 0; key0 -= T::KEYS, stage = 1 - stage) {
        // TODO 3 (about 4 lines): Wait until all threads' copies of this tile have arrived and the other stage may be
        // overwritten, with one barrier for both. Then issue the copies of the next tile, if there is one.
        // END TODO 3
        // Row r of the warp attends to keys 0 .. row0_last_key + r of the tile.
        const int row0_last_key = work_tile.query0 + warp_row0 + causal_offset - key0;
        if (row0_last_key + T::WARP_ROWS - 1 < 0)
            continue; // the tile is fully masked for this warp

        float S_rmem[T::ROWS][T::LANE_KEYS] = {};
        gemm_qk<T>(S_rmem, smem.Q, smem.K[stage], warp_row0, lane);
        if (row0_last_key < T::KEYS - 1 || key0 + T::KEYS > p.nk)
            apply_mask(S_rmem, row0_last_key, p.nk - 1 - key0, lane);
        if (update_row_max_lazily(S_rmem, scale, softmax, rescale))
            rescale_rows(O_rmem, rescale);
        gemm_pv<T>(O_rmem, S_rmem, smem.V[stage], scale, softmax, lane);
    }
    store_output<E>(p, work_tile, warp_row0, O_rmem, softmax);
}

// Grid: one block per work tile of QUERIES queries.
// A warp computes WARP_ROWS rows of the output, and a quad of lanes all columns of ROWS rows.
// All threads of the block load the tiles, and wait for one another at __syncthreads() before they read a tile and
// before they overwrite it.
template <class T>
__global__ void __launch_bounds__(T::THREADS, T::BLOCKS)
    attention_kernel(const __grid_constant__ struct attention_problem p, float softmax_scale_log2) {
    extern __shared__ float4 dynamic_smem[];
    T &smem = *reinterpret_cast<T *>(dynamic_smem);
    attend(smem, p, softmax_scale_log2);
}

// softmax_scale_log2 is a kernel parameter, so that it is an operand in constant memory and takes no register.
template <class T>
static cudaError_t launch(const struct KernelConfig *config, const struct attention_problem *p, cudaStream_t stream) {
    int64_t blocks = num_work_tiles(*p, T::QUERIES);
    cudaError_t error = blocks > INT32_MAX / 2 ? cudaErrorInvalidConfiguration : cudaSuccess;
    if (error == cudaSuccess)
        error = opt_in_shared_memory(config);
    if (error != cudaSuccess)
        return error;
    attention_kernel<T><<<(unsigned)blocks, T::THREADS, sizeof(T), stream>>>(*p, p->softmax_scale * LOG2_E);
    return cudaGetLastError();
}

template <class E>
using Configs = ConfigList<KernelTraits<E, 64, 4, 4, 64, 3>, KernelTraits<E, 128, 4, 4, 64, 2>,
                           KernelTraits<E, 128, 4, 2, 64, 2>, KernelTraits<E, 256, 4, 2, 32, 2>>;

#include "mma_launch.cuh"
