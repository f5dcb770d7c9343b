// ldmatrix, stmatrix and mma.sync. Fragments are loaded from the inputs unchanged, so that a permutation of lanes or
// registers changes the result.
#include "products.cuh"

#define SHARED_ADDRESS(p) static_cast<unsigned>(__cvta_generic_to_shared(p))

// A in four registers per lane, B in two: m16n8k16 with 16-bit elements, m16n8k8 with tf32.
#define MMA_WIDE_F32(name, instruction)                                                                                \
    __global__ void name(float *result, const unsigned *a, const unsigned *b, const float *c) {                        \
        RETURN_PAST(4)                                                                                                 \
        const unsigned *fragment_a = a + 4 * INDEX, *fragment_b = b + 2 * INDEX;                                       \
        const float *fragment_c = c + 4 * INDEX;                                                                       \
        float d0, d1, d2, d3;                                                                                          \
        asm volatile(instruction " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"                \
                     : "=f"(d0), "=f"(d1), "=f"(d2), "=f"(d3)                                                          \
                     : "r"(fragment_a[0]), "r"(fragment_a[1]), "r"(fragment_a[2]), "r"(fragment_a[3]),                 \
                       "r"(fragment_b[0]), "r"(fragment_b[1]), "f"(fragment_c[0]), "f"(fragment_c[1]),                 \
                       "f"(fragment_c[2]), "f"(fragment_c[3]));                                                        \
        float *row = result + 4 * INDEX;                                                                               \
        row[0] = d0, row[1] = d1, row[2] = d2, row[3] = d3;                                                            \
    }

// A in two registers per lane, B in one: m16n8k8 with 16-bit elements, m16n8k4 with tf32.
#define MMA_NARROW_F32(name, instruction)                                                                              \
    __global__ void name(float *result, const unsigned *a, const unsigned *b, const float *c) {                        \
        RETURN_PAST(4)                                                                                                 \
        const float *fragment_c = c + 4 * INDEX;                                                                       \
        float d0, d1, d2, d3;                                                                                          \
        asm volatile(instruction " {%0, %1, %2, %3}, {%4, %5}, {%6}, {%7, %8, %9, %10};"                               \
                     : "=f"(d0), "=f"(d1), "=f"(d2), "=f"(d3)                                                          \
                     : "r"(a[2 * INDEX]), "r"(a[2 * INDEX + 1]), "r"(b[INDEX]), "f"(fragment_c[0]),                    \
                       "f"(fragment_c[1]), "f"(fragment_c[2]), "f"(fragment_c[3]));                                    \
        float *row = result + 4 * INDEX;                                                                               \
        row[0] = d0, row[1] = d1, row[2] = d2, row[3] = d3;                                                            \
    }

#define MMA_WIDE_F16(name, instruction)                                                                                \
    __global__ void name(unsigned *result, const unsigned *a, const unsigned *b, const unsigned *c) {                  \
        RETURN_PAST(4)                                                                                                 \
        const unsigned *fragment_a = a + 4 * INDEX, *fragment_b = b + 2 * INDEX, *fragment_c = c + 2 * INDEX;          \
        unsigned d0, d1;                                                                                               \
        asm volatile(instruction " {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%8, %9};"                                    \
                     : "=r"(d0), "=r"(d1)                                                                              \
                     : "r"(fragment_a[0]), "r"(fragment_a[1]), "r"(fragment_a[2]), "r"(fragment_a[3]),                 \
                       "r"(fragment_b[0]), "r"(fragment_b[1]), "r"(fragment_c[0]), "r"(fragment_c[1]));                \
        result[2 * INDEX] = d0, result[2 * INDEX + 1] = d1;                                                            \
    }

#define MMA_NARROW_F16(name, instruction)                                                                              \
    __global__ void name(unsigned *result, const unsigned *a, const unsigned *b, const unsigned *c) {                  \
        RETURN_PAST(4)                                                                                                 \
        unsigned d0, d1;                                                                                               \
        asm volatile(instruction " {%0, %1}, {%2, %3}, {%4}, {%5, %6};"                                                \
                     : "=r"(d0), "=r"(d1)                                                                              \
                     : "r"(a[2 * INDEX]), "r"(a[2 * INDEX + 1]), "r"(b[INDEX]), "r"(c[2 * INDEX]),                     \
                       "r"(c[2 * INDEX + 1]));                                                                         \
        result[2 * INDEX] = d0, result[2 * INDEX + 1] = d1;                                                            \
    }

