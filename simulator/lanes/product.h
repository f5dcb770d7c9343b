// For mma and wgmma: products of matrices, eight columns at a time. 16 bytes of A or of B, wherever they lie, are
// neighbours along K or along N; there they become fp64.
//
// The GPU rounds its sums in an order that is its own. Here products are exact, sums are taken in fp64 in the order of
// k, and rounded once.
#ifndef SIMULATOR_LANES_PRODUCT_H
#define SIMULATOR_LANES_PRODUCT_H

#include "round.h"
#include "wgmma.h"

#if defined(LANES_AVX2)
#include <immintrin.h>
#endif

#define PRODUCT_ROWS 16
#define PRODUCT_COLUMNS 8
#define PRODUCT_MOST_K 32
#define PRODUCT_MOST_RIGHT 64 // along K, where A is sparse

#define PRODUCT_INLINE static inline __attribute__((always_inline))

// What the host adds and multiplies at once, and how many rows' sums stay in its registers. Since a product is exact,
// one rounding or two make no difference.
#if defined(LANES_AVX2)
#define PRODUCT_WIDTH 4
#define PRODUCT_ROWS_AT_ONCE 4
#define PRODUCT_ADD(sum, factor, wide) ((sum) = _mm256_fmadd_pd(_mm256_set1_pd(factor), (wide), (sum)))
#else
#define PRODUCT_WIDTH 2
#define PRODUCT_ROWS_AT_ONCE 2
#define PRODUCT_ADD(sum, factor, wide) ((sum) += (factor) * (wide))
#endif
#define PRODUCT_PARTS (PRODUCT_COLUMNS / PRODUCT_WIDTH)

typedef double __attribute__((vector_size(8 * PRODUCT_WIDTH), may_alias)) product_wide;
typedef float __attribute__((vector_size(16))) product_quad;
typedef int32_t __attribute__((vector_size(16))) product_quad_bits;
typedef uint16_t __attribute__((vector_size(16))) product_halves;

// A, eight columns of B, and of the sums.
typedef double product_left[PRODUCT_ROWS][PRODUCT_MOST_K];
typedef double __attribute__((aligned(32))) product_right[PRODUCT_MOST_RIGHT][PRODUCT_COLUMNS];
typedef double __attribute__((aligned(32))) product_sum[PRODUCT_ROWS][PRODUCT_COLUMNS];

