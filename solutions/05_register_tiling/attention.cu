// Lesson 05: register tiling. A lane computes 8 x 8 results of each GEMM in registers: 8 multiply-adds per operand.
//
// Its rows and columns are in vectors of four adjacent ones, so that one 16-byte load fetches the operands of a vector.
#include "attention.h"
#include "float4.cuh"
#include "kernel_config.cuh"
#include "mask.cuh"
#include "reduce.cuh"
#include "store_output_fp32.cuh"
#include "tile.cuh"
#include "transposed.cuh"

// A kernel's compile-time sizes and, as its members, the kernel's shared memory. D is head_dim rounded up to one of a
// few sizes, so that register arrays have constant sizes and loops unroll. A lane holds ROWS rows of results, KEYS /
// LANES_PER_ROW columns of S and D / LANES_PER_ROW of O.
template <int D_, int WARPS, int LANES, int ROWS_, int KEYS_>
struct KernelTraits {
    static constexpr int D = D_, ROWS = ROWS_, KEYS = KEYS_, THREADS = WARPS * WARP_SIZE;
    static constexpr int LANES_PER_ROW = LANES; // lanes that hold one row of S and of O
    static constexpr int WARP_ROWS = WARP_SIZE / LANES_PER_ROW * ROWS, QUERIES = WARPS * WARP_ROWS;
    static constexpr int LANE_KEYS = KEYS / LANES_PER_ROW, LANE_COLUMNS = D / LANES_PER_ROW;
    static constexpr int VECTOR = LANE_KEYS < 4 ? LANE_KEYS : 4; // adjacent columns of a lane
    static constexpr int UNROLL = D == 128 ? 16 : 8;             // k-steps of Q K^T: what measured best
    static constexpr int SUBTILE = VECTOR * LANES_PER_ROW;       // keys whose weights are in shared memory at a time
    static_assert(ROWS % 4 == 0 && KEYS % SUBTILE == 0 && D % SUBTILE == 0, "a lane owns whole vectors");
    using Weights = float[LANES_PER_ROW][VECTOR * WARP_ROWS + 4]; // [key / VECTOR][key % VECTOR][row], 4 of padding

    // Q, K and P are transposed, so that the operands of adjacent results are contiguous.
    float Q[D][QUERIES];
    float K[D][KEYS + 4]; // padded for lesson 06, in which a warp writes 8 columns of 4 keys at a time
    float V[KEYS][D];
    Weights P[WARPS];
};

// The index of a lane's i-th row within its warp, and of its j-th column within the tile: LANES_PER_ROW adjacent lanes
// share vectors of four adjacent rows, and each of them owns vectors of VECTOR adjacent columns.
template <class T>
__device__ inline int row_of(int i, int lane) {
    return i / 4 * (4 * WARP_SIZE / T::LANES_PER_ROW) + lane / T::LANES_PER_ROW * 4 + i % 4;
}
template <class T>
__device__ inline int column_of(int j, int lane) {
    return j / T::VECTOR * T::SUBTILE + lane % T::LANES_PER_ROW * T::VECTOR + j % T::VECTOR;
}

// result += a b^T: one k-step of a GEMM, for the lane's rows of A and the lane's columns of B.
template <class T, int COLUMNS>
__device__ inline void add_outer_product(float (&result)[T::ROWS][COLUMNS], const float *a_smem, const float *b_smem,
                                         int lane) {
    [[maybe_unused]] float a[T::ROWS], b[COLUMNS];
    // TODO 1 (about 6 lines): Load the lane's ROWS elements of a_smem, which begins with row 0 of the warp, and its
    // COLUMNS elements of b_smem. copy_floats<4>(to, from) copies four adjacent floats with one load; rows are in
    // vectors of four, columns in vectors of VECTOR floats.
#pragma unroll
    for (int i = 0; i < T::ROWS; i += 4)
        copy_floats<4>(&a[i], &a_smem[row_of<T>(i, lane)]);
#pragma unroll
    for (int j = 0; j < COLUMNS; j += T::VECTOR)
        copy_floats<T::VECTOR>(&b[j], &b_smem[column_of<T>(j, lane)]);
        // END TODO 1
        // TODO 2 (about 7 lines): Issue all ROWS x COLUMNS multiply-adds, unrolled: register arrays need compile-time
        // indices. Order them so that only one of a[i] and b[j] changes from one multiply-add to the next: an operand
        // that the previous instruction also read comes from the operand reuse cache.
#pragma unroll
    for (int j = 0; j < COLUMNS; j++)
#pragma unroll
        for (int step = 0; step < T::ROWS; step++) {
            const int i = j % 2 == 0 ? step : T::ROWS - 1 - step;
            result[i][j] += a[i] * b[j];
        }
    // END TODO 2
}

