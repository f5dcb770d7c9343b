// Lesson 09: the next tile is copied while this one is used, and rows of shared memory are swizzled instead of padded,
// so that they are powers of two.
//
// architecture: sm_80
#include "attention.h"
#include "chunk.cuh"
#include "cp_async.cuh"
#include "ex2.cuh"
#include "mask.cuh"
#include "mma.cuh"
#include "reduce.cuh"
#include "variant.cuh"

constexpr float LOG2_E = 1.44269504f;
constexpr float LAZY = 8.0f; // a weight of 2^8 is as exact as one of 1

// D is head_dim rounded up to one of a few sizes, so that the output fits in registers and loops can be unrolled. A
// lane has ROWS rows of results, KEYS / LANES_PER_ROW columns of the scores and D / LANES_PER_ROW of the output.
template <class E_, int D_, int WARPS, int ROWS_, int KEYS_, int BLOCKS_>
struct Tile {
    using E = E_; // __half or __nv_bfloat16
    static constexpr int D = D_, ROWS = ROWS_, KEYS = KEYS_, THREADS = WARPS * WARP_SIZE;
    static constexpr int BLOCKS = BLOCKS_;  // of a multiprocessor: one computes while another one waits
    static constexpr int LANES_PER_ROW = 4; // that share a row of the scores and of the output
    static constexpr int WARP_ROWS = WARP_SIZE / LANES_PER_ROW * ROWS, QUERIES = WARPS * WARP_ROWS;
    static constexpr int LANE_KEYS = KEYS / LANES_PER_ROW, LANE_COLUMNS = D / LANES_PER_ROW;
    static constexpr int PITCH = D;
    static_assert(ROWS % 2 == 0 && KEYS % 16 == 0 && D % 16 == 0,
                  "a product takes 16 rows, and 16 of what it sums over");

    E Q[QUERIES][PITCH];
    E K[2][KEYS][PITCH]; // a tile in use, and one that is being copied
    E V[2][KEYS][PITCH];
};

// The place of a lane's i-th row among the rows of its warp, and of its j-th column among all columns.
template <class T>
__device__ inline int row_of(int i, int lane) {
    return i * 8 + lane / T::LANES_PER_ROW; // 0 and 1 are those of an accumulator, 2 and 3 those of the next one
}
template <class T>
__device__ inline int column_of(int j, int lane) {
    return j / 2 * 8 + lane % T::LANES_PER_ROW * 2 + j % 2;
}

// The chunk of a row that begins at a column: in eight rows it has eight places.
template <class E, int PITCH>
__device__ inline E *chunk_of(E (*rows_smem)[PITCH], int row, int column) {
    // TODO 1 (about 1 line): which place, so that eight lanes reading it in eight rows touch all 32 banks once?
    column ^= row % 8 * CHUNK;
    // END TODO 1
    return &rows_smem[row][column];
}

// Rows row0 .. row0 + ROWS of a matrix, and zeros beyond it: a weight of 0 must not meet what lay there before. All
// threads of the block take part. wide: rows are whole chunks.
template <class T, int ROWS, class E = typename T::E>
__device__ inline void load_rows(E (*to_smem)[T::PITCH], const E *from /* [rows][head_dim] */, int64_t stride, int row0,
                                 int rows, int head_dim, bool wide) {
    constexpr int CHUNKS = T::D / CHUNK, AT_ONCE = T::THREADS / CHUNKS;
    const int first = threadIdx.x / CHUNKS, column = threadIdx.x % CHUNKS * CHUNK;
    const E *own = from + (row0 + first) * stride + column;
    if (wide && row0 + ROWS <= rows && head_dim == T::D) {
#pragma unroll
        for (int row = 0; row < ROWS; row += AT_ONCE)
            copy_chunk(chunk_of(to_smem, first + row, column), own + row * stride);
    } else {
#pragma unroll 1
        for (int row = 0; row < ROWS; row += AT_ONCE)
            copy_chunk(chunk_of(to_smem, first + row, column), own + row * stride,
                       row0 + first + row < rows ? head_dim - column : 0, wide);
    }
}

