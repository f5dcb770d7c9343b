// Launches a lesson's kernel many times on the same inputs and compares output and log-sum-exp bit for bit.
//
//   repeats TIMES gpu|sim NAME KERNEL.so [FIRST.so]     sim: small shapes, which the simulator computes in moments
//
// FIRST.so: another kernel, whose first launch gives the bits that all launches of KERNEL.so have to give.
//
// Prints one line. Exit status: 0 all launches gave the same bits; 1 some did not; 2 it could not be tried.
#include "attention.h"

#include <dlfcn.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef cudaError_t attention_function(const struct attention_problem *, cudaStream_t);

struct shape {
    int batch, heads, kv_heads, nq, nk, head_dim, causal;
};

// Whole tiles that fill a GPU several times, ragged ones, more queries than keys, few heads of many keys.
static const struct shape for_gpu[] = {
    {4, 16, 16, 1024, 1024, 64, 0}, {4, 16, 16, 1024, 1024, 128, 1}, {2, 8, 2, 777, 1333, 128, 1},
    {3, 5, 5, 333, 77, 96, 1},      {1, 1, 1, 512, 8192, 64, 0},     {1, 300, 300, 65, 129, 40, 0},
};
static const struct shape for_simulator[] = {{1, 2, 2, 70, 130, 64, 0}, {1, 2, 1, 33, 150, 40, 1}};

static void require(cudaError_t error, const char *what) {
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "repeats: %s: %s\n", what, cudaGetErrorString(error));
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

static bool covers(const struct attention_lesson *lesson, const struct shape *s, enum attention_dtype dtype) {
    return lesson->dtypes & 1u << dtype && s->head_dim <= lesson->max_head_dim && (!s->causal || lesson->causal) &&
           (s->heads == s->kv_heads || lesson->grouped_heads) &&
           (!lesson->row_multiple || s->head_dim % lesson->row_multiple == 0);
}

// How many launches differ from the first one, which is that of `before`.
static int count_differing(attention_function *before, attention_function *forward, const struct attention_lesson *lesson, const struct shape *s,
                           enum attention_dtype dtype, int times) {
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
    // Output and log-sum-exp in one piece of memory.
    size_t o_bytes = (size_t)queries * (dtype == ATTENTION_FP32 ? 4 : 2), lse_at = (o_bytes + 255) / 256 * 256;
    size_t bytes = lse_at + (size_t)s->batch * (size_t)s->heads * (size_t)s->nq * sizeof(float);
    unsigned char *first = malloc(bytes), *now = malloc(bytes);
    if (!first || !now)
        exit(2);
    p.o = allocate(bytes);
    p.lse = lesson->lse ? (float *)((char *)p.o + lse_at) : NULL;
    p.workspace = lesson->workspace_bytes ? allocate(lesson->workspace_bytes(&p)) : NULL;
    int differing = 0;
    for (int i = 0; i < times; i++) {
        require(cudaMemset(p.o, 0xff, bytes), "cudaMemset");
        require((i ? forward : before)(&p, NULL), "attention_forward");
        require(cudaMemcpy(i ? now : first, p.o, bytes, cudaMemcpyDeviceToHost), "cudaMemcpy");
        differing += i && memcmp(first, now, bytes) != 0;
    }
    void *used[] = {(void *)p.q, (void *)p.k, (void *)p.v, p.o, p.workspace};
    for (size_t i = 0; i < sizeof used / sizeof *used; i++)
        cudaFree(used[i]);
    free(first);
    free(now);
    return differing;
}

static const char *obstacle(const struct attention_lesson *lesson) {
    int major = 0, minor = 0;
    require(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0), "no device");
    require(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, 0), "no device");
    if (10 * major + minor < lesson->min_compute_capability)
        return "not tried: it needs a newer GPU";
    return lesson->unavailable ? lesson->unavailable() : NULL;
}

int main(int argc, char **argv) {
    int times = argc == 5 || argc == 6 ? atoi(argv[1]) : 0;
    if (times < 2) {
        fprintf(stderr, "usage: repeats TIMES gpu|sim NAME KERNEL.so [FIRST.so], two times or more\n");
        return 2;
    }
    void *library = dlopen(argv[4], RTLD_NOW | RTLD_LOCAL);
    attention_function *forward = library ? (attention_function *)dlsym(library, "attention_forward") : NULL;
    const struct attention_lesson *lesson = library ? dlsym(library, "attention_lesson") : NULL;
    void *first = argc == 6 ? dlopen(argv[5], RTLD_NOW | RTLD_LOCAL) : library;
    attention_function *before = first ? (attention_function *)dlsym(first, "attention_forward") : NULL;
    if (!forward || !lesson || !before) {
        fprintf(stderr, "repeats: %s\n", dlerror());
        return 2;
    }
    const char *why_not = obstacle(lesson);
    if (why_not) {
        printf("%-24s %s\n", argv[3], why_not);
        return 0;
    }
    bool sim = !strcmp(argv[2], "sim");
    const struct shape *shape = sim ? for_simulator : for_gpu;
    int shapes = (int)(sim ? sizeof for_simulator : sizeof for_gpu) / (int)sizeof *shape, tried = 0, differing = 0;
    for (int type = ATTENTION_FP32; type <= ATTENTION_BF16; type++)
        for (int i = 0; i < shapes; i++) {
            if (!covers(lesson, &shape[i], (enum attention_dtype)type))
                continue;
            tried++;
            differing += count_differing(before, forward, lesson, &shape[i], (enum attention_dtype)type, times) > 0;
        }
    if (differing)
        printf("%-24s other bits in some launch of %d, of %d of %d shapes and types\n", argv[3], times, differing,
               tried);
    else
        printf("%-24s the same bits in %d launches, of %d shapes and types\n", argv[3], times, tried);
    return differing || !tried;
}
