// Lesson 08: Stream-K. The key tiles of all heads and queries are partitioned evenly among the resident blocks.
//
// If several blocks process the keys of a work tile, each writes a partial result, and a second kernel combines the
// partial results (fix-up). Small problems use smaller tiles, so that there is at least one per SM.
#include "attention.h"
#include "cp_async.cuh"
#include "even_shares.cuh"
#include "ex2.cuh"
#include "float4.cuh"
#include "kernel_config.cuh"
#include "mask.cuh"
#include "outer_product.cuh"
#include "reduce.cuh"
#include "tile.cuh"

constexpr int UNROLL = 8;
constexpr int FIX_UP_WARPS = 8;
constexpr float LOG2_E = 1.44269504f;
constexpr float RESCALE_THRESHOLD = 8.0f; // in log2 units: rescale only if a weight would exceed 2^8
static_assert(RESCALE_THRESHOLD < 64, "sums of weights up to 2^RESCALE_THRESHOLD must not overflow a float");

// A kernel's compile-time sizes and, as its members, the kernel's shared memory. D is head_dim rounded up to one of a
// few sizes, so that register arrays have constant sizes and loops unroll. A lane holds ROWS rows of results, KEYS /
// LANES_PER_ROW columns of S and D / LANES_PER_ROW of O.
template <int D_, int WARPS, int LANES, int ROWS_, int KEYS_, class SUM = float>
struct KernelTraits {
    using Sum = SUM; // volatile: in local memory
    static constexpr int D = D_, ROWS = ROWS_, KEYS = KEYS_, THREADS = WARPS * WARP_SIZE;
    static constexpr int LANES_PER_ROW = LANES; // lanes that hold one row of S and of O
    static constexpr int WARP_ROWS = WARP_SIZE / LANES_PER_ROW * ROWS, QUERIES = WARPS * WARP_ROWS;
    static constexpr int LANE_KEYS = KEYS / LANES_PER_ROW, LANE_COLUMNS = D / LANES_PER_ROW;
    static constexpr int VECTOR = LANE_KEYS < 4 ? LANE_KEYS : 4; // adjacent columns of a lane, one 16-byte load
    static constexpr int SUBTILE = VECTOR * LANES_PER_ROW;       // keys whose weights are in shared memory at a time
    static_assert(ROWS % 4 == 0 && KEYS % SUBTILE == 0 && D % SUBTILE == 0, "a lane owns whole vectors");

    // Q, K and the weights P are transposed, so that the operands of adjacent results are contiguous.
    float Q[D][QUERIES];
    float K[D][KEYS + 4]; // rows start four banks apart: a warp that writes 8 columns of 4 keys accesses each bank once
    float V[KEYS][D];
    float P[WARPS][LANES_PER_ROW][VECTOR * WARP_ROWS + 4]; // [key / VECTOR][key % VECTOR][row], padded by four banks
};

// The index of a lane's i-th row within its warp, and of its j-th column within the tile.
template <class T>
__device__ inline int row_of(int i, int lane) {
    int row = i % 4; // within its vector
    row += i / 4 * (4 * WARP_SIZE / T::LANES_PER_ROW) + lane / T::LANES_PER_ROW * 4;
    return row;
}
template <class T>
__device__ inline int column_of(int j, int lane) {
    return j / T::VECTOR * T::SUBTILE + lane % T::LANES_PER_ROW * T::VECTOR + j % T::VECTOR;
}

// S_rmem += Q K^T for the lane's rows and keys. Prefetches the operands of the next k-step during this one.
template <class T>
__device__ inline void gemm_qk(float (&S_rmem)[T::ROWS][T::LANE_KEYS], const T &smem, int warp_row0, int lane) {
    float q[2][T::ROWS], k[2][T::LANE_KEYS];
    load_operands<T>(q[0], k[0], &smem.Q[0][warp_row0], smem.K[0], lane);
#pragma unroll 1
    for (int column0 = 0; column0 < T::D; column0 += UNROLL)
#pragma unroll
        for (int i = 0; i < UNROLL; i++) {
            const int next = (column0 + i + 1) % T::D;
            load_operands<T>(q[1 - i % 2], k[1 - i % 2], &smem.Q[next][warp_row0], smem.K[next], lane);
            add_outer_product(S_rmem, q[i % 2], k[i % 2]);
        }
}

