// wgmma: two warpgroups of the first block compute tiles of 64 x 16 and more. A and B are the same rows of 32 bytes of
// the inputs in all shared-memory layouts, so that a wrong layout, swizzle or descriptor changes the result.
//
// architecture: sm_90a
#include "wgmma.cuh"

// ---- WGMMA ---------------------------------------------------------------------------------------------------------

#define OUT_4(letter) "+" letter(d[0]), "+" letter(d[1]), "+" letter(d[2]), "+" letter(d[3])
#define OUT_8_FROM(letter, i)                                                                                          \
    "+" letter(d[i]), "+" letter(d[i + 1]), "+" letter(d[i + 2]), "+" letter(d[i + 3]), "+" letter(d[i + 4]),          \
        "+" letter(d[i + 5]), "+" letter(d[i + 6]), "+" letter(d[i + 7])
#define OUT_8(letter) OUT_8_FROM(letter, 0)
#define OUT_32(letter) OUT_8_FROM(letter, 0), OUT_8_FROM(letter, 8), OUT_8_FROM(letter, 16), OUT_8_FROM(letter, 24)
#define OUT_64(letter)                                                                                                 \
    OUT_32(letter), OUT_8_FROM(letter, 32), OUT_8_FROM(letter, 40), OUT_8_FROM(letter, 48), OUT_8_FROM(letter, 56)
#define LIST_4 "%0, %1, %2, %3"
#define LIST_8 LIST_4 ", %4, %5, %6, %7"
#define LIST_32                                                                                                        \
    LIST_8 ", %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, " \
           "%29, %30, %31"
#define LIST_64                                                                                                        \
    LIST_32 ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, "   \
            "%52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"

