// Lesson 11: a two-stage software pipeline prefetches the next tile while this one is used, and rows of shared memory
// are swizzled instead of padded, so that their sizes are powers of two.
//
// architecture: sm_80
#include "attention.h"
#include "chunk.cuh"
#include "cp_async.cuh"
#include "ex2.cuh"
#include "kernel_config.cuh"
#include "mask.cuh"
#include "mma.cuh"
#include "reduce.cuh"

constexpr float LOG2_E = 1.44269504f;
constexpr float RESCALE_THRESHOLD = 8.0f; // in log2 units: rescale only if a weight would exceed 2^8

// A kernel's compile-time sizes and, as its members, the kernel's shared memory. D is head_dim rounded up to one of a
// few sizes, so that register arrays have constant sizes and loops unroll. A lane holds ROWS rows of results, KEYS /
// LANES_PER_ROW columns of S and D / LANES_PER_ROW of O.
template <class E_, int D_, int WARPS, int ROWS_, int KEYS_, int BLOCKS_>
struct KernelTraits {
    using E = E_; // __half or __nv_bfloat16
    static constexpr int D = D_, ROWS = ROWS_, KEYS = KEYS_, THREADS = WARPS * WARP_SIZE;
    static constexpr int BLOCKS = BLOCKS_;  // per SM: one computes while another waits
    static constexpr int LANES_PER_ROW = 4; // lanes that hold one row of S and of O
    static constexpr int WARP_ROWS = WARP_SIZE / LANES_PER_ROW * ROWS, QUERIES = WARPS * WARP_ROWS;
    static constexpr int LANE_KEYS = KEYS / LANES_PER_ROW, LANE_COLUMNS = D / LANES_PER_ROW;
    static constexpr int PITCH = D;
    static_assert(ROWS % 2 == 0 && KEYS % 16 == 0 && D % 16 == 0, "an MMA has 16 rows and a k-step of 16");

    E Q[QUERIES][PITCH];
    E K[2][KEYS][PITCH]; // two stages: one is read while the other one is written
    E V[2][KEYS][PITCH];
};

// The index of a lane's i-th row within its warp, and of its j-th column within the tile.
template <class T>
__device__ inline int row_of(int i, int lane) {
    return i * 8 + lane / T::LANES_PER_ROW; // rows 0 and 1 are in one accumulator, 2 and 3 in the next one
}
template <class T>
__device__ inline int column_of(int j, int lane) {
    return j / 2 * 8 + lane % T::LANES_PER_ROW * 2 + j % 2;
}

// The address of the chunk of a row that begins at a column. Swizzled: in eight adjacent rows it has eight positions.
template <class E, int PITCH>
__device__ inline E *chunk_of(E (*rows_smem)[PITCH], int row, int column) {
    // TODO 1 (about 1 line): Swizzle the chunks of a row, so that eight lanes that read one chunk in eight rows access
    // each bank once.
    column ^= row % 8 * CHUNK;
    // END TODO 1
    return &rows_smem[row][column];
}

// Copies rows row0 .. row0 + ROWS - 1 of a matrix to shared memory. Out-of-bounds elements become zeros, since weights
// of 0 would multiply stale contents. All threads of the block call it. vectorized: rows are whole chunks.
template <class T, int ROWS, class E = typename T::E>
__device__ inline void load_rows(E (*to_smem)[T::PITCH], const E *from /* [rows][head_dim] */, int64_t stride, int row0,
                                 int rows, int head_dim, bool vectorized) {
    constexpr int CHUNKS = T::D / CHUNK, AT_ONCE = T::THREADS / CHUNKS;
    const int first = threadIdx.x / CHUNKS, column = threadIdx.x % CHUNKS * CHUNK;
    const E *thread_from = from + (row0 + first) * stride + column;
    if (vectorized && row0 + ROWS <= rows && head_dim == T::D) {
#pragma unroll
        for (int row = 0; row < ROWS; row += AT_ONCE)
            copy_chunk(chunk_of(to_smem, first + row, column), thread_from + row * stride);
    } else {
#pragma unroll 1
        for (int row = 0; row < ROWS; row += AT_ONCE)
            copy_chunk(chunk_of(to_smem, first + row, column), thread_from + row * stride,
                       row0 + first + row < rows ? head_dim - column : 0, vectorized);
    }
}

