// mma.sp. A, B and C are loaded from the inputs unchanged; each thread computes different metadata from its index. A
// wrong lane, register or selector changes the result. Only defined metadata is used.
#include "products.cuh"

// Valid values of four bits of metadata, one digit each: for .sp::ordered_metadata, for .sp, and for tf32.
struct meaningful {
    unsigned long long digits;
    unsigned count;
};
constexpr meaningful IN_ORDER = {0xedc984, 6}, IN_ANY_ORDER = {0xb73621edc984, 12}, OF_TF32 = {0xe4, 2};

__device__ inline unsigned metadata(meaningful places) {
    unsigned state = INDEX * 2654435761u, e = 0;
    for (int i = 0; i < 8; i++) {
        state = state * 1664525u + 1013904223u;
        e |= static_cast<unsigned>(places.digits >> (state >> 16) % places.count * 4 & 15) << 4 * i;
    }
    return e;
}

// Converts four bytes to fp8 values from -4 to 4. whole: the encodings of 0 to 4.
__device__ inline unsigned four_whole(unsigned word, const unsigned (&whole)[5]) {
    unsigned four = 0;
    for (int i = 0; i < 4; i++) {
        const int number = static_cast<int>((word >> 8 * i & 255) % 9) - 4;
        four |= (whole[number < 0 ? -number : number] | (number < 0 ? 0x80 : 0)) << 8 * i;
    }
    return four;
}
__device__ inline unsigned whole_e4m3(const unsigned *from, unsigned index) {
    return four_whole(from[index], {0, 0x38, 0x40, 0x44, 0x48});
}
__device__ inline unsigned whole_e5m2(const unsigned *from, unsigned index) {
    return four_whole(from[index], {0, 0x3c, 0x40, 0x42, 0x44});
}

// A and B in two or four registers per lane.
#define SPARSE_2(name, T, letter, instruction, selector, places)                                                       \
    __global__ void name(T *result, const unsigned *a, const unsigned *b, const T *c) {                                \
        RETURN_PAST(4)                                                                                                 \
        const T *fragment_c = c + 4 * INDEX;                                                                           \
        T d0, d1, d2, d3;                                                                                              \
        asm volatile(instruction " {%0, %1, %2, %3}, {%4, %5}, {%6, %7}, {%8, %9, %10, %11}, %12, " #selector ";"      \
                     : "=" letter(d0), "=" letter(d1), "=" letter(d2), "=" letter(d3)                                  \
                     : "r"(a[2 * INDEX]), "r"(a[2 * INDEX + 1]), "r"(b[2 * INDEX]), "r"(b[2 * INDEX + 1]),             \
                       letter(fragment_c[0]), letter(fragment_c[1]), letter(fragment_c[2]), letter(fragment_c[3]),     \
                       "r"(metadata(places)));                                                                         \
        T *row = result + 4 * INDEX;                                                                                   \
        row[0] = d0, row[1] = d1, row[2] = d2, row[3] = d3;                                                            \
    }
#define SPARSE_4(name, T, letter, word, instruction, selector, places)                                                 \
    __global__ void name(T *result, const unsigned *a, const unsigned *b, const T *c) {                                \
        RETURN_PAST(4)                                                                                                 \
        const T *fragment_c = c + 4 * INDEX;                                                                           \
        T d0, d1, d2, d3;                                                                                              \
        asm volatile(instruction " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9, %10, %11}, {%12, %13, %14, %15}, "     \
                                 "%16, " #selector ";"                                                                 \
                     : "=" letter(d0), "=" letter(d1), "=" letter(d2), "=" letter(d3)                                  \
                     : "r"(word(a, 4 * INDEX)), "r"(word(a, 4 * INDEX + 1)), "r"(word(a, 4 * INDEX + 2)),              \
                       "r"(word(a, 4 * INDEX + 3)), "r"(word(b, 4 * INDEX)), "r"(word(b, 4 * INDEX + 1)),              \
                       "r"(word(b, 4 * INDEX + 2)), "r"(word(b, 4 * INDEX + 3)), letter(fragment_c[0]),                \
                       letter(fragment_c[1]), letter(fragment_c[2]), letter(fragment_c[3]), "r"(metadata(places)));    \
        T *row = result + 4 * INDEX;                                                                                   \
        row[0] = d0, row[1] = d1, row[2] = d2, row[3] = d3;                                                            \
    }
