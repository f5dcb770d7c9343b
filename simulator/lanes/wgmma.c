// One warp's quarter of wgmma.m64nNk: 16 rows of D = A B + D. Which lane holds which element is the PTX manual's
// ("Register fragments" of wgmma), see fragment.h: D's fp32 registers are those of C of an mma as wide, A's those of
// mma.m16n8k. See product.h on rounding.
#include "wgmma.h"

#include "product.h"
#include "table.h"

PRODUCT_INLINE void gather_left(enum wgmma_element element, const struct wgmma_tile *tile, const uint8_t *shared,
                                uint32_t first, uint32_t k, product_left left) {
    uint32_t per_unit = 16 / wgmma_element_bytes(element);
    for (uint32_t row = 0; row < WGMMA_ROWS; row += tile->mn_major ? per_unit : 1) {
        for (uint32_t i = 0; i < k; i += tile->mn_major ? 1 : per_unit) {
            const uint8_t *unit = shared + wgmma_unit(tile, first + row, i);
            double values[16];
            if (!tile->mn_major) {
                product_unit(unit, element, &left[row][i]);
                continue;
            }
            product_unit(unit, element, values);
            for (uint32_t e = 0; e < per_unit; e++)
                left[row + e][i] = values[e];
        }
    }
}

// Columns [first, first + 8) of B.
PRODUCT_INLINE void gather_right(enum wgmma_element element, const struct wgmma_tile *tile, const uint8_t *shared,
                                 uint32_t first, uint32_t k, product_right right) {
    uint32_t per_unit = 16 / wgmma_element_bytes(element);
    for (uint32_t i = 0; i < k && !tile->mn_major; i += per_unit) {
        const void *unit[PRODUCT_COLUMNS];
        for (uint32_t column = 0; column < PRODUCT_COLUMNS; column++)
            unit[column] = shared + wgmma_unit(tile, first + column, i);
        product_columns(unit, element, &right[i]);
    }
    for (uint32_t i = 0; i < k && tile->mn_major; i++) // only of 16-bit elements
        product_unit(shared + wgmma_unit(tile, first, i), element, right[i]);
}