// S_rmem += Q K^T for the warp's rows and all keys of the tile.
template <class T, class E = typename T::E>
__device__ inline void gemm_qk(float (&S_rmem)[T::ROWS][T::LANE_KEYS], const E (*Q_smem)[T::PITCH],
                               const E (*K_smem)[T::PITCH], int lane) {
#pragma unroll
    for (int column = 0; column < T::D; column += 16) {
        uint32_t q[T::ROWS / 2][4];
#pragma unroll
        for (int i = 0; i < T::ROWS / 2; i++)
            ldmatrix_x4(q[i], chunk_of(Q_smem, 16 * i + lane % 16, column + lane / 16 * 8));
#pragma unroll
        for (int key = 0; key < T::KEYS; key += 16) {
            uint32_t k[4]; // keys 0 .. 7, two registers, and keys 8 .. 15
            ldmatrix_x4(k, chunk_of(K_smem, key + lane / 16 * 8 + lane % 8, column + lane / 8 % 2 * 8));
#pragma unroll
            for (int i = 0; i < T::ROWS / 2; i++)
#pragma unroll
                for (int n = 0; n < 2; n++)
                    mma_m16n8k16<E>(&S_rmem[2 * i][key / 4 + 2 * n], &S_rmem[2 * i + 1][key / 4 + 2 * n], q[i],
                                    &k[2 * n]);
        }
    }
}

// Conditional rescaling: if a score of the warp exceeds row_max by more than the threshold, updates the running maxima
// and rescales the running sums and the output accumulator to them.
template <class T>
__device__ inline void update_row_max_lazily(const float (&S_rmem)[T::ROWS][T::LANE_KEYS], float scale,
                                             float (&row_max)[T::ROWS], float (&row_sum)[T::ROWS],
                                             float (&O_rmem)[T::ROWS][T::LANE_COLUMNS]) {
    float lane_max[T::ROWS]; // over the scores of this lane
    bool must_rescale = false;
    for (int i = 0; i < T::ROWS; i++) {
        lane_max[i] = S_rmem[i][0];
        for (int j = 1; j < T::LANE_KEYS; j++)
            lane_max[i] = fmaxf(lane_max[i], S_rmem[i][j]);
        must_rescale |= scale * (lane_max[i] - row_max[i]) > RESCALE_THRESHOLD;
    }
    if (!__any_sync(ALL_LANES, must_rescale))
        return;
#pragma unroll
    for (int i = 0; i < T::ROWS; i++) {
        const float new_max = fmaxf(row_max[i], lanes_max<T::LANES_PER_ROW>(lane_max[i]));
        const float rescale = new_max == -INFINITY ? 0.0f : ex2(scale * (row_max[i] - new_max));
        row_max[i] = new_max;
        row_sum[i] *= rescale;
        for (int j = 0; j < T::LANE_COLUMNS; j++)
            O_rmem[i][j] *= rescale;
    }
}

// Computes the weights of 16 keys and rounds them into p, the A operands of P V. row_sum adds the weights before
// rounding.
template <class T, class E = typename T::E>
__device__ inline void exponentiate(uint32_t (&p)[T::ROWS / 2][4], const float (&S_rmem)[T::ROWS][T::LANE_KEYS],
                                    int key, float scale, const float (&row_max)[T::ROWS], float (&row_sum)[T::ROWS]) {
#pragma unroll
    for (int i = 0; i < T::ROWS; i++) {
        const float shift = row_max[i] == -INFINITY ? 0.0f : scale * row_max[i]; // -inf - -inf would be NaN
        for (int n = 0; n < 2; n++) { // the lane's columns of keys 0 .. 7, and of 8 .. 15
            const float *s = &S_rmem[i][key / 4 + 2 * n];
            const float w[2] = {ex2(scale * s[0] - shift), ex2(scale * s[1] - shift)};
            row_sum[i] += w[0] + w[1];
            p[i / 2][i % 2 + 2 * n] = cvt_rn_x2<E>(w[0], w[1]);
        }
    }
}