// Updates the running maximum of each row, and rescales the running sum and the output accumulator to it.
template <class T>
__device__ inline void update_row_max(const float (&lane_max)[T::ROWS], float (&row_max)[T::ROWS],
                                      typename T::Sum (&row_sum)[T::ROWS], float (&O_rmem)[T::ROWS][T::LANE_COLUMNS]) {
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
}

// Updates the row maxima, replaces the scores of a tile by their weights, and adds the weights to the row sums.
template <class T>
__device__ inline void online_softmax(float (&S_rmem)[T::ROWS][T::LANE_KEYS], float (&row_max)[T::ROWS],
                                      typename T::Sum (&row_sum)[T::ROWS], float (&O_rmem)[T::ROWS][T::LANE_COLUMNS]) {
    float lane_max[T::ROWS]; // over the scores of this lane
    bool must_rescale = false;
    for (int i = 0; i < T::ROWS; i++) {
        lane_max[i] = S_rmem[i][0];
        for (int j = 1; j < T::LANE_KEYS; j++)
            lane_max[i] = fmaxf(lane_max[i], S_rmem[i][j]);
        must_rescale |= lane_max[i] > row_max[i] + RESCALE_THRESHOLD;
    }
    if (__any_sync(ALL_LANES, must_rescale))
        update_row_max<T>(lane_max, row_max, row_sum, O_rmem);
    for (int i = 0; i < T::ROWS; i++) {
        const float shift = row_max[i] == -INFINITY ? 0.0f : row_max[i];
        for (int j = 0; j < T::LANE_KEYS; j++) {
            S_rmem[i][j] = ex2(S_rmem[i][j] - shift);
            row_sum[i] = row_sum[i] + S_rmem[i][j];
        }
    }
}

// Stores the weights of the first SUBTILE keys in shared memory, transposed, four rows at a time.
template <class T>
__device__ inline void store_weights(float (*P_smem)[T::VECTOR * T::WARP_ROWS + 4],
                                     const float (&S_rmem)[T::ROWS][T::LANE_KEYS], int lane) {
    for (int j = 0; j < T::VECTOR; j++)
        for (int i = 0; i < T::ROWS; i += 4) {
            const float rows[4] = {S_rmem[i][j], S_rmem[i + 1][j], S_rmem[i + 2][j], S_rmem[i + 3][j]};
            copy_floats<4>(&P_smem[lane % T::LANES_PER_ROW][j * T::WARP_ROWS + row_of<T>(i, lane)], rows);
        }
}

// O_rmem += P V for the lane's rows and columns. MASKED: row r of the warp attends only to keys 0 .. row0_last_key + r.
// A masked value must not even be multiplied by its weight of 0, since the value may be NaN.
template <bool MASKED, class T>
__device__ inline void gemm_pv(float (&O_rmem)[T::ROWS][T::LANE_COLUMNS],
                               const float (*P_smem)[T::VECTOR * T::WARP_ROWS + 4], const float (*V_smem)[T::D],
                               int row0_last_key, int lane) {
    constexpr int STEPS = MASKED ? 1 : UNROLL;
#pragma unroll 1
    for (int begin = 0; begin < T::SUBTILE; begin += STEPS)
#pragma unroll
        for (int key = begin; key < begin + STEPS; key++) {
            float p[T::ROWS], v[T::LANE_COLUMNS];
            load_operands<T>(p, v, &P_smem[key / T::VECTOR][key % T::VECTOR * T::WARP_ROWS], V_smem[key], lane);
            if (!MASKED)
                add_outer_product(O_rmem, p, v);
            else
#pragma unroll
                for (int i = 0; i < T::ROWS; i++)
                    if (key <= row0_last_key + row_of<T>(i, lane))
#pragma unroll
                        for (int j = 0; j < T::LANE_COLUMNS; j++)
                            O_rmem[i][j] += p[i] * v[j];
        }
}

