// The arithmetic of mma.sync.
#ifndef SIMULATOR_LANES_MATRIX_H
#define SIMULATOR_LANES_MATRIX_H

#include <stdbool.h>
#include <stdint.h>

enum lane_element {
    ELEMENT_F16,
    ELEMENT_BF16,
    ELEMENT_TF32,
    ELEMENT_E4M3, // from here on: 1 byte
    ELEMENT_E5M2,
    ELEMENT_S8,
    ELEMENT_U8,
    ELEMENT_S4, // from here on: less than a byte
    ELEMENT_U4,
    ELEMENT_B1
};

struct lane_mma {
    enum lane_element element; // of A, and of B if it is larger than a byte
    int k;
    bool half_sum;               // C and D are fp16; else fp32, or 32-bit integers
    enum lane_element element_b; // of B if it is a byte or less
    bool saturates;              // integer sums, which wrap around otherwise
    bool exclusive;              // single bits: xor, else and
    int selector;                // of a sparse A: which of each four lanes hold the metadata
};

static inline int lane_element_bits(enum lane_element element) {
    return element == ELEMENT_B1     ? 1
           : element >= ELEMENT_S4   ? 4
           : element >= ELEMENT_E4M3 ? 8
           : element == ELEMENT_TF32 ? 32
                                     : 16;
}

// Elements of a row of a sparse A per chunk, of which half are stored; four bits of metadata select them.
static inline int lane_element_chunk(enum lane_element element) {
    return element == ELEMENT_TF32 ? 2 : element >= ELEMENT_S4 ? 8 : 4;
}

// The number of lanes per four that hold metadata, starting at a multiple of that number by the selector.
static inline int lane_mma_metadata_lanes(const struct lane_mma *what) {
    return what->k / lane_element_chunk(what->element) / 4;
}

#endif