// O_rmem += p V for 16 keys. SINGLE_KEY: only for single_key, and only in the rows that attend to it: row r of the warp
// attends to keys up to row0_last_key + r.
template <bool SINGLE_KEY, class T, class E = typename T::E>
__device__ inline void mma_pv(float (&O_rmem)[T::ROWS][T::LANE_COLUMNS], const uint32_t (&p)[T::ROWS / 2][4],
                              const E (*V_smem)[T::PITCH], int lane, int single_key = 0, int row0_last_key = 0) {
    const uint32_t lane_mask =
        single_key / 2 % 4 == lane % 4 ? 0xffffu << single_key % 2 * 16 : 0; // if the lane holds that key
#pragma unroll
    for (int column = 0; column < T::D; column += 16) {
        uint32_t v[4]; // columns 0 .. 7, two registers, and columns 8 .. 15
        ldmatrix_x4_trans(v, chunk_of(V_smem, lane % 16, column + lane / 16 * 8));
        for (int n = 0; n < 4 && SINGLE_KEY; n++)
            v[n] &= n % 2 == single_key / 8 ? lane_mask : 0;
#pragma unroll
        for (int i = 0; i < T::ROWS; i += 2)
#pragma unroll
            for (int n = 0; n < 2; n++) {
                float *upper = &O_rmem[i][column / 4 + 2 * n], *lower = &O_rmem[i + 1][column / 4 + 2 * n];
                float sum[2][2] = {{upper[0], upper[1]}, {lower[0], lower[1]}};
                mma_m16n8k16<E>(sum[0], sum[1], p[i / 2], &v[2 * n]);
                for (int m = 0; m < 2; m++) {
                    upper[m] = !SINGLE_KEY || single_key <= row0_last_key + row_of<T>(i, lane) ? sum[0][m] : upper[m];
                    lower[m] =
                        !SINGLE_KEY || single_key <= row0_last_key + row_of<T>(i + 1, lane) ? sum[1][m] : lower[m];
                }
            }
    }
}

// O_rmem += P V for the warp's rows and all columns. Computes P from the scores, 16 keys at a time. MASKED: row r of
// the warp attends only to keys 0 .. row0_last_key + r. A masked value that is infinite or NaN must not even be
// multiplied by its weight of 0.
template <bool MASKED, class T, class E = typename T::E>
__device__ inline void gemm_pv(float (&O_rmem)[T::ROWS][T::LANE_COLUMNS], const float (&S_rmem)[T::ROWS][T::LANE_KEYS],
                               float scale, const float (&row_max)[T::ROWS], float (&row_sum)[T::ROWS],
                               const E (*V_smem)[T::PITCH], int row0_last_key, int lane) {
#pragma unroll
    for (int key = 0; key < T::KEYS; key += 16) {
        if (MASKED && key > row0_last_key + T::WARP_ROWS - 1)
            break; // these keys are masked for all rows of the warp
        uint32_t p[T::ROWS / 2][4];
        exponentiate<T>(p, S_rmem, key, scale, row_max, row_sum);
        if (MASKED && key + 15 > row0_last_key && !rows_are_finite<T::D>(V_smem + key, lane))
#pragma unroll 1
            for (int single_key = 0; single_key < 16; single_key++)
                mma_pv<true, T>(O_rmem, p, V_smem + key, lane, single_key, row0_last_key - key);
        else
            mma_pv<false, T>(O_rmem, p, V_smem + key, lane);
    }
}

