// Lesson 25: the backward pass in fp32. A block owns a tile of keys: it recomputes the weights of one tile of queries
// after the other from lse, keeps dK and dV in registers, and adds its part of dQ to global memory by atomics.
#include "attention_backward.h"
#include "float4.cuh"
#include "kernel_config.cuh"
#include "reduce.cuh"
#include "tile.cuh"

constexpr int LANES_X = 8, LANES_Y = WARP_SIZE / LANES_X; // of a warp, in a tile of scores

// A kernel's compile-time sizes and, as its members, the kernel's shared memory. D is head_dim rounded up to one of a
// few sizes, so that register arrays have constant sizes and loops unroll.
//
// Scores: a thread holds LANE_KEYS keys by LANE_QUERIES queries, SCORE_Y and SCORE_X apart.
// dK, dV and dQ: a thread holds four adjacent columns; of dK and dV KEY_VECTORS vectors of four adjacent keys, of dQ
// LANE_ROWS queries, GRADIENT_Y vectors or rows apart.
template <int D_, int THREADS_, int KEYS_, int QUERIES_>
struct KernelTraits {
    static constexpr int D = D_, THREADS = THREADS_, KEYS = KEYS_, QUERIES = QUERIES_, PITCH = D + 4;
    static constexpr int SCORE_X = QUERIES / 4, SCORE_Y = THREADS / SCORE_X;
    static constexpr int LANE_QUERIES = 4, LANE_KEYS = KEYS / SCORE_Y;
    static constexpr int GRADIENT_X = D / 4, GRADIENT_Y = THREADS / GRADIENT_X;
    static constexpr int KEY_VECTORS = KEYS / 4 / GRADIENT_Y, LANE_ROWS = QUERIES / GRADIENT_Y;
    static_assert(SCORE_X % LANES_X == 0 && SCORE_Y % LANES_Y == 0, "a warp has 8 x 4 threads of a tile of scores");
    static_assert(KEY_VECTORS * GRADIENT_Y * 4 == KEYS && LANE_ROWS * GRADIENT_Y == QUERIES, "threads share evenly");

    // Rows begin four banks apart, so that eight lanes that read a float4 each in adjacent rows access each bank once.
    float K[KEYS][PITCH], V[KEYS][PITCH];
    float Q[QUERIES][PITCH], dO[QUERIES][PITCH];
    float P[QUERIES][KEYS + 4], dS[QUERIES][KEYS + 4];
    float lse[QUERIES], delta[QUERIES];
};

// delta = rowsum(dO * O), a warp per query. Also clears the row of dQ, to which the blocks of the next kernel add.
__global__ void delta_kernel(const struct attention_backward_problem p, float *delta, int64_t rows) {
    const int64_t row = (int64_t)blockIdx.x * (blockDim.x / WARP_SIZE) + threadIdx.x / WARP_SIZE;
    const int lane = threadIdx.x % WARP_SIZE, d = p.forward.head_dim;
    if (row >= rows)
        return;
    const float *o = (const float *)p.forward.o + row * d, *d_o = (const float *)p.d_o + row * d;
    [[maybe_unused]] float sum = 0.0f;
    // TODO 1 (about 7 lines): Add up d_o * o of the row, each lane every 32nd element, and store the sum of the lanes
    // in delta[row]. Set the row of dQ to 0. lanes_sum<WARP_SIZE>(x) adds up the x of all lanes.
    for (int column = lane; column < d; column += WARP_SIZE) {
        sum += d_o[column] * o[column];
        ((float *)p.dq)[row * d + column] = 0.0f;
    }
    sum = lanes_sum<WARP_SIZE>(sum);
    if (lane == 0)
        delta[row] = sum;
    // END TODO 1
}