// Computes the attention of a block of queries to keys first_key .. end_key - 1: the output before the division, the
// row maxima, and the lane's partial row sums.
template <class T>
__device__ inline void attend(T &smem, const struct attention_problem &p, bool vectorized, int64_t head, int query0,
                              int first_key, int end_key, float (&O_rmem)[T::ROWS][T::LANE_COLUMNS],
                              float (&row_max)[T::ROWS], typename T::Sum (&row_sum)[T::ROWS]) {
    const int nq = p.nq, nk = p.nk, head_dim = p.head_dim;
    const float *q = (const float *)p.q + head * nq * head_dim; // [nq][head_dim]
    const float *k = (const float *)p.k + head * nk * head_dim; // [nk][head_dim]
    const float *v = (const float *)p.v + head * nk * head_dim; // [nk][head_dim]
    const int lane = threadIdx.x % WARP_SIZE, warp = threadIdx.x / WARP_SIZE, warp_row0 = warp * T::WARP_ROWS;
    const int causal_offset = p.causal ? nk - nq : NO_CAUSAL_LIMIT; // query i: keys 0 .. i + causal_offset

    copy_transposed<T::D, T::KEYS, T::THREADS>(smem.K, k, first_key, nk, head_dim);
    load_transposed<T::D, T::QUERIES, T::THREADS>(smem.Q, q, query0, nq, head_dim, vectorized,
                                                  p.softmax_scale * LOG2_E);
    for (int i = 0; i < T::ROWS; i++) {
        row_max[i] = -INFINITY;
        row_sum[i] = 0.0f;
    }

    for (int key0 = first_key; key0 < end_key; key0 += T::KEYS) {
        cp_async_wait_all();
        __syncthreads(); // K has arrived, and every warp has finished reading V
        copy_rows<T::D, T::KEYS, T::THREADS>(smem.V, v, key0, nk, head_dim, vectorized);
        float S_rmem[T::ROWS][T::LANE_KEYS] = {}; // scores, then weights
        gemm_qk<T>(S_rmem, smem, warp_row0, lane);
        cp_async_wait_all();
        __syncthreads(); // V has arrived, and every warp has finished reading K
        if (key0 + T::KEYS < end_key)
            copy_transposed<T::D, T::KEYS, T::THREADS>(smem.K, k, key0 + T::KEYS, nk, head_dim);

        // Row r of the warp attends to keys 0 .. row0_last_key + r of the tile.
        const int row0_last_key = query0 + warp_row0 + causal_offset - key0;
        const bool masked = row0_last_key < T::KEYS - 1;
        if (masked || key0 + T::KEYS > nk)
            apply_mask<T>(S_rmem, row0_last_key, nk - 1 - key0, lane);
        online_softmax<T>(S_rmem, row_max, row_sum, O_rmem);

#pragma unroll 1
        for (int subtile = 0; subtile < T::KEYS; subtile += T::SUBTILE) {
            __syncwarp(); // all lanes have read the previous sub-tile
            store_weights<T>(smem.P[warp], S_rmem, lane);
            __syncwarp(); // all lanes wrote the weights, and all lanes read them
            if (!masked)
                gemm_pv<false, T>(O_rmem, smem.P[warp], smem.V + subtile, row0_last_key - subtile, lane);
            else
                gemm_pv<true, T>(O_rmem, smem.P[warp], smem.V + subtile, row0_last_key - subtile, lane);
            shift_columns<T::VECTOR>(S_rmem); // the weights of the next sub-tile
        }
    }
}

// Divides the lane's rows and columns of the output by the row sums and stores them.
template <class T>
__device__ inline void store_output(float *o /* [rows][head_dim] */, int rows, int head_dim, bool vectorized,
                                    const float (&O_rmem)[T::ROWS][T::LANE_COLUMNS],
                                    const typename T::Sum (&row_sum)[T::ROWS], const float (&row_max)[T::ROWS],
                                    Partial<T> *partial) {
    const int lane = threadIdx.x % WARP_SIZE, warp_row0 = threadIdx.x / WARP_SIZE * T::WARP_ROWS;
#pragma unroll
    for (int i = 0; i < T::ROWS; i++) {
        const int row = warp_row0 + row_of<T>(i, lane);
        const float sum = lanes_sum<T::LANES_PER_ROW>(row_sum[i]);
        const float inverse = sum == 0.0f ? 0.0f : 1.0f / sum; // a fully masked row is 0
        // TODO 1 (about 4 lines): If there is a partial result, write the row's maximum and sum to it, by one lane of
        // the row.
        if (partial && lane % T::LANES_PER_ROW == 0) {
            partial->row_max[row] = row_max[i];
            partial->row_sum[row] = sum;
        }
        // END TODO 1
        if (row < rows)
#pragma unroll
            for (int j = 0; j < T::LANE_COLUMNS; j += T::VECTOR)
                store_floats<T::VECTOR>(o + (int64_t)row * head_dim, column_of<T>(j, lane), head_dim, &O_rmem[i][j],
                                        inverse, vectorized);
    }
}

