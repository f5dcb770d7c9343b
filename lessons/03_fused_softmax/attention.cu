// Lesson 03: scores, softmax and weighted sum in one kernel that keeps the scores on the chip.
//
// A block has four queries, and what it loads serves them all. The price: 16 nk bytes of shared memory for the scores.
#include "attention.h"
#include "block_row.cuh"
#include "float4.cuh"
#include "reduce.cuh"

constexpr int THREADS = 256;
constexpr int WARPS = THREADS / WARP_SIZE;
constexpr int QUERIES = 4;
constexpr int LANES_PER_KEY = 8;
constexpr int KEYS_AT_ONCE = THREADS / LANES_PER_KEY;
static_assert(LANES_PER_KEY * sizeof(float4) == 128, "eight lanes read one 128-byte line of a key with one load");

// The sum over the eight lanes that share a key, in each of them.
__device__ float score_sum(float value) {
    for (int distance = LANES_PER_KEY / 2; distance > 0; distance /= 2)
        value += __shfl_xor_sync(ALL_LANES, value, distance);
    return value;
}

// This lane's shares of the dot products of the queries and a key; the shares of the eight lanes add up to them.
template <bool WIDE>
__device__ void dot_shares(float share[QUERIES], const float4 *Q_smem /* [QUERIES][columns] */,
                           const float *k_row /* [head_dim] */, int columns, int head_dim) {
    // TODO 1 (about 5 lines): as in lesson 02, but each float4 of the key is loaded once and used for all QUERIES.
    // END TODO 1
}

// Turns the scores of a query into weights, not yet divided by their sum, which it returns. Subtracting the maximum
// changes nothing in the quotient and keeps expf from overflowing.
__device__ float softmax(float *weight /* [nk] */, int nk, float *max_smem, float *sum_smem) {
    float max = -INFINITY, sum = 0.0f;
    // TODO 2 (about 2 lines): the maximum of this thread's keys.
    // END TODO 2
    max = block_max(max, max_smem);
    // TODO 3 (about 4 lines): replace the scores by their exponentials, where they stand, and add them up.
    // END TODO 3
    return block_sum(sum, sum_smem); // its barrier also makes the weights visible to the whole block
}

// One float4 of each output row, before the division, over the keys first_key, first_key + keys_at_once, and so on.
template <bool WIDE>
__device__ void weighted_sums(float4 sum[QUERIES], const float *S_smem /* [QUERIES][nk] */,
                              const float *v /* [nk][head_dim] */, int column, int first_key, int keys_at_once, int nk,
                              int head_dim) {
    // TODO 4 (about 5 lines): as in lesson 02, but each float4 of v is loaded once and used for all QUERIES.
    // END TODO 4
}

// Grid: blocks of four queries, ceil(nq / QUERIES) for each head of each batch.
template <bool WIDE>
__global__ void attention_kernel(const struct attention_problem p) {
    extern __shared__ float4 Q_smem[]; // [QUERIES][columns]
    __shared__ float4 O_smem[THREADS];
    __shared__ float max_smem[QUERIES][WARPS], sum_smem[QUERIES][WARPS];
    const int nq = p.nq, nk = p.nk, head_dim = p.head_dim;
    const int columns = (head_dim + 3) / 4;
    float *S_smem = (float *)(Q_smem + QUERIES * columns); // [QUERIES][nk]: scores, then weights
    const int query_blocks = (nq + QUERIES - 1) / QUERIES;
    const int64_t head = blockIdx.x / query_blocks;
    const int query0 = blockIdx.x % query_blocks * QUERIES;
    const float *q = (const float *)p.q + head * nq * head_dim; // [nq][head_dim]
    const float *k = (const float *)p.k + head * nk * head_dim; // [nk][head_dim]
    const float *v = (const float *)p.v + head * nk * head_dim; // [nk][head_dim]
    float *o = (float *)p.o + head * nq * head_dim;             // [nq][head_dim]

    // Past the last query the block repeats it and stores nothing.
    for (int i = threadIdx.x; i < QUERIES * columns; i += THREADS) {
        const int query = min(query0 + i / columns, nq - 1), column = i % columns;
        Q_smem[i] = load_float4<WIDE>(q + (int64_t)query * head_dim, 4 * column, head_dim);
    }
    __syncthreads();

    // A score for each key. Neighbouring threads read neighbouring elements of the key, so the loads are coalesced.
    for (int key0 = 0; key0 < nk; key0 += KEYS_AT_ONCE) {
        const int key = key0 + threadIdx.x / LANES_PER_KEY;
        // Past the last key the lanes repeat it: all lanes of a warp have to take part in the shuffles.
        const float *k_row = k + (int64_t)min(key, nk - 1) * head_dim; // [head_dim]
        float share[QUERIES] = {};
        dot_shares<WIDE>(share, Q_smem, k_row, columns, head_dim);
        for (int i = 0; i < QUERIES; i++) {
            const float score = p.softmax_scale * score_sum(share[i]);
            if (threadIdx.x % LANES_PER_KEY == 0 && key < nk)
                S_smem[i * nk + key] = score;
        }
    }
    __syncthreads(); // one thread wrote a score, all threads read it
    float sum[QUERIES];
    for (int i = 0; i < QUERIES; i++)
        sum[i] = softmax(S_smem + i * nk, nk, max_smem[i], sum_smem[i]);

    // A thread owns a float4 of the output row and every keys_at_once-th key; then the shares are added up.
    const int column = threadIdx.x % columns, keys_at_once = THREADS / columns, first_key = threadIdx.x / columns;
    float4 acc[QUERIES] = {};
    if (first_key < keys_at_once)
        weighted_sums<WIDE>(acc, S_smem, v, column, first_key, keys_at_once, nk, head_dim);
    for (int i = 0; i < QUERIES && query0 + i < nq; i++) {
        store_row<WIDE, THREADS>(o + (int64_t)(query0 + i) * head_dim, acc[i], sum[i], O_smem, head_dim);
        __syncthreads(); // the next query overwrites O_smem
    }
}

static size_t dynamic_bytes(const struct attention_problem *p) {
    return QUERIES * ((p->head_dim + 3) / 4 * sizeof(float4) + p->nk * sizeof(float));
}

template <bool WIDE>
static cudaError_t launch(const struct attention_problem *p, cudaStream_t stream) {
    const int64_t blocks = (int64_t)p->batch * p->heads * ((p->nq + QUERIES - 1) / QUERIES);
    if (blocks > INT32_MAX)
        return cudaErrorInvalidConfiguration;
    // A block gets more than 48 KB of shared memory only after the kernel has been allowed to.
    const cudaError_t error = cudaFuncSetAttribute(attention_kernel<WIDE>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                                   (int)dynamic_bytes(p));
    if (error != cudaSuccess)
        return error;
    attention_kernel<WIDE><<<(unsigned)blocks, THREADS, dynamic_bytes(p), stream>>>(*p);
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
    .repeats = 1,
};

cudaError_t attention_forward(const struct attention_problem *p, cudaStream_t stream) {
    return rows_are_float4(p) ? launch<true>(p, stream) : launch<false>(p, stream);
}
