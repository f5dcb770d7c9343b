// Arithmetic on fp16 and bf16, alone or in pairs.
#ifndef SIMULATOR_LANES_HALF_H
#define SIMULATOR_LANES_HALF_H

#include "../ptx/program.h"
#include "lanes.h"

// Flags of half.c's operations: bits of `extra`.
enum {
    HALF_BF16 = 1,
    HALF_PAIR = 2,
    HALF_FTZ = 4,
    HALF_SAT = 8,
    HALF_RELU = 16,
    HALF_NAN = 32,
    HALF_XORSIGN = 64,
    HALF_COMPARE = 128, // enum ptx_compare from this bit on
};

#endif
