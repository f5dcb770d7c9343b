// A kernel to repair. It is lesson 03's, with one improvement by its author: "maximum and sum are never needed at the
// same time, so one array in shared memory does for both." What is wrong, check tells; where and why, you find out.
#include "attention.h"
#include "float4.cuh"
#include "reduce.cuh"

constexpr int THREADS = 256;
constexpr int WARPS = THREADS / WARP_SIZE;
constexpr int QUERIES = 4;
constexpr int LANES_PER_KEY = 8;
constexpr int KEYS_AT_ONCE = THREADS / LANES_PER_KEY;
constexpr int MAX_COLUMNS = 128; // float4s in a row of the longest head
static_assert(MAX_COLUMNS <= THREADS, "in the weighted sum every float4 of a row has a thread of its own");

// The sum over the eight lanes that share a key, in each of them.
__device__ float key_sum(float value) {
    for (int distance = LANES_PER_KEY / 2; distance > 0; distance /= 2)
        value += __shfl_xor_sync(ALL_LANES, value, distance);
    return value;
}

// Grid: blocks of four queries, ceil(nq / 4) for each head of each batch.
template <bool WIDE>
__global__ void fused_attention(const float *Q, // [batch][heads][nq][head_dim]
                                const float *K, // [batch][heads][nk][head_dim]
                                const float *V, // [batch][heads][nk][head_dim]
                                float *O,       // [batch][heads][nq][head_dim]
                                int nq, int nk, int head_dim, float softmax_scale) {
    const int columns = (head_dim + 3) / 4;                                // float4s in a row
    extern __shared__ float4 Q_smem[];                                     // [QUERIES][columns]
    float *S_smem = reinterpret_cast<float *>(Q_smem + QUERIES * columns); // [QUERIES][nk]: scores, then weights
    __shared__ float4 O_smem[THREADS];
    __shared__ float partial_smem[QUERIES][WARPS];

    const int query_blocks = (nq + QUERIES - 1) / QUERIES;
    const int64_t head = blockIdx.x / query_blocks;
    const int query0 = blockIdx.x % query_blocks * QUERIES;
    const float *q = Q + head * nq * head_dim; // [nq][head_dim]
    const float *k = K + head * nk * head_dim; // [nk][head_dim]
    float *o = O + head * nq * head_dim;       // [nq][head_dim]

    // Past the last query the block repeats it and stores nothing.
    for (int i = threadIdx.x; i < QUERIES * columns; i += THREADS) {
        const int query = min(query0 + i / columns, nq - 1), column = i % columns;
        Q_smem[i] = load_float4<WIDE>(q + (int64_t)query * head_dim, 4 * column, head_dim);
    }
    __syncthreads();

    const int lane = threadIdx.x % LANES_PER_KEY;
    for (int key0 = 0; key0 < nk; key0 += KEYS_AT_ONCE) {
        const int key = key0 + threadIdx.x / LANES_PER_KEY;
        const float *k_row = k + (int64_t)min(key, nk - 1) * head_dim; // [head_dim]
        float partial[QUERIES] = {};
        for (int column = lane; column < columns; column += LANES_PER_KEY) {
            const float4 k4 = load_float4<WIDE>(k_row, 4 * column, head_dim);
            for (int i = 0; i < QUERIES; i++)
                partial[i] += dot(Q_smem[i * columns + column], k4);
        }
        for (int i = 0; i < QUERIES; i++) {
            const float score = softmax_scale * key_sum(partial[i]);
            if (lane == 0 && key < nk)
                S_smem[i * nk + key] = score;
        }
    }
    __syncthreads();

    float inverse_sum[QUERIES];
    for (int i = 0; i < QUERIES; i++) {
        float max = -INFINITY, sum = 0.0f;
        for (int key = threadIdx.x; key < nk; key += THREADS)
            max = fmaxf(max, S_smem[i * nk + key]);
        max = block_max(max, partial_smem[i]);
        for (int key = threadIdx.x; key < nk; key += THREADS) {
            S_smem[i * nk + key] = expf(S_smem[i * nk + key] - max);
            sum += S_smem[i * nk + key];
        }
        inverse_sum[i] = 1.0f / block_sum(sum, partial_smem[i]);
    }

    const int column = threadIdx.x % columns;
    const int keys_at_once = THREADS / columns;
    const int first_key = threadIdx.x / columns;
    float4 acc[QUERIES] = {};
    const float *v = V + head * nk * head_dim; // [nk][head_dim]
    if (first_key < keys_at_once)
        for (int key = first_key; key < nk; key += keys_at_once) {
            const float4 v4 = load_float4<WIDE>(v + (int64_t)key * head_dim, 4 * column, head_dim);
            for (int i = 0; i < QUERIES; i++)
                add_scaled(acc[i], S_smem[i * nk + key], v4);
        }
    for (int i = 0; i < QUERIES; i++) {
        O_smem[threadIdx.x] = acc[i];
        __syncthreads();
        if (first_key == 0 && query0 + i < nq) {
            float4 total = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
            for (int share = 0; share < keys_at_once; share++)
                add_scaled(total, inverse_sum[i], O_smem[share * columns + column]);
            store_float4<WIDE>(o + (int64_t)(query0 + i) * head_dim, 4 * column, head_dim, total);
        }
        __syncthreads(); // the next query overwrites O_smem
    }
}

static size_t dynamic_bytes(const struct attention_problem *p) {
    return QUERIES * ((p->head_dim + 3) / 4 * sizeof(float4) + p->nk * sizeof(float));
}

static size_t shared_bytes(const struct attention_problem *p) {
    return dynamic_bytes(p) + THREADS * sizeof(float4) + QUERIES * WARPS * sizeof(float);
}

const struct attention_lesson attention_lesson = {
    .dtypes = 1u << ATTENTION_FP32,
    .max_head_dim = 4 * MAX_COLUMNS,
    .causal = 0,
    .lse = 0,
    .strided = 0,
    .grouped_heads = 0,
    .min_compute_capability = 75,
    .workspace_bytes = NULL,
    .shared_bytes = shared_bytes,
};

cudaError_t attention_forward(const struct attention_problem *p, cudaStream_t stream) {
    const int64_t blocks = (int64_t)p->batch * p->heads * ((p->nq + QUERIES - 1) / QUERIES);
    if (blocks > INT32_MAX)
        return cudaErrorInvalidConfiguration;
    const bool wide = rows_are_float4(p->q, p->head_dim) && rows_are_float4(p->k, p->head_dim) &&
                      rows_are_float4(p->v, p->head_dim) && rows_are_float4(p->o, p->head_dim);
    const auto kernel = wide ? fused_attention<true> : fused_attention<false>;
    // A block gets more than 48 KB of shared memory only after the kernel has been allowed to.
    const cudaError_t error =
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)dynamic_bytes(p));
    if (error != cudaSuccess)
        return error;
    kernel<<<(unsigned)blocks, THREADS, dynamic_bytes(p), stream>>>((const float *)p->q, (const float *)p->k,
                                                                    (const float *)p->v, (float *)p->o, p->nq, p->nk,
                                                                    p->head_dim, p->softmax_scale);
    return cudaGetLastError();
}
