// The two small kernels of a backward pass in 16 bits: before the main one, delta and lse of each query, and an
// accumulator of dQ that is 0; after it, dQ in the tensors' type. Rows are those of the queries of each head, padded to
// a multiple of the tile.
#pragma once

#include "attention_backward.h"
#include "kernel_config.cuh"
#include "mma.cuh"
#include "reduce.cuh"

constexpr float LOG2_E = 1.44269504f;

struct BackwardRows {
    float *dq;    // [batch][heads][padded][D], in tiles whose order the lesson chooses
    float *lse;   // [batch][heads][padded], in base 2; +inf in a row that sees no key or is padding: its weights are 0
    float *delta; // [batch][heads][padded]
    int padded;   // rows per head
};

// Each array begins at a multiple of 256 bytes: D and the tile are multiples of 16.
static inline struct BackwardRows backward_rows(const struct attention_backward_problem *p, int tile, int d) {
    const int padded = (p->forward.nq + tile - 1) / tile * tile;
    const int64_t rows = (int64_t)p->forward.batch * p->forward.heads * padded;
    const int64_t aligned = (rows + 63) / 64 * 64;
    float *dq = (float *)p->workspace;
    return {dq, dq + rows * d, dq + rows * d + aligned, padded};
}
static inline size_t backward_rows_bytes(const struct attention_backward_problem *p, int tile, int d) {
    const int64_t rows = (int64_t)p->forward.batch * p->forward.heads * ((p->forward.nq + tile - 1) / tile * tile);
    return sizeof(float) * (rows * d + 2 * ((rows + 63) / 64 * 64));
}

// A warp per row.
template <class E, int D>
__global__ void delta_kernel(const __grid_constant__ struct attention_backward_problem p, struct BackwardRows to,
                             int64_t rows) {
    const struct attention_problem &f = p.forward;
    const int64_t row = (int64_t)blockIdx.x * (blockDim.x / WARP_SIZE) + threadIdx.x / WARP_SIZE;
    const int lane = threadIdx.x % WARP_SIZE, query = row % to.padded, head = row / to.padded % f.heads;
    const int64_t batch = row / to.padded / f.heads;
    if (row >= rows)
        return;
    float sum = 0.0f;
    for (int column = lane; column < D; column += WARP_SIZE)
        to.dq[row * D + column] = 0.0f;
    if (query < f.nq) {
        const E *o = (const E *)f.o + batch * f.o_stride.batch + head * f.o_stride.head + query * f.o_stride.row;
        const E *d_o =
            (const E *)p.d_o + batch * p.d_o_stride.batch + head * p.d_o_stride.head + query * p.d_o_stride.row;
        for (int column = lane; column < f.head_dim; column += WARP_SIZE)
            sum += float(d_o[column]) * float(o[column]);
    }
    sum = lanes_sum<WARP_SIZE>(sum);
    if (lane == 0) {
        const float lse = query < f.nq ? f.lse[(batch * f.heads + head) * f.nq + query] : -INFINITY;
        to.lse[row] = lse == -INFINITY ? INFINITY : lse * LOG2_E;
        to.delta[row] = sum;
    }
}

// dQ = softmax_scale times the accumulator, a thread per two columns. Layout::index(row, column) is where the
// accumulator of a head has an element; that of the column beside it follows.
template <class E, int D, class Layout>
__global__ void finish_dq_kernel(const __grid_constant__ struct attention_backward_problem p, struct BackwardRows from,
                                 int64_t pairs) {
    const struct attention_problem &f = p.forward;
    const int64_t pair = (int64_t)blockIdx.x * blockDim.x + threadIdx.x, row = pair / (D / 2);
    const int column = pair % (D / 2) * 2, query = row % f.nq, head = row / f.nq % f.heads;
    const int64_t batch = row / f.nq / f.heads;
    if (pair >= pairs || column >= f.head_dim)
        return;
    const float *dq = from.dq + (batch * f.heads + head) * from.padded * D + Layout::index(query, column);
    E *to = (E *)p.dq + batch * p.dq_stride.batch + head * p.dq_stride.head + query * p.dq_stride.row + column;
    if ((uintptr_t)to % sizeof(uint32_t) == 0 && column + 1 < f.head_dim)
        *reinterpret_cast<uint32_t *>(to) = cvt_rn_x2<E>(f.softmax_scale * dq[0], f.softmax_scale * dq[1]);
    else
        for (int n = 0; n < 2 && column + n < f.head_dim; n++)
            to[n] = E(f.softmax_scale * dq[n]);
}

template <class E, int D>
static cudaError_t launch_delta(const struct attention_backward_problem *p, const struct BackwardRows &to,
                                cudaStream_t stream) {
    constexpr int WARPS = 8;
    const int64_t rows = (int64_t)p->forward.batch * p->forward.heads * to.padded, blocks = (rows + WARPS - 1) / WARPS;
    if (blocks > INT32_MAX)
        return cudaErrorInvalidConfiguration;
    delta_kernel<E, D><<<(unsigned)blocks, WARPS * WARP_SIZE, 0, stream>>>(*p, to, rows);
    return cudaGetLastError();
}

template <class E, int D, class Layout>
static cudaError_t launch_finish_dq(const struct attention_backward_problem *p, const struct BackwardRows &from,
                                    cudaStream_t stream) {
    constexpr int THREADS = 256;
    const int64_t pairs = (int64_t)p->forward.batch * p->forward.heads * p->forward.nq * (D / 2);
    const int64_t blocks = (pairs + THREADS - 1) / THREADS;
    if (blocks > INT32_MAX)
        return cudaErrorInvalidConfiguration;
    finish_dq_kernel<E, D, Layout><<<(unsigned)blocks, THREADS, 0, stream>>>(*p, from, pairs);
    return cudaGetLastError();
}
