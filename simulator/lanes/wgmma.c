// One warp's quarter of wgmma.m64nNk: 16 rows of D = A B + D. Which lane holds which element is the PTX manual's
// ("Register fragments" of wgmma), see fragment.h: D's fp32 registers are those of C of an mma as wide, A's those of
// mma.m16n8k.
//
// The GPU rounds its sums in an order that is its own. Here products are exact, sums are taken in fp64 in the order of
// k, and rounded once.
#include "wgmma.h"

#include "fragment.h"
#include "round.h"
#include "table.h"

static inline float float_of_f8(uint32_t bits, int fraction, int bias) {
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

static inline __attribute__((always_inline)) double element_at(const uint8_t *from, enum wgmma_element element) {
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
        return float_of_f8(word, 3, 7);
    case WGMMA_S8:
        return (int8_t)word;
    case WGMMA_U8:
        return word;
    default:
        return float_of_f8(word, 2, 15);
    }
}

static inline __attribute__((always_inline)) void gather_of(enum wgmma_element element, const struct wgmma_tile *tile,
                                                            const uint8_t *shared, uint32_t first, uint32_t rows,
                                                            uint32_t k, double *to, size_t row_step, size_t k_step) {
    uint32_t bytes = wgmma_element_bytes(element), per_unit = 16 / bytes;
    uint32_t row_run = tile->mn_major ? per_unit : 1, k_run = tile->mn_major ? 1 : per_unit;
    for (uint32_t row = 0; row < rows; row += row_run) {
        for (uint32_t i = 0; i < k; i += k_run) {
            const uint8_t *unit = shared + wgmma_unit(tile, first + row, i);
            for (uint32_t e = 0; e < per_unit; e++) {
                size_t r = row + (tile->mn_major ? e : 0), c = i + (tile->mn_major ? 0 : e);
                to[r * row_step + c * k_step] = element_at(unit + e * bytes, element);
            }
        }
    }
}

// A loop for each of the usual types, without asking at each element which it is.
static void gather(const struct wgmma_tile *tile, const uint8_t *shared, uint32_t first, uint32_t rows, uint32_t k,
                   double *to, size_t row_step, size_t k_step) {
    switch (tile->element) {
    case WGMMA_F16:
        gather_of(WGMMA_F16, tile, shared, first, rows, k, to, row_step, k_step);
        break;
    case WGMMA_BF16:
        gather_of(WGMMA_BF16, tile, shared, first, rows, k, to, row_step, k_step);
        break;
    default:
        gather_of(tile->element, tile, shared, first, rows, k, to, row_step, k_step);
        break;
    }
}

static void unpack(const uint32_t *const registers[4], const struct lane_wgmma *what,
                   double left[WGMMA_ROWS][WGMMA_MOST_K]) {
    uint32_t bytes = wgmma_element_bytes(what->a), width = 4 / bytes;
    for (uint32_t lane = 0; lane < LANES; lane++)
        for (uint32_t r = 0; r < 4; r++)
            for (uint32_t e = 0; e < width; e++) {
                struct fragment_element at = fragment_a((int)lane, (int)r, (int)e, (int)width);
                left[at.row][at.column] = element_at((const uint8_t *)&registers[r][lane] + e * bytes, what->a);
            }
}

static void load_sum(const struct lane_wgmma *what, uint32_t *const *d, double sum[WGMMA_ROWS][WGMMA_MOST_N]) {
    for (uint32_t row = 0; row < WGMMA_ROWS; row++) {
        for (uint32_t column = 0; column < what->n; column++) {
            uint32_t lane = row % 8 * 4 + column % 8 / 2, pair = column / 8 * 2 + row / 8;
            bool half = what->sum == WGMMA_SUM_F16;
            const uint32_t *word = half ? &d[pair][lane] : &d[2 * pair + column % 2][lane];
            sum[row][column] = !what->keeps                 ? 0
                               : half                       ? float_of_f16(*word >> 16 * (column % 2) & 0xffff)
                               : what->sum == WGMMA_SUM_S32 ? (double)(int32_t)*word
                                                            : float_of(*word);
        }
    }
}

// Sums of integers are exact in fp64.
static uint32_t integer_sum(const struct lane_wgmma *what, double sum) {
    int64_t exact = (int64_t)sum;
    if (what->saturates)
        exact = exact > INT32_MAX ? INT32_MAX : exact < INT32_MIN ? INT32_MIN : exact;
    return (uint32_t)exact;
}

static void store_sum(const struct lane_wgmma *what, uint32_t *const *d, double sum[WGMMA_ROWS][WGMMA_MOST_N]) {
    for (uint32_t row = 0; row < WGMMA_ROWS; row++) {
        for (uint32_t column = 0; column < what->n; column += 2) {
            uint32_t lane = row % 8 * 4 + column % 8 / 2, pair = column / 8 * 2 + row / 8;
            if (what->sum == WGMMA_SUM_S32) {
                d[2 * pair][lane] = integer_sum(what, sum[row][column]);
                d[2 * pair + 1][lane] = integer_sum(what, sum[row][column + 1]);
            } else if (what->sum == WGMMA_SUM_F16) {
                d[pair][lane] = (uint32_t)narrow_double(sum[row][column], FORMAT_F16, PTX_RN, false) |
                                (uint32_t)narrow_double(sum[row][column + 1], FORMAT_F16, PTX_RN, false) << 16;
            } else {
                d[2 * pair][lane] = result_f32((float)sum[row][column]);
                d[2 * pair + 1][lane] = result_f32((float)sum[row][column + 1]);
            }
        }
    }
}

void LANE(wgmma)(const struct lane_wgmma *what, const uint8_t *shared, const struct wgmma_tile *a, uint32_t first_row,
                 const uint32_t *const registers[4], const struct wgmma_tile *b, uint32_t *const *d) {
    double left[WGMMA_ROWS][WGMMA_MOST_K], right[WGMMA_MOST_K][WGMMA_MOST_N], sum[WGMMA_ROWS][WGMMA_MOST_N];
    if (a)
        gather(a, shared, first_row, WGMMA_ROWS, what->k, &left[0][0], WGMMA_MOST_K, 1);
    else
        unpack(registers, what, left);
    gather(b, shared, 0, what->n, what->k, &right[0][0], 1, WGMMA_MOST_N);
    load_sum(what, d, sum);
    double sign = what->negates ? -1 : 1;
    for (uint32_t row = 0; row < WGMMA_ROWS; row++) {
        for (uint32_t k = 0; k < what->k; k++) {
            double factor = sign * left[row][k];
            for (uint32_t column = 0; column < what->n; column++)
                sum[row][column] += factor * right[k][column];
        }
    }
    store_sum(what, d, sum);
}
