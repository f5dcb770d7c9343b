// Lesson 26: the backward pass on tensor cores. A block computes transposed scores, keys by queries: then P^T and dS^T
// are operands of the next products where they are, in registers. Only dS goes through shared memory, for dQ.
//
// architecture: sm_80
#include "accumulator_layout.cuh"
#include "attention_backward.h"
#include "backward_rows.cuh"
#include "chunk.cuh"
#include "ex2.cuh"
#include "key_gradients.cuh"
#include "load_rows_async.cuh"
#include "mma.cuh"

constexpr int KEY_WARPS = 4; // warps that have 16 keys each

// A kernel's compile-time sizes and, as its members, the kernel's shared memory. D is head_dim rounded up to one of a
// few sizes. PARTS warps share 16 keys: each of them computes their scores and D / PARTS columns of dK and dV.
template <class E_, int D_, int PARTS_, int QUERIES_, int BLOCKS_>
struct KernelTraits {
    using E = E_; // __half or __nv_bfloat16
    static constexpr int D = D_, PARTS = PARTS_, QUERIES = QUERIES_, KEYS = KEY_WARPS * 16;
    static constexpr int WARPS = KEY_WARPS * PARTS, THREADS = WARPS * WARP_SIZE, BLOCKS = BLOCKS_; // per SM
    static constexpr int LANE_QUERIES = QUERIES / LANES_PER_ROW, LANE_COLUMNS = D / PARTS / LANES_PER_ROW;
    static constexpr int QUERY_WARPS = QUERIES / 16;             // of dQ, which WARPS warps share
    static constexpr int DQ_COLUMNS = D / (WARPS / QUERY_WARPS); // a warp has so many columns of 16 queries
    static constexpr int STAGES = 2;                             // of Q and dO: one is read, one is written
    static constexpr int PANELS = D / PANEL;
    static_assert(D % PANEL == 0 && QUERIES <= PANEL, "a row of dS is one panel wide at most");

    // A panel has 64 columns of all rows: rows of 128 bytes, swizzled.
    using KeyTile = E[PANELS][KEYS][PANEL];
    using QueryTile = E[PANELS][QUERIES][PANEL];
    KeyTile K, V;
    QueryTile Q[STAGES], dO[STAGES];
    E dS[1][KEYS][PANEL]; // dS^T: [key][query]
};

// The address of the chunk of a row that begins at a column. 128-byte swizzle.
template <class E, int ROWS>
__device__ inline E *chunk_of(E (*panels_smem)[ROWS][PANEL], int row, int column) {
    return &panels_smem[column / PANEL][row][column % PANEL ^ row % 8 * CHUNK];
}

// result += A B^T for the warp's 16 rows of A and all rows of B, over D columns.
template <int D, class E, int ROWS, int N>
__device__ inline void gemm_abt(float (&result)[2][N / 4], E (*a_smem)[ROWS][PANEL], int a_row0, E (*b_smem)[N][PANEL],
                                int lane) {
#pragma unroll
    for (int column = 0; column < D; column += 16) {
        uint32_t a[4];
        ldmatrix_x4(a, chunk_of(a_smem, a_row0 + lane % 16, column + lane / 16 * 8));
#pragma unroll
        for (int row = 0; row < N; row += 16) {
            uint32_t b[4];
            ldmatrix_x4(b, chunk_of(b_smem, row + lane / 16 * 8 + lane % 8, column + lane / 8 % 2 * 8));
            mma_m16n8k16<E>(&result[0][row / 4], &result[1][row / 4], a, b);
            mma_m16n8k16<E>(&result[0][row / 4 + 2], &result[1][row / 4 + 2], a, b + 2);
        }
    }
}

// result += A B for 16 rows of A, of which one k-step of 16 is in registers, and columns column0 .. of rows row0 .. of
// B.
template <class E, int ROWS, int LANE_COLUMNS>
__device__ inline void mma_step(float (&result)[2][LANE_COLUMNS], const uint32_t (&a)[4], E (*b_smem)[ROWS][PANEL],
                                int row0, int column0, int lane) {
#pragma unroll
    for (int j = 0; j < LANE_COLUMNS; j += 4) {
        uint32_t b[4];
        ldmatrix_x4_trans(b, chunk_of(b_smem, row0 + lane % 16, column0 + j * 4 + lane / 16 * 8));
        mma_m16n8k16<E>(&result[0][j], &result[1][j], a, b);
        mma_m16n8k16<E>(&result[0][j + 2], &result[1][j + 2], a, b + 2);
    }
}

// Rounds 16 columns of accumulators to E and packs them: the layout of an A operand.
template <class E, int COLUMNS>
__device__ inline void round_x4(uint32_t (&to)[4], const float (&rmem)[2][COLUMNS], int column) {
    for (int n = 0; n < 4; n++)
        to[n] = cvt_rn_x2<E>(rmem[n % 2][column / 4 + n / 2 * 2], rmem[n % 2][column / 4 + n / 2 * 2 + 1]);
}

