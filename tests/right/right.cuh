// Shared by the kernels of this folder: the pointers of a row, a running softmax, and the table of the kernels of a
// file.
//
// All kernels are correct. They differ from the lessons in the order of summation, the partitioning of work, or the
// features of CUDA. A library has several kernels; the environment variable RIGHT selects one.
#pragma once

#include "attention.h"

#include <cstdlib>
#include <cstring>

constexpr int MAX_D = 512, WARP = 32;
constexpr unsigned ALL = 0xffffffffu;

using Problem = attention_problem;

// 1: the kernels of the file are bitwise reproducible.
#ifndef REPEATS
#define REPEATS 0
#endif

// A query row and its unmasked keys.
struct Row {
    const float *q, *k, *v;
    float *o, *lse; // lse may be NULL
    int64_t k_stride, v_stride;
    int keys, d;
    float scale;
};

__host__ __device__ inline int64_t rows_of(const Problem &p) {
    return (int64_t)p.batch * p.heads * p.nq;
}

__device__ inline Row row_of(const Problem &p, int64_t row) {
    const int i = row % p.nq, head = row / p.nq % p.heads, batch = row / p.nq / p.heads;
    const int kv_head = head / (p.heads / p.kv_heads), last = p.causal ? i + p.nk - p.nq + 1 : p.nk;
    Row r;
    r.q = (const float *)p.q + batch * p.q_stride.batch + head * p.q_stride.head + i * p.q_stride.row;
    r.k = (const float *)p.k + batch * p.k_stride.batch + kv_head * p.k_stride.head;
    r.v = (const float *)p.v + batch * p.v_stride.batch + kv_head * p.v_stride.head;
    r.o = (float *)p.o + batch * p.o_stride.batch + head * p.o_stride.head + i * p.o_stride.row;
    r.lse = p.lse ? p.lse + row : NULL;
    r.k_stride = p.k_stride.row;
    r.v_stride = p.v_stride.row;
    r.keys = last < 0 ? 0 : last;
    r.d = p.head_dim;
    r.scale = p.softmax_scale;
    return r;
}

// The score of a key, computed by one thread in the order of the elements.
__device__ inline float score_of(const Row &r, int key) {
    const float *k = r.k + key * r.k_stride;
    float sum = 0;
    for (int c = 0; c < r.d; c++)
        sum += r.q[c] * k[c];
    return r.scale * sum;
}

// Warp reduction; all lanes get the result.
__device__ inline float warp_sum(float value) {
    for (int distance = WARP / 2; distance; distance /= 2)
        value += __shfl_xor_sync(ALL, value, distance);
    return value;
}

__device__ inline float warp_max(float value) {
    for (int distance = WARP / 2; distance; distance /= 2)
        value = fmaxf(value, __shfl_xor_sync(ALL, value, distance));
    return value;
}

__device__ inline float warp_score(const Row &r, int key) {
    const float *k = r.k + key * r.k_stride;
    float sum = 0;
    for (int c = threadIdx.x % WARP; c < r.d; c += WARP)
        sum += r.q[c] * k[c];
    return r.scale * warp_sum(sum);
}

// A running softmax over COLUMNS elements of the output.
template <int COLUMNS>
struct Running {
    float maximum = -INFINITY, sum = 0, o[COLUMNS] = {};

    // exp(a - b); b is -infinity before the first key.
    __device__ static float weight(float a, float b) {
        return expf(a - (b == -INFINITY ? 0 : b));
    }

    __device__ void rescale(float new_maximum) {
        const float factor = weight(maximum, new_maximum);
        maximum = new_maximum;
        sum *= factor;
        for (int i = 0; i < COLUMNS; i++)
            o[i] *= factor;
    }
};

// Lane i of a warp holds the columns i, i + 32, ... of a row.
constexpr int LANE_COLUMNS = MAX_D / WARP;
using LaneRunning = Running<LANE_COLUMNS>;

__device__ inline void add_key(LaneRunning &s, const Row &r, int key, float score) {
    const float new_maximum = fmaxf(s.maximum, score);
    if (new_maximum != s.maximum)
        s.rescale(new_maximum);
    const float p = LaneRunning::weight(score, s.maximum);
    s.sum += p;
    for (int i = 0, c = threadIdx.x % WARP; c < r.d; i++, c += WARP)
        s.o[i] += p * r.v[key * r.v_stride + c];
}

__device__ inline void finish_row(const Row &r, const LaneRunning &s) {
    for (int i = 0, c = threadIdx.x % WARP; c < r.d; i++, c += WARP)
        r.o[c] = r.keys ? s.o[i] / s.sum : 0;
    if (r.lse && threadIdx.x % WARP == 0)
        *r.lse = r.keys ? s.maximum + logf(s.sum) : -INFINITY;
}

// Attention of one row by one warp, in the order of the keys.
__device__ inline void compute_row(const Row &r) {
    LaneRunning s;
    for (int key = 0; key < r.keys; key++)
        add_key(s, r, key, warp_score(r, key));
    finish_row(r, s);
}

struct Entry {
    const char *name;
    cudaError_t (*forward)(const Problem &p, cudaStream_t stream);
    size_t (*workspace_bytes)(const Problem &p);
};
extern const Entry entries[];

static const Entry &selected_kernel() {
    const char *name = getenv("RIGHT");
    const Entry *e = entries;
    while (e[1].name && name && strcmp(e->name, name))
        e++;
    return *e;
}

// Each file ends with the table of its kernels: RIGHT_KERNELS({"name", forward, workspace_bytes}, ...).
#define RIGHT_KERNELS(...)                                                                                             \
    const Entry entries[] = {__VA_ARGS__, {}};                                                                         \
    static size_t workspace_bytes(const Problem *p) {                                                                  \
        return selected_kernel().workspace_bytes ? selected_kernel().workspace_bytes(*p) : 0;                          \
    }                                                                                                                  \
    const struct attention_lesson attention_lesson = {                                                                 \
        .dtypes = 1u << ATTENTION_FP32,                                                                                \
        .max_head_dim = MAX_D,                                                                                         \
        .causal = 1,                                                                                                   \
        .lse = 1,                                                                                                      \
        .strided = 1,                                                                                                  \
        .grouped_heads = 1,                                                                                            \
        .min_compute_capability = 80,                                                                                  \
        .workspace_bytes = workspace_bytes,                                                                            \
        .deterministic = REPEATS,                                                                                      \
    };                                                                                                                 \
    cudaError_t attention_forward(const Problem *p, cudaStream_t stream) {                                             \
        return selected_kernel().forward(*p, stream);                                                                  \
    }