// result += A B^T for the thread's rows of A, from row y on, and of B, from row x on.
template <class T>
__device__ inline void add_dot_products(float (&result)[T::LANE_KEYS][T::LANE_QUERIES], const float (*a_smem)[T::PITCH],
                                        const float (*b_smem)[T::PITCH], int y, int x) {
#pragma unroll 4
    for (int column = 0; column < T::D; column += 4) {
        float4 a[T::LANE_KEYS], b[T::LANE_QUERIES];
        for (int i = 0; i < T::LANE_KEYS; i++)
            a[i] = load_float4<true>(a_smem[y + i * T::SCORE_Y], column, T::D);
        for (int j = 0; j < T::LANE_QUERIES; j++)
            b[j] = load_float4<true>(b_smem[x + j * T::SCORE_X], column, T::D);
        for (int i = 0; i < T::LANE_KEYS; i++)
            for (int j = 0; j < T::LANE_QUERIES; j++)
                result[i][j] += dot(a[i], b[j]);
    }
}

// P and dS of a tile of queries, into shared memory. Of the tile's keys only the first `keys` exist, and query q sees
// key k of them if k + offset <= q.
template <class T>
__device__ inline void recompute(T &smem, float scale, int keys, int offset) {
    const int lane = threadIdx.x % WARP_SIZE, warp = threadIdx.x / WARP_SIZE;
    const int x = warp % (T::SCORE_X / LANES_X) * LANES_X + lane % LANES_X;
    const int y = warp / (T::SCORE_X / LANES_X) * LANES_Y + lane / LANES_X;
    float S_rmem[T::LANE_KEYS][T::LANE_QUERIES] = {}, dP_rmem[T::LANE_KEYS][T::LANE_QUERIES] = {};
    add_dot_products<T>(S_rmem, smem.K, smem.Q, y, x);
    add_dot_products<T>(dP_rmem, smem.V, smem.dO, y, x);
    for (int i = 0; i < T::LANE_KEYS; i++)
        for (int j = 0; j < T::LANE_QUERIES; j++) {
            const int key = y + i * T::SCORE_Y, query = x + j * T::SCORE_X;
            // TODO 2 (about 4 lines): Compute the weight from the score and lse; it is 0 if the key does not exist or
            // is hidden from the query. Compute dS from the weight, dP and delta, and store both.
            const bool visible = key < keys && key + offset <= query;
            const float weight = visible ? __expf(scale * S_rmem[i][j] - smem.lse[query]) : 0.0f;
            smem.P[query][key] = weight;
            smem.dS[query][key] = weight * (dP_rmem[i][j] - smem.delta[query]);
            // END TODO 2
        }
}

// result += W^T B over the queries of the tile, for the thread's keys and columns: W is P or dS, B is dO or Q.
template <class T>
__device__ inline void add_key_gradient(float (&result)[T::KEY_VECTORS][4][4], const float (*w_smem)[T::KEYS + 4],
                                        const float (*b_smem)[T::PITCH], int y, int column) {
#pragma unroll 4
    for (int query = 0; query < T::QUERIES; query++) {
        [[maybe_unused]] const float4 b = load_float4<true>(b_smem[query], column, T::D);
        // TODO 3 (about 8 lines): Add the outer product of the thread's keys of row `query` of W and b: vector i of its
        // keys begins at key 4 (y + i GRADIENT_Y). result[i][n] is a row of four columns, of key n of the vector.
        for (int i = 0; i < T::KEY_VECTORS; i++) {
            float w[4];
            copy_floats<4>(w, &w_smem[query][4 * (y + i * T::GRADIENT_Y)]);
            for (int n = 0; n < 4; n++) {
                result[i][n][0] += w[n] * b.x;
                result[i][n][1] += w[n] * b.y;
                result[i][n][2] += w[n] * b.z;
                result[i][n][3] += w[n] * b.w;
            }
        }
        // END TODO 3
    }
}