// 8-bit, 4-bit or 1-bit elements: A in four registers per lane and B in two; or two and one; or one each.
#define MMA_BYTES(name, instruction)                                                                                   \
    __global__ void name(int *result, const unsigned *a, const unsigned *b, const int *c) {                            \
        RETURN_PAST(4)                                                                                                 \
        const unsigned *fragment_a = a + 4 * INDEX, *fragment_b = b + 2 * INDEX;                                       \
        const int *fragment_c = c + 4 * INDEX;                                                                         \
        int d0, d1, d2, d3;                                                                                            \
        asm volatile(instruction " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"                \
                     : "=r"(d0), "=r"(d1), "=r"(d2), "=r"(d3)                                                          \
                     : "r"(fragment_a[0]), "r"(fragment_a[1]), "r"(fragment_a[2]), "r"(fragment_a[3]),                 \
                       "r"(fragment_b[0]), "r"(fragment_b[1]), "r"(fragment_c[0]), "r"(fragment_c[1]),                 \
                       "r"(fragment_c[2]), "r"(fragment_c[3]));                                                        \
        int *row = result + 4 * INDEX;                                                                                 \
        row[0] = d0, row[1] = d1, row[2] = d2, row[3] = d3;                                                            \
    }
#define MMA_BYTES_NARROW(name, instruction)                                                                            \
    __global__ void name(int *result, const unsigned *a, const unsigned *b, const int *c) {                            \
        RETURN_PAST(4)                                                                                                 \
        const int *fragment_c = c + 4 * INDEX;                                                                         \
        int d0, d1, d2, d3;                                                                                            \
        asm volatile(instruction " {%0, %1, %2, %3}, {%4, %5}, {%6}, {%7, %8, %9, %10};"                               \
                     : "=r"(d0), "=r"(d1), "=r"(d2), "=r"(d3)                                                          \
                     : "r"(a[2 * INDEX]), "r"(a[2 * INDEX + 1]), "r"(b[INDEX]), "r"(fragment_c[0]),                    \
                       "r"(fragment_c[1]), "r"(fragment_c[2]), "r"(fragment_c[3]));                                    \
        int *row = result + 4 * INDEX;                                                                                 \
        row[0] = d0, row[1] = d1, row[2] = d2, row[3] = d3;                                                            \
    }

#define MMA_LEAST(name, instruction)                                                                                   \
    __global__ void name(int *result, const unsigned *a, const unsigned *b, const int *c) {                            \
        RETURN_PAST(2)                                                                                                 \
        int d0, d1;                                                                                                    \
        asm volatile(instruction " {%0, %1}, {%2}, {%3}, {%4, %5};"                                                    \
                     : "=r"(d0), "=r"(d1)                                                                              \
                     : "r"(a[INDEX]), "r"(b[INDEX]), "r"(c[2 * INDEX]), "r"(c[2 * INDEX + 1]));                        \
        result[2 * INDEX] = d0, result[2 * INDEX + 1] = d1;                                                            \
    }

// Converts four neighbouring elements to fp8.
__device__ inline unsigned four_e4m3(const float *from, unsigned first) {
    unsigned short low, high;
    const float x[4] = {from[first % TRUTH_ELEMENTS], from[(first + 1) % TRUTH_ELEMENTS],
                        from[(first + 2) % TRUTH_ELEMENTS], from[(first + 3) % TRUTH_ELEMENTS]};
    asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(low) : "f"(x[1]), "f"(x[0]));
    asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(high) : "f"(x[3]), "f"(x[2]));
    return low | (unsigned)high << 16;
}

__global__ void mma_m16n8k32_f32_e4m3(float *result, const float *a, const float *b, const float *c) {
    RETURN_PAST(4)
    const float *fragment_c = c + 4 * INDEX;
    float d0, d1, d2, d3;
    asm volatile("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%10, %11, %12, %13};"
                 : "=f"(d0), "=f"(d1), "=f"(d2), "=f"(d3)
                 : "r"(four_e4m3(a, 4 * INDEX)), "r"(four_e4m3(a, 4 * INDEX + 1)), "r"(four_e4m3(a, 4 * INDEX + 2)),
                   "r"(four_e4m3(a, 4 * INDEX + 3)), "r"(four_e4m3(b, 2 * INDEX)), "r"(four_e4m3(b, 2 * INDEX + 1)),
                   "f"(fragment_c[0]), "f"(fragment_c[1]), "f"(fragment_c[2]), "f"(fragment_c[3]));
    float *row = result + 4 * INDEX;
    row[0] = d0, row[1] = d1, row[2] = d2, row[3] = d3;
}