// Grid: one block per share, all resident at the same time. A block processes the key tiles of its share, work tile
// after work tile. It stores the output of a work tile whose keys are all in its share, else a partial result for
// fix_up(). Within a work tile, warps and lanes own rows and columns, and wait for one another, as in lesson 06. Blocks
// never wait for one another.
template <class T>
__global__ void __launch_bounds__(T::THREADS)
    attention_kernel(const struct attention_problem p, bool vectorized, const struct EvenShares scheduler,
                     Partial<T> *partials /* [shares][2] */, Split *splits /* [shares] */) {
    extern __shared__ float4 dynamic_smem[];
    T &smem = *reinterpret_cast<T *>(dynamic_smem);
    if (threadIdx.x == 0)
        splits[blockIdx.x] = {-1, 0, 0, 0};
    int first_tile = scheduler.first_tile_of(blockIdx.x);
    const int end_tile = scheduler.first_tile_of(blockIdx.x + 1);
    while (first_tile < end_tile) {
        const EvenShares::WorkTile work_tile = scheduler.work_tile_at(first_tile);
        const int first = first_tile - work_tile.first_tile,
                  end = min(work_tile.tiles, end_tile - work_tile.first_tile);
        float *o = (float *)p.o + ((int64_t)work_tile.head * p.nq + work_tile.query0) * p.head_dim; // [rows][head_dim]

        float O_rmem[T::ROWS][T::LANE_COLUMNS] = {}, row_max[T::ROWS];
        typename T::Sum row_sum[T::ROWS];
        attend<T>(smem, p, vectorized, work_tile.head, work_tile.query0, first * T::KEYS, end * T::KEYS, O_rmem,
                  row_max, row_sum);
        Partial<T> *partial =
            end - first == work_tile.tiles ? NULL : &partials[scheduler.partial_index(blockIdx.x, work_tile)];
        store_output<T>(partial ? partial->O[0] : o, partial ? T::QUERIES : p.nq - work_tile.query0,
                        partial ? T::D : p.head_dim, partial || vectorized, O_rmem, row_sum, row_max, partial);
        if (partial && first == 0 && threadIdx.x == 0)
            splits[blockIdx.x] = {work_tile.head, work_tile.query0, scheduler.partial_index(blockIdx.x, work_tile),
                                  scheduler.share_index(work_tile.first_tile + work_tile.tiles - 1)};
        first_tile = work_tile.first_tile + end;
    }
}

