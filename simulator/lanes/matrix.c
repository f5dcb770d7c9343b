// mma.sync.m16n8k: D = A B + C, A 16 x k, B k x 8. Which lane holds which element says fragment.h: four lanes hold 16
// bytes of a row of A, or of a column of B. See product.h on rounding.
#include "matrix.h"

#include "product.h"
#include "table.h"

static void load_halves(const uint32_t *const c[2], product_sum sum) {
    for (int row = 0; row < PRODUCT_ROWS; row++)
        for (int column = 0; column < PRODUCT_COLUMNS; column++)
            sum[row][column] = float_of_f16(c[row / 8][row % 8 * 4 + column / 2] >> 16 * (column % 2) & 0xffff);
}

static void store_halves(uint32_t *const d[2], product_sum sum) {
    for (int row = 0; row < PRODUCT_ROWS; row++)
        for (int column = 0; column < PRODUCT_COLUMNS; column += 2)
            d[row / 8][row % 8 * 4 + column / 2] =
                (uint32_t)narrow_double(sum[row][column], FORMAT_F16, PTX_RN, false) |
                (uint32_t)narrow_double(sum[row][column + 1], FORMAT_F16, PTX_RN, false) << 16;
}

PRODUCT_INLINE void multiply(enum wgmma_element element, const struct lane_mma *what, uint32_t *const d[4],
                             const uint32_t *const a[4], const uint32_t *const b[2], const uint32_t *const c[4]) {
    product_left left;
    product_right right;
    product_sum sum;
    uint32_t per_unit = 16 / wgmma_element_bytes(element), registers_b = (uint32_t)what->k / per_unit;
    product_left_registers(a, element, 2 * registers_b, left);
    for (uint32_t r = 0; r < registers_b; r++) {
        const void *unit[PRODUCT_COLUMNS];
        for (uint32_t column = 0; column < PRODUCT_COLUMNS; column++)
            unit[column] = &b[r][4 * column];
        product_columns(unit, element, &right[per_unit * r]);
    }
    if (what->half_sum)
        load_halves(c, sum);
    else
        product_load(c, sum);
    product_add(left, right, (uint32_t)what->k, sum);
    if (what->half_sum)
        store_halves(d, sum);
    else
        product_store(d, sum);
}

void LANE(mma)(const struct lane_mma *what, uint32_t *const d[4], const uint32_t *const a[4],
               const uint32_t *const b[2], const uint32_t *const c[4]) {
    if (what->element == ELEMENT_BF16)
        multiply(WGMMA_BF16, what, d, a, b, c);
    else if (what->element == ELEMENT_F16)
        multiply(WGMMA_F16, what, d, a, b, c);
    else
        multiply(WGMMA_TF32, what, d, a, b, c);
}
