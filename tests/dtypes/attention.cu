// The plainest kernel that covers all of the contract in 16 bits: a warp a query, one key at a time. It tries the
// harness, not the hardware. tests/dtypes/dtypes.bats makes broken ones of it.
#include "attention.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

constexpr int WARP_SIZE = 32;
constexpr unsigned ALL_LANES = 0xFFFFFFFF;
constexpr int MAX_HEAD_DIM = 256;
constexpr int COLUMNS = MAX_HEAD_DIM / WARP_SIZE; // of a lane

__device__ float warp_sum(float value) {
    for (int distance = WARP_SIZE / 2; distance > 0; distance /= 2)
        value += __shfl_xor_sync(ALL_LANES, value, distance);
    return value;
}

template <class T>
__device__ float to_float(T value) {
    return static_cast<float>(value);
}

// Grid: nq x heads x batch.
template <class T>
__global__ void attention(attention_problem p) {
    const int query = blockIdx.x, head = blockIdx.y, batch = blockIdx.z, lane = threadIdx.x;
    const int kv_head = head / (p.heads / p.kv_heads);
    const T *q = (const T *)p.q + batch * p.q_stride.batch + head * p.q_stride.head + query * p.q_stride.row;
    const T *k = (const T *)p.k + batch * p.k_stride.batch + kv_head * p.k_stride.head;
    const T *v = (const T *)p.v + batch * p.v_stride.batch + kv_head * p.v_stride.head;
    T *o = (T *)p.o + batch * p.o_stride.batch + head * p.o_stride.head + query * p.o_stride.row;
    const int keys = p.causal ? max(0, query + p.nk - p.nq + 1) : p.nk;
    float O_rmem[COLUMNS] = {}, row_max = -INFINITY, row_sum = 0.0f;

    for (int key = 0; key < keys; key++) {
        float partial = 0.0f;
        for (int i = 0; i < COLUMNS; i++)
            if (lane + i * WARP_SIZE < p.head_dim)
                partial += to_float(q[lane + i * WARP_SIZE]) * to_float(k[key * p.k_stride.row + lane + i * WARP_SIZE]);
        const float score = p.softmax_scale * warp_sum(partial);
        const float new_max = fmaxf(row_max, score), shift = new_max == -INFINITY ? 0.0f : new_max;
        const float rescale = expf(row_max - shift), weight = expf(score - shift);
        row_sum = row_sum * rescale + weight;
        for (int i = 0; i < COLUMNS; i++)
            if (lane + i * WARP_SIZE < p.head_dim)
                O_rmem[i] = O_rmem[i] * rescale +
                            to_float(T(weight)) * to_float(v[key * p.v_stride.row + lane + i * WARP_SIZE]);
        row_max = new_max;
    }
    for (int i = 0; i < COLUMNS; i++)
        if (lane + i * WARP_SIZE < p.head_dim)
            o[lane + i * WARP_SIZE] = T(keys ? O_rmem[i] / row_sum : 0.0f);
    if (p.lse && lane == 0)
        p.lse[((int64_t)batch * p.heads + head) * p.nq + query] = row_max + logf(row_sum);
}

const struct attention_lesson attention_lesson = {
    .dtypes = 1u << ATTENTION_FP16 | 1u << ATTENTION_BF16,
    .max_head_dim = MAX_HEAD_DIM,
    .causal = 1,
    .lse = 1,
    .strided = 1,
    .grouped_heads = 1,
    .min_compute_capability = 80,
};

cudaError_t attention_forward(const struct attention_problem *p, cudaStream_t stream) {
    const dim3 grid(p->nq, p->heads, p->batch);
    if (p->dtype == ATTENTION_FP16)
        attention<__half><<<grid, WARP_SIZE, 0, stream>>>(*p);
    else
        attention<__nv_bfloat16><<<grid, WARP_SIZE, 0, stream>>>(*p);
    return cudaGetLastError();
}