// S_rmem += Q K^T for the lane's rows and keys.
template <class T>
__device__ inline void gemm_qk(float (&S_rmem)[T::ROWS][T::LANE_KEYS], const T &smem, int warp_row0, int lane) {
#pragma unroll(T::UNROLL)
    for (int column = 0; column < T::D; column++)
        add_outer_product<T>(S_rmem, &smem.Q[column][warp_row0], smem.K[column], lane);
}

// Updates the running maximum of each row, and rescales the running sum and the output accumulator to it.
template <class T>
__device__ inline void update_row_max(const float (&lane_max)[T::ROWS], float (&row_max)[T::ROWS],
                                      float (&row_sum)[T::ROWS], float (&O_rmem)[T::ROWS][T::LANE_COLUMNS]) {
#pragma unroll
    for (int i = 0; i < T::ROWS; i++) {
        const float new_max = fmaxf(row_max[i], lanes_max<T::LANES_PER_ROW>(lane_max[i]));
        const float rescale = new_max == -INFINITY ? 0.0f : __expf(row_max[i] - new_max); // -inf - -inf would be NaN
        row_max[i] = new_max;
        row_sum[i] *= rescale;
#pragma unroll
        for (int j = 0; j < T::LANE_COLUMNS; j++)
            O_rmem[i][j] *= rescale;
    }
}

// Updates the row maxima, replaces the scores of a tile by their weights, and adds the weights to the row sums.
template <class T>
__device__ inline void online_softmax(float (&S_rmem)[T::ROWS][T::LANE_KEYS], float (&row_max)[T::ROWS],
                                      float (&row_sum)[T::ROWS], float (&O_rmem)[T::ROWS][T::LANE_COLUMNS]) {
    float lane_max[T::ROWS]; // over the scores of this lane
    for (int i = 0; i < T::ROWS; i++) {
        lane_max[i] = S_rmem[i][0];
        for (int j = 1; j < T::LANE_KEYS; j++)
            lane_max[i] = fmaxf(lane_max[i], S_rmem[i][j]);
    }
    update_row_max<T>(lane_max, row_max, row_sum, O_rmem);
    for (int i = 0; i < T::ROWS; i++) {
        const float shift = row_max[i] == -INFINITY ? 0.0f : row_max[i];
        for (int j = 0; j < T::LANE_KEYS; j++) {
            S_rmem[i][j] = __expf(S_rmem[i][j] - shift);
            row_sum[i] += S_rmem[i][j];
        }
    }
}

// Stores the weights of the lane's rows and first VECTOR keys in shared memory.
template <class T>
__device__ inline void store_weights(typename T::Weights &P_smem, const float (&S_rmem)[T::ROWS][T::LANE_KEYS],
                                     int lane) {
    // TODO 3 (about 5 lines): Key j of the lane is row lane % LANES_PER_ROW of P_smem, from column j * WARP_ROWS on.
    // Store its weights of four adjacent rows by one 16-byte store.
    for (int j = 0; j < T::VECTOR; j++)
        for (int i = 0; i < T::ROWS; i += 4) {
            const float rows[4] = {S_rmem[i][j], S_rmem[i + 1][j], S_rmem[i + 2][j], S_rmem[i + 3][j]};
            copy_floats<4>(&P_smem[lane % T::LANES_PER_ROW][j * T::WARP_ROWS + row_of<T>(i, lane)], rows);
        }
    // END TODO 3
}

// O_rmem += P V for the lane's rows and columns.
template <class T>
__device__ inline void gemm_pv(float (&O_rmem)[T::ROWS][T::LANE_COLUMNS], const typename T::Weights &P_smem,
                               const float (*V_smem)[T::D], int lane) {
#pragma unroll 8
    for (int key = 0; key < T::SUBTILE; key++)
        add_outer_product<T>(O_rmem, &P_smem[key / T::VECTOR][key % T::VECTOR * T::WARP_ROWS], V_smem[key], lane);
}

