// Lesson 06: copies that nobody waits for, powers of two, and a maximum looked for only when it was passed by far.
//
// While the scores are computed V arrives, and while V is used the next K does. Two barriers a tile keep that apart.
#include "attention.h"
#include "cp_async.cuh"
#include "ex2.cuh"
#include "float4.cuh"
#include "mask.cuh"
#include "reduce.cuh"
#include "tile.cuh"
#include "variant.cuh"

constexpr int UNROLL = 8;
constexpr float LOG2_E = 1.44269504f;
constexpr float LAZY = 8.0f; // a weight of 2^8 is as exact as one of 1
static_assert(LAZY < 64, "sums of weights of 2^LAZY have to be floats");

// D is head_dim rounded up to one of a few sizes, so that the output fits in registers and loops can be unrolled. A
// lane has ROWS rows of results, KEYS / LANES_PER_ROW columns of the scores and D / LANES_PER_ROW of the output.
template <int D_, int WARPS, int LANES, int ROWS_, int KEYS_, class SUM = float>
struct Tile {
    using Sum = SUM; // volatile: in memory
    static constexpr int D = D_, ROWS = ROWS_, KEYS = KEYS_, THREADS = WARPS * WARP_SIZE;
    static constexpr int LANES_PER_ROW = LANES; // that share a row of the scores and of the output
    static constexpr int WARP_ROWS = WARP_SIZE / LANES_PER_ROW * ROWS, QUERIES = WARPS * WARP_ROWS;
    static constexpr int LANE_KEYS = KEYS / LANES_PER_ROW, LANE_COLUMNS = D / LANES_PER_ROW;
    static constexpr int QUAD = LANE_KEYS < 4 ? LANE_KEYS : 4; // neighbouring columns of a lane
    static constexpr int SLICE = QUAD * LANES_PER_ROW;         // keys whose weights are in shared memory at a time
    static_assert(ROWS % 4 == 0 && KEYS % SLICE == 0 && D % SLICE == 0, "a lane owns whole quads");

    // Q, K and the weights P are transposed, so that operands of neighbouring results lie next to each other.
    float Q[D][QUERIES];
    float K[D][KEYS + 4]; // rows four banks apart: a warp that writes 8 columns of 4 keys touches each bank once
    float V[KEYS][D];
    float P[WARPS][LANES_PER_ROW][QUAD * WARP_ROWS + 4]; // [key / QUAD][key % QUAD][row], a quad four banks on
};

// The place of a lane's i-th row among the rows of its warp, and of its j-th column among all columns.
template <class T>
__device__ inline int row_of(int i, int lane) {
    int row = i % 4; // of its quad
    row += i / 4 * (4 * WARP_SIZE / T::LANES_PER_ROW) + lane / T::LANES_PER_ROW * 4;
    return row;
}
template <class T>
__device__ inline int column_of(int j, int lane) {
    return j / T::QUAD * T::SLICE + lane % T::LANES_PER_ROW * T::QUAD + j % T::QUAD;
}

// The operands of a step of a product: those of the lane's rows and those of its columns.
template <class T, int COLUMNS>
__device__ inline void fetch(float (&a)[T::ROWS], float (&b)[COLUMNS], const float *a_smem, const float *b_smem,
                             int lane) {
#pragma unroll
    for (int i = 0; i < T::ROWS; i += 4)
        copy_floats<4>(&a[i], &a_smem[row_of<T>(i, lane)]);
#pragma unroll
    for (int j = 0; j < COLUMNS; j += T::QUAD)
        copy_floats<T::QUAD>(&b[j], &b_smem[column_of<T>(j, lane)]);
}

// result[i][j] += a[i] * b[j].
template <int ROWS, int COLUMNS>
__device__ inline void add_outer_product(float (&result)[ROWS][COLUMNS], const float (&a)[ROWS],
                                         const float (&b)[COLUMNS]) {
#pragma unroll
    for (int j = 0; j < COLUMNS; j++)
#pragma unroll
        for (int step = 0; step < ROWS; step++) {
            const int i = j % 2 == 0 ? step : ROWS - 1 - step;
            result[i][j] += a[i] * b[j];
        }
}

