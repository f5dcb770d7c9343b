// GEMM on tensor cores through nvcuda::wmma: fp16 with fp32 and fp16 accumulators, bf16 and tf32, in every layout.
#include "program.cuh"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

namespace wmma = nvcuda::wmma;

// d = scale a b + c of one tile; A is m x k, B is k x n, C and D are m x n, row-major.
template <int M, int N, int K, typename T, typename SUM, typename A_LAYOUT, typename B_LAYOUT, typename ELEMENT>
__global__ void multiply(const ELEMENT *a, const ELEMENT *b, const SUM *c, SUM *d, SUM scale) {
    wmma::fragment<wmma::matrix_a, M, N, K, T, A_LAYOUT> a_rmem;
    wmma::fragment<wmma::matrix_b, M, N, K, T, B_LAYOUT> b_rmem;
    wmma::fragment<wmma::accumulator, M, N, K, SUM> c_rmem, d_rmem;
    const bool a_rows = std::is_same<A_LAYOUT, wmma::row_major>::value;
    const bool b_rows = std::is_same<B_LAYOUT, wmma::row_major>::value;
    __shared__ alignas(32) ELEMENT a_smem[M * K];
    for (int i = threadIdx.x; i < M * K; i += 32)
        a_smem[i] = a[i];
    __syncwarp();
    wmma::load_matrix_sync(a_rmem, a_smem, a_rows ? K : M);
    wmma::load_matrix_sync(b_rmem, b, b_rows ? N : K);
    wmma::load_matrix_sync(c_rmem, c, N, wmma::mem_row_major);
    wmma::fill_fragment(d_rmem, (SUM)0.0f);
    wmma::mma_sync(d_rmem, a_rmem, b_rmem, d_rmem);
    for (int i = 0; i < d_rmem.num_elements; i++)
        d_rmem.x[i] = scale * d_rmem.x[i] + c_rmem.x[i];
    wmma::store_matrix_sync(d, d_rmem, M, wmma::mem_col_major);
}

template <int M, int N, int K, typename T, typename SUM, typename A_LAYOUT, typename B_LAYOUT, typename ELEMENT = T>
static void multiplies() {
    std::vector<float> x = whole_numbers(M * K, 7), y = whole_numbers(K * N, 5), z = whole_numbers(M * N, 9);
    const bool a_rows = std::is_same<A_LAYOUT, wmma::row_major>::value;
    const bool b_rows = std::is_same<B_LAYOUT, wmma::row_major>::value;
    std::vector<ELEMENT> a(M * K), b(K * N);
    std::vector<SUM> c(M * N);
    for (int i = 0; i < M; i++)
        for (int k = 0; k < K; k++)
            a[a_rows ? i * K + k : k * M + i] = (ELEMENT)(x[i * K + k] - 3);
    for (int k = 0; k < K; k++)
        for (int j = 0; j < N; j++)
            b[b_rows ? k * N + j : j * K + k] = (ELEMENT)(y[k * N + j] - 2);
    for (int i = 0; i < M * N; i++)
        c[i] = (SUM)z[i];
    SUM *d = zeros<SUM>(M * N);
    multiply<M, N, K, T, SUM, A_LAYOUT, B_LAYOUT, ELEMENT>
        <<<1, 32>>>(to_device(a), to_device(b), to_device(c), d, (SUM)2.0f);
    const std::vector<SUM> result = to_host(d, M * N);
    for (int i = 0; i < M; i++) {
        for (int j = 0; j < N; j++) {
            float sum = 0;
            for (int k = 0; k < K; k++)
                sum += (x[i * K + k] - 3) * (y[k * N + j] - 2);
            EXPECT((float)result[j * M + i] == 2 * sum + z[i * N + j]);
        }
    }
}

int main() {
    using wmma::col_major;
    using wmma::row_major;
    multiplies<16, 16, 16, __half, float, row_major, row_major>();
    multiplies<16, 16, 16, __half, float, col_major, row_major>();
    multiplies<32, 8, 16, __half, float, row_major, col_major>();
    multiplies<8, 32, 16, __half, __half, col_major, col_major>();
    multiplies<16, 16, 16, __nv_bfloat16, float, row_major, col_major>();
    multiplies<16, 16, 8, wmma::precision::tf32, float, row_major, col_major, float>();
    multiplies<16, 16, 16, signed char, int, row_major, col_major>();
    multiplies<32, 8, 16, signed char, int, col_major, row_major>();
    multiplies<8, 8, 4, double, double, row_major, col_major>();
    return 0;
}