static void load_other(const struct lane_wgmma *what, uint32_t *const *d, uint32_t block, product_sum sum) {
    for (uint32_t row = 0; row < WGMMA_ROWS; row++) {
        for (uint32_t column = 0; column < PRODUCT_COLUMNS; column++) {
            uint32_t lane = row % 8 * 4 + column / 2, pair = block * 2 + row / 8;
            sum[row][column] = what->sum == WGMMA_SUM_F16 ? float_of_f16(d[pair][lane] >> 16 * (column % 2) & 0xffff)
                                                          : (double)(int32_t)d[2 * pair + column % 2][lane];
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

static void store_other(const struct lane_wgmma *what, uint32_t *const *d, uint32_t block, product_sum sum) {
    for (uint32_t row = 0; row < WGMMA_ROWS; row++) {
        for (uint32_t column = 0; column < PRODUCT_COLUMNS; column += 2) {
            uint32_t lane = row % 8 * 4 + column / 2, pair = block * 2 + row / 8;
            double even = sum[row][column], odd = sum[row][column + 1];
            if (what->sum == WGMMA_SUM_S32) {
                d[2 * pair][lane] = integer_sum(what, even);
                d[2 * pair + 1][lane] = integer_sum(what, odd);
            } else {
                d[pair][lane] = (uint32_t)narrow_double(even, FORMAT_F16, PTX_RN, false) |
                                (uint32_t)narrow_double(odd, FORMAT_F16, PTX_RN, false) << 16;
            }
        }
    }
}

// By row and stored element of A: to which element along K it belongs. Metadata of 16 bits is of 8 elements in a row;
// of bytes a lane has 32 of one row (PTX ISA, metadata of sparse wgmma).
typedef uint8_t sparse_places[WGMMA_ROWS][PRODUCT_MOST_K];

static void find_places(const struct lane_wgmma *what, sparse_places places) {
    uint32_t bytes = wgmma_element_bytes(what->a);
    for (uint32_t row = 0; row < WGMMA_ROWS; row++) {
        for (uint32_t s = 0; s < wgmma_stored(what); s++) {
            const uint32_t *quad = &what->metadata[row % 8 * 4], half = row / 8;
            if (bytes == 1)
                places[row][s] = (uint8_t)(s / 2 * 4 + (quad[s / 16 * 2 + half] >> s % 16 * 2 & 3));
            else if (bytes == 2)
                places[row][s] =
                    (uint8_t)(s / 2 * 4 + (quad[2 * what->selector + s / 8] >> (16 * half + s % 8 * 2) & 3));
            else
                places[row][s] =
                    (uint8_t)(s * 2 + (quad[2 * what->selector + s / 4] >> (16 * half + s % 4 * 4 + 1) & 1));
        }
    }
}

// sum += left right, where only what is stored of A is multiplied: an infinity of B that meets none of it does nothing.
static void add_sparse(product_left left, sparse_places places, product_right right, uint32_t stored, product_sum sum) {
    for (uint32_t row = 0; row < WGMMA_ROWS; row++)
        for (uint32_t s = 0; s < stored; s++)
            for (uint32_t column = 0; column < PRODUCT_COLUMNS; column++)
                sum[row][column] += left[row][s] * right[places[row][s]][column];
}

PRODUCT_INLINE void multiply(enum wgmma_element element_a, enum wgmma_element element_b, const struct lane_wgmma *what,
                             const uint8_t *shared, const struct wgmma_tile *a, uint32_t first_row,
                             const uint32_t *const registers[4], const struct wgmma_tile *b, uint32_t *const *d) {
    product_left left;
    sparse_places places;
    const uint32_t stored = wgmma_stored(what);
    if (what->sparse)
        find_places(what, places);
    if (a)
        gather_left(element_a, a, shared, first_row, stored, left);
    else
        product_left_registers(registers, element_a, 4, left);
    for (uint32_t row = 0; what->negates && row < WGMMA_ROWS; row++)
        for (uint32_t i = 0; i < stored; i++)
            left[row][i] = -left[row][i];
    for (uint32_t block = 0; block < what->n / PRODUCT_COLUMNS; block++) {
        product_right right;
        product_sum sum;
        gather_right(element_b, b, shared, block * PRODUCT_COLUMNS, what->k, right);
        if (what->keeps && what->sum == WGMMA_SUM_F32)
            product_load((const uint32_t *const *)&d[4 * block], sum);
        else if (what->keeps)
            load_other(what, d, block, sum);
        else
            memset(sum, 0, sizeof sum);
        if (what->sparse)
            add_sparse(left, places, right, stored, sum);
        else
            product_add(left, right, stored, sum);
        if (what->sum == WGMMA_SUM_F32)
            product_store(&d[4 * block], sum);
        else
            store_other(what, d, block, sum);
    }
}

// Four 64-bit words a row of A, or a column of B: 256 bits.
typedef uint64_t bits[WGMMA_K_BYTES / 8];

static void gather_bits(const struct wgmma_tile *tile, const uint8_t *shared, uint32_t row, bits to) {
    for (uint32_t byte = 0; byte < WGMMA_K_BYTES; byte += 16)
        memcpy((uint8_t *)to + byte, shared + wgmma_unit(tile, row, byte), 16);
}

// D = popc(A and B) + D, which wraps round.
static void multiply_bits(const struct lane_wgmma *what, const uint8_t *shared, const struct wgmma_tile *a,
                          uint32_t first_row, const uint32_t *const registers[4], const struct wgmma_tile *b,
                          uint32_t *const *d) {
    bits left[WGMMA_ROWS], right;
    for (uint32_t row = 0; row < WGMMA_ROWS; row++) {
        if (a)
            gather_bits(a, shared, first_row + row, left[row]);
        for (uint32_t half = 0; half < 2 && !a; half++) // four lanes hold 16 bytes of a row
            memcpy(&left[row][2 * half], &registers[2 * half + row / 8][row % 8 * 4], 16);
    }
    for (uint32_t column = 0; column < what->n; column++) {
        gather_bits(b, shared, column, right);
        for (uint32_t row = 0; row < WGMMA_ROWS; row++) {
            uint32_t *sum = &d[column / 8 * 4 + row / 8 * 2 + column % 2][row % 8 * 4 + column % 8 / 2];
            uint32_t count = 0;
            for (int i = 0; i < WGMMA_K_BYTES / 8; i++)
                count += (uint32_t)__builtin_popcountll(left[row][i] & right[i]);
            *sum = count + (what->keeps ? *sum : 0);
        }
    }
}

// A loop for each of the usual types, without asking at each element which it is.
void LANE(wgmma)(const struct lane_wgmma *what, const uint8_t *shared, const struct wgmma_tile *a, uint32_t first_row,
                 const uint32_t *const registers[4], const struct wgmma_tile *b, uint32_t *const *d) {
    if (what->a == WGMMA_BITS)
        multiply_bits(what, shared, a, first_row, registers, b, d);
    else if (what->a == WGMMA_BF16)
        multiply(WGMMA_BF16, WGMMA_BF16, what, shared, a, first_row, registers, b, d);
    else if (what->a == WGMMA_F16)
        multiply(WGMMA_F16, WGMMA_F16, what, shared, a, first_row, registers, b, d);
    else
        multiply(what->a, what->b, what, shared, a, first_row, registers, b, d);
}
