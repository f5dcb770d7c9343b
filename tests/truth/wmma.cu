// wmma: tiles are loaded from shared memory, multiplied and stored, in each shape, type and layout. The mapping of
// elements to lanes is undefined, so each form goes from memory to memory.
#include "forms.cuh"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>
#include <type_traits>

namespace wmma = nvcuda::wmma;
using wmma::col_major;
using wmma::row_major;

// Element i of an input, unchanged; for doubles, integers from -4 to 4.
template <typename T>
__device__ T number(const unsigned *words, int i) {
    if constexpr (std::is_same<T, double>::value) {
        return static_cast<double>((words[i % TRUTH_ELEMENTS] >> 3) % 9) - 4;
    } else {
        return reinterpret_cast<const T *>(words)[i % (TRUTH_ELEMENTS * 4 / sizeof(T))];
    }
}

// The leading dimension has 16 bytes of padding.
template <typename T>
__host__ __device__ constexpr int stride(int line) {
    return line + 16 / static_cast<int>(sizeof(T));
}

// The bytes of a tile, rounded up to the required alignment of 32 bytes.
template <typename T>
__host__ __device__ constexpr int room(int rows, int columns, bool by_rows) {
    const int elements = by_rows ? rows * stride<T>(columns) : columns * stride<T>(rows), unit = 32 / sizeof(T);
    return (elements + unit - 1) / unit * unit;
}

template <typename T>
__device__ void stage(T *tile, const unsigned *words, int first, int lines, int line) {
    for (int i = threadIdx.x % 32; i < lines * line; i += 32) {
        tile[i / line * stride<T>(line) + i % line] = number<T>(words, first + i);
    }
}

// One warp computes one tile: D = A B + C.
template <int M, int N, int K, typename PRECISION, typename T, typename SUM, typename A_LAYOUT, typename B_LAYOUT,
          bool D_BY_ROWS>
__global__ void tile(SUM *result, const unsigned *a, const unsigned *b, const unsigned *c) {
    constexpr bool A_ROWS = std::is_same<A_LAYOUT, row_major>::value, B_ROWS = std::is_same<B_LAYOUT, row_major>::value;
    __shared__ alignas(32) T a_smem[8][room<T>(M, K, A_ROWS)], b_smem[8][room<T>(K, N, B_ROWS)];
    __shared__ alignas(32) SUM c_smem[8][room<SUM>(M, N, D_BY_ROWS)];
    const int index = (blockIdx.x * blockDim.x + threadIdx.x) / 32, warp = threadIdx.x / 32;
    if (index >= TRUTH_ELEMENTS / (M * N)) {
        return;
    }
    wmma::fragment<wmma::matrix_a, M, N, K, PRECISION, A_LAYOUT> a_rmem;
    wmma::fragment<wmma::matrix_b, M, N, K, PRECISION, B_LAYOUT> b_rmem;
    wmma::fragment<wmma::accumulator, M, N, K, SUM> c_rmem;
    stage(a_smem[warp], a, index * M * K, A_ROWS ? M : K, A_ROWS ? K : M);
    stage(b_smem[warp], b, index * K * N, B_ROWS ? K : N, B_ROWS ? N : K);
    stage(c_smem[warp], c, index * M * N, D_BY_ROWS ? M : N, D_BY_ROWS ? N : M);
    __syncwarp();
    const wmma::layout_t order = D_BY_ROWS ? wmma::mem_row_major : wmma::mem_col_major;
    wmma::load_matrix_sync(a_rmem, a_smem[warp], stride<T>(A_ROWS ? K : M));
    wmma::load_matrix_sync(b_rmem, b_smem[warp], stride<T>(B_ROWS ? N : K));
    wmma::load_matrix_sync(c_rmem, c_smem[warp], stride<SUM>(D_BY_ROWS ? N : M), order);
    wmma::mma_sync(c_rmem, a_rmem, b_rmem, c_rmem);
    wmma::store_matrix_sync(result + index * M * N, c_rmem, D_BY_ROWS ? N : M, order);
}

