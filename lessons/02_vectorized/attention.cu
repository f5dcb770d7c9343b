// Lesson 02: the same algorithm with 16-byte loads, many keys at once, and the query kept on the chip.
//
// Eight lanes share a key and load 16 bytes each; a block works on 32 keys at once, and a score takes three shuffles.
#include "attention.h"
#include "block_row.cuh"
#include "float4.cuh"
#include "reduce.cuh"

constexpr int THREADS = 256;
constexpr int WARPS = THREADS / WARP_SIZE;
constexpr int LANES_PER_KEY = 8;
constexpr int KEYS_AT_ONCE = THREADS / LANES_PER_KEY;
static_assert(LANES_PER_KEY * sizeof(float4) == 128, "eight lanes read one 128-byte line of a key with one load");

// The sum over the eight lanes that share a key, in each of them.
__device__ float score_sum(float value) {
    // TODO 1 (about 2 lines): halve the distance from LANES_PER_KEY / 2 to 1; __shfl_xor_sync(ALL_LANES, value,
    // distance) brings the value of the lane that far away.
    // END TODO 1
    return value;
}

// This lane's share of the dot product of two rows; the shares of the eight lanes add up to it.
template <bool WIDE>
__device__ float dot_share(const float4 *Q_smem /* [columns] */, const float *k_row /* [head_dim] */, int columns,
                           int head_dim) {
    float share = 0.0f;
    // TODO 2 (about 2 lines): the float4s lane, lane + LANES_PER_KEY, and so on of the key (load_float4 takes a column
    // in floats), each with the same float4 of Q_smem.
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
    for (int key = threadIdx.x; key < nk; key += THREADS) {
        weight[key] = expf(weight[key] - max);
        sum += weight[key];
    }
    return block_sum(sum, sum_smem); // its barrier also makes the weights visible to the whole block
}

// One float4 of the output, before the division, over the keys first_key, first_key + keys_at_once, and so on.
template <bool WIDE>
__device__ float4 weighted_sum(const float *weight /* [nk] */, const float *v /* [nk][head_dim] */, int column,
                               int first_key, int keys_at_once, int nk, int head_dim) {
    float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    // TODO 3 (about 2 lines): walk over these keys; add_scaled adds a weight times a float4 of v to sum.
    // END TODO 3
    return sum;
}

// Grid: one block for each query of each head of each batch.
template <bool WIDE>
__global__ void attention_kernel(const struct attention_problem p) {
    __shared__ float4 Q_smem[MAX_COLUMNS], O_smem[THREADS];
    __shared__ float max_smem[WARPS], sum_smem[WARPS];
    const int nq = p.nq, nk = p.nk, head_dim = p.head_dim;
    const int columns = (head_dim + 3) / 4;
    const int64_t row = blockIdx.x, head = row / nq;            // of all batches and heads, counted through
    const float *q = (const float *)p.q + row * head_dim;       // [head_dim]
    const float *k = (const float *)p.k + head * nk * head_dim; // [nk][head_dim]
    const float *v = (const float *)p.v + head * nk * head_dim; // [nk][head_dim]
    float *o = (float *)p.o + row * head_dim;                   // [head_dim]
    float *weight = (float *)p.workspace + row * nk;            // [nk]: scores, then weights

    // The query is read from device memory once, not once for each key.
    if (threadIdx.x < columns)
        Q_smem[threadIdx.x] = load_float4<WIDE>(q, 4 * threadIdx.x, head_dim);
    __syncthreads();

    // A score for each key. Neighbouring threads read neighbouring elements of the key, so the loads are coalesced.
    for (int key0 = 0; key0 < nk; key0 += KEYS_AT_ONCE) {
        const int key = key0 + threadIdx.x / LANES_PER_KEY;
        // Past the last key the lanes repeat it: all lanes of a warp have to take part in the shuffles.
        const float *k_row = k + (int64_t)min(key, nk - 1) * head_dim; // [head_dim]
        const float score = p.softmax_scale * score_sum(dot_share<WIDE>(Q_smem, k_row, columns, head_dim));
        if (threadIdx.x % LANES_PER_KEY == 0 && key < nk)
            weight[key] = score;
    }
    __syncthreads(); // one thread wrote a score, all threads read it
    const float sum = softmax(weight, nk, max_smem, sum_smem);

    // A thread owns a float4 of the output row and every keys_at_once-th key; then the shares are added up.
    const int column = threadIdx.x % columns, keys_at_once = THREADS / columns, first_key = threadIdx.x / columns;
    float4 acc = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    if (first_key < keys_at_once)
        acc = weighted_sum<WIDE>(weight, v, column, first_key, keys_at_once, nk, head_dim);
    store_row<WIDE, THREADS>(o, acc, sum, O_smem, head_dim);
}

template <bool WIDE>
static cudaError_t launch(const struct attention_problem *p, cudaStream_t stream) {
    const int64_t blocks = (int64_t)p->batch * p->heads * p->nq;
    if (blocks > INT32_MAX)
        return cudaErrorInvalidConfiguration;
    attention_kernel<WIDE><<<(unsigned)blocks, THREADS, 0, stream>>>(*p);
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
    return rows_are_float4(p) ? launch<true>(p, stream) : launch<false>(p, stream);
}
