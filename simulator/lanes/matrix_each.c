// mma whose elements are extracted from their registers one by one: elements smaller than a byte, and mma.sp, whose A
// stores half of the elements of its rows and has metadata with their indices. fragment.h defines which lane holds
// which element; a sparse A has the layout of a matrix with k / 2 columns. mma.h explains the rounding.
#include "matrix_sums.h"
#include "table.h"

enum { MOST_K = 128 };

struct factors {
    double a[MMA_ROWS][MOST_K]; // stored elements of A
    uint8_t row_of_b[MMA_ROWS][MOST_K];
    double __attribute__((aligned(32))) b[MOST_K][MMA_COLUMNS];
};

static double element_in(uint32_t word, int e, enum lane_element element) {
    const uint32_t bits = word >> (e * lane_element_bits(element));
    switch (element) {
    case ELEMENT_F16:
        return float_of_f16(bits & 0xffff);
    case ELEMENT_BF16:
        return float_of_bf16(bits & 0xffff);
    case ELEMENT_TF32: // the low 13 bits of the fp32 are ignored
        return float_of(bits & ~0x1fffu);
    case ELEMENT_E4M3:
        return mma_float_of_f8(bits & 0xff, 3, 7);
    case ELEMENT_E5M2:
        return mma_float_of_f8(bits & 0xff, 2, 15);
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

// Four bits per chunk of a row. A lane has 32 bits: for 16-bit elements and tf32 four chunks of row r and of row r + 8,
// for smaller ones eight chunks of one row.
static uint32_t indices_in(const struct lane_mma *what, const uint32_t *metadata, int row, int chunk) {
    const int first = row % 8 * 4 + lane_mma_metadata_lanes(what) * what->selector;
    if (lane_element_bits(what->element) >= 16)
        return metadata[first + chunk / 4] >> (row / 8 * 16 + chunk % 4 * 4) & 15;
    return metadata[first + row / 8 + chunk / 8 * 2] >> chunk % 8 * 4 & 15;
}

// The column of A to which a stored element belongs.
static int column_of(const struct lane_mma *what, const uint32_t *metadata, int row, int column) {
    const int bits = lane_element_bits(what->element), kept = lane_element_chunk(what->element) / 2;
    const int chunk = column / kept;
    const uint32_t indices = indices_in(what, metadata, row, chunk);
    if (bits == 32) // 0b0100: the first of two, 0b1110: the second
        return 2 * chunk + (indices >> 1 & 1);
    if (bits == 4) // pairs
        return 8 * chunk + 2 * (int)(indices >> column % 4 / 2 * 2 & 3) + column % 2;
    return 4 * chunk + (int)(indices >> column % 2 * 2 & 3);
}

static void load_a(const struct lane_mma *what, const uint32_t *const a[4], const uint32_t *metadata, int columns,
                   struct factors *factors) {
    const int width = 32 / lane_element_bits(what->element);
    for (int row = 0; row < MMA_ROWS; row++) {
        for (int column = 0; column < columns; column++) {
            const uint32_t word = a[column / (4 * width) * 2 + row / 8][row % 8 * 4 + column / width % 4];
            factors->a[row][column] = element_in(word, column % width, what->element);
            factors->row_of_b[row][column] = (uint8_t)(metadata ? column_of(what, metadata, row, column) : column);
        }
    }
}

static void load_b(const struct lane_mma *what, const uint32_t *const b[4], struct factors *factors) {
    const enum lane_element element = what->element >= ELEMENT_E4M3 ? what->element_b : what->element;
    const int width = 32 / lane_element_bits(element);
    for (int row = 0; row < what->k; row++) {
        for (int column = 0; column < MMA_COLUMNS; column++) {
            const uint32_t word = b[row / (4 * width)][4 * column + row / width % 4];
            factors->b[row][column] = element_in(word, row % width, element);
        }
    }
}

static void accumulate_products(const struct factors *factors, int columns, mma_accumulators sum) {
    for (int row = 0; row < MMA_ROWS; row++) {
        for (int part = 0; part < MMA_VECTORS; part++) {
            mma_vector total = ((mma_vector *)sum[row])[part];
            for (int i = 0; i < columns; i++) {
                const mma_vector *b_row = (const mma_vector *)factors->b[factors->row_of_b[row][i]];
                MMA_FMA(total, factors->a[row][i], b_row[part]);
            }
            ((mma_vector *)sum[row])[part] = total;
        }
    }
}

// Single bits: the number of bits that are set in both a row and a column, or in one of them only.
static void add_counts(const struct lane_mma *what, const uint32_t *const a[4], const uint32_t *const b[4],
                       mma_accumulators sum) {
    for (int row = 0; row < MMA_ROWS; row++) {
        for (int column = 0; column < MMA_COLUMNS; column++) {
            int count = 0;
            for (int i = 0; i < what->k / 32; i++) {
                const uint32_t a_word = a[i / 4 * 2 + row / 8][row % 8 * 4 + i % 4],
                               b_word = b[i / 4][4 * column + i % 4];
                count += __builtin_popcount(what->exclusive ? a_word ^ b_word : a_word & b_word);
            }
            sum[row][column] += count;
        }
    }
}

void LANE(mma_each)(const struct lane_mma *what, uint32_t *const d[4], const uint32_t *const a[4],
                    const uint32_t *const b[4], const uint32_t *const c[4], const uint32_t *metadata) {
    struct factors factors;
    mma_accumulators sum;
    const bool integers = what->element >= ELEMENT_S8;
    const int columns = metadata ? what->k / 2 : what->k;
    load_sums(c, integers, what->half_sum, sum);
    if (what->element == ELEMENT_B1) {
        add_counts(what, a, b, sum);
    } else {
        load_a(what, a, metadata, columns, &factors);
        load_b(what, b, &factors);
        accumulate_products(&factors, columns, sum);
    }
    store_sums(d, integers, what->half_sum, what->saturates, sum);
}
