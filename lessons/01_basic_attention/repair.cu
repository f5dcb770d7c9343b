// A kernel to repair. It is lesson 01's, with one improvement by its author: "with a head_dim of 64 half of the block
// has nothing to do, so I let those threads go home early." What is wrong, check tells; where and why, you find out.
#include "attention.h"

// A power of two, so that the sum over the block can be halved down to one thread.
constexpr int THREADS = 128;

// The sum of all threads' values, in every thread.
__device__ float block_sum(float value) {
    __shared__ float partial_smem[THREADS];
    partial_smem[threadIdx.x] = value;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (threadIdx.x < half)
            partial_smem[threadIdx.x] += partial_smem[threadIdx.x + half];
        __syncthreads();
    }
    const float sum = partial_smem[0];
    __syncthreads(); // the next call overwrites partial_smem: not before every thread has read the sum
    return sum;
}

__device__ float block_max(float value) {
    __shared__ float partial_smem[THREADS];
    partial_smem[threadIdx.x] = value;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (threadIdx.x < half)
            partial_smem[threadIdx.x] = fmaxf(partial_smem[threadIdx.x], partial_smem[threadIdx.x + half]);
        __syncthreads();
    }
    const float max = partial_smem[0];
    __syncthreads();
    return max;
}

// This thread's share of the dot product of two rows; the shares of all threads add up to it.
__device__ float dot_share(const float *q_row /* [head_dim] */, const float *k_row /* [head_dim] */, int head_dim) {
    float share = 0.0f;
    for (int column = threadIdx.x; column < head_dim; column += THREADS)
        share += q_row[column] * k_row[column];
    return share;
}

// One element of the output, before the division: the sum of weight times value down a column of V.
__device__ float weighted_sum(const float *weight /* [nk] */, const float *v /* [nk][head_dim] */, int column, int nk,
                              int head_dim) {
    float sum = 0.0f;
    for (int key = 0; key < nk; key++)
        sum += weight[key] * v[(int64_t)key * head_dim + column];
    return sum;
}

// Grid: one block for each query of each head of each batch.
__global__ void basic_attention(const float *Q, // [batch][heads][nq][head_dim]
                                const float *K, // [batch][heads][nk][head_dim]
                                const float *V, // [batch][heads][nk][head_dim]
                                float *O,       // [batch][heads][nq][head_dim]
                                float *scores,  // [batch][heads][nq][nk]
                                int nq, int nk, int head_dim, float softmax_scale) {
    const int64_t row = blockIdx.x;            // of Q, O and scores, all batches and heads counted through
    const int64_t head = row / nq;             // the same for K and V
    const float *q = Q + row * head_dim;       // [head_dim]
    const float *k = K + head * nk * head_dim; // [nk][head_dim]
    const float *v = V + head * nk * head_dim; // [nk][head_dim]
    float *o = O + row * head_dim;             // [head_dim]
    float *weight = scores + row * nk;         // [nk]

    // No element of q, k or o is theirs.
    if (threadIdx.x >= head_dim)
        return;

    // A score for each key. Neighbouring threads read neighbouring elements of the key, so the loads are coalesced.
    for (int key = 0; key < nk; key++) {
        const float score = softmax_scale * block_sum(dot_share(q, k + (int64_t)key * head_dim, head_dim));
        if (threadIdx.x == 0)
            weight[key] = score;
    }
    __syncthreads(); // thread 0 wrote the scores, all threads read them

    float max = -INFINITY;
    for (int key = threadIdx.x; key < nk; key += THREADS)
        max = fmaxf(max, weight[key]);
    max = block_max(max);

    // The weights, not yet divided by their sum. Subtracting the maximum changes nothing in the quotient and keeps expf
    // from overflowing.
    float sum = 0.0f;
    for (int key = threadIdx.x; key < nk; key += THREADS) {
        weight[key] = expf(weight[key] - max);
        sum += weight[key];
    }
    sum = block_sum(sum); // its barriers also make the weights visible to the whole block

    // Each thread owns some elements of the output row.
    for (int column = threadIdx.x; column < head_dim; column += THREADS)
        o[column] = weighted_sum(weight, v, column, nk, head_dim) / sum;
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
};

cudaError_t attention_forward(const struct attention_problem *p, cudaStream_t stream) {
    const int64_t rows = (int64_t)p->batch * p->heads * p->nq;
    if (rows > INT32_MAX)
        return cudaErrorInvalidConfiguration;
    basic_attention<<<(unsigned)rows, THREADS, 0, stream>>>((const float *)p->q, (const float *)p->k,
                                                            (const float *)p->v, (float *)p->o, (float *)p->workspace,
                                                            p->nq, p->nk, p->head_dim, p->softmax_scale);
    return cudaGetLastError();
}