// Computes the attention of a block of queries to keys 0 .. end_key - 1: the output before the division, the row
// maxima, and the lane's partial row sums.
template <class T, class E = typename T::E>
__device__ inline void attend(T &smem, const struct attention_problem &p, bool vectorized, int batch, int head,
                              int query0, int end_key, float (&O_rmem)[T::ROWS][T::LANE_COLUMNS],
                              float (&row_max)[T::ROWS], float (&row_sum)[T::ROWS]) {
    const int nq = p.nq, nk = p.nk, head_dim = p.head_dim, kv_head = head / (p.heads / p.kv_heads);
    const E *q = (const E *)p.q + batch * p.q_stride.batch + head * p.q_stride.head;    // [nq][head_dim]
    const E *k = (const E *)p.k + batch * p.k_stride.batch + kv_head * p.k_stride.head; // [nk][head_dim]
    const E *v = (const E *)p.v + batch * p.v_stride.batch + kv_head * p.v_stride.head; // [nk][head_dim]
    const int lane = threadIdx.x % WARP_SIZE, warp = threadIdx.x / WARP_SIZE, warp_row0 = warp * T::WARP_ROWS;
    const float scale = p.softmax_scale * LOG2_E;
    const int causal_offset = p.causal ? nk - nq : NO_CAUSAL_LIMIT; // query i: keys 0 .. i + causal_offset

    load_rows<T, T::QUERIES>(smem.Q, q, p.q_stride.row, query0, nq, head_dim, vectorized);
    load_rows<T, T::KEYS>(smem.K[0], k, p.k_stride.row, 0, nk, head_dim, vectorized);
    load_rows<T, T::KEYS>(smem.V[0], v, p.v_stride.row, 0, nk, head_dim, vectorized);
    for (int i = 0; i < T::ROWS; i++)
        row_max[i] = -INFINITY;

    for (int key0 = 0, stage = 0; key0 < end_key; key0 += T::KEYS, stage = 1 - stage) {
        // TODO 2 (about 6 lines): Wait until all threads' copies of this tile have arrived, then issue the copies of
        // the next tile.
        cp_async_wait_all();
        __syncthreads(); // the tile has arrived, and every warp has finished reading the previous one
        if (key0 + T::KEYS < end_key) {
            load_rows<T, T::KEYS>(smem.K[1 - stage], k, p.k_stride.row, key0 + T::KEYS, nk, head_dim, vectorized);
            load_rows<T, T::KEYS>(smem.V[1 - stage], v, p.v_stride.row, key0 + T::KEYS, nk, head_dim, vectorized);
        }
        // END TODO 2
        const E(*K_smem)[T::PITCH] = smem.K[stage], (*V_smem)[T::PITCH] = smem.V[stage];
        // Row r of the warp attends to keys 0 .. row0_last_key + r of the tile.
        const int row0_last_key = query0 + warp_row0 + causal_offset - key0;
        if (row0_last_key + T::WARP_ROWS - 1 < 0)
            continue; // the tile is fully masked for this warp
        float S_rmem[T::ROWS][T::LANE_KEYS] = {};
        gemm_qk<T>(S_rmem, smem.Q + warp_row0, K_smem, lane);
        const bool masked = row0_last_key < T::KEYS - 1;
        if (masked || key0 + T::KEYS > nk)
            apply_mask<T>(S_rmem, row0_last_key, nk - 1 - key0, lane);
        update_row_max_lazily<T>(S_rmem, scale, row_max, row_sum, O_rmem);
        if (!masked)
            gemm_pv<false, T>(O_rmem, S_rmem, scale, row_max, row_sum, V_smem, row0_last_key, lane);
        else
            gemm_pv<true, T>(O_rmem, S_rmem, scale, row_max, row_sum, V_smem, row0_last_key, lane);
    }
}

// Divides the lane's rows and columns of the output by the row sums and stores them, and lse if requested.
template <class T, class E = typename T::E>
__device__ inline void store_output(const struct attention_problem &p, bool vectorized, int batch, int head, int query0,
                                    const float (&O_rmem)[T::ROWS][T::LANE_COLUMNS], const float (&row_max)[T::ROWS],
                                    const float (&row_sum)[T::ROWS]) {
    const int lane = threadIdx.x % WARP_SIZE, warp_row0 = threadIdx.x / WARP_SIZE * T::WARP_ROWS;
    E *o = (E *)p.o + batch * p.o_stride.batch + head * p.o_stride.head; // [nq][head_dim]
#pragma unroll
    for (int i = 0; i < T::ROWS; i++) {
        const int row = query0 + warp_row0 + row_of<T>(i, lane);
        const float sum = lanes_sum<T::LANES_PER_ROW>(row_sum[i]);
        const float inverse = sum == 0.0f ? 0.0f : 1.0f / sum; // a fully masked row is 0
        if (row >= p.nq)
            continue;
        for (int j = 0; j < T::LANE_COLUMNS; j += 2) {
            const int column = column_of<T>(j, lane);
            E *to = o + row * p.o_stride.row + column;
            if (vectorized && column < p.head_dim)
                *reinterpret_cast<uint32_t *>(to) = cvt_rn_x2<E>(inverse * O_rmem[i][j], inverse * O_rmem[i][j + 1]);
            for (int n = 0; n < 2 && !vectorized; n++)
                if (column + n < p.head_dim)
                    to[n] = E(inverse * O_rmem[i][j + n]);
        }
        if (p.lse != NULL && lane % T::LANES_PER_ROW == 0)
            p.lse[((int64_t)batch * p.heads + head) * p.nq + row] =
                sum == 0.0f ? -INFINITY : p.softmax_scale * row_max[i] + logf(sum);
    }
}

