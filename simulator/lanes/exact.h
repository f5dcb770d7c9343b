// Exactly rounded fp32 arithmetic in any rounding mode, from fp64 operations that round to nearest. The method is
// "round to odd": an inexact fp64 intermediate whose last bit is set to 1 is neither a tie nor an exact value when it
// is rounded again to the 24 bits of fp32 (Boldo and Melquiond, 2008).
#ifndef SIMULATOR_LANES_EXACT_H
#define SIMULATOR_LANES_EXACT_H

#include "build.h"

#include <math.h>

enum lane_rounding { LANE_NEAREST, LANE_ZERO, LANE_DOWN, LANE_UP }; // .rn .rz .rm .rp

// Rounds to odd a value whose true value is value + error.
static inline double odd(double value, double error) {
    uint64_t bits = bits64_of(value);
    uint64_t away = (error > 0) == (value > 0) ? bits + 1 : bits - 1;
    bool finite = value - value == 0;
    return double_of(error != 0 && finite && !(bits & 1) ? away : bits);
}

// x + y, rounded to odd. The error of a sum to nearest is itself a double (Knuth's two-sum).
static inline double add_odd(double x, double y) {
    double sum = x + y;
    double part = sum - x;
    double error = (x - (sum - part)) + (y - part);
    return odd(sum, error);
}

// x * y + z for fp32 sources: the product of two 24-bit numbers is exact in fp64.
static inline double fma_odd(float x, float y, float z) {
    return add_odd((double)x * (double)y, (double)z);
}

static inline float next_below(float value) {
    uint32_t bits = bits_of(value);
    return float_of(bits == 0 ? 0x80000001u : bits >> 31 ? bits + 1 : bits - 1);
}

static inline float next_above(float value) {
    return -next_below(-value);
}

// Rounds to fp32. exact is the true value, or the true value rounded to odd.
static inline float narrow(double exact, uint32_t rounding) {
    float nearest = (float)exact;
    bool down = rounding == LANE_DOWN || (rounding == LANE_ZERO && exact > 0);
    bool up = rounding == LANE_UP || (rounding == LANE_ZERO && exact < 0);
    float value = down && (double)nearest > exact ? next_below(nearest) : nearest;
    value = up && (double)nearest < exact ? next_above(nearest) : value;
    return exact - exact == 0 ? value : nearest; // infinities and NaN are kept
}

// Rounds a sum. An exact zero is -0 when rounding down, unless both summands are +0.
static inline float narrow_sum(double exact, bool both_positive_zero, uint32_t rounding) {
    if (exact == 0 && rounding == LANE_DOWN)
        return both_positive_zero ? 0.0f : -0.0f;
    return narrow(exact, rounding);
}

static inline float fma_nearest(float x, float y, float z) {
#if defined(__FP_FAST_FMAF) // the processor supports it: AVX2 builds, and every 64-bit ARM
    return __builtin_fmaf(x, y, z);
#else
    return (float)fma_odd(x, y, z);
#endif
}

#endif
