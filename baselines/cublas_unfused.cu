// The baseline of the ladder: attention as three library-sized steps, S = softmax_scale Q K^T, P = softmax(S), O = P V.
// cuBLAS computes the two GEMMs; the softmax between them reads and writes the scores once (lesson 03, first part). The
// cost: the scores, nq x nk per head, go to device memory and back.
//
// cuBLAS is loaded at run time, so that this file compiles without its headers and library.
#include "attention.h"
#include "float4.cuh"
#include "reduce.cuh"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

// From cublas_api.h, which not every toolkit installs.
enum { CUBLAS_STATUS_SUCCESS = 0, CUBLAS_STATUS_ALLOC_FAILED = 3, CUBLAS_STATUS_NOT_SUPPORTED = 15 };
enum { CUBLAS_OP_N = 0, CUBLAS_OP_T = 1 };
// fp32 GEMMs with fp32 accumulation; TF32 needs another mode. The pedantic mode is not more accurate and excludes fast
// kernels.
enum { CUBLAS_DEFAULT_MATH = 0 };

struct Cublas {
    const char *missing; // one line on what is missing; NULL: nothing
    int (*create)(void **handle);
    int (*set_stream)(void *handle, cudaStream_t stream);
    int (*set_math_mode)(void *handle, int mode);
    int (*sgemm_strided_batched)(void *handle, int op_a, int op_b, int m, int n, int k, const float *alpha,
                                 const float *a, int lda, long long stride_a, const float *b, int ldb,
                                 long long stride_b, const float *beta, float *c, int ldc, long long stride_c,
                                 int count);
};

// Searches the folder of the runtime library first, where toolkits and wheels install both, then the loader's path.
static void *open_cublas() {
#ifdef CUBLAS_STAND_IN // the tests' fake cuBLAS, which runs on the simulator
    return dlopen(CUBLAS_STAND_IN, RTLD_NOW | RTLD_LOCAL);
#else
    static const char *const names[] = {"libcublas.so.13", "libcublas.so.12"};
    Dl_info runtime = {};
    if (!dladdr((const void *)cudaGetDeviceCount, &runtime) || !runtime.dli_fname)
        runtime.dli_fname = "";
    const char *slash = strrchr(runtime.dli_fname, '/');
    for (const char *name : names) {
        char path[4096];
        const int folder = slash ? (int)(slash - runtime.dli_fname) + 1 : 0;
        snprintf(path, sizeof path, "%.*s%s", folder, runtime.dli_fname, name);
        void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        library = library ? library : dlopen(name, RTLD_NOW | RTLD_LOCAL);
        if (library)
            return library;
    }
    return nullptr;
#endif
}

static Cublas load_cublas() {
    Cublas cublas = {};
#ifndef CUBLAS_STAND_IN
    if (dlsym(RTLD_DEFAULT, "simulator_findings")) {
        cublas.missing = "cuBLAS runs on a GPU only, and this is the simulator: DEVICE=gpu chooses a GPU";
        return cublas;
    }
#endif
    void *library = open_cublas();
    if (!library) {
        cublas.missing = "libcublas is not installed (libcublas.so.13 or .12): it comes with the CUDA Toolkit";
        return cublas;
    }
    *(void **)&cublas.create = dlsym(library, "cublasCreate_v2");
    *(void **)&cublas.set_stream = dlsym(library, "cublasSetStream_v2");
    *(void **)&cublas.set_math_mode = dlsym(library, "cublasSetMathMode");
    *(void **)&cublas.sgemm_strided_batched = dlsym(library, "cublasSgemmStridedBatched");
    if (!cublas.create || !cublas.set_stream || !cublas.set_math_mode || !cublas.sgemm_strided_batched)
        cublas.missing = "libcublas lacks a function that this needs: install the one of the CUDA Toolkit in use";
    return cublas;
}

static const Cublas &the_cublas() {
    static const Cublas cublas = load_cublas();
    return cublas;
}

static const char *unavailable() {
    return the_cublas().missing;
}

static cudaError_t to_cuda(int status) {
    return status == CUBLAS_STATUS_SUCCESS         ? cudaSuccess
           : status == CUBLAS_STATUS_ALLOC_FAILED  ? cudaErrorMemoryAllocation
           : status == CUBLAS_STATUS_NOT_SUPPORTED ? cudaErrorNotSupported
                                                   : cudaErrorUnknown;
}

// ---- The softmax between the GEMMs ---------------------------------------------------------------------------------

constexpr int MAX_THREADS = 1024;
constexpr int MAX_WARPS = MAX_THREADS / WARP_SIZE;
constexpr int MAX_FLOAT4S = 8; // per thread
constexpr int MAX_REGISTER_COLUMNS = MAX_THREADS * MAX_FLOAT4S * 4;
constexpr int NO_CAUSAL_LIMIT = 1 << 30;