#define MMA "wgmma.mma_async.sync.aligned."
#define BOTH_SHARED(count, letter, shape, A, B, tail)                                                                  \
    asm volatile(MMA shape " {" LIST_##count "}, %" A ", %" B ", " tail ";" : OUT_##count(letter) : "l"(a), "l"(b))
#define A_REGISTERS(count, letter, shape, A, B, tail)                                                                  \
    asm volatile(MMA shape " {" LIST_##count "}, {" A "}, %" B ", " tail ";"                                           \
                 : OUT_##count(letter)                                                                                 \
                 : "r"(f[0]), "r"(f[1]), "r"(f[2]), "r"(f[3]), "l"(b))
#define SS_4(letter, shape, tail) BOTH_SHARED(4, letter, shape, "4", "5", tail)
#define SS_8(letter, shape, tail) BOTH_SHARED(8, letter, shape, "8", "9", tail)
#define SS_32(letter, shape, tail) BOTH_SHARED(32, letter, shape, "32", "33", tail)
#define SS_64(letter, shape, tail) BOTH_SHARED(64, letter, shape, "64", "65", tail)
#define RS_4(letter, shape, tail) A_REGISTERS(4, letter, shape, "%4, %5, %6, %7", "8", tail)
#define RS_8(letter, shape, tail) A_REGISTERS(8, letter, shape, "%8, %9, %10, %11", "12", tail)
#define RS_32(letter, shape, tail) A_REGISTERS(32, letter, shape, "%32, %33, %34, %35", "36", tail)
#define PLAIN "1, 1, 1, 0, 0" // D += A B, neither transposed

#define PRODUCT(name, SUM, registers, n, bytes, a_span, a_mn, b_span, b_mn, values, instruction)                       \
    PRODUCT_OF(name, SUM, registers, n, bytes, a_span, a_mn, b_span, b_mn, values, values, instruction)
#define PRODUCT_OF(name, SUM, registers, n, bytes, a_span, a_mn, b_span, b_mn, values_a, values_b, instruction)        \
    struct name {                                                                                                      \
        typedef SUM sum;                                                                                               \
        static constexpr int REGISTERS = registers, N = n, BYTES = bytes, A_SPAN = a_span, B_SPAN = b_span;            \
        static constexpr bool A_MN = a_mn, B_MN = b_mn;                                                                \
        DEVICE static unsigned map_a(unsigned word) {                                                                  \
            return values_a(word);                                                                                     \
        }                                                                                                              \
        DEVICE static unsigned map_b(unsigned word) {                                                                  \
            return values_b(word);                                                                                     \
        }                                                                                                              \
        DEVICE static void multiply(SUM (&d)[registers], const unsigned (&f)[4], uint64_t a, uint64_t b) {             \
            instruction;                                                                                               \
        }                                                                                                              \
    };

// K-major in each swizzle, of 16 columns.
#define EACH_SWIZZLE(name, bytes, shape, tail, tail_registers)                                                         \
    PRODUCT(name, float, 8, 16, bytes, 16, false, 16, false, as_it_is, SS_8("f", shape, tail))                         \
    PRODUCT(name##_32, float, 8, 16, bytes, 32, false, 32, false, as_it_is, SS_8("f", shape, tail))                    \
    PRODUCT(name##_64, float, 8, 16, bytes, 64, false, 64, false, as_it_is, SS_8("f", shape, tail))                    \
    PRODUCT(name##_128, float, 8, 16, bytes, 128, false, 128, false, as_it_is, SS_8("f", shape, tail))                 \
    PRODUCT(name##_registers, float, 8, 16, bytes, 16, false, 128, false, as_it_is, RS_8("f", shape, tail_registers))
EACH_SWIZZLE(wgmma_bf16, 2, "m64n16k16.f32.bf16.bf16", PLAIN, "1, 1, 1, 0")
EACH_SWIZZLE(wgmma_f16, 2, "m64n16k16.f32.f16.f16", PLAIN, "1, 1, 1, 0")
EACH_SWIZZLE(wgmma_tf32, 4, "m64n16k8.f32.tf32.tf32", "1, 1, 1", "1, 1, 1")

// MN-major: 64 columns, which fill the widest swizzle span.
#define EACH_MN(name, shape)                                                                                           \
    PRODUCT(name##_b, float, 32, 64, 2, 16, false, 16, true, as_it_is, SS_32("f", shape, "1, 1, 1, 0, 1"))             \
    PRODUCT(name##_b_32, float, 32, 64, 2, 32, false, 32, true, as_it_is, SS_32("f", shape, "1, 1, 1, 0, 1"))          \
    PRODUCT(name##_b_64, float, 32, 64, 2, 64, false, 64, true, as_it_is, SS_32("f", shape, "1, 1, 1, 0, 1"))          \
    PRODUCT(name##_b_128, float, 32, 64, 2, 128, false, 128, true, as_it_is, SS_32("f", shape, "1, 1, 1, 0, 1"))       \
    PRODUCT(name##_a, float, 32, 64, 2, 16, true, 128, false, as_it_is, SS_32("f", shape, "1, 1, 1, 1, 0"))            \
    PRODUCT(name##_a_32, float, 32, 64, 2, 32, true, 128, false, as_it_is, SS_32("f", shape, "1, 1, 1, 1, 0"))         \
    PRODUCT(name##_a_64, float, 32, 64, 2, 64, true, 128, false, as_it_is, SS_32("f", shape, "1, 1, 1, 1, 0"))         \
    PRODUCT(name##_a_128, float, 32, 64, 2, 128, true, 128, false, as_it_is, SS_32("f", shape, "1, 1, 1, 1, 0"))       \
    PRODUCT(name##_both, float, 32, 64, 2, 128, true, 128, true, as_it_is, SS_32("f", shape, "1, 1, 1, 1, 1"))         \
    PRODUCT(name##_registers, float, 32, 64, 2, 128, false, 128, true, as_it_is, RS_32("f", shape, "1, 1, 1, 1"))
EACH_MN(wgmma_bf16_mn, "m64n64k16.f32.bf16.bf16")
EACH_MN(wgmma_f16_mn, "m64n64k16.f32.f16.f16")

// Widths, signs, scale-d 0, fp16 accumulators.
#define BF16(n) "m64n" #n "k16.f32.bf16.bf16"
PRODUCT(wgmma_bf16_n8, float, 4, 8, 2, 128, false, 128, false, as_it_is, SS_4("f", BF16(8), PLAIN))
PRODUCT(wgmma_bf16_n128, float, 64, 128, 2, 128, false, 128, false, as_it_is, SS_64("f", BF16(128), PLAIN))
PRODUCT(wgmma_bf16_a_negated, float, 8, 16, 2, 128, false, 128, false, as_it_is, SS_8("f", BF16(16), "1, -1, 1, 0, 0"))
PRODUCT(wgmma_bf16_b_negated, float, 8, 16, 2, 128, false, 128, false, as_it_is, SS_8("f", BF16(16), "1, 1, -1, 0, 0"))
PRODUCT(wgmma_bf16_without_d, float, 8, 16, 2, 128, false, 128, false, as_it_is,
        asm volatile("{.reg .pred p; setp.ne.b32 p, %10, 0; " MMA BF16(16) " {" LIST_8 "}, %8, %9, p, 1, 1, 0, 0;}"
                     : OUT_8("f")
                     : "l"(a), "l"(b), "r"(0)))
#define F16_SUM "m64n16k16.f16.f16.f16"
PRODUCT(wgmma_f16_sum, unsigned, 4, 16, 2, 16, false, 16, false, as_it_is, SS_4("r", F16_SUM, PLAIN))
PRODUCT(wgmma_f16_sum_128, unsigned, 4, 16, 2, 128, false, 128, false, as_it_is, SS_4("r", F16_SUM, PLAIN))
PRODUCT(wgmma_f16_sum_registers, unsigned, 4, 16, 2, 16, false, 128, false, as_it_is, RS_4("r", F16_SUM, "1, 1, 1, 0"))

// 8-bit types: all combinations of the fp8 types, with small integers and other values; integers with all byte values,
// so that sums with a large D wrap around or saturate.
#define FP8(name, types, a, b, span)                                                                                   \
    PRODUCT_OF(name, float, 8, 16, 1, span, false, span, false, a, b, SS_8("f", "m64n16k32.f32." types, "1, 1, 1"))
#define FP8_MIX(name, types, a, b)                                                                                     \
    FP8(name##_small, types, small_##a, small_##b, 128)                                                                \
    FP8(name##_unit, types, unit_##a, unit_##b, 128)
FP8_MIX(wgmma_e4m3, "e4m3.e4m3", e4m3, e4m3)
FP8_MIX(wgmma_e5m2, "e5m2.e5m2", e5m2, e5m2)
FP8_MIX(wgmma_e4m3_e5m2, "e4m3.e5m2", e4m3, e5m2)
FP8_MIX(wgmma_e5m2_e4m3, "e5m2.e4m3", e5m2, e4m3)
FP8(wgmma_e4m3_plain, "e4m3.e4m3", small_e4m3, small_e4m3, 16)
FP8(wgmma_e4m3_32, "e4m3.e4m3", small_e4m3, small_e4m3, 32)
FP8(wgmma_e4m3_64, "e4m3.e4m3", small_e4m3, small_e4m3, 64)
PRODUCT(wgmma_e4m3_registers, float, 8, 16, 1, 16, false, 128, false, small_e4m3,
        RS_8("f", "m64n16k32.f32.e4m3.e4m3", "1, 1, 1"))
PRODUCT(wgmma_e4m3_f16_sum, unsigned, 4, 16, 1, 128, false, 128, false, small_e4m3,
        SS_4("r", "m64n16k32.f16.e4m3.e4m3", "1, 1, 1"))

#define INTEGERS(name, types, span)                                                                                    \
    PRODUCT(name, unsigned, 8, 16, 1, span, false, span, false, mixed, SS_8("r", "m64n16k32." types, "1"))             \
    PRODUCT(name##_registers, unsigned, 8, 16, 1, 16, false, span, false, mixed, RS_8("r", "m64n16k32." types, "1"))
INTEGERS(wgmma_s8, "s32.s8.s8", 128)
INTEGERS(wgmma_u8, "s32.u8.u8", 64)
INTEGERS(wgmma_s8_u8, "s32.s8.u8", 32)
INTEGERS(wgmma_u8_s8, "s32.u8.s8", 16)
INTEGERS(wgmma_s8_satfinite, "satfinite.s32.s8.s8", 128)
INTEGERS(wgmma_u8_satfinite, "satfinite.s32.u8.u8", 16)

// 256 1-bit elements take 32 bytes.
#define BITS(name, span)                                                                                               \
    PRODUCT(name, unsigned, 8, 16, 1, span, false, span, false, mixed,                                                 \
            SS_8("r", "m64n16k256.s32.b1.b1.and.popc", "1"))                                                           \
    PRODUCT(name##_registers, unsigned, 8, 16, 1, 16, false, span, false, mixed,                                       \
            RS_8("r", "m64n16k256.s32.b1.b1.and.popc", "1"))
BITS(wgmma_b1, 16)
BITS(wgmma_b1_128, 128)

// ---- More than one WGMMA -------------------------------------------------------------------------------------------

// K = 64: four WGMMAs whose descriptors advance along swizzled rows of 128 bytes. A is the whole input a for both
// warpgroups.
__global__ void wgmma_bf16_k64(float *result, const unsigned *a, const unsigned *b, const float *c) {
    __shared__ alignas(1024) char a_tile[64 * 128], b_tiles[2][16 * 128];
    if (blockIdx.x > 0) {
        return;
    }
    const int group = threadIdx.x / 128;
    for (int i = threadIdx.x; i < 64 * 32; i += TRUTH_BLOCK) {
        *reinterpret_cast<unsigned *>(a_tile + place<4>(i / 32, i % 32, 64, 128, false)) = a[i];
    }
    for (int i = threadIdx.x % 128; i < 16 * 32; i += 128) {
        *reinterpret_cast<unsigned *>(b_tiles[group] + place<4>(i / 32, i % 32, 16, 128, false)) = b[512 * group + i];
    }
    fence_proxy_async();
    __syncthreads();
    float d[8];
    for (int i = 0; i < 8; i++) {
        d[i] = c[threadIdx.x * 8 + i];
    }
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (int k = 0; k < 4; k++) {
        const uint64_t a = descriptor(a_tile, 64, 128, false) + 2 * k;
        const uint64_t b = descriptor(b_tiles[group], 16, 128, false) + 2 * k;
        SS_8("f", BF16(16), PLAIN);
    }
    asm volatile("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;" ::: "memory");
    hold(d);
    write(result, d);
}

// Two groups: the first is awaited separately, and its accumulators become the A operand of the second.
__global__ void wgmma_two_groups(float *result, const unsigned *a, const unsigned *b, const float *) {
    __shared__ alignas(1024) char a_tiles[2][64 * 128], b_tiles[2][16 * 128];
    if (blockIdx.x > 0) {
        return;
    }
    const int group = threadIdx.x / 128;
    lay_out<2>(a_tiles[group], a + 512 * group, 64, 128, false, as_it_is);
    lay_out<2>(b_tiles[group], b + 128 * group, 16, 128, false, as_it_is);
    fence_proxy_async();
    __syncthreads();
    const uint64_t a_bits = descriptor(a_tiles[group], 64, 128, false);
    const uint64_t b_bits = descriptor(b_tiles[group], 16, 128, false);
    float first[8] = {0, 1, 2, 3, 4, 5, 6, 7}, second[8] = {7, 6, 5, 4, 3, 2, 1, 0}, third[8] = {};
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    const auto multiply = [&](float(&d)[8], uint64_t a, uint64_t b) {
        SS_8("f", BF16(16), PLAIN);
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    };
    multiply(first, a_bits, b_bits);
    multiply(second, a_bits, b_bits);
    asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
    hold(first);
    const auto pair = [&](int i) {
        unsigned both;
        asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(first[i + 1]), "f"(first[i]));
        return both;
    };
    const unsigned f[4] = {pair(0), pair(2), pair(4), pair(6)};
    {
        float(&d)[8] = third;
        const uint64_t b = b_bits;
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
        RS_8("f", BF16(16), "1, 1, 1, 0");
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    }
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    hold(second);
    hold(third);
    for (int i = 0; i < 8; i++) {
        result[threadIdx.x * 8 + i] = second[i] + third[i];
    }
}

// ---- The table -----------------------------------------------------------------------------------------------------

// fp32 sums are truncated to 24 bits at magnitudes under 32, or under 128 for 65 terms; fp16 sums to 11 bits. The PTX
// ISA does not define the accumulation of fp8; Hopper keeps about 14 bits (DeepSeek-V3 Technical Report, arXiv
// 2412.19437, 3.3.2): 33 terms, each with an error of 2^-13 of a partial sum under 8.
#define FP32_SUM (17 * 0x1p-19)
#define LONG_SUM (65 * 0x1p-17)
#define FP16_SUM 0x1p-6
#define FP8_SUM (33 * 0x1p-10)

#define FORM(name, kernel, R, A, C, comparison, bound)                                                                 \
    { name, (const void *)kernel, TRUTH_##R, {TRUTH_##A, TRUTH_##A, TRUTH_##C}, TRUTH_##comparison, bound, nullptr }
#define BOTH(P, A) EXACT_ONE(P, A), RANDOM_ONE(P, A)
#define EXACT_ONE(P, A) FORM(#P "_exact", (product<P, float>), F32, SMALL_##A, SMALL_F32, EXACT, 0)
#define RANDOM_ONE(P, A) FORM(#P "_random", (product<P, float>), F32, UNIT_##A, UNIT_F32, NEAR, FP32_SUM)
#define BOTH_WIDE(P, A)                                                                                                \
    EXACT_WIDE(P, A), FORM(#P "_random", (product<P, float>), F32, UNIT_##A, UNIT_F32, NEAR, FP32_SUM)
#define EXACT_WIDE(P, A) FORM(#P "_exact", (product<P, unsigned>), I32, SMALL_##A, SMALL_F32, EXACT, 0)
#define EXACT_F16(P) FORM(#P "_exact", (product<P, unsigned>), F16X2, SMALL_F16X2, SMALL_F16X2, EXACT, 0)
#define BOTH_F16(P)                                                                                                    \
    EXACT_F16(P), FORM(#P "_random", (product<P, unsigned>), F16X2, UNIT_F16X2, UNIT_F16X2, NEAR, FP16_SUM)
#define SWIZZLES(P, A)                                                                                                 \
    BOTH(P, A), EXACT_ONE(P##_32, A), EXACT_ONE(P##_64, A), EXACT_ONE(P##_128, A), BOTH(P##_registers, A)
#define MN(P, A)                                                                                                       \
    EXACT_WIDE(P##_b, A), EXACT_WIDE(P##_b_32, A), EXACT_WIDE(P##_b_64, A), EXACT_WIDE(P##_b_128, A),                  \
        EXACT_WIDE(P##_a, A), EXACT_WIDE(P##_a_32, A), EXACT_WIDE(P##_a_64, A), EXACT_WIDE(P##_a_128, A),              \
        BOTH_WIDE(P##_both, A), EXACT_WIDE(P##_registers, A)
#define FP8_SMALL(P) FORM(#P, (product<P, float>), F32, I32, SMALL_F32, EXACT, 0)
#define FP8_BOTH(P)                                                                                                    \
    FP8_SMALL(P##_small), FORM(#P "_unit", (product<P##_unit, float>), F32, I32, UNIT_F32, NEAR, FP8_SUM)
#define BYTES(P)                                                                                                       \
    FORM(#P, (product<P, unsigned>), I32, I32, I32, EXACT, 0),                                                         \
        FORM(#P "_registers", (product<P##_registers, unsigned>), I32, I32, I32, EXACT, 0)

extern "C" const struct truth_form truth_wgmma[] = {
    SWIZZLES(wgmma_bf16, BF16X2),
    SWIZZLES(wgmma_f16, F16X2),
    SWIZZLES(wgmma_tf32, F32),
    MN(wgmma_bf16_mn, BF16X2),
    MN(wgmma_f16_mn, F16X2),
    EXACT_ONE(wgmma_bf16_n8, BF16X2),
    BOTH_WIDE(wgmma_bf16_n128, BF16X2),
    EXACT_ONE(wgmma_bf16_a_negated, BF16X2),
    EXACT_ONE(wgmma_bf16_b_negated, BF16X2),
    EXACT_ONE(wgmma_bf16_without_d, BF16X2),
    BOTH_F16(wgmma_f16_sum),
    EXACT_F16(wgmma_f16_sum_128),
    BOTH_F16(wgmma_f16_sum_registers),
    FP8_BOTH(wgmma_e4m3),
    FP8_BOTH(wgmma_e5m2),
    FP8_BOTH(wgmma_e4m3_e5m2),
    FP8_BOTH(wgmma_e5m2_e4m3),
    FP8_SMALL(wgmma_e4m3_plain),
    FP8_SMALL(wgmma_e4m3_32),
    FP8_SMALL(wgmma_e4m3_64),
    FP8_SMALL(wgmma_e4m3_registers),
    FORM("wgmma_e4m3_f16_sum", (product<wgmma_e4m3_f16_sum, unsigned>), F16X2, I32, SMALL_F16X2, EXACT, 0),
    BYTES(wgmma_s8),
    BYTES(wgmma_u8),
    BYTES(wgmma_s8_u8),
    BYTES(wgmma_u8_s8),
    BYTES(wgmma_s8_satfinite),
    BYTES(wgmma_u8_satfinite),
    BYTES(wgmma_b1),
    BYTES(wgmma_b1_128),
    FORM("wgmma_bf16_k64_exact", wgmma_bf16_k64, F32, SMALL_BF16X2, SMALL_F32, EXACT, 0),
    FORM("wgmma_bf16_k64_random", wgmma_bf16_k64, F32, UNIT_BF16X2, UNIT_F32, NEAR, LONG_SUM),
    FORM("wgmma_two_groups", wgmma_two_groups, F32, SMALL_BF16X2, NONE, EXACT, 0),
    {},
};
