// mma.sync.m16n8k: D = A B + C, A 16 x k, B k x 8. Which lane holds which element is the PTX manual's ("Matrix
// fragments for mma"). With group = lane / 4 and t = lane % 4, register r of A holds row group + 8 (r % 2) and columns
// from t w + 4 w (r / 2) on, w elements to a register; B likewise holds rows from t w + 4 w r on of column group.
//
// The GPU rounds its sums in an order that is its own. Here products are exact, sums are taken in fp64 in the order of
// k, and rounded once.
#include "matrix.h"

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
        int group = lane / 4, t = lane % 4;
        for (int r = 0; r < 2 * registers_b; r++)
            for (int e = 0; e < width; e++)
                left[group + 8 * (r % 2)][t * width + 4 * width * (r / 2) + e] = element(a[r][lane], e, what->element);
        for (int r = 0; r < registers_b; r++)
            for (int e = 0; e < width; e++)
                right[t * width + 4 * width * r + e][group] = element(b[r][lane], e, what->element);
        for (int r = 0; r < 4; r++) {
            double value = what->half_sum ? element(c[r / 2][lane], r % 2, ELEMENT_F16) : float_of(c[r][lane]);
            sum[group + 8 * (r / 2)][2 * t + r % 2] = value;
        }
    }
    for (int row = 0; row < ROWS; row++) {
        for (int k = 0; k < what->k; k++)
            for (int column = 0; column < COLUMNS; column++)
                sum[row][column] += left[row][k] * right[k][column];
    }
    for (int lane = 0; lane < LANES; lane++) {
        int group = lane / 4, t = lane % 4;
        for (int r = 0; r < 4; r += what->half_sum ? 2 : 1) {
            const double *value = &sum[group + 8 * (r / 2)][2 * t + r % 2];
            if (what->half_sum) {
                d[r / 2][lane] = (uint32_t)narrow_double(value[0], FORMAT_F16, PTX_RN, false) |
                                 (uint32_t)narrow_double(value[1], FORMAT_F16, PTX_RN, false) << 16;
            } else {
                d[r][lane] = result_f32((float)value[0]);
            }
        }
    }
}