// The queries of one step, of each of its heads. Query i attends to keys 0 .. i + causal_offset.
struct Rows {
    int first_query, queries, nk, causal_offset;
};

__device__ inline int end_key_of_row(const Rows &rows, int64_t row) {
    return min(rows.nk, max(0, rows.first_query + (int)(row % rows.queries) + rows.causal_offset + 1));
}

// Replaces S by P, in place, for rows of up to 4 * FLOAT4S * blockDim.x keys. Grid: one block per row.
template <bool VECTORIZED, int FLOAT4S>
__global__ void __launch_bounds__(MAX_THREADS) row_softmax(float *S /* [heads][queries][nk] */, Rows rows) {
    __shared__ float max_smem[MAX_WARPS], sum_smem[MAX_WARPS];
    float *row = S + (int64_t)blockIdx.x * rows.nk; // [nk]
    const int end_key = end_key_of_row(rows, blockIdx.x);

    float4 x[FLOAT4S];
    float max = -INFINITY, sum = 0.0f;
    for (int i = 0; i < FLOAT4S; i++) {
        const int key = 4 * (threadIdx.x + i * blockDim.x);
        x[i] = make_float4(-INFINITY, -INFINITY, -INFINITY, -INFINITY);
        if (key < end_key) {
            x[i] = load_float4<VECTORIZED>(row, key, rows.nk, -INFINITY);
            x[i].y = key + 1 < end_key ? x[i].y : -INFINITY;
            x[i].z = key + 2 < end_key ? x[i].z : -INFINITY;
            x[i].w = key + 3 < end_key ? x[i].w : -INFINITY;
        }
        max = fmaxf(max, fmaxf(fmaxf(x[i].x, x[i].y), fmaxf(x[i].z, x[i].w)));
    }
    // A fully masked row is 0.
    max = block_max(max, max_smem);
    max = end_key ? max : 0.0f;
    for (int i = 0; i < FLOAT4S; i++) {
        x[i] = make_float4(expf(x[i].x - max), expf(x[i].y - max), expf(x[i].z - max), expf(x[i].w - max));
        sum += x[i].x + x[i].y + x[i].z + x[i].w;
    }
    sum = block_sum(sum, sum_smem);
    const float inverse = end_key ? 1.0f / sum : 0.0f;
    for (int i = 0; i < FLOAT4S; i++) {
        const int key = 4 * (threadIdx.x + i * blockDim.x);
        if (key < rows.nk)
            store_float4<VECTORIZED>(row, key, rows.nk, scaled(inverse, x[i]));
    }
}

// The same for rows that do not fit in a block's registers.
__global__ void __launch_bounds__(MAX_THREADS) long_row_softmax(float *S /* [heads][queries][nk] */, Rows rows) {
    __shared__ float max_smem[MAX_WARPS], sum_smem[MAX_WARPS];
    float *row = S + (int64_t)blockIdx.x * rows.nk; // [nk]
    const int end_key = end_key_of_row(rows, blockIdx.x);

    float max = -INFINITY, sum = 0.0f;
    for (int key = threadIdx.x; key < end_key; key += blockDim.x)
        max = fmaxf(max, row[key]);
    max = block_max(max, max_smem);
    for (int key = threadIdx.x; key < end_key; key += blockDim.x)
        sum += expf(row[key] - max);
    sum = block_sum(sum, sum_smem);
    for (int key = threadIdx.x; key < rows.nk; key += blockDim.x)
        row[key] = key < end_key ? expf(row[key] - max) / sum : 0.0f;
}

template <int FLOAT4S>
static void launch_softmax(float *S, int64_t count, const Rows &rows, cudaStream_t stream) {
    const int float4s = (rows.nk + 3) / 4;
    const int warps = (float4s + FLOAT4S * WARP_SIZE - 1) / (FLOAT4S * WARP_SIZE);
    const auto kernel = rows_are_float4(S, rows.nk) ? row_softmax<true, FLOAT4S> : row_softmax<false, FLOAT4S>;
    kernel<<<(unsigned)count, warps * WARP_SIZE, 0, stream>>>(S, rows);
}

static cudaError_t softmax(float *S, int64_t count, const Rows &rows, cudaStream_t stream) {
    if (rows.nk <= 512)
        launch_softmax<1>(S, count, rows, stream);
    else if (rows.nk <= 2048)
        launch_softmax<2>(S, count, rows, stream);
    else if (rows.nk <= 16384)
        launch_softmax<4>(S, count, rows, stream);
    else if (rows.nk <= MAX_REGISTER_COLUMNS)
        launch_softmax<MAX_FLOAT4S>(S, count, rows, stream);
    else
        long_row_softmax<<<(unsigned)count, MAX_THREADS, 0, stream>>>(S, rows);
    return cudaGetLastError();
}