// fp64: a chain of fma in the order of k.
__global__ void mma_m8n8k4_f64(double *result, const double *a, const double *b, const double *c) {
    RETURN_PAST(2)
    double d0, d1;
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%4, %5};"
                 : "=d"(d0), "=d"(d1)
                 : "d"(a[INDEX]), "d"(b[INDEX]), "d"(c[2 * INDEX]), "d"(c[2 * INDEX + 1]));
    result[2 * INDEX] = d0, result[2 * INDEX + 1] = d1;
}

// The row whose address a lane provides: a permutation that moves every matrix and every row.
#define SCATTERED_ROW(lane) ((lane)*13 % 32)

#define LDMATRIX(name, instruction)                                                                                    \
    __global__ void name(unsigned *result, const unsigned *a, const unsigned *, const unsigned *) {                    \
        __shared__ alignas(16) unsigned rows[TRUTH_BLOCK / 32][32][4];                                                 \
        RETURN_PAST(4)                                                                                                 \
        const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;                                               \
        for (int i = 0; i < 4; i++) {                                                                                  \
            rows[warp][lane][i] = a[4 * INDEX + i];                                                                    \
        }                                                                                                              \
        __syncwarp();                                                                                                  \
        unsigned r[4] = {1, 2, 3, 4};                                                                                  \
        const unsigned address = SHARED_ADDRESS(rows[warp][SCATTERED_ROW(lane)]);                                      \
        instruction;                                                                                                   \
        for (int i = 0; i < 4; i++) {                                                                                  \
            result[4 * INDEX + i] = r[i];                                                                              \
        }                                                                                                              \
    }

#define LDMATRIX_1(suffix)                                                                                             \
    asm volatile("ldmatrix.sync.aligned.m8n8.x1" suffix ".shared.b16 {%0}, [%1];" : "=r"(r[0]) : "r"(address))
#define LDMATRIX_2(suffix)                                                                                             \
    asm volatile("ldmatrix.sync.aligned.m8n8.x2" suffix ".shared.b16 {%0, %1}, [%2];"                                  \
                 : "=r"(r[0]), "=r"(r[1])                                                                              \
                 : "r"(address))
#define LDMATRIX_4(suffix)                                                                                             \
    asm volatile("ldmatrix.sync.aligned.m8n8.x4" suffix ".shared.b16 {%0, %1, %2, %3}, [%4];"                          \
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])                                                      \
                 : "r"(address))

#define STMATRIX(name, instruction)                                                                                    \
    __global__ void name(unsigned *result, const unsigned *a, const unsigned *, const unsigned *) {                    \
        __shared__ alignas(16) unsigned rows[TRUTH_BLOCK / 32][32][4];                                                 \
        RETURN_PAST(4)                                                                                                 \
        const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;                                               \
        for (int i = 0; i < 4; i++) {                                                                                  \
            rows[warp][lane][i] = i;                                                                                   \
        }                                                                                                              \
        __syncwarp();                                                                                                  \
        const unsigned *r = a + 4 * INDEX;                                                                             \
        const unsigned address = SHARED_ADDRESS(rows[warp][SCATTERED_ROW(lane)]);                                      \
        instruction;                                                                                                   \
        __syncwarp();                                                                                                  \
        for (int i = 0; i < 4; i++) {                                                                                  \
            result[4 * INDEX + i] = rows[warp][lane][i];                                                               \
        }                                                                                                              \
    }

#define STMATRIX_1(suffix)                                                                                             \
    asm volatile("stmatrix.sync.aligned.m8n8.x1" suffix ".shared.b16 [%0], {%1};" ::"r"(address), "r"(r[0])            \
                 : "memor"                                                                                             \
                   "y")
#define STMATRIX_2(suffix)                                                                                             \
    asm volatile("stmatrix.sync.aligned.m8n8.x2" suffix ".shared.b16 [%0], {%1, %2};" ::"r"(address), "r"(r[0]),       \
                 "r"(r[1])                                                                                             \
                 : "memory")
#define STMATRIX_4(suffix)                                                                                             \
    asm volatile("stmatrix.sync.aligned.m8n8.x4" suffix ".shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(address),          \
                 "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3])                                                            \
                 : "memory")

#define MMA "mma.sync.aligned."

