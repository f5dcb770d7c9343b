// Attention with a mistake in it, in double precision.
#ifndef OPERATIONS_ATTENTION_VARIANT_H
#define OPERATIONS_ATTENTION_VARIANT_H

#include "host/candidates.h"
#include "host/subset.h"

enum row_kind { ROW_OWN, ROW_FIRST, ROW_MODULO, ROW_BLOCK };
enum head_kind {
    HEAD_OWN,
    HEAD_FIRST,
    HEAD_OF_FIRST_BATCH,
    HEAD_STRIDE_OF_QUERIES,
    HEAD_MODULO,   // of k and v: head % kv_heads
    HEAD_OF_QUERY, // of k and v: as if each query head had one of its own
    HEAD_FIRST_OF_BATCH,
};
enum tensor_kind { TENSOR_OWN, TENSOR_OF_Q, TENSOR_OF_K, TENSOR_OF_V };

// Where a kernel finds the element of row r and column c of a matrix that passes through fragments of products, and
// through rows of shared memory that are swizzled.
enum operand_layout {
    OPERAND_RIGHT,
    OPERAND_TRANSPOSED,       // in blocks of 8 x 8
    OPERAND_MATRICES_SWAPPED, // of a block of 16 x 16: upper right and lower left have each other's place
    OPERAND_ROWS_SWAPPED,     // r ^ 8
    OPERAND_PAIRS_SWAPPED,    // r ^ 1
    OPERAND_SWIZZLED,         // chunk c / 8 ^ r % 8
    OPERAND_STEPS_HALVED,     // 16 columns begin 8 after those before; told of rows of one slice, 64 columns
    OPERAND_FIRST_TILE,       // r % tile
    OPERAND_PREVIOUS_TILE,    // r - tile, but for the first tile
    OPERAND_LAST_TILE,        // of a kernel that goes through tiles from the last one: that row of the last tile
    OPERAND_NEXT_TILE,        // likewise: r + tile, but for the last tile
};

// Where a kernel finds a row of q, k or v.
struct source {
    enum tensor_kind tensor;
    enum head_kind head;
    int shift;       // of the row, kept within the head
    bool transposed; // read as [head_dim][n]
    bool contiguous; // its strides are ignored: [batch][heads][n][head_dim]
    enum operand_layout operand;
};

enum scale_kind { SCALE_RIGHT, SCALE_MISSING, SCALE_TWICE, SCALE_PADDED, SCALE_BASE_2, SCALE_ZERO };

enum mask_kind {
    MASK_RIGHT,
    MASK_LIMIT_TOO_LOW,
    MASK_LIMIT_TOO_HIGH,
    MASK_TOP_LEFT,
    MASK_MISSING,
    MASK_ALL,      // is seen,
    MASK_OVERFLOW, // unless the problem is causal
};

enum maximum_kind {
    MAXIMUM_RIGHT,
    MAXIMUM_NONE,
    MAXIMUM_AS_FACTOR, // exp(s) exp(-max)
    MAXIMUM_FROM_0,
    MAXIMUM_OF_THREAD, // keys j % threads
    MAXIMUM_OF_BLOCK,  // of all its queries
    MAXIMUM_OF_LANE,   // keys j % 8 / 2, as an accumulator of a product has them
};

enum rescale_kind { // when a tile raises the maximum
    RESCALE_RIGHT,
    RESCALE_SUM_ONLY,
    RESCALE_OUTPUT_ONLY,
    RESCALE_NONE,
    RESCALE_INVERTED,         // exp(new - old)
    RESCALE_TILE_OLD_MAXIMUM, // all before, while the weights of the tile at hand stay relative to the old maximum
    RESCALE_EMPTY,            // 0 * exp(0 - new), too, before the first key
    RESCALE_BASE_E,           // exp of an exponent that is meant for a power of 2
    RESCALE_LATE,             // right, but weights grow too large for fp16 before
};

enum weight_kind { WEIGHT_RIGHT, WEIGHT_ONE, WEIGHT_SCORE, WEIGHT_SQUARED }; // of a value

