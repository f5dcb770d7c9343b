// The arithmetic of mma.sync.
#ifndef SIMULATOR_LANES_MATRIX_H
#define SIMULATOR_LANES_MATRIX_H

#include <stdbool.h>
#include <stdint.h>

enum lane_element {
    ELEMENT_F16,
    ELEMENT_BF16,
    ELEMENT_TF32,
    ELEMENT_E4M3, // from here on: bytes
    ELEMENT_E5M2,
    ELEMENT_S8,
    ELEMENT_U8
};

struct lane_mma {
    enum lane_element element; // of A, and of B where it is no byte
    int k;
    bool half_sum;           // C and D are fp16, else fp32 or, of integers, 32 bits
    enum lane_element right; // of B where it is a byte
    bool saturates;          // sums of integers, which wrap round otherwise
};

#endif
