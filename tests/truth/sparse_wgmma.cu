// wgmma with a sparse A: half of the elements of a row are stored, and metadata hold their positions. Two warpgroups of
// the first block compute 64 x 16 tiles of numbers whose sums are exact. Each lane has different metadata; the selector
// chooses the lanes whose metadata are used.
//
// architecture: sm_90a
#include "wgmma.cuh"

// ---- WGMMA ---------------------------------------------------------------------------------------------------------

#define SPARSE_OUT_4(letter) "+" letter(d[0]), "+" letter(d[1]), "+" letter(d[2]), "+" letter(d[3])
#define SPARSE_OUT_8(letter)                                                                                           \
    SPARSE_OUT_4(letter), "+" letter(d[4]), "+" letter(d[5]), "+" letter(d[6]), "+" letter(d[7])
#define SPARSE_MMA "wgmma.mma_async.sp.sync.aligned."
// tail: the selector and the operands after it.
#define SPARSE_SHARED_8(letter, shape, tail)                                                                           \
    asm volatile(SPARSE_MMA shape " {%0, %1, %2, %3, %4, %5, %6, %7}, %8, %9, %10, " tail ";"                          \
                 : SPARSE_OUT_8(letter)                                                                                \
                 : "l"(a), "l"(b), "r"(metadata))
#define SPARSE_REGISTERS_8(letter, shape, tail)                                                                        \
    asm volatile(SPARSE_MMA shape " {%0, %1, %2, %3, %4, %5, %6, %7}, {%8, %9, %10, %11}, %12, %13, " tail ";"         \
                 : SPARSE_OUT_8(letter)                                                                                \
                 : "r"(f[0]), "r"(f[1]), "r"(f[2]), "r"(f[3]), "l"(b), "r"(metadata))
#define SPARSE_SHARED_4(letter, shape, tail)                                                                           \
    asm volatile(SPARSE_MMA shape " {%0, %1, %2, %3}, %4, %5, %6, " tail ";"                                           \
                 : SPARSE_OUT_4(letter)                                                                                \
                 : "l"(a), "l"(b), "r"(metadata))

// Two of four elements in order; for tf32, one of two.
DEVICE unsigned of_fours(unsigned random) {
    unsigned metadata = 0;
    for (int i = 0; i < 8; i++) {
        metadata |= (0xedc984u >> 4 * ((random >> 4 * i & 15) % 6) & 15) << 4 * i;
    }
    return metadata;
}
DEVICE unsigned of_twos(unsigned random) {
    return 0x44444444u + (random & 0x11111111u) * 10;
}

#define SPARSE(...) SPARSE_OF(false, __VA_ARGS__)
#define SPARSE_OF(mn_major, name, SUM, registers, bytes, span_a, span_b, values_a, values_b, places, instruction)      \
    struct name {                                                                                                      \
        typedef SUM sum;                                                                                               \
        static constexpr int REGISTERS = registers, BYTES = bytes, A_SPAN = span_a, B_SPAN = span_b;                   \
        static constexpr bool MN = mn_major;                                                                           \
        DEVICE static unsigned map_a(unsigned word) {                                                                  \
            return values_a(word);                                                                                     \
        }                                                                                                              \
        DEVICE static unsigned map_b(unsigned word) {                                                                  \
            return values_b(word);                                                                                     \
        }                                                                                                              \
        DEVICE static unsigned metadata(unsigned random) {                                                             \
            return places(random);                                                                                     \
        }                                                                                                              \
        DEVICE static void multiply(SUM (&d)[registers], const unsigned (&f)[4], uint64_t a, uint64_t b,               \
                                    unsigned metadata) {                                                               \
            instruction;                                                                                               \
        }                                                                                                              \
    };
