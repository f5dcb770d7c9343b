// Lesson 01: the simplest attention kernel. One block per query, one key at a time.
//
// The scores of a query go to device memory (the N x N matrix), are replaced by weights there, and are read again.
#include "attention.h"
#include "reduce.cuh"

constexpr int THREADS = 128; // a power of two, so that each step of the block reduction halves the number of threads
constexpr int WARPS = THREADS / WARP_SIZE;

// Returns the sum of the values of all threads that compute a score, in each of them.
__device__ float reduce_score(float value) {
    __shared__ float partial_smem[THREADS];
    partial_smem[threadIdx.x] = value;
    __syncthreads();
    // TODO 1 (about 5 lines): Reduce partial_smem in steps: add its upper half to its lower half, then the upper
    // quarter to the lower quarter, until the sum is in partial_smem[0]. Separate the steps by a barrier that all
    // threads of the block reach.
    // END TODO 1
    value = partial_smem[0];
    __syncthreads(); // every thread must have read the sum before the next call overwrites partial_smem
    return value;
}

// Computes this thread's partial dot product of two rows. Those of all threads of a score add up to it.
__device__ void partial_dot(float &partial, const float *q /* [head_dim] */, const float *k_row /* [head_dim] */,
                            int head_dim) {
    // TODO 2 (about 2 lines): Multiply and add the elements threadIdx.x, threadIdx.x + THREADS, and so on. A thread
    // past head_dim has none of them.
    // END TODO 2
}

// Replaces the scores of a query by weights, not yet divided by their sum, which it returns. Subtracting the maximum
// does not change the quotient and keeps expf from overflowing.
__device__ float softmax(float *weight /* [nk] */, int nk, float *max_smem, float *sum_smem) {
    float max = -INFINITY, sum = 0.0f;
    for (int key = threadIdx.x; key < nk; key += THREADS)
        max = fmaxf(max, weight[key]);
    max = block_max(max, max_smem);
    // TODO 3 (about 4 lines): Replace each score by exp(score - max), and add up this thread's partial sum.
    // END TODO 3
    return block_sum(sum, sum_smem); // its barrier also makes the weights visible to the whole block
}

// Sums up the values of a column (scalar or float4) times their weights: the output before the division.
__device__ float weighted_sum(const float *weight /* [nk] */, const float *v /* [nk][head_dim] */, int column, int nk,
                              int head_dim) {
    float sum = 0.0f;
    // TODO 4 (about 2 lines): Sum up weight times value over the keys, one at a time.
    // END TODO 4
    return sum;
}

// Grid: one block per query of each head of each batch.
// All threads of a block compute each score together: a thread owns every THREADS-th element of the key row.
// In the softmax a thread owns every THREADS-th key, and in the output every THREADS-th column.
// The threads wait for one another at each __syncthreads(), before they read memory that other threads wrote.
__global__ void attention_kernel(const struct attention_problem p) {
    __shared__ float max_smem[WARPS], sum_smem[WARPS];
    const int nq = p.nq, nk = p.nk, head_dim = p.head_dim;
    const int64_t row = blockIdx.x, head = row / nq;            // indices over all batches and heads
    const float *q = (const float *)p.q + row * head_dim;       // [head_dim]
    const float *k = (const float *)p.k + head * nk * head_dim; // [nk][head_dim]
    const float *v = (const float *)p.v + head * nk * head_dim; // [nk][head_dim]
    float *o = (float *)p.o + row * head_dim;                   // [head_dim]
    float *weight = (float *)p.workspace + row * nk;            // [nk]: scores, then weights

    // One score per key. Adjacent threads load adjacent elements of the key, so the loads are coalesced.
    for (int key = 0; key < nk; key++) {
        const float *k_row = k + (int64_t)key * head_dim; // [head_dim]
        float partial = 0.0f;
        partial_dot(partial, q, k_row, head_dim);
        const float score = p.softmax_scale * reduce_score(partial);
        if (threadIdx.x == 0)
            weight[key] = score;
    }
    __syncthreads(); // one thread wrote each score, all threads read them
    const float sum = softmax(weight, nk, max_smem, sum_smem);

    // A thread computes the output elements threadIdx.x, threadIdx.x + THREADS, and so on.
    for (int column = threadIdx.x; column < head_dim; column += THREADS)
        o[column] = weighted_sum(weight, v, column, nk, head_dim) / sum;
}

static cudaError_t launch(const struct attention_problem *p, cudaStream_t stream) {
    const int64_t blocks = (int64_t)p->batch * p->heads * p->nq;
    if (blocks > INT32_MAX)
        return cudaErrorInvalidConfiguration;
    attention_kernel<<<(unsigned)blocks, THREADS, 0, stream>>>(*p);
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
    return launch(p, stream);
}