// dQ += scale dS K for the tile's queries, of which the first `rows` exist.
template <class T>
__device__ inline void add_query_gradient(float *dq /* [rows][head_dim] */, const T &smem, int rows, int head_dim,
                                          float scale, int y, int column) {
    float4 sum[T::LANE_ROWS] = {};
#pragma unroll 2
    for (int key = 0; key < T::KEYS; key += 4) {
        float4 k[4];
        for (int n = 0; n < 4; n++)
            k[n] = load_float4<true>(smem.K[key + n], column, T::D);
        for (int i = 0; i < T::LANE_ROWS; i++) {
            float ds[4];
            copy_floats<4>(ds, &smem.dS[y + i * T::GRADIENT_Y][key]);
            for (int n = 0; n < 4; n++)
                add_scaled(sum[i], ds[n], k[n]);
        }
    }
    for (int i = 0; i < T::LANE_ROWS; i++) {
        [[maybe_unused]] const int row = y + i * T::GRADIENT_Y;
        // TODO 4 (about 4 lines): Other blocks add to the same row. Add the thread's columns of it, those that exist,
        // each by one atomicAdd().
        const float part[4] = {sum[i].x, sum[i].y, sum[i].z, sum[i].w};
        for (int n = 0; n < 4; n++)
            if (row < rows && column + n < head_dim)
                atomicAdd(&dq[(int64_t)row * head_dim + column + n], scale * part[n]);
        // END TODO 4
    }
}

template <class T>
__device__ inline void store_key_gradient(float *to /* [rows][head_dim] */, const float (&from)[T::KEY_VECTORS][4][4],
                                          int rows, int head_dim, bool vectorized, float factor, int y, int column) {
    for (int i = 0; i < T::KEY_VECTORS; i++)
        for (int n = 0; n < 4; n++) {
            const int row = 4 * (y + i * T::GRADIENT_Y) + n;
            if (row < rows)
                store_floats<4>(to + (int64_t)row * head_dim, column, head_dim, from[i][n], factor, vectorized);
        }
}

// Grid: one block per tile of KEYS keys of each key head of each batch.
// All threads of the block load the tiles, and wait for one another at __syncthreads() before they read a tile and
// before they overwrite it.
template <class T>
__global__ void __launch_bounds__(T::THREADS)
    backward_kernel(const __grid_constant__ struct attention_backward_problem p, const float *delta, bool vectorized) {
    extern __shared__ float4 dynamic_smem[];
    T &smem = *reinterpret_cast<T *>(dynamic_smem);
    const struct attention_problem &f = p.forward;
    const int nq = f.nq, nk = f.nk, head_dim = f.head_dim, group = f.heads / f.kv_heads;
    const int key_blocks = (nk + T::KEYS - 1) / T::KEYS;
    const int64_t kv_head = blockIdx.x / key_blocks; // over all batches
    const int key0 = blockIdx.x % key_blocks * T::KEYS, column = threadIdx.x % T::GRADIENT_X * 4;
    const int y = threadIdx.x / T::GRADIENT_X;
    const int causal_offset = f.causal ? nk - nq : nk; // query i sees keys 0 .. i + causal_offset
    const int first_query = max(0, key0 - causal_offset) / T::QUERIES * T::QUERIES;
    const int64_t k_offset = kv_head * nk * head_dim;

    load_rows<T::D, T::KEYS, T::THREADS>(smem.K, (const float *)f.k + k_offset, key0, nk, head_dim, vectorized);
    load_rows<T::D, T::KEYS, T::THREADS>(smem.V, (const float *)f.v + k_offset, key0, nk, head_dim, vectorized);
    float dK_rmem[T::KEY_VECTORS][4][4] = {}, dV_rmem[T::KEY_VECTORS][4][4] = {};
    for (int64_t head = kv_head * group; head < (kv_head + 1) * group; head++) {
        const int64_t q_offset = head * nq * head_dim;
        for (int query0 = first_query; query0 < nq; query0 += T::QUERIES) {
            const int rows = min(nq - query0, T::QUERIES);
            __syncthreads(); // every thread has finished reading the previous tile
            load_rows<T::D, T::QUERIES, T::THREADS>(smem.Q, (const float *)f.q + q_offset, query0, nq, head_dim,
                                                    vectorized);
            load_rows<T::D, T::QUERIES, T::THREADS>(smem.dO, (const float *)p.d_o + q_offset, query0, nq, head_dim,
                                                    vectorized);
            for (int i = threadIdx.x; i < T::QUERIES; i += T::THREADS) {
                smem.lse[i] = i < rows ? f.lse[head * nq + query0 + i] : 0.0f;
                smem.delta[i] = i < rows ? delta[head * nq + query0 + i] : 0.0f;
            }
            __syncthreads();
            recompute<T>(smem, f.softmax_scale, nk - key0, key0 - query0 - causal_offset);
            __syncthreads();
            add_key_gradient<T>(dV_rmem, smem.P, smem.dO, y, column);
            add_key_gradient<T>(dK_rmem, smem.dS, smem.Q, y, column);
            add_query_gradient<T>((float *)p.dq + q_offset + (int64_t)query0 * head_dim, smem, rows, head_dim,
                                  f.softmax_scale, y, column);
        }
    }
    const int64_t to = k_offset + (int64_t)key0 * head_dim;
    store_key_gradient<T>((float *)p.dk + to, dK_rmem, nk - key0, head_dim, vectorized, f.softmax_scale, y, column);
    store_key_gradient<T>((float *)p.dv + to, dV_rmem, nk - key0, head_dim, vectorized, 1.0f, y, column);
}

