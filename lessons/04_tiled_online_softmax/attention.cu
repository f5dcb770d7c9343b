// Lesson 04: K and V in tiles, with a running maximum and a running sum. Any nk with a fixed amount of shared memory.
//
// A block of four warps handles 32 queries, eight a warp. Each tile of 32 keys and values is loaded into shared memory
// once and serves all of them. In the scores a lane owns a key of the tile, in the output every 32nd column.
#include "attention.h"
#include "float4.cuh"
#include "mask.cuh"
#include "reduce.cuh"
#include "tile.cuh"
#include "variant.cuh"

// D is head_dim rounded up to one of a few sizes, so that the output fits in registers and loops can be unrolled. A
// lane has ROWS rows of results, KEYS / LANES_PER_ROW columns of the scores and D / LANES_PER_ROW of the output.
template <int D_, int WARPS, int ROWS_, int KEYS_>
struct Tile {
    static constexpr int D = D_, ROWS = ROWS_, KEYS = KEYS_, THREADS = WARPS * WARP_SIZE;
    static constexpr int LANES_PER_ROW = WARP_SIZE; // that share a row of the scores and of the output
    static constexpr int WARP_ROWS = WARP_SIZE / LANES_PER_ROW * ROWS, QUERIES = WARPS * WARP_ROWS;
    static constexpr int LANE_KEYS = KEYS / LANES_PER_ROW, LANE_COLUMNS = D / LANES_PER_ROW;

    float Q[QUERIES][D];
    float K[KEYS][D + 4]; // rows four banks apart: eight lanes reading 16 bytes of eight keys touch all 32 banks once
    float V[KEYS][D];
    float P[WARPS][ROWS][KEYS];
};

// The place of a lane's i-th row among the rows of its warp, and of its j-th column among all columns.
template <class T>
__device__ inline int row_of(int i, int /* lane */) {
    return i;
}
template <class T>
__device__ inline int column_of(int j, int lane) {
    return j * T::LANES_PER_ROW + lane;
}

// S_rmem += Q K^T for the lane's rows and keys.
template <class T>
__device__ inline void add_scores(float (&S_rmem)[T::ROWS][T::LANE_KEYS], const T &tile, int warp_row, int lane) {
    // TODO 1 (about 7 lines): the dot products of the lane's keys, rows column_of(j, lane) of the tile, with the warp's
    // queries. Load four floats of a key once and use them for all ROWS. #pragma unroll 4 keeps several loads in
    // flight.
    // END TODO 1
}

// Makes row_max the largest score so far, and what was summed up relative to the old one relative to the new one.
template <class T>
__device__ inline void raise_maximum(const float (&lane_max)[T::ROWS], float (&row_max)[T::ROWS],
                                     float (&row_sum)[T::ROWS], float (&O_rmem)[T::ROWS][T::LANE_COLUMNS]) {
#pragma unroll
    for (int i = 0; i < T::ROWS; i++) {
        // TODO 2 (about 7 lines): the new maximum of row i, over its lanes. What was summed so far, in row_sum[i] and
        // in O_rmem[i], is relative to the old one: which factor mends it? What if the row has seen no key yet, and
        // new_max is still -inf?
        // END TODO 2
    }
}

// Makes weights of the scores of a tile, and adds them up.
template <class T>
__device__ inline void weigh(float (&S_rmem)[T::ROWS][T::LANE_KEYS], float (&row_max)[T::ROWS],
                             float (&row_sum)[T::ROWS], float (&O_rmem)[T::ROWS][T::LANE_COLUMNS]) {
    float lane_max[T::ROWS]; // of the lane's own scores
    for (int i = 0; i < T::ROWS; i++) {
        lane_max[i] = S_rmem[i][0];
        for (int j = 1; j < T::LANE_KEYS; j++)
            lane_max[i] = fmaxf(lane_max[i], S_rmem[i][j]);
    }
    raise_maximum<T>(lane_max, row_max, row_sum, O_rmem);
    for (int i = 0; i < T::ROWS; i++) {
        const float shift = row_max[i] == -INFINITY ? 0.0f : row_max[i];
        for (int j = 0; j < T::LANE_KEYS; j++) {
            S_rmem[i][j] = __expf(S_rmem[i][j] - shift);
            row_sum[i] += S_rmem[i][j];
        }
    }
}

// The weights of the lane's rows and keys.
template <class T>
__device__ inline void store_weights(float (*P_smem)[T::KEYS], const float (&S_rmem)[T::ROWS][T::LANE_KEYS], int lane) {
    for (int j = 0; j < T::LANE_KEYS; j++)
        for (int i = 0; i < T::ROWS; i++)
            P_smem[row_of<T>(i, lane)][column_of<T>(j, lane)] = S_rmem[i][j];
}