#define SPARSE_HALVES(name, registers, instruction, selector, places, ...)                                             \
    __global__ void name(unsigned *result, const unsigned *a, const unsigned *b, const unsigned *c) {                  \
        RETURN_PAST(4)                                                                                                 \
        const unsigned *x = a + registers * INDEX, *y = b + registers * INDEX;                                         \
        unsigned d0, d1;                                                                                               \
        asm volatile(instruction ", " #selector ";"                                                                    \
                     : "=r"(d0), "=r"(d1)                                                                              \
                     : "r"(c[2 * INDEX]), "r"(c[2 * INDEX + 1]), "r"(metadata(places)), __VA_ARGS__);                  \
        result[2 * INDEX] = d0, result[2 * INDEX + 1] = d1;                                                            \
    }
#define WORD(from, index) from[index]
#define FLOATS_2(name, ...) SPARSE_2(name, float, "f", __VA_ARGS__)
#define FLOATS_4(name, ...) SPARSE_4(name, float, "f", WORD, __VA_ARGS__)
#define BYTES_4(name, bytes, ...) SPARSE_4(name, float, "f", bytes, __VA_ARGS__)
#define INTEGERS_2(name, ...) SPARSE_2(name, int, "r", __VA_ARGS__)
#define INTEGERS_4(name, ...) SPARSE_4(name, int, "r", WORD, __VA_ARGS__)

#define SP "mma.sp.sync.aligned."
#define ORDERED "mma.sp::ordered_metadata.sync.aligned."
FLOATS_2(mma_sp_k16_f16_0, ORDERED "m16n8k16.row.col.f32.f16.f16.f32", 0, IN_ORDER)
FLOATS_2(mma_sp_k16_f16_1, ORDERED "m16n8k16.row.col.f32.f16.f16.f32", 1, IN_ORDER)
FLOATS_2(mma_sp_k16_f16_2, SP "m16n8k16.row.col.f32.f16.f16.f32", 2, IN_ANY_ORDER)
FLOATS_2(mma_sp_k16_bf16_3, ORDERED "m16n8k16.row.col.f32.bf16.bf16.f32", 3, IN_ORDER)
FLOATS_4(mma_sp_k32_f16_0, ORDERED "m16n8k32.row.col.f32.f16.f16.f32", 0, IN_ORDER)
FLOATS_4(mma_sp_k32_f16_1, SP "m16n8k32.row.col.f32.f16.f16.f32", 1, IN_ANY_ORDER)
FLOATS_4(mma_sp_k32_bf16_0, SP "m16n8k32.row.col.f32.bf16.bf16.f32", 0, IN_ANY_ORDER)
FLOATS_4(mma_sp_k32_bf16_1, ORDERED "m16n8k32.row.col.f32.bf16.bf16.f32", 1, IN_ORDER)
FLOATS_2(mma_sp_k8_tf32_0, ORDERED "m16n8k8.row.col.f32.tf32.tf32.f32", 0, OF_TF32)
FLOATS_2(mma_sp_k8_tf32_3, SP "m16n8k8.row.col.f32.tf32.tf32.f32", 3, OF_TF32)
FLOATS_4(mma_sp_k16_tf32_0, SP "m16n8k16.row.col.f32.tf32.tf32.f32", 0, OF_TF32)
FLOATS_4(mma_sp_k16_tf32_1, ORDERED "m16n8k16.row.col.f32.tf32.tf32.f32", 1, OF_TF32)
BYTES_4(mma_sp_k64_e4m3, whole_e4m3, ORDERED "m16n8k64.row.col.f32.e4m3.e4m3.f32", 0, IN_ORDER)
BYTES_4(mma_sp_k64_e5m2, whole_e5m2, SP "m16n8k64.row.col.f32.e5m2.e5m2.f32", 0, IN_ANY_ORDER)
SPARSE_HALVES(mma_sp_k16_halves, 2,
              ORDERED "m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, {%5, %6}, {%7, %8}, {%2, %3}, %4", 1, IN_ORDER,
              "r"(x[0]), "r"(x[1]), "r"(y[0]), "r"(y[1]))