// Grid: one block per QUERIES queries, ceil(nq / QUERIES) per head of each batch; the blocks with the most keys come
// first.
// A block computes QUERIES rows of the output, a warp WARP_ROWS of them, and a quad of lanes all columns of ROWS rows.
// All threads of the block load the tiles, and wait for one another at __syncthreads() before they read a tile and
// before they overwrite it. Scores and weights stay in the registers of their warp.
template <class T>
__global__ void __launch_bounds__(T::THREADS, T::BLOCKS)
    attention_kernel(const struct attention_problem p, bool vectorized) {
    extern __shared__ float4 dynamic_smem[];
    T &smem = *reinterpret_cast<T *>(dynamic_smem);
    const int query_blocks = (p.nq + T::QUERIES - 1) / T::QUERIES;
    const int batch = blockIdx.x / query_blocks / p.heads, head = blockIdx.x / query_blocks % p.heads;
    const int query0 = (query_blocks - 1 - blockIdx.x % query_blocks) * T::QUERIES;
    const int end_key = p.causal ? min(p.nk, query0 + T::QUERIES + p.nk - p.nq) : p.nk;

    float O_rmem[T::ROWS][T::LANE_COLUMNS] = {}, row_max[T::ROWS], row_sum[T::ROWS] = {};
    attend<T>(smem, p, vectorized, batch, head, query0, end_key, O_rmem, row_max, row_sum);
    store_output<T>(p, vectorized, batch, head, query0, O_rmem, row_max, row_sum);
}

template <class T>
static cudaError_t launch(const struct KernelConfig *config, const struct attention_problem *p, cudaStream_t stream) {
    const int64_t blocks = (int64_t)p->batch * p->heads * ((p->nq + T::QUERIES - 1) / T::QUERIES);
    if (blocks > INT32_MAX)
        return cudaErrorInvalidConfiguration;
    const cudaError_t error = opt_in_shared_memory(config);
    if (error != cudaSuccess)
        return error;
    attention_kernel<T><<<(unsigned)blocks, T::THREADS, sizeof(T), stream>>>(*p, rows_are_chunks(p));
    return cudaGetLastError();
}

template <class T>
static struct KernelConfig make_config() {
    return {T::D, T::QUERIES, T::KEYS, T::THREADS, sizeof(T), (const void *)attention_kernel<T>, launch<T>};
}

template <class E>
static const struct KernelConfig configs[] = {
    make_config<KernelTraits<E, 64, 4, 4, 64, 3>>(),
    make_config<KernelTraits<E, 128, 4, 4, 64, 2>>(),
    make_config<KernelTraits<E, 128, 4, 2, 64, 2>>(),
    make_config<KernelTraits<E, 256, 4, 2, 32, 2>>(),
};

static const struct KernelConfig *select_config(const struct attention_problem *p) {
    const struct KernelConfig *config =
        first_config(p, p->dtype == ATTENTION_FP16 ? configs<__half> : configs<__nv_bfloat16>);
    // The next configuration has half as many queries per block: with few keys it computes fewer masked scores.
    return config->head_dim == 128 && p->causal && p->nq <= 512 ? config + 1 : config;
}

static size_t shared_bytes(const struct attention_problem *p) {
    return select_config(p)->shared_bytes;
}

const struct attention_lesson attention_lesson = {
    .dtypes = 1u << ATTENTION_FP16 | 1u << ATTENTION_BF16,
    .max_head_dim = 256,
    .causal = 1,
    .lse = 1,
    .strided = 1,
    .grouped_heads = 1,
    .min_compute_capability = 80,
    .shared_bytes = shared_bytes,
    .positive_scale = 1,
    .deterministic = 1,
};

// Tensors begin at multiples of 16 bytes; rows need not.
cudaError_t attention_forward(const struct attention_problem *p, cudaStream_t stream) {
    if (p->dtype == ATTENTION_FP32 || p->head_dim > attention_lesson.max_head_dim || !(p->softmax_scale > 0.0f))
        return cudaErrorInvalidValue;
    if (!tensors_are_aligned(p))
        return cudaErrorMisalignedAddress;
    const struct KernelConfig *config = select_config(p);
    return config->launch(config, p, stream);
}