// S_rmem += Q K^T for the warp's rows and all keys of the tile.
template <class T, class E = typename T::E>
__device__ inline void add_scores(float (&S_rmem)[T::ROWS][T::LANE_KEYS], const E (*Q_smem)[T::PITCH],
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

// Where a score has passed row_max by far, makes it the largest score so far, and what was summed up relative to the
// old one relative to the new one.
template <class T>
__device__ inline void raise_maximum(const float (&S_rmem)[T::ROWS][T::LANE_KEYS], float scale,
                                     float (&row_max)[T::ROWS], float (&row_sum)[T::ROWS],
                                     float (&O_rmem)[T::ROWS][T::LANE_COLUMNS]) {
    float lane_max[T::ROWS]; // of the lane's own scores
    bool grown = false;
    for (int i = 0; i < T::ROWS; i++) {
        lane_max[i] = S_rmem[i][0];
        for (int j = 1; j < T::LANE_KEYS; j++)
            lane_max[i] = fmaxf(lane_max[i], S_rmem[i][j]);
        grown |= scale * (lane_max[i] - row_max[i]) > LAZY;
    }
    if (!__any_sync(ALL_LANES, grown))
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

// p = the weights of 16 keys, rounded: left operands of a product. row_sum gets them as they were before.
template <class T, class E = typename T::E>
__device__ inline void weigh(uint32_t (&p)[T::ROWS / 2][4], const float (&S_rmem)[T::ROWS][T::LANE_KEYS], int key,
                             float scale, const float (&row_max)[T::ROWS], float (&row_sum)[T::ROWS]) {
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

// O_rmem += p V for 16 keys. ONE: only for that one of them, and only in the rows that see it: row r of the warp sees
// the keys up to last_key + r.
template <bool ONE, class T, class E = typename T::E>
__device__ inline void add_products(float (&O_rmem)[T::ROWS][T::LANE_COLUMNS], const uint32_t (&p)[T::ROWS / 2][4],
                                    const E (*V_smem)[T::PITCH], int lane, int one = 0, int last_key = 0) {
    const uint32_t own = one / 2 % 4 == lane % 4 ? 0xffffu << one % 2 * 16 : 0; // where the lane holds that key
#pragma unroll
    for (int column = 0; column < T::D; column += 16) {
        uint32_t v[4]; // columns 0 .. 7, two registers, and columns 8 .. 15
        ldmatrix_x4_trans(v, chunk_of(V_smem, lane % 16, column + lane / 16 * 8));
        for (int n = 0; n < 4 && ONE; n++)
            v[n] &= n % 2 == one / 8 ? own : 0;
#pragma unroll
        for (int i = 0; i < T::ROWS; i += 2)
#pragma unroll
            for (int n = 0; n < 2; n++) {
                float *upper = &O_rmem[i][column / 4 + 2 * n], *lower = &O_rmem[i + 1][column / 4 + 2 * n];
                float sum[2][2] = {{upper[0], upper[1]}, {lower[0], lower[1]}};
                mma_m16n8k16<E>(sum[0], sum[1], p[i / 2], &v[2 * n]);
                for (int m = 0; m < 2; m++) {
                    upper[m] = !ONE || one <= last_key + row_of<T>(i, lane) ? sum[0][m] : upper[m];
                    lower[m] = !ONE || one <= last_key + row_of<T>(i + 1, lane) ? sum[1][m] : lower[m];
                }
            }
    }
}

// O_rmem += P V for the warp's rows and all columns, where P is made of the scores, 16 keys at a time. MASKED: row r of
// the warp sees only the keys up to last_key + r; a value beyond must not even be multiplied by its zero weight where
// it is infinite or NaN.
template <bool MASKED, class T, class E = typename T::E>
__device__ inline void add_values(float (&O_rmem)[T::ROWS][T::LANE_COLUMNS],
                                  const float (&S_rmem)[T::ROWS][T::LANE_KEYS], float scale,
                                  const float (&row_max)[T::ROWS], float (&row_sum)[T::ROWS],
                                  const E (*V_smem)[T::PITCH], int last_key, int lane) {
#pragma unroll
    for (int key = 0; key < T::KEYS; key += 16) {
        if (MASKED && key > last_key + T::WARP_ROWS - 1)
            break; // no row of the warp sees these keys
        uint32_t p[T::ROWS / 2][4];
        weigh<T>(p, S_rmem, key, scale, row_max, row_sum);
        if (MASKED && key + 15 > last_key && !rows_are_finite<T::D>(V_smem + key, lane))
#pragma unroll 1
            for (int one = 0; one < 16; one++)
                add_products<true, T>(O_rmem, p, V_smem + key, lane, one, last_key - key);
        else
            add_products<false, T>(O_rmem, p, V_smem + key, lane);
    }
}

// Attention of a block of queries to the keys before end_key: the output, not divided yet, its maxima, and of its sums
// the part of the lane's own keys.
template <class T, class E = typename T::E>
__device__ inline void attend(T &tile, const struct attention_problem &p, bool wide, int batch, int head, int query0,
                              int end_key, float (&O_rmem)[T::ROWS][T::LANE_COLUMNS], float (&row_max)[T::ROWS],
                              float (&row_sum)[T::ROWS]) {
    const int nq = p.nq, nk = p.nk, head_dim = p.head_dim, kv_head = head / (p.heads / p.kv_heads);
    const E *q = (const E *)p.q + batch * p.q_stride.batch + head * p.q_stride.head;    // [nq][head_dim]
    const E *k = (const E *)p.k + batch * p.k_stride.batch + kv_head * p.k_stride.head; // [nk][head_dim]
    const E *v = (const E *)p.v + batch * p.v_stride.batch + kv_head * p.v_stride.head; // [nk][head_dim]
    const int lane = threadIdx.x % WARP_SIZE, warp = threadIdx.x / WARP_SIZE, warp_row = warp * T::WARP_ROWS;
    const float scale = p.softmax_scale * LOG2_E;
    const int diagonal = p.causal ? nk - nq : NO_DIAGONAL; // query i sees keys 0 .. i + diagonal

    load_rows<T, T::QUERIES>(tile.Q, q, p.q_stride.row, query0, nq, head_dim, wide);
    load_rows<T, T::KEYS>(tile.K[0], k, p.k_stride.row, 0, nk, head_dim, wide);
    load_rows<T, T::KEYS>(tile.V[0], v, p.v_stride.row, 0, nk, head_dim, wide);
    for (int i = 0; i < T::ROWS; i++)
        row_max[i] = -INFINITY;

    for (int key0 = 0, stage = 0; key0 < end_key; key0 += T::KEYS, stage = 1 - stage) {
        // TODO 2 (about 6 lines): wait for the copies of this tile, for those of all threads; start the next one's.
        cp_async_wait_all();
        __syncthreads(); // the tile is there, and every warp is done with the one before
        if (key0 + T::KEYS < end_key) {
            load_rows<T, T::KEYS>(tile.K[1 - stage], k, p.k_stride.row, key0 + T::KEYS, nk, head_dim, wide);
            load_rows<T, T::KEYS>(tile.V[1 - stage], v, p.v_stride.row, key0 + T::KEYS, nk, head_dim, wide);
        }
        // END TODO 2
        const E(*K_smem)[T::PITCH] = tile.K[stage], (*V_smem)[T::PITCH] = tile.V[stage];
        // Row r of the warp sees keys 0 .. last_key + r of the tile.
        const int last_key = query0 + warp_row + diagonal - key0;
        if (last_key + T::WARP_ROWS - 1 < 0)
            continue; // no row sees any
        float S_rmem[T::ROWS][T::LANE_KEYS] = {};
        add_scores<T>(S_rmem, tile.Q + warp_row, K_smem, lane);
        const bool masked = last_key < T::KEYS - 1;
        if (masked || key0 + T::KEYS > nk)
            hide_keys<T>(S_rmem, last_key, nk - 1 - key0, lane);
        raise_maximum<T>(S_rmem, scale, row_max, row_sum, O_rmem);
        if (!masked)
            add_values<false, T>(O_rmem, S_rmem, scale, row_max, row_sum, V_smem, last_key, lane);
        else
            add_values<true, T>(O_rmem, S_rmem, scale, row_max, row_sum, V_smem, last_key, lane);
    }
}

// Stores the lane's rows and columns of a block's output, divided by the sums, and what lse asks for.
template <class T, class E = typename T::E>
__device__ inline void store_rows(const struct attention_problem &p, bool wide, int batch, int head, int query0,
                                  const float (&O_rmem)[T::ROWS][T::LANE_COLUMNS], const float (&row_max)[T::ROWS],
                                  const float (&row_sum)[T::ROWS]) {
    const int lane = threadIdx.x % WARP_SIZE, warp_row = threadIdx.x / WARP_SIZE * T::WARP_ROWS;
    E *o = (E *)p.o + batch * p.o_stride.batch + head * p.o_stride.head; // [nq][head_dim]
#pragma unroll
    for (int i = 0; i < T::ROWS; i++) {
        const int row = query0 + warp_row + row_of<T>(i, lane);
        const float sum = lanes_sum<T::LANES_PER_ROW>(row_sum[i]);
        const float inverse = sum == 0.0f ? 0.0f : 1.0f / sum; // a row that sees no key is 0
        if (row >= p.nq)
            continue;
        for (int j = 0; j < T::LANE_COLUMNS; j += 2) {
            const int column = column_of<T>(j, lane);
            E *to = o + row * p.o_stride.row + column;
            if (wide && column < p.head_dim)
                *reinterpret_cast<uint32_t *>(to) = cvt_rn_x2<E>(inverse * O_rmem[i][j], inverse * O_rmem[i][j + 1]);
            for (int n = 0; n < 2 && !wide; n++)
                if (column + n < p.head_dim)
                    to[n] = E(inverse * O_rmem[i][j + n]);
        }
        if (p.lse != NULL && lane % T::LANES_PER_ROW == 0)
            p.lse[((int64_t)batch * p.heads + head) * p.nq + row] =
                sum == 0.0f ? -INFINITY : p.softmax_scale * row_max[i] + logf(sum);
    }
}

// Grid: blocks of QUERIES queries, ceil(nq / QUERIES) for each head of each batch; those that see the most keys first.
template <class T>
__global__ void __launch_bounds__(T::THREADS, T::BLOCKS) attention_kernel(const struct attention_problem p, bool wide) {
    extern __shared__ float4 smem[];
    T &tile = *reinterpret_cast<T *>(smem);
    const int query_blocks = (p.nq + T::QUERIES - 1) / T::QUERIES;
    const int batch = blockIdx.x / query_blocks / p.heads, head = blockIdx.x / query_blocks % p.heads;
    const int query0 = (query_blocks - 1 - blockIdx.x % query_blocks) * T::QUERIES;
    const int end_key = p.causal ? min(p.nk, query0 + T::QUERIES + p.nk - p.nq) : p.nk;

    float O_rmem[T::ROWS][T::LANE_COLUMNS] = {}, row_max[T::ROWS], row_sum[T::ROWS] = {};
    attend<T>(tile, p, wide, batch, head, query0, end_key, O_rmem, row_max, row_sum);
    store_rows<T>(p, wide, batch, head, query0, O_rmem, row_max, row_sum);
}

template <class T>
static cudaError_t launch(const struct Variant *v, const struct attention_problem *p, cudaStream_t stream) {
    const int64_t blocks = (int64_t)p->batch * p->heads * ((p->nq + T::QUERIES - 1) / T::QUERIES);
    if (blocks > INT32_MAX)
        return cudaErrorInvalidConfiguration;
    const cudaError_t error = allow_shared_bytes(v);
    if (error != cudaSuccess)
        return error;
    attention_kernel<T><<<(unsigned)blocks, T::THREADS, sizeof(T), stream>>>(*p, rows_are_chunks(p));
    return cudaGetLastError();
}

template <class T>
static struct Variant variant() {
    return {T::D, T::QUERIES, T::KEYS, T::THREADS, sizeof(T), (const void *)attention_kernel<T>, launch<T>};
}

template <class E>
static const struct Variant variants[] = {
    variant<Tile<E, 64, 4, 4, 64, 3>>(),
    variant<Tile<E, 128, 4, 4, 64, 2>>(),
    variant<Tile<E, 128, 4, 2, 64, 2>>(),
    variant<Tile<E, 256, 4, 2, 32, 2>>(),
};

static const struct Variant *variant_of(const struct attention_problem *p) {
    const struct Variant *v = first_variant(p, p->dtype == ATTENTION_FP16 ? variants<__half> : variants<__nv_bfloat16>);
    // Of half as many queries: where the keys are few, less is computed beyond the diagonal.
    return v->head_dim == 128 && p->causal && p->nq <= 512 ? v + 1 : v;
}

static size_t shared_bytes(const struct attention_problem *p) {
    return variant_of(p)->shared_bytes;
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
    .repeats = 1,
};

// Tensors begin at multiples of 16 bytes; rows need not.
cudaError_t attention_forward(const struct attention_problem *p, cudaStream_t stream) {
    if (p->dtype == ATTENTION_FP32 || p->head_dim > attention_lesson.max_head_dim || !(p->softmax_scale > 0.0f))
        return cudaErrorInvalidValue;
    if (!tensors_are_aligned(p))
        return cudaErrorMisalignedAddress;
    const struct Variant *v = variant_of(p);
    return v->launch(v, p, stream);
}