// ---- In steps, so that the scores take limited memory --------------------------------------------------------------

// Bytes: 16 heads of 4096 x 4096.
#ifndef SCORES_LIMIT
#define SCORES_LIMIT ((size_t)1 << 30)
#endif
constexpr int MAX_HEADS = 65535; // per batched GEMM

struct Step {
    int heads, queries;
};

static Step step_size(const struct attention_problem *p) {
    const int64_t rows = (int64_t)(SCORES_LIMIT / sizeof(float)) / p->nk;
    const int64_t heads = (int64_t)p->batch * p->heads;
    Step step = {1, p->nq};
    if (rows < p->nq)
        step.queries = rows < 1 ? 1 : (int)rows;
    else
        step.heads = (int)(rows / p->nq < heads ? rows / p->nq : heads);
    step.heads = step.heads < MAX_HEADS ? step.heads : MAX_HEADS;
    return step;
}

static size_t workspace_bytes(const struct attention_problem *p) {
    const Step step = step_size(p);
    return (size_t)step.heads * step.queries * p->nk * sizeof(float);
}

// cuBLAS matrices are column-major, so it computes the transposes, S^T = K Q^T and O^T = V^T P^T.
static cudaError_t run_step(void *handle, const struct attention_problem *p, int64_t head, int heads, int query,
                            int queries, cudaStream_t stream) {
    const int d = p->head_dim, nk = p->nk;
    const float zero = 0.0f, one = 1.0f;
    const float *q = (const float *)p->q + (head * p->nq + query) * d; // [heads][nq][head_dim], the step's queries
    const float *k = (const float *)p->k + head * nk * d;              // [heads][nk][head_dim]
    const float *v = (const float *)p->v + head * nk * d;              // [heads][nk][head_dim]
    float *o = (float *)p->o + (head * p->nq + query) * d;             // [heads][nq][head_dim], the step's queries
    float *S = (float *)p->workspace;                                  // [heads][queries][nk]
    const long long q_head = (long long)p->nq * d, k_head = (long long)nk * d, s_head = (long long)queries * nk;
    const Rows rows = {query, queries, nk, p->causal ? nk - p->nq : NO_CAUSAL_LIMIT};
    const auto gemm = the_cublas().sgemm_strided_batched;

    cudaError_t error = to_cuda(gemm(handle, CUBLAS_OP_T, CUBLAS_OP_N, nk, queries, d, &p->softmax_scale, k, d, k_head,
                                     q, d, q_head, &zero, S, nk, s_head, heads));
    if (error == cudaSuccess)
        error = softmax(S, (int64_t)heads * queries, rows, stream);
    if (error == cudaSuccess)
        error = to_cuda(gemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, d, queries, nk, &one, v, d, k_head, S, nk, s_head, &zero,
                             o, d, q_head, heads));
    return error;
}

const struct attention_lesson attention_lesson = {
    .dtypes = 1u << ATTENTION_FP32,
    .max_head_dim = 512,
    .causal = 1,
    .lse = 0,
    .strided = 0,
    .grouped_heads = 0,
    .min_compute_capability = 75,
    .workspace_bytes = workspace_bytes,
    .shared_bytes = NULL,
    .unavailable = unavailable,
};

cudaError_t attention_forward(const struct attention_problem *p, cudaStream_t stream) {
    static void *handle; // one for the process: making it allocates memory and waits for the device
    const Cublas &cublas = the_cublas();
    if (cublas.missing)
        return cudaErrorSharedObjectInitFailed;
    if (!handle) {
        cudaError_t error = to_cuda(cublas.create(&handle));
        if (error == cudaSuccess)
            error = to_cuda(cublas.set_math_mode(handle, CUBLAS_DEFAULT_MATH));
        if (error != cudaSuccess)
            return error;
    }
    cudaError_t error = to_cuda(cublas.set_stream(handle, stream));
    const Step step = step_size(p);
    const int64_t all = (int64_t)p->batch * p->heads;
    for (int64_t head = 0; head < all; head += step.heads)
        for (int64_t query = 0; query < p->nq && error == cudaSuccess; query += step.queries) {
            const int heads = (int)(all - head < step.heads ? all - head : step.heads);
            const int queries = (int)(p->nq - query < step.queries ? p->nq - query : step.queries);
            error = run_step(handle, p, head, heads, (int)query, queries, stream);
        }
    return error;
}