// Stream-K fix-up: combines the partial results of the work tile that begins in share blockIdx.x and continues after
// it. Grid: (shares, QUERIES / FIX_UP_WARPS). A warp owns one row, a lane every 32nd column; warps do not wait for one
// another, and stream order makes all partial results complete. Above D=64, two blocks per SM: with this register
// budget ptxas keeps the loads of eight partial results in flight, not of one.
template <class T>
__global__ void __launch_bounds__(FIX_UP_WARPS *WARP_SIZE, T::D > 64 ? 2 : 0)
    fix_up(const struct attention_problem p, const Partial<T> *partials /* [shares][2] */,
           const Split *splits /* [shares] */) {
    const int lane = threadIdx.x % WARP_SIZE, row = blockIdx.y * FIX_UP_WARPS + threadIdx.x / WARP_SIZE;
    const struct Split split = splits[blockIdx.x];
    if (split.head < 0 || split.query0 + row >= p.nq)
        return;

    float row_sum = 0.0f, O_rmem[T::D / WARP_SIZE] = {};
    // TODO 2 (about 14 lines): Combine the partial results of shares blockIdx.x .. split.last_share; the first has
    // index split.first_partial, the others 2 * share. Their O is already divided by row_sum, so multiply it by
    // row_sum, rescaled to the largest row_max. Add up these weights, and weighted by them this lane's columns of O. If
    // every partial result of the row is fully masked, avoid NaN.
    const int first = blockIdx.x, last = split.last_share;
    float row_max = -INFINITY;
    for (int share = first + lane; share <= last; share += WARP_SIZE)
        row_max = fmaxf(row_max, partials[share == first ? split.first_partial : 2 * share].row_max[row]);
    row_max = lanes_max<WARP_SIZE>(row_max);
    const float shift = row_max == -INFINITY ? 0.0f : row_max;
#pragma unroll 8
    for (int share = first; share <= last; share++) {
        const Partial<T> &partial = partials[share == first ? split.first_partial : 2 * share];
        const float weight = partial.row_sum[row] * ex2(partial.row_max[row] - shift);
        row_sum += weight;
        for (int j = 0; j < T::D / WARP_SIZE; j++)
            O_rmem[j] += weight * partial.O[row][j * WARP_SIZE + lane];
    }
    // END TODO 2
    float *o = (float *)p.o + ((int64_t)split.head * p.nq + split.query0 + row) * p.head_dim; // [head_dim]
    for (int j = 0; j < T::D / WARP_SIZE; j++)
        if (j * WARP_SIZE + lane < p.head_dim)
            o[j * WARP_SIZE + lane] = row_sum == 0.0f ? 0.0f : O_rmem[j] / row_sum;
}

template <class T>
static cudaError_t launch(const struct KernelConfig *config, const struct attention_problem *p, cudaStream_t stream) {
    struct EvenShares scheduler;
    const cudaError_t error = make_even_shares(&scheduler, config, p);
    if (error != cudaSuccess)
        return error;
    Partial<T> *partials = (Partial<T> *)p->workspace;
    Split *splits = (Split *)(partials + 2 * scheduler.shares);
    attention_kernel<T>
        <<<scheduler.shares, T::THREADS, sizeof(T), stream>>>(*p, rows_are_float4(p), scheduler, partials, splits);
    const dim3 fix_up_grid(scheduler.shares, T::QUERIES / FIX_UP_WARPS);
    fix_up<T><<<fix_up_grid, FIX_UP_WARPS * WARP_SIZE, 0, stream>>>(*p, partials, splits);
    return cudaGetLastError();
}

template <class T>
static struct KernelConfig make_config() {
    return {T::D, T::QUERIES, T::KEYS, T::THREADS, sizeof(T), (const void *)attention_kernel<T>, launch<T>};
}

// A lane holds 64 scores and 128 outputs here, which leave no registers for the row sums.
using Traits128 = KernelTraits<128, 8, 8, 8, 64, volatile float>;

static const struct KernelConfig configs[] = {
    make_config<KernelTraits<32, 4, 8, 8, 64>>(),   make_config<KernelTraits<32, 4, 16, 4, 32>>(),
    make_config<KernelTraits<64, 4, 8, 8, 64>>(),   make_config<KernelTraits<64, 4, 16, 8, 64>>(),
    make_config<KernelTraits<64, 4, 16, 4, 32>>(),  make_config<Traits128>(),
    make_config<KernelTraits<128, 4, 16, 8, 64>>(), make_config<KernelTraits<128, 4, 16, 4, 32>>(),
    make_config<KernelTraits<256, 4, 16, 8, 64>>(), make_config<KernelTraits<256, 4, 16, 4, 32>>(),
    make_config<KernelTraits<512, 4, 16, 4, 32>>(), {},
};

static size_t shared_bytes(const struct attention_problem *p) {
    return select_config(p, configs)->shared_bytes;
}

static size_t workspace_bytes(const struct attention_problem *p) {
    return partials_bytes(select_config(p, configs), p);
}

const struct attention_lesson attention_lesson = {
    .dtypes = 1u << ATTENTION_FP32,
    .max_head_dim = 512,
    .causal = 1,
    .lse = 0,
    .strided = 0,
    .grouped_heads = 0,
    .min_compute_capability = 75,
    .workspace_bytes = workspace_bytes,
    .shared_bytes = shared_bytes,
    .deterministic = 1,
};

cudaError_t attention_forward(const struct attention_problem *p, cudaStream_t stream) {
    const struct KernelConfig *config = select_config(p, configs);
    return config->launch(config, p, stream);
}
