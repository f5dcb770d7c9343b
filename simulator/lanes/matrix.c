// mma.sync.m16n8k, and m8n8k as its upper half: D = A B + C, A 16 x k, B k x 8. Which lane holds which element says
// fragment.h: four lanes hold 16 bytes of a row of A, or of a column of B. See product.h on rounding.
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

static void load_integers(const uint32_t *const c[4], product_sum sum) {
    for (int row = 0; row < PRODUCT_ROWS; row++)
        for (int column = 0; column < PRODUCT_COLUMNS; column++)
            sum[row][column] = (int32_t)c[row / 8 * 2 + column % 2][row % 8 * 4 + column / 2];
}

// Sums are exact in fp64.
static void store_integers(uint32_t *const d[4], product_sum sum, bool saturates) {
    for (int row = 0; row < PRODUCT_ROWS; row++) {
        for (int column = 0; column < PRODUCT_COLUMNS; column++) {
            int64_t whole = (int64_t)sum[row][column];
            if (saturates)
                whole = whole > INT32_MAX ? INT32_MAX : whole < INT32_MIN ? INT32_MIN : whole;
            d[row / 8 * 2 + column % 2][row % 8 * 4 + column / 2] = (uint32_t)whole;
        }
    }
}

PRODUCT_INLINE void multiply(enum wgmma_element element, enum wgmma_element of_b, const struct lane_mma *what,
                             uint32_t *const d[4], const uint32_t *const a[4], const uint32_t *const b[2],
                             const uint32_t *const c[4]) {
    product_left left;
    product_right right;
    product_sum sum;
    const bool integers = element == WGMMA_S8 || element == WGMMA_U8;
    uint32_t per_unit = 16 / wgmma_element_bytes(element), registers_b = (uint32_t)what->k / per_unit;
    product_left_registers(a, element, 2 * registers_b, left);
    for (uint32_t r = 0; r < registers_b; r++) {
        const void *unit[PRODUCT_COLUMNS];
        for (uint32_t column = 0; column < PRODUCT_COLUMNS; column++)
            unit[column] = &b[r][4 * column];
        product_columns(unit, of_b, &right[per_unit * r]);
    }
    if (integers)
        load_integers(c, sum);
    else if (what->half_sum)
        load_halves(c, sum);
    else
        product_load(c, sum);
    product_add(left, right, (uint32_t)what->k, sum);
    if (integers)
        store_integers(d, sum, what->saturates);
    else if (what->half_sum)
        store_halves(d, sum);
    else
        product_store(d, sum);
}

void LANE(mma)(const struct lane_mma *what, uint32_t *const d[4], const uint32_t *const a[4],
               const uint32_t *const b[2], const uint32_t *const c[4]) {
    switch (what->element) {
    case ELEMENT_BF16:
        multiply(WGMMA_BF16, WGMMA_BF16, what, d, a, b, c);
        break;
    case ELEMENT_F16:
        multiply(WGMMA_F16, WGMMA_F16, what, d, a, b, c);
        break;
    case ELEMENT_TF32:
        multiply(WGMMA_TF32, WGMMA_TF32, what, d, a, b, c);
        break;
    case ELEMENT_E4M3:
        multiply(WGMMA_E4M3, what->right == ELEMENT_E4M3 ? WGMMA_E4M3 : WGMMA_E5M2, what, d, a, b, c);
        break;
    case ELEMENT_E5M2:
        multiply(WGMMA_E5M2, what->right == ELEMENT_E4M3 ? WGMMA_E4M3 : WGMMA_E5M2, what, d, a, b, c);
        break;
    case ELEMENT_S8:
        multiply(WGMMA_S8, what->right == ELEMENT_S8 ? WGMMA_S8 : WGMMA_U8, what, d, a, b, c);
        break;
    default:
        multiply(WGMMA_U8, what->right == ELEMENT_S8 ? WGMMA_S8 : WGMMA_U8, what, d, a, b, c);
        break;
    }
}