PRODUCT_INLINE float product_float_of_f8(uint32_t bits, int fraction, int bias) {
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

PRODUCT_INLINE double product_element(const uint8_t *from, enum wgmma_element element) {
    uint32_t word = 0;
    memcpy(&word, from, wgmma_element_bytes(element));
    switch (element) {
    case WGMMA_F16:
        return float_of_f16(word);
    case WGMMA_BF16:
        return float_of_bf16(word);
    case WGMMA_TF32: // the low 13 bits of the fp32 are not looked at
        return float_of(word & ~0x1fffu);
    case WGMMA_E4M3:
        return product_float_of_f8(word, 3, 7);
    case WGMMA_S8:
        return (int8_t)word;
    case WGMMA_U8:
        return word;
    default:
        return product_float_of_f8(word, 2, 15);
    }
}

// 16 bytes.
PRODUCT_INLINE void product_unit(const void *from, enum wgmma_element element, double *to) {
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
        to[e] = product_element((const uint8_t *)from + e * bytes, element);
}

// Eight columns' 16 bytes, neighbours along K.
PRODUCT_INLINE void product_columns(const void *const from[PRODUCT_COLUMNS], enum wgmma_element element,
                                    double (*to)[PRODUCT_COLUMNS]) {
    uint32_t bytes = wgmma_element_bytes(element), elements = 16 / bytes;
    if (bytes != 2) {
        for (uint32_t column = 0; column < PRODUCT_COLUMNS; column++)
            for (uint32_t e = 0; e < elements; e++)
                to[e][column] = product_element((const uint8_t *)from[column] + e * bytes, element);
        return;
    }
    // Halves of rows i and i + 4 in turn, three times: that transposes 8 x 8.
    product_halves rows[2][PRODUCT_COLUMNS];
    for (int i = 0; i < PRODUCT_COLUMNS; i++)
        memcpy(&rows[0][i], from[i], sizeof rows[0][i]);
    for (int turn = 0; turn < 3; turn++) {
        for (int i = 0; i < 4; i++) {
            product_halves low = rows[turn % 2][i], high = rows[turn % 2][i + 4];
            rows[1 - turn % 2][2 * i] = __builtin_shuffle(low, high, (product_halves){0, 8, 1, 9, 2, 10, 3, 11});
            rows[1 - turn % 2][2 * i + 1] = __builtin_shuffle(low, high, (product_halves){4, 12, 5, 13, 6, 14, 7, 15});
        }
    }
    for (uint32_t e = 0; e < elements; e++)
        product_unit(&rows[1][e], element, to[e]);
}

// A's registers: four lanes hold 16 bytes of a row.
PRODUCT_INLINE void product_left_registers(const uint32_t *const registers[4], enum wgmma_element element,
                                           uint32_t count, product_left left) {
    uint32_t elements = 16 / wgmma_element_bytes(element);
    for (uint32_t r = 0; r < count; r++)
        for (uint32_t row = 0; row < 8; row++)
            product_unit(&registers[r][4 * row], element, &left[row + 8 * (r % 2)][elements * (r / 2)]);
}

// Eight columns of fp32 sums: four registers, two of each half of the rows.
#if defined(LANES_AVX2)

PRODUCT_INLINE void product_load(const uint32_t *const registers[4], product_sum sum) {
    for (int row = 0; row < PRODUCT_ROWS; row++) {
        product_quad even, odd;
        memcpy(&even, &registers[row / 8 * 2][row % 8 * 4], sizeof even);
        memcpy(&odd, &registers[row / 8 * 2 + 1][row % 8 * 4], sizeof odd);
        _mm256_store_pd(sum[row], _mm256_cvtps_pd(_mm_unpacklo_ps(even, odd)));
        _mm256_store_pd(sum[row] + 4, _mm256_cvtps_pd(_mm_unpackhi_ps(even, odd)));
    }
}

PRODUCT_INLINE void product_store(uint32_t *const registers[4], product_sum sum) {
    for (int row = 0; row < PRODUCT_ROWS; row++) {
        product_quad low = _mm256_cvtpd_ps(_mm256_load_pd(sum[row]));
        product_quad high = _mm256_cvtpd_ps(_mm256_load_pd(sum[row] + 4));
        product_quad pair[2] = {__builtin_shuffle(low, high, (product_quad_bits){0, 2, 4, 6}),
                                __builtin_shuffle(low, high, (product_quad_bits){1, 3, 5, 7})};
        for (int odd = 0; odd < 2; odd++) {
            product_quad_bits is_nan = pair[odd] != pair[odd];
            product_quad_bits bits = ((product_quad_bits)pair[odd] & ~is_nan) | ((int32_t)CANONICAL_NAN & is_nan);
            memcpy(&registers[row / 8 * 2 + odd][row % 8 * 4], &bits, sizeof bits);
        }
    }
}

#else

PRODUCT_INLINE void product_load(const uint32_t *const registers[4], product_sum sum) {
    for (int row = 0; row < PRODUCT_ROWS; row++)
        for (int column = 0; column < PRODUCT_COLUMNS; column++)
            sum[row][column] = float_of(registers[row / 8 * 2 + column % 2][row % 8 * 4 + column / 2]);
}

PRODUCT_INLINE void product_store(uint32_t *const registers[4], product_sum sum) {
    for (int row = 0; row < PRODUCT_ROWS; row++)
        for (int column = 0; column < PRODUCT_COLUMNS; column++)
            registers[row / 8 * 2 + column % 2][row % 8 * 4 + column / 2] = result_f32((float)sum[row][column]);
}

#endif

// sum += left right
PRODUCT_INLINE void product_add(product_left left, product_right right, uint32_t k, product_sum sum) {
    for (int first = 0; first < PRODUCT_ROWS; first += PRODUCT_ROWS_AT_ONCE) {
        product_wide total[PRODUCT_ROWS_AT_ONCE][PRODUCT_PARTS];
        for (int row = 0; row < PRODUCT_ROWS_AT_ONCE; row++)
            for (int part = 0; part < PRODUCT_PARTS; part++)
                total[row][part] = ((product_wide *)sum[first + row])[part];
        for (uint32_t i = 0; i < k; i++)
            for (int row = 0; row < PRODUCT_ROWS_AT_ONCE; row++)
                for (int part = 0; part < PRODUCT_PARTS; part++)
                    PRODUCT_ADD(total[row][part], left[first + row][i], ((product_wide *)right[i])[part]);
        for (int row = 0; row < PRODUCT_ROWS_AT_ONCE; row++)
            for (int part = 0; part < PRODUCT_PARTS; part++)
                ((product_wide *)sum[first + row])[part] = total[row][part];
    }
}

#endif
