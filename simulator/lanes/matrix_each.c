// mma whose elements are taken out of their registers one by one: those of less than a byte, and mma.sp, whose A has
// half of the elements of its rows and metadata that says where in the row they stand. fragment.h says which lane holds
// which element; a sparse A is held as one of k / 2 columns is. See product.h on rounding.
#include "matrix_sums.h"
#include "table.h"

enum { MOST_K = 128 };

struct factors {
    double left[PRODUCT_ROWS][MOST_K]; // what A holds
    uint8_t row_of_b[PRODUCT_ROWS][MOST_K];
    double __attribute__((aligned(32))) right[MOST_K][PRODUCT_COLUMNS];
};

static double element_in(uint32_t word, int e, enum lane_element element) {
    const uint32_t bits = word >> (e * lane_element_bits(element));
    switch (element) {
    case ELEMENT_F16:
        return float_of_f16(bits & 0xffff);
    case ELEMENT_BF16:
        return float_of_bf16(bits & 0xffff);
    case ELEMENT_TF32: // the low 13 bits of the fp32 are not looked at
        return float_of(bits & ~0x1fffu);
    case ELEMENT_E4M3:
        return product_float_of_f8(bits & 0xff, 3, 7);
    case ELEMENT_E5M2:
        return product_float_of_f8(bits & 0xff, 2, 15);
    case ELEMENT_S8:
        return (int8_t)bits;
    case ELEMENT_U8:
        return (uint8_t)bits;
    case ELEMENT_S4:
        return (int)(bits & 7) - (int)(bits & 8);
    default:
        return bits & 15;
    }
}

// Four bits for each chunk of a row. A lane has 32 bits: of elements of 16 bits and of tf32 four chunks of row r and of
// row r + 8, of smaller ones eight of one row.
static uint32_t places_in(const struct lane_mma *what, const uint32_t *metadata, int row, int chunk) {
    const int first = row % 8 * 4 + lane_mma_metadata_lanes(what) * what->selector;
    if (lane_element_bits(what->element) >= 16)
        return metadata[first + chunk / 4] >> (row / 8 * 16 + chunk % 4 * 4) & 15;
    return metadata[first + row / 8 + chunk / 8 * 2] >> chunk % 8 * 4 & 15;
}

// Which column of A the element is that stands in this one of what A holds.
static int place_of(const struct lane_mma *what, const uint32_t *metadata, int row, int column) {
    const int bits = lane_element_bits(what->element), kept = lane_element_chunk(what->element) / 2;
    const int chunk = column / kept;
    const uint32_t places = places_in(what, metadata, row, chunk);
    if (bits == 32) // 0b0100: the first of two, 0b1110: the second
        return 2 * chunk + (places >> 1 & 1);
    if (bits == 4) // pairs
        return 8 * chunk + 2 * (int)(places >> column % 4 / 2 * 2 & 3) + column % 2;
    return 4 * chunk + (int)(places >> column % 2 * 2 & 3);
}

static void take_left(const struct lane_mma *what, const uint32_t *const a[4], const uint32_t *metadata, int columns,
                      struct factors *factors) {
    const int width = 32 / lane_element_bits(what->element);
    for (int row = 0; row < PRODUCT_ROWS; row++) {
        for (int column = 0; column < columns; column++) {
            const uint32_t word = a[column / (4 * width) * 2 + row / 8][row % 8 * 4 + column / width % 4];
            factors->left[row][column] = element_in(word, column % width, what->element);
            factors->row_of_b[row][column] = (uint8_t)(metadata ? place_of(what, metadata, row, column) : column);
        }
    }
}

static void take_right(const struct lane_mma *what, const uint32_t *const b[4], struct factors *factors) {
    const enum lane_element element = what->element >= ELEMENT_E4M3 ? what->right : what->element;
    const int width = 32 / lane_element_bits(element);
    for (int row = 0; row < what->k; row++) {
        for (int column = 0; column < PRODUCT_COLUMNS; column++) {
            const uint32_t word = b[row / (4 * width)][4 * column + row / width % 4];
            factors->right[row][column] = element_in(word, row % width, element);
        }
    }
}

static void add_products(const struct factors *factors, int columns, product_sum sum) {
    for (int row = 0; row < PRODUCT_ROWS; row++) {
        for (int part = 0; part < PRODUCT_PARTS; part++) {
            product_wide total = ((product_wide *)sum[row])[part];
            for (int i = 0; i < columns; i++) {
                const product_wide *right = (const product_wide *)factors->right[factors->row_of_b[row][i]];
                PRODUCT_ADD(total, factors->left[row][i], right[part]);
            }
            ((product_wide *)sum[row])[part] = total;
        }
    }
}

// Of single bits: how many are set in a row and in a column, or in one of them alone.
static void add_counts(const struct lane_mma *what, const uint32_t *const a[4], const uint32_t *const b[4],
                       product_sum sum) {
    for (int row = 0; row < PRODUCT_ROWS; row++) {
        for (int column = 0; column < PRODUCT_COLUMNS; column++) {
            int count = 0;
            for (int i = 0; i < what->k / 32; i++) {
                const uint32_t left = a[i / 4 * 2 + row / 8][row % 8 * 4 + i % 4], right = b[i / 4][4 * column + i % 4];
                count += __builtin_popcount(what->exclusive ? left ^ right : left & right);
            }
            sum[row][column] += count;
        }
    }
}

void LANE(mma_each)(const struct lane_mma *what, uint32_t *const d[4], const uint32_t *const a[4],
                    const uint32_t *const b[4], const uint32_t *const c[4], const uint32_t *metadata) {
    struct factors factors;
    product_sum sum;
    const bool integers = what->element >= ELEMENT_S8;
    const int columns = metadata ? what->k / 2 : what->k;
    load_sums(c, integers, what->half_sum, sum);
    if (what->element == ELEMENT_B1) {
        add_counts(what, a, b, sum);
    } else {
        take_left(what, a, metadata, columns, &factors);
        take_right(what, b, &factors);
        add_products(&factors, columns, sum);
    }
    store_sums(d, integers, what->half_sum, what->saturates, sum);
}