enum division_kind {
    DIVISION_RIGHT,
    DIVISION_NONE,
    DIVISION_TWICE,
    DIVISION_OF_BLOCK,  // by the sum of its first query
    DIVISION_OF_THREAD, // by the sum of keys j % threads == column % threads
    DIVISION_OF_LANE,   // by the sum of keys j % 8 / 2 == column % 8 / 2; threads: 4
    DIVISION_BY_0,      // where no key is seen; queries: only in blocks of which some query sees one
    DIVISION_OF_EXP,    // by the sum of the exponentials of the weights
    DIVISION_OF_SCORES, // by the sum of the scores, less the maximum
    DIVISION_OF_COUNT,  // by the number of keys seen
};

// Where the keys of a row are cut into pieces of one tile each, and the pieces put together.
enum partials_kind {
    PARTIALS_RIGHT,
    PARTIALS_NOT_RESCALED,   // added up, each relative to its own maximum
    PARTIALS_LAST_MISSING,   // where there are several
    PARTIALS_OLD_MAXIMUM,    // weights relative to 0, taken for relative to the piece's maximum
    PARTIALS_EMPTY_RESCALED, // 0 * exp(-maximum), when a piece's first keys are seen
    PARTIALS_BASE_E,         // relative to the others by a power of e, whose exponent is meant for one of 2
    PARTIALS_WEIGHT_OF_LANE, // column c weights each piece by the weight of piece c % 32
    PARTIALS_WITHOUT_SUMS,   // a piece is divided by its sum, and then weighted by its maximum alone
    PARTIALS_EQUAL,          // and then their mean is taken
};

// Of the log-sum-exp.
enum lse_kind {
    LSE_RIGHT,
    LSE_MAXIMUM,      // the maximum alone
    LSE_LOG_SUM,      // the logarithm of the sum alone
    LSE_SUM,          // the maximum plus the sum
    LSE_BASE_2,       // in powers of 2
    LSE_UNSCALED,     // the maximum of the scores before they are scaled
    LSE_SCALED_TWICE, // the maximum of the scores, scaled once more
    LSE_ROUNDED,      // the sum is of the weights in the type of the tensors
    LSE_OF_MASKED_ROW // a row that sees no key has 0 or NaN instead of -infinity
};

// All zeros is the right kernel.
struct variant {
    enum scale_kind scale;
    enum mask_kind mask;
    enum maximum_kind maximum;
    enum rescale_kind rescale;
    enum partials_kind partials;
    enum weight_kind weight;
    enum division_kind division;
    enum lse_kind lse;
    enum row_kind query;
    struct source q, k, v;
    enum operand_layout weight_operand; // of the weights as an operand, [nq][nk]
    struct subset columns;              // of the dot product
    struct subset sum_keys;             // of the sum of the weights
    struct subset value_keys;           // of the weighted sum
    int heads;                          // with fewer heads in all batches it is the right kernel
    int tile;                           // keys in a tile
    int wide_tile;                      // in its place where head_dim > wide, unless 0
    int wide;                           // 0: 256
    int lazy_rows;  // that raise their maxima together, once one has passed its old one by far; 0: each, at each tile
    int lazy_bits;  // how far is far: by a factor of 2^8, unless given
    int known_keys; // of rows with more keys, or half as many where head_dim > 128, it tells nothing, unless 0
    int known_columns; // of wider rows it tells nothing, unless 0
    int shrunk_blocks; // outputs of so many blocks of 64 queries are right, of the others rows are too small; 0: all
    int queries;       // in a block
    int threads;
    int value_step;          // the weighted sum steps by this, each of its threads / float4s of a row threads
    bool padding_counted;    // keys up to the end of a tile, with a score of 0
    bool scores_not_cleared; // the score of a key is added to those of the same lane in later tiles
    bool scores_rounded;     // to the type of the tensors, before they are scaled
    bool over_queries;       // the softmax goes down a column of the scores
    bool output_transposed;  // stored as [head_dim][nq] within a head
    bool output_contiguous;  // stored as [batch][heads][nq][head_dim], whatever the strides
    bool unwritten;          // where it was written, it is right
};

// All outputs, o and then lse where the problem has it; of the right kernel where variant is NULL. A mistake in o
// leaves open what lse is.
void variant_predict(const struct variant *variant, const struct host_problem *problem, struct prediction *prediction);

#endif
