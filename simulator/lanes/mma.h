// Shared by mma and wgmma: multiplies matrices, eight columns at a time. 16 bytes of A or of B, in registers or in
// shared memory, are consecutive along K or along N; here they are converted to fp64.
//
// The GPU rounds its sums in an order of its own. Here products are exact, sums are accumulated in fp64 in the order of
// k, and rounded once.
#ifndef SIMULATOR_LANES_MMA_H
#define SIMULATOR_LANES_MMA_H

#include "round.h"
#include "wgmma.h"

#if defined(LANES_AVX2)
#include <immintrin.h>
#endif

#define MMA_ROWS 16
#define MMA_COLUMNS 8
#define MMA_MAX_K 32
#define MMA_MAX_SPARSE_K 64 // along K, if A is sparse

#define MMA_INLINE static inline __attribute__((always_inline))

// The width of the host's multiply-add, and the number of rows whose sums stay in its registers. Because products are
// exact, one rounding or two make no difference.
#if defined(LANES_AVX2)
#define MMA_VECTOR_WIDTH 4
#define MMA_ROWS_PER_PASS 4
#define MMA_FMA(sum, factor, wide) ((sum) = _mm256_fmadd_pd(_mm256_set1_pd(factor), (wide), (sum)))
#else
#define MMA_VECTOR_WIDTH 2
#define MMA_ROWS_PER_PASS 2
#define MMA_FMA(sum, factor, wide) ((sum) += (factor) * (wide))
#endif
#define MMA_VECTORS (MMA_COLUMNS / MMA_VECTOR_WIDTH)

typedef double __attribute__((vector_size(8 * MMA_VECTOR_WIDTH), may_alias)) mma_vector;
typedef float __attribute__((vector_size(16))) mma_float4;
typedef int32_t __attribute__((vector_size(16))) mma_int4;
typedef uint16_t __attribute__((vector_size(16))) mma_half8;

// A, eight columns of B, and their accumulators.
typedef double mma_a_tile[MMA_ROWS][MMA_MAX_K];
typedef double __attribute__((aligned(32))) mma_b_tile[MMA_MAX_SPARSE_K][MMA_COLUMNS];
typedef double __attribute__((aligned(32))) mma_accumulators[MMA_ROWS][MMA_COLUMNS];

MMA_INLINE float mma_float_of_f8(uint32_t bits, int fraction, int bias) {
    uint32_t exponent = (bits & 0x7f) >> fraction, mantissa = bits & ((1u << fraction) - 1);
    bool e5m2 = fraction == 2;
    float sign = bits & 0x80 ? -1.0f : 1.0f;
    if (e5m2 && exponent == 31)
        return mantissa ? float_of(CANONICAL_NAN) : sign * float_of(0x7f800000u);
    if (!e5m2 && (bits & 0x7f) == 0x7f)
        return float_of(CANONICAL_NAN);
    if (exponent == 0)
        return sign * (float)mantissa * float_of((uint32_t)(127 + 1 - bias - fraction) << 23);
    return sign * float_of((exponent + 127u - (uint32_t)bias) << 23 | mantissa << (23 - fraction));
}

MMA_INLINE double mma_element(const uint8_t *from, enum wgmma_element element) {
    uint32_t word = 0;
    memcpy(&word, from, wgmma_element_bytes(element));
    switch (element) {
    case WGMMA_F16:
        return float_of_f16(word);
    case WGMMA_BF16:
        return float_of_bf16(word);
    case WGMMA_TF32: // the low 13 bits of the fp32 are ignored
        return float_of(word & ~0x1fffu);
    case WGMMA_E4M3:
        return mma_float_of_f8(word, 3, 7);
    case WGMMA_S8:
        return (int8_t)word;
    case WGMMA_U8:
        return word;
    default:
        return mma_float_of_f8(word, 2, 15);
    }
}

// Loads 16 bytes.
MMA_INLINE void mma_load_unit(const void *from, enum wgmma_element element, double *to) {
    uint32_t bytes = wgmma_element_bytes(element), elements = 16 / bytes;
#if defined(LANES_AVX2)
    if (bytes == 2) {
        __m128i halves = _mm_loadu_si128(from);
        __m256 values = element == WGMMA_F16
                            ? _mm256_cvtph_ps(halves)
                            : _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(halves), 16));
        _mm256_storeu_pd(to, _mm256_cvtps_pd(_mm256_castps256_ps128(values)));
        _mm256_storeu_pd(to + 4, _mm256_cvtps_pd(_mm256_extractf128_ps(values, 1)));
        return;
    }
#endif
    for (uint32_t e = 0; e < elements; e++)
        to[e] = mma_element((const uint8_t *)from + e * bytes, element);
}