// S_rmem += Q K^T for the lane's rows and keys. The operands of the next step are on their way while this one's are
// used.
template <class T>
__device__ inline void add_scores(float (&S_rmem)[T::ROWS][T::LANE_KEYS], const T &tile, int warp_row, int lane) {
    float q[2][T::ROWS], k[2][T::LANE_KEYS];
    fetch<T>(q[0], k[0], &tile.Q[0][warp_row], tile.K[0], lane);
#pragma unroll 1
    for (int column0 = 0; column0 < T::D; column0 += UNROLL)
#pragma unroll
        for (int i = 0; i < UNROLL; i++) {
            const int next = (column0 + i + 1) % T::D;
            fetch<T>(q[1 - i % 2], k[1 - i % 2], &tile.Q[next][warp_row], tile.K[next], lane);
            add_outer_product(S_rmem, q[i % 2], k[i % 2]);
        }
}

// Makes row_max the largest score so far, and what was summed up relative to the old one relative to the new one.
template <class T>
__device__ inline void raise_maximum(const float (&lane_max)[T::ROWS], float (&row_max)[T::ROWS],
                                     typename T::Sum (&row_sum)[T::ROWS], float (&O_rmem)[T::ROWS][T::LANE_COLUMNS]) {
    // TODO 1 (about 10 lines): the new maximum of row i, over its lanes, and what row_sum[i] and O_rmem[i] have to be
    // multiplied by: a power of 2. What if the row has seen no key yet?
#pragma unroll
    for (int i = 0; i < T::ROWS; i++) {
        const float new_max = fmaxf(row_max[i], lanes_max<T::LANES_PER_ROW>(lane_max[i]));
        const float rescale = new_max == -INFINITY ? 0.0f : ex2(row_max[i] - new_max); // -inf - -inf would be NaN
        row_max[i] = new_max;
        row_sum[i] = row_sum[i] * rescale;
#pragma unroll
        for (int j = 0; j < T::LANE_COLUMNS; j++)
            O_rmem[i][j] *= rescale;
    }
    // END TODO 1
}

// Makes weights of the scores of a tile, and adds them up.
template <class T>
__device__ inline void weigh(float (&S_rmem)[T::ROWS][T::LANE_KEYS], float (&row_max)[T::ROWS],
                             typename T::Sum (&row_sum)[T::ROWS], float (&O_rmem)[T::ROWS][T::LANE_COLUMNS]) {
    float lane_max[T::ROWS]; // of the lane's own scores
    bool grown = false;
    for (int i = 0; i < T::ROWS; i++) {
        lane_max[i] = S_rmem[i][0];
        for (int j = 1; j < T::LANE_KEYS; j++)
            lane_max[i] = fmaxf(lane_max[i], S_rmem[i][j]);
        // TODO 2 (about 1 line): set grown where the lane's maximum is larger than row_max[i] by more than LAZY.
        grown |= lane_max[i] > row_max[i] + LAZY;
        // END TODO 2
    }
    if (__any_sync(ALL_LANES, grown))
        raise_maximum<T>(lane_max, row_max, row_sum, O_rmem);
    for (int i = 0; i < T::ROWS; i++) {
        const float shift = row_max[i] == -INFINITY ? 0.0f : row_max[i];
        for (int j = 0; j < T::LANE_KEYS; j++) {
            S_rmem[i][j] = ex2(S_rmem[i][j] - shift);
            row_sum[i] = row_sum[i] + S_rmem[i][j];
        }
    }
}

// The weights of the first SLICE keys, transposed, four rows at a time.
template <class T>
__device__ inline void store_weights(float (*P_smem)[T::QUAD * T::WARP_ROWS + 4],
                                     const float (&S_rmem)[T::ROWS][T::LANE_KEYS], int lane) {
    for (int j = 0; j < T::QUAD; j++)
        for (int i = 0; i < T::ROWS; i += 4) {
            const float rows[4] = {S_rmem[i][j], S_rmem[i + 1][j], S_rmem[i + 2][j], S_rmem[i + 3][j]};
            copy_floats<4>(&P_smem[lane % T::LANES_PER_ROW][j * T::WARP_ROWS + row_of<T>(i, lane)], rows);
        }
}