MMA_WIDE_F32(mma_m16n8k16_f32_bf16, MMA "m16n8k16.row.col.f32.bf16.bf16.f32")
MMA_WIDE_F32(mma_m16n8k16_f32_f16, MMA "m16n8k16.row.col.f32.f16.f16.f32")
MMA_WIDE_F32(mma_m16n8k8_f32_tf32, MMA "m16n8k8.row.col.f32.tf32.tf32.f32")
MMA_NARROW_F32(mma_m16n8k8_f32_bf16, MMA "m16n8k8.row.col.f32.bf16.bf16.f32")
MMA_NARROW_F32(mma_m16n8k8_f32_f16, MMA "m16n8k8.row.col.f32.f16.f16.f32")
MMA_NARROW_F32(mma_m16n8k4_f32_tf32, MMA "m16n8k4.row.col.f32.tf32.tf32.f32")
MMA_WIDE_F16(mma_m16n8k16_f16_f16, MMA "m16n8k16.row.col.f16.f16.f16.f16")
MMA_NARROW_F16(mma_m16n8k8_f16_f16, MMA "m16n8k8.row.col.f16.f16.f16.f16")
MMA_BYTES(mma_m16n8k32_s8_s8, MMA "m16n8k32.row.col.s32.s8.s8.s32")
MMA_BYTES(mma_m16n8k32_s8_u8, MMA "m16n8k32.row.col.s32.s8.u8.s32")
MMA_BYTES(mma_m16n8k32_u8_u8, MMA "m16n8k32.row.col.s32.u8.u8.s32")
MMA_BYTES(mma_m16n8k32_clamped, MMA "m16n8k32.row.col.satfinite.s32.u8.s8.s32")
MMA_BYTES_NARROW(mma_m16n8k16_s8_s8, MMA "m16n8k16.row.col.s32.s8.s8.s32")
MMA_BYTES_NARROW(mma_m16n8k16_u8_s8, MMA "m16n8k16.row.col.s32.u8.s8.s32")
MMA_BYTES(mma_m16n8k64_s4_s4, MMA "m16n8k64.row.col.s32.s4.s4.s32")
MMA_BYTES(mma_m16n8k64_s4_u4, MMA "m16n8k64.row.col.s32.s4.u4.s32")
MMA_BYTES(mma_m16n8k64_u4_u4, MMA "m16n8k64.row.col.s32.u4.u4.s32")
MMA_BYTES(mma_m16n8k64_clamped, MMA "m16n8k64.row.col.satfinite.s32.u4.s4.s32")
MMA_BYTES_NARROW(mma_m16n8k32_s4_s4, MMA "m16n8k32.row.col.s32.s4.s4.s32")
MMA_BYTES_NARROW(mma_m16n8k32_u4_s4, MMA "m16n8k32.row.col.s32.u4.s4.s32")
MMA_LEAST(mma_m8n8k32_s4_s4, MMA "m8n8k32.row.col.s32.s4.s4.s32")
MMA_LEAST(mma_m8n8k32_s4_u4, MMA "m8n8k32.row.col.s32.s4.u4.s32")
MMA_BYTES(mma_m16n8k256_and, MMA "m16n8k256.row.col.s32.b1.b1.s32.and.popc")
MMA_BYTES(mma_m16n8k256_xor, MMA "m16n8k256.row.col.s32.b1.b1.s32.xor.popc")
MMA_BYTES_NARROW(mma_m16n8k128_and, MMA "m16n8k128.row.col.s32.b1.b1.s32.and.popc")
MMA_BYTES_NARROW(mma_m16n8k128_xor, MMA "m16n8k128.row.col.s32.b1.b1.s32.xor.popc")
MMA_LEAST(mma_m8n8k128_and, MMA "m8n8k128.row.col.s32.b1.b1.s32.and.popc")
MMA_LEAST(mma_m8n8k128_xor, MMA "m8n8k128.row.col.s32.b1.b1.s32.xor.popc")

LDMATRIX(ldmatrix_x1, LDMATRIX_1(""))
LDMATRIX(ldmatrix_x2, LDMATRIX_2(""))
LDMATRIX(ldmatrix_x4, LDMATRIX_4(""))
LDMATRIX(ldmatrix_x1_trans, LDMATRIX_1(".trans"))
LDMATRIX(ldmatrix_x2_trans, LDMATRIX_2(".trans"))
LDMATRIX(ldmatrix_x4_trans, LDMATRIX_4(".trans"))
STMATRIX(stmatrix_x1, STMATRIX_1(""))
STMATRIX(stmatrix_x2, STMATRIX_2(""))
STMATRIX(stmatrix_x4, STMATRIX_4(""))
STMATRIX(stmatrix_x1_trans, STMATRIX_1(".trans"))
STMATRIX(stmatrix_x2_trans, STMATRIX_2(".trans"))
STMATRIX(stmatrix_x4_trans, STMATRIX_4(".trans"))