struct BackwardConfig {
    int head_dim, keys, threads;
    size_t shared_bytes;
    void (*kernel)(const struct attention_backward_problem p, const float *delta, bool vectorized);
};

template <class... T>
static const struct BackwardConfig *config_of(const struct attention_backward_problem *p, ConfigList<T...>) {
    static const struct BackwardConfig configs[] = {{T::D, T::KEYS, T::THREADS, sizeof(T), backward_kernel<T>}...};
    const struct BackwardConfig *config = configs;
    while (config->head_dim < p->forward.head_dim)
        config++;
    return config;
}

using Configs = ConfigList<KernelTraits<32, 128, 64, 64>, KernelTraits<64, 128, 64, 64>, KernelTraits<128, 256, 64, 64>,
                           KernelTraits<256, 256, 32, 32>>;

static size_t shared_bytes(const struct attention_backward_problem *p) {
    return config_of(p, Configs())->shared_bytes;
}

// delta of each query
static size_t workspace_bytes(const struct attention_backward_problem *p) {
    return sizeof(float) * p->forward.batch * p->forward.heads * p->forward.nq;
}

const struct attention_backward_lesson attention_backward_lesson = {
    .dtypes = 1u << ATTENTION_FP32,
    .max_head_dim = 256,
    .alignment = 0,
    .causal = 1,
    .strided = 0,
    .grouped_heads = 1,
    .min_compute_capability = 75,
    .workspace_bytes = workspace_bytes,
    .shared_bytes = shared_bytes,
    .deterministic = 0,
};

cudaError_t attention_backward(const struct attention_backward_problem *p, cudaStream_t stream) {
    const struct attention_problem &f = p->forward;
    const struct BackwardConfig *config = config_of(p, Configs());
    const int64_t rows = (int64_t)f.batch * f.heads * f.nq;
    const int64_t blocks = (int64_t)f.batch * f.kv_heads * ((f.nk + config->keys - 1) / config->keys);
    float *delta = (float *)p->workspace;
    const bool vectorized = rows_are_float4(&f) && rows_are_float4(p->d_o, f.head_dim) &&
                            rows_are_float4(p->dk, f.head_dim) && rows_are_float4(p->dv, f.head_dim);
    cudaError_t error = blocks > INT32_MAX || rows > INT32_MAX ? cudaErrorInvalidConfiguration : cudaSuccess;
    if (error == cudaSuccess)
        error = cudaFuncSetAttribute((const void *)config->kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                     (int)config->shared_bytes);
    if (error != cudaSuccess)
        return error;
    delta_kernel<<<(unsigned)((rows + 7) / 8), 8 * WARP_SIZE, 0, stream>>>(*p, delta, rows);
    config->kernel<<<(unsigned)blocks, config->threads, config->shared_bytes, stream>>>(*p, delta, vectorized);
    return cudaGetLastError();
}
