// mma.sync.m16n8k: D = A B + C, A 16 x k, B k x 8. Which lane holds which element says fragment.h.
//
// The GPU rounds its sums in an order that is its own. Here products are exact, sums are taken in fp64 in the order of
// k, and rounded once.
#include "matrix.h"

#include "fragment.h"
#include "round.h"
#include "table.h"

#define ROWS 16
#define COLUMNS 8
#define MOST_K 16

static inline double element(uint32_t word, int index, enum lane_element type) {
    uint32_t half = word >> 16 * index & 0xffff;
    switch (type) {
    case ELEMENT_F16:
        return float_of_f16(half);
    case ELEMENT_BF16:
        return float_of_bf16(half);
    default: // tf32: the low 13 bits of the fp32 are not looked at
        return float_of(word & ~0x1fffu);
    }
}

void LANE(mma)(const struct lane_mma *what, uint32_t *const d[4], const uint32_t *const a[4],
               const uint32_t *const b[2], const uint32_t *const c[4]) {
    double left[ROWS][MOST_K], right[MOST_K][COLUMNS], sum[ROWS][COLUMNS];
    int width = what->element == ELEMENT_TF32 ? 1 : 2;
    int registers_b = what->k / (4 * width);
    for (int lane = 0; lane < LANES; lane++) {
        for (int r = 0; r < 2 * registers_b; r++)
            for (int e = 0; e < width; e++) {
                struct fragment_element at = fragment_a(lane, r, e, width);
                left[at.row][at.column] = element(a[r][lane], e, what->element);
            }
        for (int r = 0; r < registers_b; r++)
            for (int e = 0; e < width; e++) {
                struct fragment_element at = fragment_b(lane, r, e, width);
                right[at.row][at.column] = element(b[r][lane], e, what->element);
            }
        for (int r = 0; r < 4; r++) {
            struct fragment_element at = fragment_c(lane, r);
            sum[at.row][at.column] =
                what->half_sum ? element(c[r / 2][lane], r % 2, ELEMENT_F16) : float_of(c[r][lane]);
        }
    }
    for (int row = 0; row < ROWS; row++) {
        for (int k = 0; k < what->k; k++)
            for (int column = 0; column < COLUMNS; column++)
                sum[row][column] += left[row][k] * right[k][column];
    }
    for (int lane = 0; lane < LANES; lane++) {
        for (int r = 0; r < 4; r += what->half_sum ? 2 : 1) {
            struct fragment_element at = fragment_c(lane, r);
            const double *value = &sum[at.row][at.column];
            if (what->half_sum) {
                d[r / 2][lane] = (uint32_t)narrow_double(value[0], FORMAT_F16, PTX_RN, false) |
                                 (uint32_t)narrow_double(value[1], FORMAT_F16, PTX_RN, false) << 16;
            } else {
                d[r][lane] = result_f32((float)value[0]);
            }
        }
    }
}
