// Lesson 03: one fused kernel for scores, softmax and weighted sum, which keeps the scores in shared memory.
//
// A block processes four queries, which share its loads of K and V. The cost: 16 nk bytes of shared memory for scores.
#include "attention.h"
#include "block_rows.cuh"
#include "float4.cuh"
#include "reduce.cuh"

constexpr int THREADS = 256;
constexpr int WARPS = THREADS / WARP_SIZE;
constexpr int QUERIES = 4;
constexpr int LANES_PER_KEY = 8;
constexpr int KEYS_PER_ITERATION = THREADS / LANES_PER_KEY;
static_assert(LANES_PER_KEY * sizeof(float4) == 128, "eight lanes read one 128-byte line of a key with one load");

// Returns the sum of the values of all threads that compute a score, in each of them.
__device__ float reduce_score(float value) {
    for (int distance = LANES_PER_KEY / 2; distance > 0; distance /= 2)
        value += __shfl_xor_sync(ALL_LANES, value, distance);
    return value;
}

// Computes this thread's partial dot product of two rows. Those of all threads of a score add up to it.
template <bool VECTORIZED>
__device__ void partial_dot(float partial[QUERIES], const float4 *Q_smem /* [QUERIES][columns] */, const float *k_row,
                            int columns, int head_dim) {
    // TODO 1 (about 5 lines): As in lesson 02, but load each float4 of the key once and use it for all QUERIES.
    // END TODO 1
}

// Replaces the scores of a query by weights, not yet divided by their sum, which it returns. Subtracting the maximum
// does not change the quotient and keeps expf from overflowing.
__device__ float softmax(float *weight /* [nk] */, int nk, float *max_smem, float *sum_smem) {
    float max = -INFINITY, sum = 0.0f;
    // TODO 2 (about 2 lines): Compute the maximum over this thread's keys.
    // END TODO 2
    max = block_max(max, max_smem);
    // TODO 3 (about 4 lines): Replace each score by exp(score - max), in place, and add up this thread's partial sum.
    // END TODO 3
    return block_sum(sum, sum_smem); // its barrier also makes the weights visible to the whole block
}

// Sums up the values of a column (scalar or float4) times their weights: the output before the division.
template <bool VECTORIZED>
__device__ void weighted_sum(float4 sum[QUERIES], const float *weight /* [QUERIES][nk] */, const float *v, int column,
                             int first_key, int keys_per_iteration, int nk, int head_dim) {
    // TODO 4 (about 5 lines): As in lesson 02, but load each float4 of v once and use it for all QUERIES.
    // END TODO 4
}

// Grid: one block per four queries, ceil(nq / QUERIES) per head of each batch.
// A block computes the scores of 32 keys per iteration, a warp those of four keys, and eight lanes those of one key.
// In the softmax a thread owns every THREADS-th key, and in the output a float4 of every keys_per_iteration-th key.
// The threads wait for one another at each __syncthreads(), before they read memory that other threads wrote.
template <bool VECTORIZED>
__global__ void attention_kernel(const struct attention_problem p) {
    extern __shared__ float4 Q_smem[]; // [QUERIES][columns]
    __shared__ float4 O_smem[THREADS];
    __shared__ float max_smem[QUERIES][WARPS], sum_smem[QUERIES][WARPS];
    const int nq = p.nq, nk = p.nk, head_dim = p.head_dim;
    const int columns = (head_dim + 3) / 4;
    float *weight = (float *)(Q_smem + QUERIES * columns); // [QUERIES][nk]: scores, then weights
    const int query_blocks = (nq + QUERIES - 1) / QUERIES;
    const int64_t head = blockIdx.x / query_blocks, query0 = blockIdx.x % query_blocks * QUERIES;
    const float *q = (const float *)p.q + head * nq * head_dim; // [nq][head_dim]
    const float *k = (const float *)p.k + head * nk * head_dim; // [nk][head_dim]
    const float *v = (const float *)p.v + head * nk * head_dim; // [nk][head_dim]
    float *o = (float *)p.o + head * nq * head_dim;             // [nq][head_dim]

    load_queries<VECTORIZED, QUERIES, THREADS>(Q_smem, q, query0, nq, head_dim);
    __syncthreads(); // Q_smem is complete
    // One score per key. Adjacent threads load adjacent elements of the key, so the loads are coalesced.
    for (int key0 = 0; key0 < nk; key0 += KEYS_PER_ITERATION) {
        const int key = key0 + threadIdx.x / LANES_PER_KEY;
        // Past the last key the lanes load the last key again, since all lanes of a warp must execute the shuffles.
        const float *k_row = k + (int64_t)min(key, nk - 1) * head_dim; // [head_dim]
        float partial[QUERIES] = {};
        partial_dot<VECTORIZED>(partial, Q_smem, k_row, columns, head_dim);
        for (int i = 0; i < QUERIES; i++) {
            const float score = p.softmax_scale * reduce_score(partial[i]);
            if (threadIdx.x % LANES_PER_KEY == 0 && key < nk)
                weight[i * nk + key] = score;
        }
    }
    __syncthreads(); // one thread wrote each score, all threads read them
    float sum[QUERIES];
    for (int i = 0; i < QUERIES; i++)
        sum[i] = softmax(weight + i * nk, nk, max_smem[i], sum_smem[i]);

    // A thread owns a float4 of the output row and every keys_per_iteration-th key. Then the partial sums are reduced.
    const int column = threadIdx.x % columns, keys_per_iteration = THREADS / columns, first_key = threadIdx.x / columns;
    float4 acc[QUERIES] = {};
    if (first_key < keys_per_iteration)
        weighted_sum<VECTORIZED>(acc, weight, v, column, first_key, keys_per_iteration, nk, head_dim);
    reduce_and_store_rows<VECTORIZED, THREADS>(o + (int64_t)query0 * head_dim, nq - query0, acc, sum, O_smem, head_dim);
}

static size_t dynamic_bytes(const struct attention_problem *p) {
    return QUERIES * ((p->head_dim + 3) / 4 * sizeof(float4) + p->nk * sizeof(float));
}

template <bool VECTORIZED>
static cudaError_t launch(const struct attention_problem *p, cudaStream_t stream) {
    const int64_t blocks = (int64_t)p->batch * p->heads * ((p->nq + QUERIES - 1) / QUERIES);
    if (blocks > INT32_MAX)
        return cudaErrorInvalidConfiguration;
    // A kernel must opt in to more than 48 KB of dynamic shared memory per block.
    const cudaError_t error = cudaFuncSetAttribute(attention_kernel<VECTORIZED>,
                                                   cudaFuncAttributeMaxDynamicSharedMemorySize, (int)dynamic_bytes(p));
    if (error != cudaSuccess)
        return error;
    attention_kernel<VECTORIZED><<<(unsigned)blocks, THREADS, dynamic_bytes(p), stream>>>(*p);
    return cudaGetLastError();
}

static size_t shared_bytes(const struct attention_problem *p) {
    return dynamic_bytes(p) + THREADS * sizeof(float4) + 2 * QUERIES * WARPS * sizeof(float);
}

const struct attention_lesson attention_lesson = {
    .dtypes = 1u << ATTENTION_FP32,
    .max_head_dim = 512,
    .causal = 0,
    .lse = 0,
    .strided = 0,
    .grouped_heads = 0,
    .min_compute_capability = 75,
    .workspace_bytes = NULL,
    .shared_bytes = shared_bytes,
    .deterministic = 1,
};

cudaError_t attention_forward(const struct attention_problem *p, cudaStream_t stream) {
    return rows_are_float4(p) ? launch<true>(p, stream) : launch<false>(p, stream);
}
