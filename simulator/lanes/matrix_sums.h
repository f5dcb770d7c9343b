// The accumulators of mma: C and D, 16 x 8, in a warp's registers.
#ifndef SIMULATOR_LANES_MATRIX_SUMS_H
#define SIMULATOR_LANES_MATRIX_SUMS_H

#include "matrix.h"
#include "mma.h"

MMA_INLINE void load_halves(const uint32_t *const c[2], mma_accumulators sum) {
    for (int row = 0; row < MMA_ROWS; row++)
        for (int column = 0; column < MMA_COLUMNS; column++)
            sum[row][column] = float_of_f16(c[row / 8][row % 8 * 4 + column / 2] >> 16 * (column % 2) & 0xffff);
}

MMA_INLINE void store_halves(uint32_t *const d[2], mma_accumulators sum) {
    for (int row = 0; row < MMA_ROWS; row++)
        for (int column = 0; column < MMA_COLUMNS; column += 2)
            d[row / 8][row % 8 * 4 + column / 2] =
                (uint32_t)narrow_double(sum[row][column], FORMAT_F16, PTX_RN, false) |
                (uint32_t)narrow_double(sum[row][column + 1], FORMAT_F16, PTX_RN, false) << 16;
}

MMA_INLINE void load_integers(const uint32_t *const c[4], mma_accumulators sum) {
    for (int row = 0; row < MMA_ROWS; row++)
        for (int column = 0; column < MMA_COLUMNS; column++)
            sum[row][column] = (int32_t)c[row / 8 * 2 + column % 2][row % 8 * 4 + column / 2];
}

// Sums are exact in fp64.
MMA_INLINE void store_integers(uint32_t *const d[4], mma_accumulators sum, bool saturates) {
    for (int row = 0; row < MMA_ROWS; row++) {
        for (int column = 0; column < MMA_COLUMNS; column++) {
            int64_t whole = (int64_t)sum[row][column];
            if (saturates)
                whole = whole > INT32_MAX ? INT32_MAX : whole < INT32_MIN ? INT32_MIN : whole;
            d[row / 8 * 2 + column % 2][row % 8 * 4 + column / 2] = (uint32_t)whole;
        }
    }
}

MMA_INLINE void load_sums(const uint32_t *const c[4], bool integers, bool halves, mma_accumulators sum) {
    if (integers)
        load_integers(c, sum);
    else if (halves)
        load_halves(c, sum);
    else
        mma_load_accumulators(c, sum);
}

MMA_INLINE void store_sums(uint32_t *const d[4], bool integers, bool halves, bool saturates, mma_accumulators sum) {
    if (integers)
        store_integers(d, sum, saturates);
    else if (halves)
        store_halves(d, sum);
    else
        mma_store_accumulators(d, sum);
}

#endif