// A from shared memory and from registers, with both selectors, in two layouts.
#define SPARSE_PAIRS(name, bytes, values, places, shape, tail, tail_registers)                                         \
    SPARSE(name, float, 8, bytes, 16, 16, values, values, places, SPARSE_SHARED_8("f", shape, "0, " tail))             \
    SPARSE(name##_1, float, 8, bytes, 32, 128, values, values, places, SPARSE_SHARED_8("f", shape, "1, " tail))        \
    SPARSE(name##_registers, float, 8, bytes, 16, 64, values, values, places,                                          \
           SPARSE_REGISTERS_8("f", shape, "0, " tail_registers))                                                       \
    SPARSE(name##_registers_1, float, 8, bytes, 16, 16, values, values, places,                                        \
           SPARSE_REGISTERS_8("f", shape, "1, " tail_registers))
#define SPARSE_BYTES(name, SUM, letter, values_a, values_b, shape, tail)                                               \
    SPARSE(name, SUM, 8, 1, 32, 64, values_a, values_b, of_fours, SPARSE_SHARED_8(letter, shape, "0, " tail))          \
    SPARSE(name##_registers, SUM, 8, 1, 16, 16, values_a, values_b, of_fours,                                          \
           SPARSE_REGISTERS_8(letter, shape, "0, " tail))

SPARSE_PAIRS(wgmma_sp_f16, 2, as_it_is, of_fours, "m64n16k32.f32.f16.f16", "1, 1, 1, 0, 0", "1, 1, 1, 0")
SPARSE_PAIRS(wgmma_sp_bf16, 2, as_it_is, of_fours, "m64n16k32.f32.bf16.bf16", "1, -1, 1, 0, 0", "1, 1, -1, 0")
SPARSE_PAIRS(wgmma_sp_tf32, 4, as_it_is, of_twos, "m64n16k16.f32.tf32.tf32", "1, 1, 1", "1, 1, 1")
SPARSE(wgmma_sp_f16_sum, unsigned, 4, 2, 128, 128, as_it_is, as_it_is, of_fours,
       SPARSE_SHARED_4("r", "m64n16k32.f16.f16.f16", "0, 1, 1, 1, 0, 0"))
SPARSE_OF(true, wgmma_sp_bf16_mn, float, 8, 2, 16, 16, as_it_is, as_it_is, of_fours,
          SPARSE_SHARED_8("f", "m64n16k32.f32.bf16.bf16", "0, 1, 1, 1, 1, 1"))
SPARSE_OF(true, wgmma_sp_f16_mn_registers, float, 8, 2, 16, 16, as_it_is, as_it_is, of_fours,
          SPARSE_REGISTERS_8("f", "m64n16k32.f32.f16.f16", "1, 1, 1, 1, 1"))
SPARSE_BYTES(wgmma_sp_e4m3_e5m2, float, "f", small_e4m3, small_e5m2, "m64n16k64.f32.e4m3.e5m2", "1, 1, 1")
SPARSE_BYTES(wgmma_sp_e5m2_e4m3, float, "f", small_e5m2, small_e4m3, "m64n16k64.f32.e5m2.e4m3", "1, 1, 1")
SPARSE_BYTES(wgmma_sp_s8_u8, unsigned, "r", mixed, mixed, "m64n16k64.s32.s8.u8", "1")
SPARSE_BYTES(wgmma_sp_u8_satfinite, unsigned, "r", mixed, mixed, "m64n16k64.satfinite.s32.u8.u8", "1")

// ---- The kernel ----------------------------------------------------------------------------------------------------

// K-major: rows of WORDS words. MN-major without a swizzle: units of 8 rows by 8 elements along K.
template <class P, int WORDS>
DEVICE void lay_out_rows(char *tile, const unsigned *words, int rows, int span, unsigned (*map)(unsigned)) {
    for (int i = threadIdx.x % 128; i < rows * WORDS; i += 128) {
        const int row = i / WORDS, byte = i % WORDS * 4;
        const unsigned word = map(words[i % TRUTH_ELEMENTS]);
        if constexpr (P::MN) {
            char *to = tile + row / 8 * 32 * WORDS + byte / 16 * 128 + byte % 16 * 8 + row % 8 * 2;
            *reinterpret_cast<unsigned short *>(to) = word;
            *reinterpret_cast<unsigned short *>(to + 16) = word >> 16;
        } else {
            *reinterpret_cast<unsigned *>(tile + place<P::BYTES>(row, byte / P::BYTES, rows, span, false)) = word;
        }
    }
}

template <class P, int WORDS>
DEVICE uint64_t rows_descriptor(const char *tile, int rows, int span) {
    return P::MN ? (smem(tile) & 0x3ffff) >> 4 | (uint64_t)(128 >> 4) << 16 | (uint64_t)(32 * WORDS >> 4) << 32
                 : descriptor(tile, rows, span, false);
}

template <class P, typename RESULT>
__global__ void sparse_product(RESULT *result, const unsigned *a, const unsigned *b, const typename P::sum *c) {
    constexpr int A_ROW = P::A_SPAN < 32 ? 32 : P::A_SPAN, B_ROW = P::B_SPAN < 64 ? 64 : P::B_SPAN;
    __shared__ alignas(1024) char a_tiles[2][64 * A_ROW], b_tiles[2][16 * B_ROW];
    if (blockIdx.x > 0) {
        return;
    }
    const int group = threadIdx.x / 128, row = threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4;
    lay_out_rows<P, 8>(a_tiles[group], a + 512 * group, 64, P::A_SPAN, P::map_a);
    lay_out_rows<P, 16>(b_tiles[group], b + 256 * group, 16, P::B_SPAN, P::map_b);
    fence_proxy_async();
    __syncthreads();
    typename P::sum d[P::REGISTERS];
    for (int i = 0; i < P::REGISTERS; i++) {
        d[i] = c[threadIdx.x * P::REGISTERS + i];
    }
    unsigned fragment[4];
    for (int r = 0; r < 4; r++) {
        fragment[r] = P::map_a(a[512 * group + (row + r % 2 * 8) * 8 + threadIdx.x % 4 + r / 2 * 4]);
    }
    const unsigned metadata = P::metadata(mixed(b[threadIdx.x] + threadIdx.x));
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    P::multiply(d, fragment, rows_descriptor<P, 8>(a_tiles[group], 64, P::A_SPAN),
                rows_descriptor<P, 16>(b_tiles[group], 16, P::B_SPAN), metadata);
    asm volatile("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;" ::: "memory");
    hold(d);
    write(result, d);
}

// ---- The table -----------------------------------------------------------------------------------------------------

#define SPARSE_FORM(P, R, A, C)                                                                                        \
    {                                                                                                                  \
#P, (const void *)sparse_product < P, P::sum>, TRUTH_##R,                                                      \
            {TRUTH_##A, TRUTH_##A, TRUTH_##C }, TRUTH_EXACT, 0, nullptr                                                \
    }
#define SPARSE_FORMS(P, A)                                                                                             \
    SPARSE_FORM(P, F32, A, SMALL_F32), SPARSE_FORM(P##_1, F32, A, SMALL_F32),                                          \
        SPARSE_FORM(P##_registers, F32, A, SMALL_F32), SPARSE_FORM(P##_registers_1, F32, A, SMALL_F32)

extern "C" const struct truth_form truth_sparse_wgmma[] = {
    SPARSE_FORMS(wgmma_sp_f16, SMALL_F16X2),
    SPARSE_FORMS(wgmma_sp_bf16, SMALL_BF16X2),
    SPARSE_FORMS(wgmma_sp_tf32, SMALL_F32),
    SPARSE_FORM(wgmma_sp_bf16_mn, F32, SMALL_BF16X2, SMALL_F32),
    SPARSE_FORM(wgmma_sp_f16_mn_registers, F32, SMALL_F16X2, SMALL_F32),
    SPARSE_FORM(wgmma_sp_f16_sum, F16X2, SMALL_F16X2, SMALL_F16X2),
    SPARSE_FORM(wgmma_sp_e4m3_e5m2, F32, I32, SMALL_F32),
    SPARSE_FORM(wgmma_sp_e4m3_e5m2_registers, F32, I32, SMALL_F32),
    SPARSE_FORM(wgmma_sp_e5m2_e4m3, F32, I32, SMALL_F32),
    SPARSE_FORM(wgmma_sp_e5m2_e4m3_registers, F32, I32, SMALL_F32),
    SPARSE_FORM(wgmma_sp_s8_u8, I32, I32, I32),
    SPARSE_FORM(wgmma_sp_s8_u8_registers, I32, I32, I32),
    SPARSE_FORM(wgmma_sp_u8_satfinite, I32, I32, I32),
    SPARSE_FORM(wgmma_sp_u8_satfinite_registers, I32, I32, I32),
    {},
};
