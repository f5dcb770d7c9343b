// Runs the kernels of attention solutions on a few small shapes, so that a profiler can count what they move.
//
//   truth-drive [--filling | --bf16] KERNEL.so...   each exports attention_forward or softmax_forward
//   (common/attention.h, common/softmax.h); --filling: a shape that fills a GPU, too, for kernels that choose their
//   tiles by that; --bf16: tensors in bf16, and a shape of 128 columns instead of that one
#include "../../common/attention.h"
#include "../../common/softmax.h"

#include <dlfcn.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef cudaError_t attention_function(const struct attention_problem *, cudaStream_t);
typedef cudaError_t softmax_function(const struct softmax_problem *, cudaStream_t);
typedef size_t softmax_workspace_function(const struct softmax_problem *);

static const struct {
    int batch, heads, nq, nk, head_dim, causal;
} shapes[] = {
    {1, 2, 256, 256, 64, 0},                            // whole tiles
    {1, 1, 67, 193, 40, 0},                             // ragged in every size
    {1, 1, 100, 100, 128, 1}, {1, 68, 200, 256, 64, 0}, // --filling
    {1, 2, 256, 256, 128, 0},                           // --bf16
};
enum { FILLING = 3, WIDE = 4, SHAPES = 5 };

enum drive { PLAIN, WITH_FILLING, IN_BF16 };
static const struct {
    int64_t rows;
    int columns;
} matrices[] = {{64, 1024}, {33, 1001}};

static bool check(cudaError_t status, const char *what) {
    if (status != cudaSuccess)
        fprintf(stderr, "truth-drive: %s: %s\n", what, cudaGetErrorString(status));
    return status == cudaSuccess;
}

// A device array of count floats from -1 to 1, the same on every machine. bf16: the upper halves of them, in the lower
// half of the array.
static float *device_numbers(size_t count, unsigned seed, bool bf16) {
    float *host = malloc(count * sizeof *host), *device = NULL;
    if (!host)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        seed = seed * 1664525 + 1013904223;
        host[i] = (float)(int)(seed >> 8) * 0x1p-23f - 1.0f;
    }
    for (size_t i = 0; i < count && bf16; i++)
        memmove((char *)host + 2 * i, (char *)&host[i] + 2, 2);
    if (!check(cudaMalloc((void **)&device, count * sizeof *host), "cudaMalloc") ||
        !check(cudaMemcpy(device, host, count * sizeof *host, cudaMemcpyHostToDevice), "cudaMemcpy"))
        device = NULL;
    free(host);
    return device;
}

static bool drive_attention(const char *path, attention_function *forward, const struct attention_lesson *lesson,
                            enum drive drive) {
    const bool bf16 = drive == IN_BF16;
    for (size_t s = 0; s < SHAPES; s++) {
        if ((s == FILLING && drive != WITH_FILLING) || (s == WIDE && !bf16))
            continue;
        const int64_t d = shapes[s].head_dim, nq = shapes[s].nq, nk = shapes[s].nk, heads = shapes[s].heads;
        if (shapes[s].causal && !lesson->causal) {
            printf("%s does not cover causal masking: shape left out\n", path);
            continue;
        }
        const size_t queries = (size_t)(shapes[s].batch * heads * nq * d),
                     keys = (size_t)(shapes[s].batch * heads * nk * d);
        struct attention_problem problem = {
            .q = device_numbers(queries, 1, bf16),
            .k = device_numbers(keys, 2, bf16),
            .v = device_numbers(keys, 3, bf16),
            .o = device_numbers(queries, 4, bf16),
            .q_stride = {heads * nq * d, nq * d, d},
            .k_stride = {heads * nk * d, nk * d, d},
            .v_stride = {heads * nk * d, nk * d, d},
            .o_stride = {heads * nq * d, nq * d, d},
            .batch = shapes[s].batch,
            .heads = shapes[s].heads,
            .kv_heads = shapes[s].heads,
            .nq = shapes[s].nq,
            .nk = shapes[s].nk,
            .head_dim = shapes[s].head_dim,
            .causal = shapes[s].causal,
            .softmax_scale = 1.0f / sqrtf((float)d),
            .dtype = bf16 ? ATTENTION_BF16 : ATTENTION_FP32,
        };
        const size_t workspace = lesson->workspace_bytes ? lesson->workspace_bytes(&problem) : 0;
        if (!problem.q || !problem.k || !problem.v || !problem.o ||
            (workspace > 0 && !check(cudaMalloc(&problem.workspace, workspace), "cudaMalloc")) ||
            !check(forward(&problem, NULL), path) || !check(cudaDeviceSynchronize(), path))
            return false;
        void *used[] = {(void *)problem.q, (void *)problem.k, (void *)problem.v, problem.o, problem.workspace};
        for (size_t i = 0; i < sizeof used / sizeof *used; i++)
            cudaFree(used[i]);
    }
    return true;
}

static bool drive_softmax(const char *path, softmax_function *forward, softmax_workspace_function *workspace_bytes) {
    for (size_t m = 0; m < sizeof matrices / sizeof *matrices; m++) {
        const size_t count = (size_t)matrices[m].rows * (size_t)matrices[m].columns;
        struct softmax_problem problem = {
            .in = device_numbers(count, 5, false),
            .out = device_numbers(count, 6, false),
            .rows = matrices[m].rows,
            .columns = matrices[m].columns,
        };
        const size_t workspace = workspace_bytes ? workspace_bytes(&problem) : 0;
        if (!problem.in || !problem.out ||
            (workspace > 0 && !check(cudaMalloc(&problem.workspace, workspace), "cudaMalloc")) ||
            !check(forward(&problem, NULL), path) || !check(cudaDeviceSynchronize(), path))
            return false;
        cudaFree((void *)problem.in);
        cudaFree(problem.out);
        cudaFree(problem.workspace);
    }
    return true;
}

int main(int argc, char **argv) {
    const enum drive drive = argc < 2                        ? PLAIN
                             : !strcmp(argv[1], "--filling") ? WITH_FILLING
                             : !strcmp(argv[1], "--bf16")    ? IN_BF16
                                                             : PLAIN;
    const int first = drive == PLAIN ? 1 : 2;
    bool ok = argc > first;
    for (int i = first; i < argc; i++) {
        void *library = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);
        if (!library) {
            fprintf(stderr, "truth-drive: %s\n", dlerror());
            return 2;
        }
        attention_function *attention = (attention_function *)dlsym(library, "attention_forward");
        softmax_function *softmax = (softmax_function *)dlsym(library, "softmax_forward");
        if (attention) {
            ok = drive_attention(argv[i], attention, dlsym(library, "attention_lesson"), drive) && ok;
        } else if (softmax) {
            ok = drive_softmax(argv[i], softmax,
                               (softmax_workspace_function *)dlsym(library, "softmax_workspace_bytes")) &&
                 ok;
        } else {
            fprintf(stderr, "truth-drive: %s exports neither attention_forward nor softmax_forward\n", argv[i]);
            ok = false;
        }
    }
    return ok ? 0 : 1;
}