// Loads 16 bytes of eight columns, consecutive along K.
MMA_INLINE void mma_load_columns(const void *const from[MMA_COLUMNS], enum wgmma_element element,
                                 double (*to)[MMA_COLUMNS]) {
    uint32_t bytes = wgmma_element_bytes(element), elements = 16 / bytes;
    if (bytes != 2) {
        for (uint32_t column = 0; column < MMA_COLUMNS; column++)
            for (uint32_t e = 0; e < elements; e++)
                to[e][column] = mma_element((const uint8_t *)from[column] + e * bytes, element);
        return;
    }
    // Interleaving rows i and i + 4 three times transposes 8 x 8 halves.
    mma_half8 rows[2][MMA_COLUMNS];
    for (int i = 0; i < MMA_COLUMNS; i++)
        memcpy(&rows[0][i], from[i], sizeof rows[0][i]);
    for (int turn = 0; turn < 3; turn++) {
        for (int i = 0; i < 4; i++) {
            mma_half8 low = rows[turn % 2][i], high = rows[turn % 2][i + 4];
            rows[1 - turn % 2][2 * i] = __builtin_shuffle(low, high, (mma_half8){0, 8, 1, 9, 2, 10, 3, 11});
            rows[1 - turn % 2][2 * i + 1] = __builtin_shuffle(low, high, (mma_half8){4, 12, 5, 13, 6, 14, 7, 15});
        }
    }
    for (uint32_t e = 0; e < elements; e++)
        mma_load_unit(&rows[1][e], element, to[e]);
}

// A's registers: four lanes hold 16 bytes of a row.
MMA_INLINE void mma_load_a_registers(const uint32_t *const registers[4], enum wgmma_element element, uint32_t count,
                                     mma_a_tile a_tile) {
    uint32_t elements = 16 / wgmma_element_bytes(element);
    for (uint32_t r = 0; r < count; r++)
        for (uint32_t row = 0; row < 8; row++)
            mma_load_unit(&registers[r][4 * row], element, &a_tile[row + 8 * (r % 2)][elements * (r / 2)]);
}

// Eight columns of fp32 accumulators: four registers, two per half of the rows.
#if defined(LANES_AVX2)

MMA_INLINE void mma_load_accumulators(const uint32_t *const registers[4], mma_accumulators sum) {
    for (int row = 0; row < MMA_ROWS; row++) {
        mma_float4 even, odd;
        memcpy(&even, &registers[row / 8 * 2][row % 8 * 4], sizeof even);
        memcpy(&odd, &registers[row / 8 * 2 + 1][row % 8 * 4], sizeof odd);
        _mm256_store_pd(sum[row], _mm256_cvtps_pd(_mm_unpacklo_ps(even, odd)));
        _mm256_store_pd(sum[row] + 4, _mm256_cvtps_pd(_mm_unpackhi_ps(even, odd)));
    }
}

MMA_INLINE void mma_store_accumulators(uint32_t *const registers[4], mma_accumulators sum) {
    for (int row = 0; row < MMA_ROWS; row++) {
        mma_float4 low = _mm256_cvtpd_ps(_mm256_load_pd(sum[row]));
        mma_float4 high = _mm256_cvtpd_ps(_mm256_load_pd(sum[row] + 4));
        mma_float4 pair[2] = {__builtin_shuffle(low, high, (mma_int4){0, 2, 4, 6}),
                              __builtin_shuffle(low, high, (mma_int4){1, 3, 5, 7})};
        for (int odd = 0; odd < 2; odd++) {
            mma_int4 is_nan = pair[odd] != pair[odd];
            mma_int4 bits = ((mma_int4)pair[odd] & ~is_nan) | ((int32_t)CANONICAL_NAN & is_nan);
            memcpy(&registers[row / 8 * 2 + odd][row % 8 * 4], &bits, sizeof bits);
        }
    }
}

#else

MMA_INLINE void mma_load_accumulators(const uint32_t *const registers[4], mma_accumulators sum) {
    for (int row = 0; row < MMA_ROWS; row++)
        for (int column = 0; column < MMA_COLUMNS; column++)
            sum[row][column] = float_of(registers[row / 8 * 2 + column % 2][row % 8 * 4 + column / 2]);
}

MMA_INLINE void mma_store_accumulators(uint32_t *const registers[4], mma_accumulators sum) {
    for (int row = 0; row < MMA_ROWS; row++)
        for (int column = 0; column < MMA_COLUMNS; column++)
            registers[row / 8 * 2 + column % 2][row % 8 * 4 + column / 2] = result_f32((float)sum[row][column]);
}

#endif

// sum += A B
MMA_INLINE void mma_accumulate(mma_a_tile a_tile, mma_b_tile b_tile, uint32_t k, mma_accumulators sum) {
    for (int first = 0; first < MMA_ROWS; first += MMA_ROWS_PER_PASS) {
        mma_vector total[MMA_ROWS_PER_PASS][MMA_VECTORS];
        for (int row = 0; row < MMA_ROWS_PER_PASS; row++)
            for (int part = 0; part < MMA_VECTORS; part++)
                total[row][part] = ((mma_vector *)sum[first + row])[part];
        for (uint32_t i = 0; i < k; i++)
            for (int row = 0; row < MMA_ROWS_PER_PASS; row++)
                for (int part = 0; part < MMA_VECTORS; part++)
                    MMA_FMA(total[row][part], a_tile[first + row][i], ((mma_vector *)b_tile[i])[part]);
        for (int row = 0; row < MMA_ROWS_PER_PASS; row++)
            for (int part = 0; part < MMA_VECTORS; part++)
                ((mma_vector *)sum[first + row])[part] = total[row][part];
    }
}

#endif