SPARSE_HALVES(mma_sp_k32_halves, 4,
              ORDERED "m16n8k32.row.col.f16.f16.f16.f16 {%0, %1}, {%5, %6, %7, %8}, {%9, %10, %11, %12}, {%2, %3}, %4",
              0, IN_ORDER, "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]), "r"(y[2]), "r"(y[3]))
INTEGERS_2(mma_sp_k32_s8_s8_0, ORDERED "m16n8k32.row.col.s32.s8.s8.s32", 0, IN_ORDER)
INTEGERS_2(mma_sp_k32_u8_s8_1, SP "m16n8k32.row.col.s32.u8.s8.s32", 1, IN_ANY_ORDER)
INTEGERS_4(mma_sp_k64_s8_u8, ORDERED "m16n8k64.row.col.s32.s8.u8.s32", 0, IN_ORDER)
INTEGERS_4(mma_sp_k64_u8_clamped, SP "m16n8k64.row.col.satfinite.s32.u8.u8.s32", 0, IN_ANY_ORDER)
INTEGERS_2(mma_sp_k64_s4_s4_0, ORDERED "m16n8k64.row.col.s32.s4.s4.s32", 0, IN_ORDER)
INTEGERS_2(mma_sp_k64_u4_s4_1, SP "m16n8k64.row.col.s32.u4.s4.s32", 1, IN_ANY_ORDER)
INTEGERS_4(mma_sp_k128_s4_u4, ORDERED "m16n8k128.row.col.s32.s4.u4.s32", 0, IN_ORDER)
INTEGERS_4(mma_sp_k128_u4_clamped, SP "m16n8k128.row.col.satfinite.s32.u4.u4.s32", 0, IN_ANY_ORDER)

// At most half of the 32 terms of a sum are nonzero, so the bounds of mma hold.
extern "C" const struct truth_form truth_sparse[] = {
    EXACT_MMA(mma_sp_k16_f16_0, F32, SMALL_F16X2, SMALL_F32),
    EXACT_MMA(mma_sp_k16_f16_1, F32, SMALL_F16X2, SMALL_F32),
    EXACT_MMA(mma_sp_k16_f16_2, F32, SMALL_F16X2, SMALL_F32),
    EXACT_MMA(mma_sp_k16_bf16_3, F32, SMALL_BF16X2, SMALL_F32),
    EXACT_MMA(mma_sp_k32_f16_0, F32, SMALL_F16X2, SMALL_F32),
    EXACT_MMA(mma_sp_k32_f16_1, F32, SMALL_F16X2, SMALL_F32),
    EXACT_MMA(mma_sp_k32_bf16_0, F32, SMALL_BF16X2, SMALL_F32),
    EXACT_MMA(mma_sp_k32_bf16_1, F32, SMALL_BF16X2, SMALL_F32),
    EXACT_MMA(mma_sp_k8_tf32_0, F32, SMALL_F32, SMALL_F32),
    EXACT_MMA(mma_sp_k8_tf32_3, F32, SMALL_F32, SMALL_F32),
    EXACT_MMA(mma_sp_k16_tf32_0, F32, SMALL_F32, SMALL_F32),
    EXACT_MMA(mma_sp_k16_tf32_1, F32, SMALL_F32, SMALL_F32),
    EXACT_MMA(mma_sp_k64_e4m3, F32, I32, SMALL_F32),
    EXACT_MMA(mma_sp_k64_e5m2, F32, I32, SMALL_F32),
    EXACT_MMA(mma_sp_k16_halves, F16X2, SMALL_F16X2, SMALL_F16X2),
    EXACT_MMA(mma_sp_k32_halves, F16X2, SMALL_F16X2, SMALL_F16X2),
    RANDOM_MMA(mma_sp_k16_f16_1, F32, UNIT_F16X2, UNIT_F32, FP32_SUM),
    RANDOM_MMA(mma_sp_k32_f16_1, F32, UNIT_F16X2, UNIT_F32, FP32_SUM),
    RANDOM_MMA(mma_sp_k16_bf16_3, F32, UNIT_BF16X2, UNIT_F32, FP32_SUM),
    RANDOM_MMA(mma_sp_k32_bf16_1, F32, UNIT_BF16X2, UNIT_F32, FP32_SUM),
    RANDOM_MMA(mma_sp_k8_tf32_3, F32, UNIT_F32, UNIT_F32, FP32_SUM),
    RANDOM_MMA(mma_sp_k16_tf32_1, F32, UNIT_F32, UNIT_F32, FP32_SUM),
    RANDOM_MMA(mma_sp_k16_halves, F16X2, UNIT_F16X2, UNIT_F16X2, FP16_SUM),
    RANDOM_MMA(mma_sp_k32_halves, F16X2, UNIT_F16X2, UNIT_F16X2, FP16_SUM),
    INTEGER_MMA(mma_sp_k32_s8_s8_0),
    INTEGER_MMA(mma_sp_k32_u8_s8_1),
    INTEGER_MMA(mma_sp_k64_s8_u8),
    INTEGER_MMA(mma_sp_k64_u8_clamped),
    INTEGER_MMA(mma_sp_k64_s4_s4_0),
    INTEGER_MMA(mma_sp_k64_u4_s4_1),
    INTEGER_MMA(mma_sp_k128_s4_u4),
    INTEGER_MMA(mma_sp_k128_u4_clamped),
    {nullptr, nullptr, TRUTH_NONE, {TRUTH_NONE, TRUTH_NONE, TRUTH_NONE}, TRUTH_EXACT, 0},
};