// O_rmem += P V for the lane's rows and columns. MASKED: row r of the warp sees only the keys up to last_key + r; a
// value beyond must not even be multiplied by its zero weight, since it may be NaN.
template <bool MASKED, class T>
__device__ inline void add_values(float (&O_rmem)[T::ROWS][T::LANE_COLUMNS], const float (*P_smem)[T::KEYS],
                                  const float (*V_smem)[T::D], int last_key, int lane) {
    for (int key = 0; key < T::KEYS; key += 4) {
        float p[T::ROWS][4];
#pragma unroll
        for (int i = 0; i < T::ROWS; i++) {
            copy_floats<4>(p[i], &P_smem[i][key]);
        }
        // TODO 3 (about 10 lines): for each of the four keys and each column of this lane, load the value once and
        // add it, weighted, to all rows, except where MASKED and the key lies beyond last_key + i. With #pragma
        // unroll the indices are known to the compiler, and p and O_rmem stay in registers.
        // END TODO 3
    }
}

// Attention of a block of queries to the keys first_key .. end_key: the output, not divided yet, its maxima, and of its
// sums the part of the lane's own keys.
template <class T>
__device__ inline void attend(T &tile, const struct attention_problem &p, bool wide, int64_t head, int query0,
                              int first_key, int end_key, float (&O_rmem)[T::ROWS][T::LANE_COLUMNS],
                              float (&row_max)[T::ROWS], float (&row_sum)[T::ROWS]) {
    const int nq = p.nq, nk = p.nk, head_dim = p.head_dim;
    const float *q = (const float *)p.q + head * nq * head_dim; // [nq][head_dim]
    const float *k = (const float *)p.k + head * nk * head_dim; // [nk][head_dim]
    const float *v = (const float *)p.v + head * nk * head_dim; // [nk][head_dim]
    const int lane = threadIdx.x % WARP_SIZE, warp = threadIdx.x / WARP_SIZE, warp_row = warp * T::WARP_ROWS;
    const int diagonal = p.causal ? nk - nq : NO_DIAGONAL; // query i sees keys 0 .. i + diagonal

    load_rows<T::D, T::QUERIES, T::THREADS>(tile.Q, q, query0, nq, head_dim, wide, p.softmax_scale);
    for (int i = 0; i < T::ROWS; i++) {
        row_max[i] = -INFINITY;
        row_sum[i] = 0.0f;
    }

    for (int key0 = first_key; key0 < end_key; key0 += T::KEYS) {
        __syncthreads(); // every warp is done with the tile before
        load_rows<T::D, T::KEYS, T::THREADS>(tile.K, k, key0, nk, head_dim, wide);
        load_rows<T::D, T::KEYS, T::THREADS>(tile.V, v, key0, nk, head_dim, wide);
        __syncthreads();

        float S_rmem[T::ROWS][T::LANE_KEYS] = {}; // scores, then weights
        add_scores<T>(S_rmem, tile, warp_row, lane);
        // Row r of the warp sees keys 0 .. last_key + r of the tile.
        const int last_key = query0 + warp_row + diagonal - key0;
        const bool masked = last_key < T::KEYS - 1;
        if (masked || key0 + T::KEYS > nk)
            hide_keys<T>(S_rmem, last_key, nk - 1 - key0, lane);
        weigh<T>(S_rmem, row_max, row_sum, O_rmem);

        store_weights<T>(tile.P[warp], S_rmem, lane);
        __syncwarp(); // the weights were written by all lanes and are read by all lanes
        if (!masked)
            add_values<false, T>(O_rmem, tile.P[warp], tile.V, last_key, lane);
        else
            add_values<true, T>(O_rmem, tile.P[warp], tile.V, last_key, lane);
    }
}

// Stores the lane's rows and columns of a block's output, divided by the sums.
template <class T>
__device__ inline void store_rows(float *o /* [rows][head_dim] */, int rows, int head_dim,
                                  const float (&O_rmem)[T::ROWS][T::LANE_COLUMNS], const float (&row_sum)[T::ROWS]) {
    const int lane = threadIdx.x % WARP_SIZE, warp_row = threadIdx.x / WARP_SIZE * T::WARP_ROWS;
#pragma unroll
    for (int i = 0; i < T::ROWS; i++) {
        const int row = warp_row + row_of<T>(i, lane);
        const float sum = lanes_sum<T::LANES_PER_ROW>(row_sum[i]);
        const float inverse = sum == 0.0f ? 0.0f : 1.0f / sum; // a row that sees no key is 0
        if (row < rows)
#pragma unroll
            for (int j = 0; j < T::LANE_COLUMNS; j++)
                if (column_of<T>(j, lane) < head_dim)
                    o[(int64_t)row * head_dim + column_of<T>(j, lane)] = inverse * O_rmem[i][j];
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

    float O_rmem[T::ROWS][T::LANE_COLUMNS] = {}, row_max[T::ROWS], row_sum[T::ROWS];
    attend<T>(tile, p, wide, head, query0, 0, end_key, O_rmem, row_max, row_sum);
    store_rows<T>(o, p.nq - query0, p.head_dim, O_rmem, row_sum);
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

static const struct Variant variants[] = {
    variant<Tile<32, 4, 8, 32>>(),  variant<Tile<64, 4, 8, 32>>(),  variant<Tile<128, 4, 8, 32>>(),
    variant<Tile<256, 4, 8, 32>>(), variant<Tile<512, 4, 8, 32>>(),
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