enum { TIMES, AND, XOR };

// Sub-byte elements: A row-major, B column-major, with 16 bytes of padding.
template <int K, typename PRECISION, int HOW, bool D_BY_ROWS>
__global__ void narrow_tile(int *result, const unsigned *a, const unsigned *b, const int *c) {
    constexpr int BITS = K == 32 ? 4 : 1, LINE = K * BITS / 32, APART = LINE + 4;
    __shared__ alignas(32) unsigned a_smem[8][8 * APART], b_smem[8][8 * APART];
    const int index = (blockIdx.x * blockDim.x + threadIdx.x) / 32, warp = threadIdx.x / 32;
    if (index >= TRUTH_ELEMENTS / 64) {
        return;
    }
    for (int i = threadIdx.x % 32; i < 8 * LINE; i += 32) {
        a_smem[warp][i / LINE * APART + i % LINE] = a[index * 8 * LINE + i];
        b_smem[warp][i / LINE * APART + i % LINE] = b[index * 8 * LINE + i];
    }
    __syncwarp();
    wmma::fragment<wmma::matrix_a, 8, 8, K, PRECISION, row_major> a_rmem;
    wmma::fragment<wmma::matrix_b, 8, 8, K, PRECISION, col_major> b_rmem;
    wmma::fragment<wmma::accumulator, 8, 8, K, int> c_rmem;
    const wmma::layout_t order = D_BY_ROWS ? wmma::mem_row_major : wmma::mem_col_major;
    wmma::load_matrix_sync(a_rmem, a_smem[warp], APART * 32 / BITS);
    wmma::load_matrix_sync(b_rmem, b_smem[warp], APART * 32 / BITS);
    wmma::load_matrix_sync(c_rmem, c + index * 64, 8, order);
    if constexpr (HOW == TIMES) {
        wmma::mma_sync(c_rmem, a_rmem, b_rmem, c_rmem);
    } else {
        wmma::bmma_sync(c_rmem, a_rmem, b_rmem, c_rmem,
                        HOW == AND ? wmma::experimental::bmmaBitOpAND : wmma::experimental::bmmaBitOpXOR);
    }
    wmma::store_matrix_sync(result + index * 64, c_rmem, 8, order);
}

// As in matrix.cu: at most 17 terms of magnitude 1; each addition truncates at a magnitude under 32.
#define FP32_SUM (17 * 0x1p-19)
#define FP16_SUM 0x1p-6

#define FORM(name, kernel, R, A, C, comparison, bound)                                                                 \
    {                                                                                                                  \
        "wmma_" name, (const void *)kernel, TRUTH_##R, {TRUTH_##A, TRUTH_##A, TRUTH_##C}, TRUTH_##comparison, bound,   \
            nullptr                                                                                                    \
    }
