// Merges the attention of the same queries to two sets of keys.
#pragma once

#include "hopper.cuh"
#include "ring_attention.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <type_traits>

template <class E>
struct alignas(4 * sizeof(E)) Four {
    E value[4];
};

// Some rows of each head: row `row` of head `head` is row head * stride + first + row of the tensor.
struct HeadRows {
    int64_t stride, first;

    __device__ int64_t at(int64_t head, int row) const {
        return head * stride + first + row;
    }
};

// One side of a merge: o and lse of these rows. o is fp32 (accumulate) or of the tensors' type.
template <class E>
struct Partial {
    E *o;
    std::conditional_t<std::is_const_v<E>, const float, float> *lse;
    HeadRows rows;
};

// What a partial result counts: weights relative to the larger log-sum-exp.
struct MergeWeights {
    float first, second, lse;
};

// Defined by the lesson. A log-sum-exp of minus infinity is that of no keys.
__device__ inline MergeWeights merge_weights(float first, float second);

// Block (x, y): eight of the rows of head y, a warp each; a lane has four columns of 128. to may be `sum`.
template <class Sum, class E, class To>
__global__ void __launch_bounds__(256)
    merge_kernel(Partial<const Sum> sum, Partial<const E> part, Partial<To> to, int rows, int head_dim) {
    const int row = blockIdx.x * 8 + threadIdx.x / WARP_SIZE, lane = threadIdx.x % WARP_SIZE;
    if (row >= rows)
        return;
    const int64_t head = blockIdx.y, from = sum.rows.at(head, row), with = part.rows.at(head, row);
    const int64_t into = to.rows.at(head, row);
    const MergeWeights weight = merge_weights(sum.lse[from], part.lse[with]);
    for (int column = 4 * lane; column < head_dim; column += 4 * WARP_SIZE) {
        const auto a = *(const Four<Sum> *)&sum.o[from * head_dim + column];
        const auto b = *(const Four<E> *)&part.o[with * head_dim + column];
        Four<To> merged;
        for (int i = 0; i < 4; i++)
            merged.value[i] = To(weight.first * float(a.value[i]) + weight.second * float(b.value[i]));
        *(Four<To> *)&to.o[into * head_dim + column] = merged;
    }
    __syncwarp(); // all lanes have read the row's lse
    if (lane == 0)
        to.lse[into] = weight.lse;
}

// The rows of rank r's queries that a step has computed: `rows` rows of each of its heads, from `first` on. The partial
// result has part_rows rows per head, of which these begin at part_first. first_merge: o has the result so far, else
// sum. last_merge: the result goes to o, else to sum, which is fp32.
struct Merge {
    void *o;
    float *sum, *lse;
    const void *part_o;
    const float *part_lse;
    int first, rows, part_first, part_rows;
    bool first_merge, last_merge;
};

template <class Sum, class E, class To>
static cudaError_t launch_merge(const ring_attention_problem &p, const Merge &m, const void *from, void *to,
                                cudaStream_t stream) {
    const HeadRows rows = {p.n, m.first}, part_rows = {m.part_rows, m.part_first};
    const Partial<const Sum> sum = {(const Sum *)from, m.lse, rows};
    const Partial<const E> part = {(const E *)m.part_o, m.part_lse, part_rows};
    merge_kernel<<<dim3((m.rows + 7) / 8, p.batch * p.heads), 256, 0, stream>>>(
        sum, part, Partial<To>{(To *)to, m.lse, rows}, m.rows, p.head_dim);
    return cudaGetLastError();
}

template <class E>
static cudaError_t merge_of(const ring_attention_problem &p, const Merge &m, cudaStream_t stream) {
    return m.first_merge && m.last_merge ? launch_merge<E, E, E>(p, m, m.o, m.o, stream)
           : m.first_merge               ? launch_merge<E, E, float>(p, m, m.o, m.sum, stream)
           : m.last_merge                ? launch_merge<float, E, E>(p, m, m.sum, m.o, stream)
                                         : launch_merge<float, E, float>(p, m, m.sum, m.sum, stream);
}

static cudaError_t merge(const ring_attention_problem &p, const Merge &m, cudaStream_t stream) {
    return p.dtype == ATTENTION_FP16 ? merge_of<__half>(p, m, stream) : merge_of<__nv_bfloat16>(p, m, stream);
}