// O_rmem += P V for the lane's rows and columns. MASKED: row r of the warp sees only the keys up to last_key + r; a
// value beyond must not even be multiplied by its zero weight, since it may be NaN.
template <bool MASKED, class T>
__device__ inline void add_values(float (&O_rmem)[T::ROWS][T::LANE_COLUMNS],
                                  const float (*P_smem)[T::QUAD * T::WARP_ROWS + 4], const float (*V_smem)[T::D],
                                  int last_key, int lane) {
    constexpr int STEPS = MASKED ? 1 : UNROLL;
#pragma unroll 1
    for (int begin = 0; begin < T::SLICE; begin += STEPS)
#pragma unroll
        for (int key = begin; key < begin + STEPS; key++) {
            float p[T::ROWS], v[T::LANE_COLUMNS];
            fetch<T>(p, v, &P_smem[key / T::QUAD][key % T::QUAD * T::WARP_ROWS], V_smem[key], lane);
            if (!MASKED)
                add_outer_product(O_rmem, p, v);
            else
#pragma unroll
                for (int i = 0; i < T::ROWS; i++)
                    if (key <= last_key + row_of<T>(i, lane))
#pragma unroll
                        for (int j = 0; j < T::LANE_COLUMNS; j++)
                            O_rmem[i][j] += p[i] * v[j];
        }
}

// Attention of a block of queries to the keys first_key .. end_key: the output, not divided yet, its maxima, and of its
// sums the part of the lane's own keys.
template <class T>
__device__ inline void attend(T &tile, const struct attention_problem &p, bool wide, int64_t head, int query0,
                              int first_key, int end_key, float (&O_rmem)[T::ROWS][T::LANE_COLUMNS],
                              float (&row_max)[T::ROWS], typename T::Sum (&row_sum)[T::ROWS]) {
    const int nq = p.nq, nk = p.nk, head_dim = p.head_dim;
    const float *q = (const float *)p.q + head * nq * head_dim; // [nq][head_dim]
    const float *k = (const float *)p.k + head * nk * head_dim; // [nk][head_dim]
    const float *v = (const float *)p.v + head * nk * head_dim; // [nk][head_dim]
    const int lane = threadIdx.x % WARP_SIZE, warp = threadIdx.x / WARP_SIZE, warp_row = warp * T::WARP_ROWS;
    const int diagonal = p.causal ? nk - nq : NO_DIAGONAL; // query i sees keys 0 .. i + diagonal

    copy_transposed<T::D, T::KEYS, T::THREADS>(tile.K, k, first_key, nk, head_dim);
    load_transposed<T::D, T::QUERIES, T::THREADS>(tile.Q, q, query0, nq, head_dim, wide, p.softmax_scale * LOG2_E);
    for (int i = 0; i < T::ROWS; i++) {
        row_max[i] = -INFINITY;
        row_sum[i] = 0.0f;
    }

    for (int key0 = first_key; key0 < end_key; key0 += T::KEYS) {
        // TODO 3 (about 2 lines): K has to be there, from all threads, and every warp done with V.
        cp_async_wait_all();
        __syncthreads(); // K is there, and every warp is done with V
        // END TODO 3
        copy_rows<T::D, T::KEYS, T::THREADS>(tile.V, v, key0, nk, head_dim, wide);
        float S_rmem[T::ROWS][T::LANE_KEYS] = {}; // scores, then weights
        add_scores<T>(S_rmem, tile, warp_row, lane);
        // TODO 4 (about 2 lines): the other way round.
        cp_async_wait_all();
        __syncthreads(); // V is there, and every warp is done with K
        // END TODO 4
        if (key0 + T::KEYS < end_key)
            copy_transposed<T::D, T::KEYS, T::THREADS>(tile.K, k, key0 + T::KEYS, nk, head_dim);

        // Row r of the warp sees keys 0 .. last_key + r of the tile.
        const int last_key = query0 + warp_row + diagonal - key0;
        const bool masked = last_key < T::KEYS - 1;
        if (masked || key0 + T::KEYS > nk)
            hide_keys<T>(S_rmem, last_key, nk - 1 - key0, lane);
        weigh<T>(S_rmem, row_max, row_sum, O_rmem);

#pragma unroll 1
        for (int slice = 0; slice < T::KEYS; slice += T::SLICE) {
            __syncwarp(); // the slice before has been read
            store_weights<T>(tile.P[warp], S_rmem, lane);
            __syncwarp(); // the weights were written by all lanes and are read by all lanes
            if (!masked)
                add_values<false, T>(O_rmem, tile.P[warp], tile.V + slice, last_key - slice, lane);
            else
                add_values<true, T>(O_rmem, tile.P[warp], tile.V + slice, last_key - slice, lane);
            move_to_front<T::QUAD>(S_rmem); // the weights of the next slice
        }
    }
}