#define MOVE(name)                                                                                                     \
    { #name, (const void *)name, TRUTH_I32, {TRUTH_I32, TRUTH_NONE, TRUTH_NONE }, TRUTH_EXACT, 0 }

extern "C" const struct truth_form truth_matrix[] = {
    EXACT_MMA(mma_m16n8k16_f32_bf16, F32, SMALL_BF16X2, SMALL_F32),
    EXACT_MMA(mma_m16n8k16_f32_f16, F32, SMALL_F16X2, SMALL_F32),
    EXACT_MMA(mma_m16n8k8_f32_tf32, F32, SMALL_F32, SMALL_F32),
    EXACT_MMA(mma_m16n8k8_f32_bf16, F32, SMALL_BF16X2, SMALL_F32),
    EXACT_MMA(mma_m16n8k8_f32_f16, F32, SMALL_F16X2, SMALL_F32),
    EXACT_MMA(mma_m16n8k4_f32_tf32, F32, SMALL_F32, SMALL_F32),
    EXACT_MMA(mma_m16n8k16_f16_f16, F16X2, SMALL_F16X2, SMALL_F16X2),
    EXACT_MMA(mma_m16n8k8_f16_f16, F16X2, SMALL_F16X2, SMALL_F16X2),
    RANDOM_MMA(mma_m16n8k16_f32_bf16, F32, UNIT_BF16X2, UNIT_F32, FP32_SUM),
    RANDOM_MMA(mma_m16n8k16_f32_f16, F32, UNIT_F16X2, UNIT_F32, FP32_SUM),
    RANDOM_MMA(mma_m16n8k8_f32_tf32, F32, UNIT_F32, UNIT_F32, FP32_SUM),
    RANDOM_MMA(mma_m16n8k8_f32_bf16, F32, UNIT_BF16X2, UNIT_F32, FP32_SUM),
    RANDOM_MMA(mma_m16n8k8_f32_f16, F32, UNIT_F16X2, UNIT_F32, FP32_SUM),
    RANDOM_MMA(mma_m16n8k4_f32_tf32, F32, UNIT_F32, UNIT_F32, FP32_SUM),
    RANDOM_MMA(mma_m16n8k16_f16_f16, F16X2, UNIT_F16X2, UNIT_F16X2, FP16_SUM),
    RANDOM_MMA(mma_m16n8k8_f16_f16, F16X2, UNIT_F16X2, UNIT_F16X2, FP16_SUM),
    INTEGER_MMA(mma_m16n8k32_s8_s8),
    INTEGER_MMA(mma_m16n8k32_s8_u8),
    INTEGER_MMA(mma_m16n8k32_u8_u8),
    INTEGER_MMA(mma_m16n8k32_clamped),
    INTEGER_MMA(mma_m16n8k16_s8_s8),
    INTEGER_MMA(mma_m16n8k16_u8_s8),
    INTEGER_MMA(mma_m16n8k64_s4_s4),
    INTEGER_MMA(mma_m16n8k64_s4_u4),
    INTEGER_MMA(mma_m16n8k64_u4_u4),
    INTEGER_MMA(mma_m16n8k64_clamped),
    INTEGER_MMA(mma_m16n8k32_s4_s4),
    INTEGER_MMA(mma_m16n8k32_u4_s4),
    INTEGER_MMA(mma_m8n8k32_s4_s4),
    INTEGER_MMA(mma_m8n8k32_s4_u4),
    INTEGER_MMA(mma_m16n8k256_and),
    INTEGER_MMA(mma_m16n8k256_xor),
    INTEGER_MMA(mma_m16n8k128_and),
    INTEGER_MMA(mma_m16n8k128_xor),
    INTEGER_MMA(mma_m8n8k128_and),
    INTEGER_MMA(mma_m8n8k128_xor),
    EXACT_MMA(mma_m16n8k32_f32_e4m3, F32, SMALL_F32, SMALL_F32),
    EXACT_MMA(mma_m8n8k4_f64, F64, F64, F64),
    MOVE(ldmatrix_x1),
    MOVE(ldmatrix_x2),
    MOVE(ldmatrix_x4),
    MOVE(ldmatrix_x1_trans),
    MOVE(ldmatrix_x2_trans),
    MOVE(ldmatrix_x4_trans),
    MOVE(stmatrix_x1),
    MOVE(stmatrix_x2),
    MOVE(stmatrix_x4),
    MOVE(stmatrix_x1_trans),
    MOVE(stmatrix_x2_trans),
    MOVE(stmatrix_x4_trans),
    {nullptr, nullptr, TRUTH_NONE, {TRUTH_NONE, TRUTH_NONE, TRUTH_NONE}, TRUTH_EXACT, 0},
};
