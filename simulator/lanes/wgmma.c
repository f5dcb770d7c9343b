// One warp's quarter of wgmma.m64nNk: 16 rows of D = A B + D. fragment.h has the PTX ISA's "Register fragments" of
// wgmma: D's fp32 registers are those of C of an mma of the same width, A's those of mma.m16n8k. mma.h explains the
// rounding.
#include "wgmma.h"

#include "mma.h"
#include "table.h"

MMA_INLINE void load_a(enum wgmma_element element, const struct wgmma_tile *tile, const uint8_t *shared, uint32_t first,
                       uint32_t k, mma_a_tile a_tile) {
    uint32_t per_unit = 16 / wgmma_element_bytes(element);
    for (uint32_t row = 0; row < WGMMA_ROWS; row += tile->mn_major ? per_unit : 1) {
        for (uint32_t i = 0; i < k; i += tile->mn_major ? 1 : per_unit) {
            const uint8_t *unit = shared + wgmma_unit(tile, first + row, i);
            double values[16];
            if (!tile->mn_major) {
                mma_load_unit(unit, element, &a_tile[row][i]);
                continue;
            }
            mma_load_unit(unit, element, values);
            for (uint32_t e = 0; e < per_unit; e++)
                a_tile[row + e][i] = values[e];
        }
    }
}

// Columns [first, first + 8) of B.
MMA_INLINE void load_b(enum wgmma_element element, const struct wgmma_tile *tile, const uint8_t *shared, uint32_t first,
                       uint32_t k, mma_b_tile b_tile) {
    uint32_t per_unit = 16 / wgmma_element_bytes(element);
    for (uint32_t i = 0; i < k && !tile->mn_major; i += per_unit) {
        const void *unit[MMA_COLUMNS];
        for (uint32_t column = 0; column < MMA_COLUMNS; column++)
            unit[column] = shared + wgmma_unit(tile, first + column, i);
        mma_load_columns(unit, element, &b_tile[i]);
    }
    for (uint32_t i = 0; i < k && tile->mn_major; i++) // only of 16-bit elements
        mma_load_unit(shared + wgmma_unit(tile, first, i), element, b_tile[i]);
}

