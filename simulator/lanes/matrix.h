// The arithmetic of mma.sync.
#ifndef SIMULATOR_LANES_MATRIX_H
#define SIMULATOR_LANES_MATRIX_H

#include <stdbool.h>
#include <stdint.h>

enum lane_element { ELEMENT_F16, ELEMENT_BF16, ELEMENT_TF32 };

struct lane_mma {
    enum lane_element element; // of A and B
    int k;
    bool half_sum; // C and D are fp16, else fp32
};

#endif
