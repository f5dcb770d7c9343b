// Lesson 01: the plainest attention kernel. One block a query, one key at a time.
//
// The scores of a query go to device memory (the N x N matrix), become weights there, and are read again for the sum.
#include "attention.h"
#include "reduce.cuh"

constexpr int THREADS = 128; // a power of two, so that a sum over the block can be halved down to one thread
constexpr int WARPS = THREADS / WARP_SIZE;

// The sum of all threads' values, in every thread.
__device__ float score_sum(float value) {
    __shared__ float partial_smem[THREADS];
    partial_smem[threadIdx.x] = value;
    __syncthreads();
    // TODO 1 (about 5 lines): add the upper half of partial_smem to the lower half, then the upper quarter to the lower
    // quarter, until the sum stands in partial_smem[0]. Half of the threads work in the first step, a quarter in the
    // second. Which barrier does each step need, and may it stand inside the if?
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (threadIdx.x < half)
            partial_smem[threadIdx.x] += partial_smem[threadIdx.x + half];
        __syncthreads();
    }
    // END TODO 1
    value = partial_smem[0];
    __syncthreads(); // the next call overwrites partial_smem: not before every thread has read the sum
    return value;
}

// This thread's share of the dot product of two rows; the shares of all threads add up to it.
__device__ float dot_share(const float *q /* [head_dim] */, const float *k_row /* [head_dim] */, int head_dim) {
    float share = 0.0f;
    // TODO 2 (about 2 lines): multiply and add the elements threadIdx.x, threadIdx.x + THREADS, and so on. What is the
    // share of a thread beyond head_dim?
    for (int column = threadIdx.x; column < head_dim; column += THREADS)
        share += q[column] * k_row[column];
    // END TODO 2
    return share;
}

// Turns the scores of a query into weights, not yet divided by their sum, which it returns. Subtracting the maximum
// changes nothing in the quotient and keeps expf from overflowing.
__device__ float softmax(float *weight /* [nk] */, int nk, float *max_smem, float *sum_smem) {
    float max = -INFINITY, sum = 0.0f;
    for (int key = threadIdx.x; key < nk; key += THREADS)
        max = fmaxf(max, weight[key]);
    max = block_max(max, max_smem);
    // TODO 3 (about 4 lines): replace each score by its exponential and add up this thread's share of the sum.
    for (int key = threadIdx.x; key < nk; key += THREADS) {
        weight[key] = expf(weight[key] - max);
        sum += weight[key];
    }
    // END TODO 3
    return block_sum(sum, sum_smem); // its barrier also makes the weights visible to the whole block
}

// One element of the output, before the division: the sum of weight times value down a column of V.
__device__ float weighted_sum(const float *weight /* [nk] */, const float *v /* [nk][head_dim] */, int column, int nk,
                              int head_dim) {
    float sum = 0.0f;
    // TODO 4 (about 2 lines): walk over the keys, one at a time.
    for (int key = 0; key < nk; key++)
        sum += weight[key] * v[(int64_t)key * head_dim + column];
    // END TODO 4
    return sum;
}

// Grid: one block for each query of each head of each batch.
__global__ void attention_kernel(const struct attention_problem p) {
    __shared__ float max_smem[WARPS], sum_smem[WARPS];
    const int nq = p.nq, nk = p.nk, head_dim = p.head_dim;
    const int64_t row = blockIdx.x, head = row / nq;            // of all batches and heads, counted through
    const float *q = (const float *)p.q + row * head_dim;       // [head_dim]
    const float *k = (const float *)p.k + head * nk * head_dim; // [nk][head_dim]
    const float *v = (const float *)p.v + head * nk * head_dim; // [nk][head_dim]
    float *o = (float *)p.o + row * head_dim;                   // [head_dim]
    float *weight = (float *)p.workspace + row * nk;            // [nk]: scores, then weights

    // A score for each key. Neighbouring threads read neighbouring elements of the key, so the loads are coalesced.
    for (int key = 0; key < nk; key++) {
        const float *k_row = k + (int64_t)key * head_dim; // [head_dim]
        const float score = p.softmax_scale * score_sum(dot_share(q, k_row, head_dim));
        if (threadIdx.x == 0)
            weight[key] = score;
    }
    __syncthreads(); // one thread wrote a score, all threads read it
    const float sum = softmax(weight, nk, max_smem, sum_smem);

    // Each thread owns some elements of the output row.
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
    .repeats = 1,
};

cudaError_t attention_forward(const struct attention_problem *p, cudaStream_t stream) {
    return launch(p, stream);
}
