// mma.sync.m16n8k, and m8n8k as its upper half: D = A B + C, A 16 x k, B k x 8. fragment.h defines which lane holds
// which element: four lanes hold 16 bytes of a row of A, or of a column of B. mma.h explains the rounding.
#include "matrix.h"

#include "matrix_sums.h"
#include "table.h"

MMA_INLINE void multiply(enum wgmma_element element, enum wgmma_element of_b, const struct lane_mma *what,
                         uint32_t *const d[4], const uint32_t *const a[4], const uint32_t *const b[2],
                         const uint32_t *const c[4]) {
    mma_a_tile a_tile;
    mma_b_tile b_tile;
    mma_accumulators sum;
    const bool integers = element == WGMMA_S8 || element == WGMMA_U8;
    uint32_t per_unit = 16 / wgmma_element_bytes(element), registers_b = (uint32_t)what->k / per_unit;
    mma_load_a_registers(a, element, 2 * registers_b, a_tile);
    for (uint32_t r = 0; r < registers_b; r++) {
        const void *unit[MMA_COLUMNS];
        for (uint32_t column = 0; column < MMA_COLUMNS; column++)
            unit[column] = &b[r][4 * column];
        mma_load_columns(unit, of_b, &b_tile[per_unit * r]);
    }
    load_sums(c, integers, what->half_sum, sum);
    mma_accumulate(a_tile, b_tile, (uint32_t)what->k, sum);
    store_sums(d, integers, what->half_sum, what->saturates, sum);
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
        multiply(WGMMA_E4M3, what->element_b == ELEMENT_E4M3 ? WGMMA_E4M3 : WGMMA_E5M2, what, d, a, b, c);
        break;
    case ELEMENT_E5M2:
        multiply(WGMMA_E5M2, what->element_b == ELEMENT_E4M3 ? WGMMA_E4M3 : WGMMA_E5M2, what, d, a, b, c);
        break;
    case ELEMENT_S8:
        multiply(WGMMA_S8, what->element_b == ELEMENT_S8 ? WGMMA_S8 : WGMMA_U8, what, d, a, b, c);
        break;
    default:
        multiply(WGMMA_U8, what->element_b == ELEMENT_S8 ? WGMMA_S8 : WGMMA_U8, what, d, a, b, c);
        break;
    }
}