#define EXACT_ONE(name, A, ...) FORM(name "_exact", (tile<__VA_ARGS__>), F32, SMALL_##A, SMALL_F32, EXACT, 0)
#define BOTH(name, A, ...)                                                                                             \
    EXACT_ONE(name, A, __VA_ARGS__), FORM(name "_random", (tile<__VA_ARGS__>), F32, UNIT_##A, UNIT_F32, NEAR, FP32_SUM)
#define EXACT_F16(name, ...) FORM(name "_exact", (tile<__VA_ARGS__>), F16X2, SMALL_F16X2, SMALL_F16X2, EXACT, 0)
#define BOTH_F16(name, ...)                                                                                            \
    EXACT_F16(name, __VA_ARGS__),                                                                                      \
        FORM(name "_random", (tile<__VA_ARGS__>), F16X2, UNIT_F16X2, UNIT_F16X2, NEAR, FP16_SUM)
#define INTEGERS(name, ...) FORM(name, (tile<__VA_ARGS__>), I32, I32, I32, EXACT, 0)
#define NARROW(name, ...) FORM(name, (narrow_tile<__VA_ARGS__>), I32, I32, I32, EXACT, 0)
#define HALF __half, __half, float
#define HALF_SUM __half, __half, __half
#define BFLOAT __nv_bfloat16, __nv_bfloat16, float
#define TF32 wmma::precision::tf32, float, float
#define S8 signed char, signed char, int
#define U8 unsigned char, unsigned char, int

extern "C" const struct truth_form truth_wmma[] = {
    EXACT_ONE("f16_row_row", F16X2, 16, 16, 16, HALF, row_major, row_major, true),
    BOTH("f16_row_col", F16X2, 16, 16, 16, HALF, row_major, col_major, true),
    EXACT_ONE("f16_col_row", F16X2, 16, 16, 16, HALF, col_major, row_major, false),
    EXACT_ONE("f16_col_col", F16X2, 16, 16, 16, HALF, col_major, col_major, false),
    EXACT_ONE("f16_32x8_row_col", F16X2, 32, 8, 16, HALF, row_major, col_major, true),
    EXACT_ONE("f16_32x8_col_row", F16X2, 32, 8, 16, HALF, col_major, row_major, false),
    EXACT_ONE("f16_8x32_row_col", F16X2, 8, 32, 16, HALF, row_major, col_major, false),
    EXACT_ONE("f16_8x32_col_row", F16X2, 8, 32, 16, HALF, col_major, row_major, true),
    BOTH_F16("f16_sum_row_col", 16, 16, 16, HALF_SUM, row_major, col_major, true),
    EXACT_F16("f16_sum_col_row", 16, 16, 16, HALF_SUM, col_major, row_major, false),
    EXACT_F16("f16_sum_32x8", 32, 8, 16, HALF_SUM, row_major, col_major, false),
    EXACT_F16("f16_sum_8x32", 8, 32, 16, HALF_SUM, col_major, col_major, true),
    BOTH("bf16_row_col", BF16X2, 16, 16, 16, BFLOAT, row_major, col_major, true),
    EXACT_ONE("bf16_col_row", BF16X2, 16, 16, 16, BFLOAT, col_major, row_major, false),
    EXACT_ONE("bf16_32x8", BF16X2, 32, 8, 16, BFLOAT, row_major, row_major, true),
    EXACT_ONE("bf16_8x32", BF16X2, 8, 32, 16, BFLOAT, col_major, col_major, false),
    BOTH("tf32_row_col", F32, 16, 16, 8, TF32, row_major, col_major, true),
    EXACT_ONE("tf32_col_row", F32, 16, 16, 8, TF32, col_major, row_major, false),
    INTEGERS("s8_row_col", 16, 16, 16, S8, row_major, col_major, true),
    INTEGERS("s8_col_row", 16, 16, 16, S8, col_major, row_major, false),
    INTEGERS("s8_32x8", 32, 8, 16, S8, row_major, row_major, true),
    INTEGERS("s8_8x32", 8, 32, 16, S8, col_major, col_major, false),
    INTEGERS("u8_row_col", 16, 16, 16, U8, row_major, col_major, false),
    INTEGERS("u8_32x8", 32, 8, 16, U8, col_major, row_major, true),
    INTEGERS("u8_8x32", 8, 32, 16, U8, row_major, col_major, true),
    NARROW("s4", 32, wmma::experimental::precision::s4, TIMES, true),
    NARROW("u4", 32, wmma::experimental::precision::u4, TIMES, false),
    NARROW("b1_and", 128, wmma::experimental::precision::b1, AND, true),
    NARROW("b1_xor", 128, wmma::experimental::precision::b1, XOR, false),
    FORM("f64_row_col", (tile<8, 8, 4, double, double, double, row_major, col_major, true>), F64, I32, I32, EXACT, 0),
    FORM("f64_col_row", (tile<8, 8, 4, double, double, double, col_major, row_major, false>), F64, I32, I32, EXACT, 0),
    {},
};