// Computes the attention of a block of queries to keys first_key .. end_key - 1: the output before the division, the
// row maxima, and the lane's partial row sums.
template <class T>
__device__ inline void attend(T &smem, const struct attention_problem &p, bool vectorized, int64_t head, int query0,
                              int first_key, int end_key, float (&O_rmem)[T::ROWS][T::LANE_COLUMNS],
                              float (&row_max)[T::ROWS], float (&row_sum)[T::ROWS]) {
    const int nq = p.nq, nk = p.nk, head_dim = p.head_dim;
    const float *q = (const float *)p.q + head * nq * head_dim; // [nq][head_dim]
    const float *k = (const float *)p.k + head * nk * head_dim; // [nk][head_dim]
    const float *v = (const float *)p.v + head * nk * head_dim; // [nk][head_dim]
    const int lane = threadIdx.x % WARP_SIZE, warp = threadIdx.x / WARP_SIZE, warp_row0 = warp * T::WARP_ROWS;
    const int causal_offset = p.causal ? nk - nq : NO_CAUSAL_LIMIT; // query i: keys 0 .. i + causal_offset

    load_transposed<T::D, T::QUERIES, T::THREADS>(smem.Q, q, query0, nq, head_dim, vectorized, p.softmax_scale);
    for (int i = 0; i < T::ROWS; i++) {
        row_max[i] = -INFINITY;
        row_sum[i] = 0.0f;
    }

    for (int key0 = first_key; key0 < end_key; key0 += T::KEYS) {
        __syncthreads(); // every warp has finished reading the previous tile
        load_transposed<T::D, T::KEYS, T::THREADS>(smem.K, k, key0, nk, head_dim, vectorized);
        load_rows<T::D, T::KEYS, T::THREADS>(smem.V, v, key0, nk, head_dim, vectorized);
        __syncthreads();

        float S_rmem[T::ROWS][T::LANE_KEYS] = {}; // scores, then weights
        gemm_qk<T>(S_rmem, smem, warp_row0, lane);
        // Row r of the warp attends to keys 0 .. row0_last_key + r of the tile.
        const int row0_last_key = query0 + warp_row0 + causal_offset - key0;
        if (row0_last_key < T::KEYS - 1 || key0 + T::KEYS > nk)
            apply_mask<T>(S_rmem, row0_last_key, nk - 1 - key0, lane);
        online_softmax<T>(S_rmem, row_max, row_sum, O_rmem);

#pragma unroll 1
        for (int subtile = 0; subtile < T::KEYS; subtile += T::SUBTILE) {
            __syncwarp(); // all lanes have read the previous sub-tile
            store_weights<T>(smem.P[warp], S_rmem, lane);
            __syncwarp(); // all lanes wrote the weights, and all lanes read them
            gemm_pv<T>(O_rmem, smem.P[warp], smem.V + subtile, lane);
            shift_columns<T::VECTOR>(S_rmem); // the weights of the next sub-tile
        }
    }
}

// Grid: one block per QUERIES queries, ceil(nq / QUERIES) per head of each batch.
// A block computes QUERIES rows of the output, a warp WARP_ROWS of them, and a lane ROWS rows by LANE_COLUMNS columns.
// All threads of the block load the tiles, and wait for one another at __syncthreads() before they read a tile and
// before they overwrite it. P is exchanged only within a warp, whose lanes wait for one another at __syncwarp().
template <class T>
__global__ void __launch_bounds__(T::THREADS) attention_kernel(const struct attention_problem p, bool vectorized) {
    extern __shared__ float4 dynamic_smem[];
    T &smem = *reinterpret_cast<T *>(dynamic_smem);
    const int query_blocks = (p.nq + T::QUERIES - 1) / T::QUERIES;
    const int head = blockIdx.x / query_blocks, query0 = blockIdx.x % query_blocks * T::QUERIES;
    const int end_key = p.causal ? min(p.nk, query0 + T::QUERIES + p.nk - p.nq) : p.nk;
    float *o = (float *)p.o + ((int64_t)head * p.nq + query0) * p.head_dim; // [nq - query0][head_dim]
    float O_rmem[T::ROWS][T::LANE_COLUMNS] = {}, row_max[T::ROWS], row_sum[T::ROWS];
    attend<T>(smem, p, vectorized, head, query0, 0, end_key, O_rmem, row_max, row_sum);
    store_output<T>(o, p.nq - query0, p.head_dim, vectorized, O_rmem, row_sum);
}

template <class T>
static cudaError_t launch(const struct KernelConfig *config, const struct attention_problem *p, cudaStream_t stream) {
    int blocks = 0;
    const cudaError_t error = prepare_launch(config, p, &blocks);
    if (error != cudaSuccess)
        return error;
    attention_kernel<T><<<blocks, T::THREADS, sizeof(T), stream>>>(*p, rows_are_float4(p));
    return cudaGetLastError();
}

template <class T>
static struct KernelConfig make_config() {
    return {T::D, T::QUERIES, T::KEYS, T::THREADS, sizeof(T), (const void *)attention_kernel<T>, launch<T>};
}

static const struct KernelConfig configs[] = {
    make_config<KernelTraits<32, 4, 8, 8, 64>>(),   make_config<KernelTraits<64, 4, 8, 8, 64>>(),
    make_config<KernelTraits<128, 8, 8, 8, 64>>(),  make_config<KernelTraits<256, 4, 16, 8, 64>>(),
    make_config<KernelTraits<512, 4, 16, 4, 32>>(), {},
};

static size_t shared_bytes(const struct attention_problem *p) {
    return select_config(p, configs)->shared_bytes;
}

const struct attention_lesson attention_lesson = {
    .dtypes = 1u << ATTENTION_FP32,
    .max_head_dim = 512,
    .causal = 1,
    .lse = 0,
    .strided = 0,
    .grouped_heads = 0,
    .min_compute_capability = 75,
    .workspace_bytes = NULL,
    .shared_bytes = shared_bytes,
    .deterministic = 1,
};

cudaError_t attention_forward(const struct attention_problem *p, cudaStream_t stream) {
    const struct KernelConfig *config = select_config(p, configs);
    return config->launch(config, p, stream);
}