// Replaces S^T by P^T, and dP^T by dS^T. lse, delta: of the tile's queries. Of the keys from the warp's first one on
// `keys` exist, and query q sees key k of them if k + offset <= q.
template <class T>
__device__ inline void weights_and_ds(float (&S_rmem)[2][T::LANE_QUERIES], float (&dP_rmem)[2][T::LANE_QUERIES],
                                      const float *lse, const float *delta, float scale, int keys, int offset,
                                      int lane) {
    const bool masked = keys < 16 || offset > -15;
#pragma unroll
    for (int j = 0; j < T::LANE_QUERIES; j++) {
        [[maybe_unused]] const int query = column_of(j, lane);
#pragma unroll
        for (int i = 0; i < 2; i++) {
            // TODO 1 (about 4 lines): Rows are keys here, and columns queries. scale contains log2(e), and lse is in
            // base 2. A weight is 0 if `masked` and its key does not exist or is hidden from the query.
            const int key = row_of(i, lane);
            const bool visible = !masked || (key < keys && key + offset <= query);
            S_rmem[i][j] = visible ? ex2(scale * S_rmem[i][j] - lse[query]) : 0.0f;
            dP_rmem[i][j] = S_rmem[i][j] * (dP_rmem[i][j] - delta[query]);
            // END TODO 1
        }
    }
}

// dQ += dS K for 16 queries of the tile and DQ_COLUMNS columns: into the accumulator in global memory.
template <class T>
__device__ inline void add_dq(float *dq /* [QUERIES][D] */, T &smem, int warp, int lane) {
    const int query0 = warp % T::QUERY_WARPS * 16, column0 = warp / T::QUERY_WARPS * T::DQ_COLUMNS;
    float dQ_rmem[2][T::DQ_COLUMNS / LANES_PER_ROW] = {};
#pragma unroll
    for (int key = 0; key < T::KEYS; key += 16) {
        uint32_t ds[4];
        // TODO 2 (about 2 lines): dS has keys as rows in shared memory, and A needs queries as rows: load four matrices
        // of 8 x 8, transposed. Lanes 0 .. 7 have the addresses of the first one, keys 0 .. 7 of queries 0 .. 7; the
        // second one has the next queries, the third and fourth the next keys. Then multiply by these keys' rows of K.
        ldmatrix_x4_trans(ds, chunk_of(smem.dS, key + lane / 16 * 8 + lane % 8, query0 + lane / 8 % 2 * 8));
        mma_step(dQ_rmem, ds, smem.K, key, column0, lane);
        // END TODO 2
    }
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < T::DQ_COLUMNS / LANES_PER_ROW; j++)
            atomicAdd(&dq[(query0 + row_of(i, lane)) * T::D + column0 + column_of(j, lane)], dQ_rmem[i][j]);
}

