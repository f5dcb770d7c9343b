// Lesson 02: the same algorithm with vectorized 16-byte loads, 32 keys in parallel, and the query in shared memory.
//
// Eight lanes compute a score, load 16 bytes of the key each, and reduce their partial dot products by three shuffles.
#include "attention.h"
#include "block_row.cuh"
#include "float4.cuh"
#include "reduce.cuh"

constexpr int THREADS = 256;
constexpr int WARPS = THREADS / WARP_SIZE;
constexpr int LANES_PER_KEY = 8;
constexpr int KEYS_PER_ITERATION = THREADS / LANES_PER_KEY;
static_assert(LANES_PER_KEY * sizeof(float4) == 128, "eight lanes read one 128-byte line of a key with one load");

// Returns the sum of the values of all threads that compute a score, in each of them.
__device__ float reduce_score(float value) {
    // TODO 1 (about 2 lines): Halve the distance from LANES_PER_KEY / 2 to 1. __shfl_xor_sync(ALL_LANES, value,
    // distance) returns the value of the lane at that distance.
    // END TODO 1
    return value;
}

// Computes this thread's partial dot product of two rows. Those of all threads of a score add up to it.
template <bool VECTORIZED>
__device__ void partial_dot(float &partial, const float4 *Q_smem /* [columns] */, const float *k_row /* [head_dim] */,
                            int columns, int head_dim) {
    // TODO 2 (about 2 lines): Multiply the float4s lane, lane + LANES_PER_KEY, and so on of the key by the same float4s
    // of Q_smem, and add up. load_float4 takes a column in floats.
    // END TODO 2
}

// Replaces the scores of a query by weights, not yet divided by their sum, which it returns. Subtracting the maximum
// does not change the quotient and keeps expf from overflowing.
__device__ float softmax(float *weight /* [nk] */, int nk, float *max_smem, float *sum_smem) {
    float max = -INFINITY, sum = 0.0f;
    for (int key = threadIdx.x; key < nk; key += THREADS)
        max = fmaxf(max, weight[key]);
    max = block_max(max, max_smem);
    for (int key = threadIdx.x; key < nk; key += THREADS) {
        weight[key] = expf(weight[key] - max);
        sum += weight[key];
    }
    return block_sum(sum, sum_smem); // its barrier also makes the weights visible to the whole block
}

// Sums up the values of a column (scalar or float4) times their weights: the output before the division.
template <bool VECTORIZED>
__device__ void weighted_sum(float4 &sum, const float *weight /* [nk] */, const float *v /* [nk][head_dim] */,
                             int column, int first_key, int keys_per_iteration, int nk, int head_dim) {
    // TODO 3 (about 4 lines): Loop over these keys. add_scaled adds a weight times a float4 of v to sum.
    // END TODO 3
}

// Grid: one block per query of each head of each batch.
// A block computes the scores of 32 keys per iteration, a warp those of four keys, and eight lanes those of one key.
// In the softmax a thread owns every THREADS-th key, and in the output a float4 of every keys_per_iteration-th key.
// The threads wait for one another at each __syncthreads(), before they read memory that other threads wrote.
template <bool VECTORIZED>
__global__ void attention_kernel(const struct attention_problem p) {
    __shared__ float4 Q_smem[MAX_ROW_FLOAT4S];
    __shared__ float4 O_smem[THREADS];
    __shared__ float max_smem[WARPS], sum_smem[WARPS];
    const int nq = p.nq, nk = p.nk, head_dim = p.head_dim;
    const int columns = (head_dim + 3) / 4;
    const int64_t row = blockIdx.x, head = row / nq;            // indices over all batches and heads
    const float *q = (const float *)p.q + row * head_dim;       // [head_dim]
    const float *k = (const float *)p.k + head * nk * head_dim; // [nk][head_dim]
    const float *v = (const float *)p.v + head * nk * head_dim; // [nk][head_dim]
    float *o = (float *)p.o + row * head_dim;                   // [head_dim]
    float *weight = (float *)p.workspace + row * nk;            // [nk]: scores, then weights

    if (threadIdx.x < columns)
        Q_smem[threadIdx.x] = load_float4<VECTORIZED>(q, 4 * threadIdx.x, head_dim);
    __syncthreads(); // Q_smem is complete
    // One score per key. Adjacent threads load adjacent elements of the key, so the loads are coalesced.
    for (int key0 = 0; key0 < nk; key0 += KEYS_PER_ITERATION) {
        const int key = key0 + threadIdx.x / LANES_PER_KEY;
        // Past the last key the lanes load the last key again, since all lanes of a warp must execute the shuffles.
        const float *k_row = k + (int64_t)min(key, nk - 1) * head_dim; // [head_dim]
        float partial = 0.0f;
        partial_dot<VECTORIZED>(partial, Q_smem, k_row, columns, head_dim);
        const float score = p.softmax_scale * reduce_score(partial);
        if (threadIdx.x % LANES_PER_KEY == 0 && key < nk)
            weight[key] = score;
    }
    __syncthreads(); // one thread wrote each score, all threads read them
    const float sum = softmax(weight, nk, max_smem, sum_smem);

    // A thread owns a float4 of the output row and every keys_per_iteration-th key. Then the partial sums are reduced.
    const int column = threadIdx.x % columns, keys_per_iteration = THREADS / columns, first_key = threadIdx.x / columns;
    float4 acc = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    if (first_key < keys_per_iteration)
        weighted_sum<VECTORIZED>(acc, weight, v, column, first_key, keys_per_iteration, nk, head_dim);
    reduce_and_store_row<VECTORIZED, THREADS>(o, acc, sum, O_smem, head_dim);
}

template <bool VECTORIZED>
static cudaError_t launch(const struct attention_problem *p, cudaStream_t stream) {
    const int64_t blocks = (int64_t)p->batch * p->heads * p->nq;
    if (blocks > INT32_MAX)
        return cudaErrorInvalidConfiguration;
    attention_kernel<VECTORIZED><<<(unsigned)blocks, THREADS, 0, stream>>>(*p);
    return cudaGetLastError();
}

static size_t workspace_bytes(const struct attention_problem *p) {
    return (size_t)p->batch * p->heads * p->nq * p->nk * sizeof(float);
}

const struct attention_lesson attention_lesson = {
    .dtypes = 1u << ATTENTION_FP32,
    .max_head_dim = 512,
    .causal = 0,
    .lse = 0,
    .strided = 0,
    .grouped_heads = 0,
    .min_compute_capability = 75,
    .workspace_bytes = workspace_bytes,
    .shared_bytes = NULL,
    .deterministic = 1,
};

cudaError_t attention_forward(const struct attention_problem *p, cudaStream_t stream) {
    return rows_are_float4(p) ? launch<true>(p, stream) : launch<false>(p, stream);
}
