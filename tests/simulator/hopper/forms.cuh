// Shared by the cases of forms.
#pragma once

#include "hopper.cuh"

#include <cmath>
#include <cstring>
#include <vector>

static bool equal(const char *what, double got, double wanted) {
    if (fabs(got - wanted) <= 1e-5 * (1 + fabs(wanted)))
        return true;
    printf("%s: %g where %g is right\n", what, got, wanted);
    return false;
}

// The swizzled offset of a byte of a tile whose rows have `span` bytes; 16: no swizzle.
__host__ __device__ inline int swizzled(int address, int span) {
    return span == 16 ? address : address ^ (address >> 7 & (span / 16 - 1)) << 4;
}
