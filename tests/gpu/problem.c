#include "problem.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void require(cudaError_t error, const char *what) {
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
    exit(2);
}

static void *allocate(size_t bytes) {
    void *memory = NULL;
    require(cudaMalloc(&memory, bytes ? bytes : 1), "cudaMalloc");
    return memory;
}

// Of a whole number of 64ths up to 2 in size, which each type holds exactly.
static uint32_t bits_of(float value, enum attention_dtype dtype) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    if (dtype == ATTENTION_BF16)
        return bits >> 16;
    if (dtype == ATTENTION_FP16)
        return value == 0 ? 0 : (bits >> 16 & 0x8000) | (((bits >> 13) & 0x3ffff) - (112 << 10));
    return bits;
}

static void *device_inputs(int64_t elements, enum attention_dtype dtype, uint32_t seed) {
    size_t size = dtype == ATTENTION_FP32 ? 4 : 2;
    unsigned char *host = malloc((size_t)elements * size);
    if (!host)
        exit(2);
    for (int64_t i = 0; i < elements; i++) {
        seed = seed * 1664525 + 1013904223;
        uint32_t bits = bits_of((float)((int)(seed >> 24) - 128) / 64, dtype);
        memcpy(host + (size_t)i * size, &bits, size); // the lower bytes come first
    }
    void *device = allocate((size_t)elements * size);
    require(cudaMemcpy(device, host, (size_t)elements * size, cudaMemcpyHostToDevice), "cudaMemcpy");
    free(host);
    return device;
}

struct attention_problem make_problem(const struct attention_lesson *lesson, const struct shape *s,
                                      enum attention_dtype dtype, size_t *output_bytes) {
    int64_t q_head = (int64_t)s->nq * s->head_dim, k_head = (int64_t)s->nk * s->head_dim;
    int64_t queries = (int64_t)s->batch * s->heads * q_head, keys = (int64_t)s->batch * s->kv_heads * k_head;
    struct attention_problem p = {
        .q = device_inputs(queries, dtype, 1),
        .k = device_inputs(keys, dtype, 2),
        .v = device_inputs(keys, dtype, 3),
        .q_stride = {s->heads * q_head, q_head, s->head_dim},
        .k_stride = {s->kv_heads * k_head, k_head, s->head_dim},
        .v_stride = {s->kv_heads * k_head, k_head, s->head_dim},
        .o_stride = {s->heads * q_head, q_head, s->head_dim},
        .batch = s->batch,
        .heads = s->heads,
        .kv_heads = s->kv_heads,
        .nq = s->nq,
        .nk = s->nk,
        .head_dim = s->head_dim,
        .causal = s->causal,
        .softmax_scale = 1.0f / sqrtf((float)s->head_dim),
        .dtype = dtype,
    };
    size_t o_bytes = (size_t)queries * (dtype == ATTENTION_FP32 ? 4 : 2);
    size_t lse_at = (o_bytes + 255) / 256 * 256;
    *output_bytes = lse_at + (size_t)s->batch * (size_t)s->heads * (size_t)s->nq * sizeof(float);
    p.o = allocate(*output_bytes);
    p.lse = lesson->lse ? (float *)((char *)p.o + lse_at) : NULL;
    p.workspace = lesson->workspace_bytes ? allocate(lesson->workspace_bytes(&p)) : NULL;
    return p;
}

void free_problem(struct attention_problem *p) {
    void *used[] = {(void *)p->q, (void *)p->k, (void *)p->v, p->o, p->workspace};
    for (size_t i = 0; i < sizeof used / sizeof *used; i++)
        cudaFree(used[i]);
}

const char *obstacle(const struct attention_lesson *lesson) {
    int major = 0, minor = 0;
    require(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0), "no device");
    require(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, 0), "no device");
    if (10 * major + minor < lesson->min_compute_capability)
        return "not tried: it needs a newer GPU";
    return lesson->unavailable ? lesson->unavailable() : NULL;
}