// Grid: one block per tile of KEYS keys of each key head of each batch.
// A warp computes 16 rows of S^T and dP^T, and D / PARTS columns of these rows of dK and dV; then, of dQ of the tile of
// queries, 16 rows by DQ_COLUMNS columns. All threads load the tiles, and wait for one another at __syncthreads()
// before they read a tile and before they overwrite it.
template <class T, class E = typename T::E>
__global__ void __launch_bounds__(T::THREADS, T::BLOCKS)
    backward_kernel(const __grid_constant__ struct attention_backward_problem p, struct BackwardRows rows,
                    float scale) {
    extern __shared__ float4 dynamic_smem[];
    T &smem = *reinterpret_cast<T *>(dynamic_smem);
    const struct attention_problem &f = p.forward;
    const int lane = threadIdx.x % WARP_SIZE, warp = threadIdx.x / WARP_SIZE;
    const int key_row0 = warp % KEY_WARPS * 16, column0 = warp / KEY_WARPS * (T::D / T::PARTS);
    const int key_blocks = (f.nk + T::KEYS - 1) / T::KEYS, group = f.heads / f.kv_heads;
    const int key0 = blockIdx.x % key_blocks * T::KEYS, kv_head = blockIdx.x / key_blocks % f.kv_heads;
    const int batch = blockIdx.x / key_blocks / f.kv_heads;
    const int causal_offset = f.causal ? f.nk - f.nq : f.nk; // query i sees keys 0 .. i + causal_offset
    const int first_tile = max(0, key0 - causal_offset) / T::QUERIES;
    const int tiles = max(0, (f.nq + T::QUERIES - 1) / T::QUERIES - first_tile); // of each head of the group

    auto load_tile = [&](int i) { // tile i of all heads of the group
        const int head = kv_head * group + i / tiles, query0 = (first_tile + i % tiles) * T::QUERIES;
        load_rows<T, T::QUERIES>(smem.Q[i % 2], f, f.q, f.q_stride, f.nq, query0, head, batch);
        load_rows<T, T::QUERIES>(smem.dO[i % 2], f, p.d_o, p.d_o_stride, f.nq, query0, head, batch);
    };
    load_rows<T, T::KEYS>(smem.K, f, f.k, f.k_stride, f.nk, key0, kv_head, batch);
    load_rows<T, T::KEYS>(smem.V, f, f.v, f.v_stride, f.nk, key0, kv_head, batch);
    if (tiles > 0)
        load_tile(0);
    float dK_rmem[2][T::LANE_COLUMNS] = {}, dV_rmem[2][T::LANE_COLUMNS] = {};
#pragma unroll 1
    for (int i = 0; i < group * tiles; i++) {
        auto &Q_smem = smem.Q[i % 2], &dO_smem = smem.dO[i % 2];
        const int head = kv_head * group + i / tiles, query0 = (first_tile + i % tiles) * T::QUERIES;
        const int64_t row0 = ((int64_t)batch * f.heads + head) * rows.padded + query0;
        cp_async_wait_all();
        __syncthreads(); // the tile is there, and no thread reads the previous one or its dS any longer
        if (i + 1 < group * tiles)
            load_tile(i + 1);

        float S_rmem[2][T::LANE_QUERIES] = {}, dP_rmem[2][T::LANE_QUERIES] = {};
        gemm_abt<T::D>(S_rmem, smem.K, key_row0, Q_smem, lane);
        gemm_abt<T::D>(dP_rmem, smem.V, key_row0, dO_smem, lane);
        weights_and_ds<T>(S_rmem, dP_rmem, rows.lse + row0, rows.delta + row0, scale, f.nk - key0 - key_row0,
                          key0 + key_row0 - query0 - causal_offset, lane);
#pragma unroll
        for (int query = 0; query < T::QUERIES; query += 16) {
            uint32_t p_t[4], ds_t[4];
            // TODO 3 (about 4 lines): Make operands of 16 queries of P^T and dS^T, and add P^T dO to dV and dS^T Q to
            // dK.
            round_x4<E>(p_t, S_rmem, query);
            round_x4<E>(ds_t, dP_rmem, query);
            mma_step(dV_rmem, p_t, dO_smem, query, column0, lane);
            mma_step(dK_rmem, ds_t, Q_smem, query, column0, lane);
            // END TODO 3
            for (int n = 0; n < 4 && column0 == 0; n++)
                *reinterpret_cast<uint32_t *>(chunk_of(smem.dS, key_row0 + row_of(n % 2, lane), query + n / 2 * 8) +
                                              lane % LANES_PER_ROW * 2) = ds_t[n];
        }
        __syncthreads(); // dS is complete
        add_dq(rows.dq + row0 * T::D, smem, warp, lane);
    }
    E *dk = (E *)p.dk + batch * p.dk_stride.batch + kv_head * p.dk_stride.head;
    E *dv = (E *)p.dv + batch * p.dv_stride.batch + kv_head * p.dv_stride.head;
    store_key_gradient<E>(dk, p.dk_stride.row, f.nk, f.head_dim, key0 + key_row0, column0, dK_rmem, f.softmax_scale);
    store_key_gradient<E>(dv, p.dv_stride.row, f.nk, f.head_dim, key0 + key_row0, column0, dV_rmem, 1.0f);
}

// The accumulator of dQ has the rows of a head one after the other.
template <int D>
struct RowMajor {
    static __device__ int64_t index(int row, int column) {
        return (int64_t)row * D + column;
    }
};

template <class T>
static size_t extra_bytes(const struct attention_backward_problem *) {
    return 0;
}

template <class T, class E = typename T::E>
static cudaError_t launch_backward(const struct attention_backward_problem *p, cudaStream_t stream) {
    const struct attention_problem &f = p->forward;
    const struct BackwardRows rows = backward_rows(p, T::QUERIES, T::D);
    const int64_t blocks = (int64_t)f.batch * f.kv_heads * ((f.nk + T::KEYS - 1) / T::KEYS);
    cudaError_t error = blocks > INT32_MAX ? cudaErrorInvalidConfiguration : cudaSuccess;
    if (error == cudaSuccess)
        error = cudaFuncSetAttribute((const void *)backward_kernel<T>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                     (int)sizeof(T));
    if (error == cudaSuccess)
        error = launch_delta<E, T::D>(p, rows, stream);
    if (error != cudaSuccess)
        return error;
    backward_kernel<T><<<(unsigned)blocks, T::THREADS, sizeof(T), stream>>>(*p, rows, f.softmax_scale * LOG2_E);
    error = cudaGetLastError();
    return error == cudaSuccess ? launch_finish_dq<E, T::D, RowMajor<T::D>>(p, rows, stream) : error;
}

template <class E>
using Configs =
    ConfigList<KernelTraits<E, 64, 1, 64, 3>, KernelTraits<E, 128, 1, 32, 2>, KernelTraits<E, 256, 2, 32, 1>>;

constexpr int MIN_COMPUTE_CAPABILITY = 80, ALIGNMENT = 0, DETERMINISTIC = 0;
#include "backward_launch.cuh"