// Stores the lane's rows and columns of a block's output, divided by the sums.
template <class T>
__device__ inline void store_rows(float *o /* [rows][head_dim] */, int rows, int head_dim, bool wide,
                                  const float (&O_rmem)[T::ROWS][T::LANE_COLUMNS],
                                  const typename T::Sum (&row_sum)[T::ROWS]) {
    const int lane = threadIdx.x % WARP_SIZE, warp_row = threadIdx.x / WARP_SIZE * T::WARP_ROWS;
#pragma unroll
    for (int i = 0; i < T::ROWS; i++) {
        const int row = warp_row + row_of<T>(i, lane);
        const float sum = lanes_sum<T::LANES_PER_ROW>(row_sum[i]);
        const float inverse = sum == 0.0f ? 0.0f : 1.0f / sum; // a row that sees no key is 0
        if (row < rows)
#pragma unroll
            for (int j = 0; j < T::LANE_COLUMNS; j += T::QUAD)
                store_floats<T::QUAD>(o + (int64_t)row * head_dim, column_of<T>(j, lane), head_dim, &O_rmem[i][j],
                                      inverse, wide);
    }
}

// Grid: blocks of QUERIES queries, ceil(nq / QUERIES) for each head of each batch.
template <class T>
__global__ void __launch_bounds__(T::THREADS) attention_kernel(const struct attention_problem p, bool wide) {
    extern __shared__ float4 smem[];
    T &tile = *reinterpret_cast<T *>(smem);
    const int query_blocks = (p.nq + T::QUERIES - 1) / T::QUERIES;
    const int64_t head = blockIdx.x / query_blocks;
    const int query0 = blockIdx.x % query_blocks * T::QUERIES;
    const int end_key = p.causal ? min(p.nk, query0 + T::QUERIES + p.nk - p.nq) : p.nk;
    float *o = (float *)p.o + (head * p.nq + query0) * p.head_dim; // [nq - query0][head_dim]

    float O_rmem[T::ROWS][T::LANE_COLUMNS] = {}, row_max[T::ROWS];
    typename T::Sum row_sum[T::ROWS];
    attend<T>(tile, p, wide, head, query0, 0, end_key, O_rmem, row_max, row_sum);
    store_rows<T>(o, p.nq - query0, p.head_dim, wide, O_rmem, row_sum);
}

template <class T>
static cudaError_t launch(const struct Variant *v, const struct attention_problem *p, cudaStream_t stream) {
    const int64_t blocks = (int64_t)p->batch * p->heads * ((p->nq + T::QUERIES - 1) / T::QUERIES);
    if (blocks > INT32_MAX)
        return cudaErrorInvalidConfiguration;
    const cudaError_t error = allow_shared_bytes(v);
    if (error != cudaSuccess)
        return error;
    attention_kernel<T><<<(unsigned)blocks, T::THREADS, sizeof(T), stream>>>(*p, rows_are_float4(p));
    return cudaGetLastError();
}

template <class T>
static struct Variant variant() {
    return {T::D, T::QUERIES, T::KEYS, T::THREADS, sizeof(T), (const void *)attention_kernel<T>, launch<T>};
}

// A lane has 64 scores and 128 results here, and its sums no registers.
using Tile128 = Tile<128, 8, 8, 8, 64, volatile float>;

static const struct Variant variants[] = {
    variant<Tile<32, 4, 8, 8, 64>>(),   variant<Tile<64, 4, 8, 8, 64>>(),   variant<Tile128>(),
    variant<Tile<256, 4, 16, 8, 64>>(), variant<Tile<512, 4, 16, 4, 32>>(),
};

static size_t shared_bytes(const struct attention_problem *p) {
    return first_variant(p, variants)->shared_bytes;
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
    .repeats = 1,
};

cudaError_t attention_forward(const struct attention_problem *p, cudaStream_t stream) {
    const struct Variant *v = first_variant(p, variants);
    return v->launch(v, p, stream);
}