static void load_narrow_accumulators(const struct lane_wgmma *what, uint32_t *const *d, uint32_t block,
                                     mma_accumulators sum) {
    for (uint32_t row = 0; row < WGMMA_ROWS; row++) {
        for (uint32_t column = 0; column < MMA_COLUMNS; column++) {
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

static void store_narrow_accumulators(const struct lane_wgmma *what, uint32_t *const *d, uint32_t block,
                                      mma_accumulators sum) {
    for (uint32_t row = 0; row < WGMMA_ROWS; row++) {
        for (uint32_t column = 0; column < MMA_COLUMNS; column += 2) {
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

// By row and stored element of A: the element along K to which it belongs. The metadata of 16-bit elements covers 8
// elements of a row; for bytes a lane has 32 bits of one row (PTX ISA, metadata of sparse wgmma).
typedef uint8_t sparse_indices[WGMMA_ROWS][MMA_MAX_K];

static void find_sparse_indices(const struct lane_wgmma *what, sparse_indices indices) {
    uint32_t bytes = wgmma_element_bytes(what->a);
    for (uint32_t row = 0; row < WGMMA_ROWS; row++) {
        for (uint32_t s = 0; s < wgmma_stored(what); s++) {
            const uint32_t *quad = &what->metadata[row % 8 * 4], half = row / 8;
            if (bytes == 1)
                indices[row][s] = (uint8_t)(s / 2 * 4 + (quad[s / 16 * 2 + half] >> s % 16 * 2 & 3));
            else if (bytes == 2)
                indices[row][s] =
                    (uint8_t)(s / 2 * 4 + (quad[2 * what->selector + s / 8] >> (16 * half + s % 8 * 2) & 3));
            else
                indices[row][s] =
                    (uint8_t)(s * 2 + (quad[2 * what->selector + s / 4] >> (16 * half + s % 4 * 4 + 1) & 1));
        }
    }
}

// sum += A B for the stored elements of A only: an infinity of B that no stored element multiplies has no effect.
static void add_sparse(mma_a_tile a_tile, sparse_indices indices, mma_b_tile b_tile, uint32_t stored,
                       mma_accumulators sum) {
    for (uint32_t row = 0; row < WGMMA_ROWS; row++)
        for (uint32_t s = 0; s < stored; s++)
            for (uint32_t column = 0; column < MMA_COLUMNS; column++)
                sum[row][column] += a_tile[row][s] * b_tile[indices[row][s]][column];
}

MMA_INLINE void multiply(enum wgmma_element element_a, enum wgmma_element element_b, const struct lane_wgmma *what,
                         const uint8_t *shared, const struct wgmma_tile *a, uint32_t first_row,
                         const uint32_t *const registers[4], const struct wgmma_tile *b, uint32_t *const *d) {
    mma_a_tile a_tile;
    sparse_indices indices;
    const uint32_t stored = wgmma_stored(what);
    if (what->sparse)
        find_sparse_indices(what, indices);
    if (a)
        load_a(element_a, a, shared, first_row, stored, a_tile);
    else
        mma_load_a_registers(registers, element_a, 4, a_tile);
    for (uint32_t row = 0; what->negates && row < WGMMA_ROWS; row++)
        for (uint32_t i = 0; i < stored; i++)
            a_tile[row][i] = -a_tile[row][i];
    for (uint32_t block = 0; block < what->n / MMA_COLUMNS; block++) {
        mma_b_tile b_tile;
        mma_accumulators sum;
        load_b(element_b, b, shared, block * MMA_COLUMNS, what->k, b_tile);
        if (what->keeps && what->sum == WGMMA_SUM_F32)
            mma_load_accumulators((const uint32_t *const *)&d[4 * block], sum);
        else if (what->keeps)
            load_narrow_accumulators(what, d, block, sum);
        else
            memset(sum, 0, sizeof sum);
        if (what->sparse)
            add_sparse(a_tile, indices, b_tile, stored, sum);
        else
            mma_accumulate(a_tile, b_tile, stored, sum);
        if (what->sum == WGMMA_SUM_F32)
            mma_store_accumulators(&d[4 * block], sum);
        else
            store_narrow_accumulators(what, d, block, sum);
    }
}

// A row of A, or a column of B: 256 bits in four 64-bit words.
typedef uint64_t bits[WGMMA_K_BYTES / 8];

static void gather_bits(const struct wgmma_tile *tile, const uint8_t *shared, uint32_t row, bits to) {
    for (uint32_t byte = 0; byte < WGMMA_K_BYTES; byte += 16)
        memcpy((uint8_t *)to + byte, shared + wgmma_unit(tile, row, byte), 16);
}

// D = popc(A and B) + D, which wraps around.
static void multiply_bits(const struct lane_wgmma *what, const uint8_t *shared, const struct wgmma_tile *a,
                          uint32_t first_row, const uint32_t *const registers[4], const struct wgmma_tile *b,
                          uint32_t *const *d) {
    bits a_tile[WGMMA_ROWS], b_tile;
    for (uint32_t row = 0; row < WGMMA_ROWS; row++) {
        if (a)
            gather_bits(a, shared, first_row + row, a_tile[row]);
        for (uint32_t half = 0; half < 2 && !a; half++) // four lanes hold 16 bytes of a row
            memcpy(&a_tile[row][2 * half], &registers[2 * half + row / 8][row % 8 * 4], 16);
    }
    for (uint32_t column = 0; column < what->n; column++) {
        gather_bits(b, shared, column, b_tile);
        for (uint32_t row = 0; row < WGMMA_ROWS; row++) {
            uint32_t *sum = &d[column / 8 * 4 + row / 8 * 2 + column % 2][row % 8 * 4 + column % 8 / 2];
            uint32_t count = 0;
            for (int i = 0; i < WGMMA_K_BYTES / 8; i++)
                count += (uint32_t)__builtin_popcountll(a_tile[row][i] & b_tile[i]);
            *sum = count + (what->keeps ? *sum : 0);
        }
    }
}

// One specialized loop for each common type, without a test per element.
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
