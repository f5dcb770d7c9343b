// Rounding a number to any binary floating-point format, in integer arithmetic.
#ifndef SIMULATOR_LANES_ROUND_H
#define SIMULATOR_LANES_ROUND_H

#include "../ptx/program.h"
#include "build.h"

// fraction: bits after the leading one. exponent: bits of the exponent field.
struct format {
    int fraction, exponent;
};

#define FORMAT_F16 ((struct format){10, 5})
#define FORMAT_BF16 ((struct format){7, 8})
#define FORMAT_F32 ((struct format){23, 8})
#define FORMAT_F64 ((struct format){52, 11})

// Whether a magnitude is rounded away from zero: tail is the removed part, half is half a unit, last the lowest kept
// bit.
static inline bool rounds_away(uint64_t tail, uint64_t half, bool last, bool negative, enum ptx_rounding rounding) {
    switch (rounding) {
    case PTX_RZ:
    case PTX_RZI:
        return false;
    case PTX_RM:
    case PTX_RMI:
        return negative && tail;
    case PTX_RP:
    case PTX_RPI:
        return !negative && tail;
    case PTX_RNA:
        return tail >= half;
    default:
        return tail > half || (tail == half && last);
    }
}

// The bits of magnitude * 2^power in the format; magnitude is not 0. finite: overflow gives the largest number.
static inline uint64_t round_to_format(bool negative, uint64_t magnitude, int power, struct format to,
                                       enum ptx_rounding rounding, bool finite) {
    int bias = (1 << (to.exponent - 1)) - 1;
    int top = 63 - __builtin_clzll(magnitude);
    int leading = top + power; // the number lies in [2^leading, 2^(leading + 1))
    int shift = top - to.fraction;
    if (leading < 1 - bias)
        shift += 1 - bias - leading; // subnormal: fewer bits are kept
    uint64_t kept;
    if (shift <= 0) {
        kept = magnitude << -shift;
    } else if (shift > 63) {
        // All bits are removed, and they are less than half a unit.
        kept = rounds_away(1, 2, false, negative, rounding);
    } else {
        uint64_t tail = magnitude & ((1ull << shift) - 1);
        kept = magnitude >> shift;
        kept += rounds_away(tail, 1ull << (shift - 1), kept & 1, negative, rounding);
    }
    // A carry out of the fraction increments the exponent field.
    uint64_t bits = leading < 1 - bias ? kept : kept + ((uint64_t)(leading + bias - 1) << to.fraction);
    uint64_t infinity = (uint64_t)((1 << to.exponent) - 1) << to.fraction;
    if (bits >= infinity) {
        bool toward_zero = rounding == PTX_RZ || (rounding == PTX_RM && !negative) || (rounding == PTX_RP && negative);
        bits = finite || toward_zero ? infinity - 1 : infinity;
    }
    return bits | (uint64_t)negative << (to.fraction + to.exponent);
}

// The same for a double. NaN gives the format's all-ones pattern, as the GPU does.
static inline uint64_t narrow_double(double value, struct format to, enum ptx_rounding rounding, bool finite) {
    uint64_t bits = bits64_of(value);
    bool negative = bits >> 63;
    int exponent = (int)(bits >> 52 & 0x7ff);
    uint64_t fraction = bits & ((1ull << 52) - 1);
    int width = to.fraction + to.exponent;
    uint64_t infinity = (uint64_t)((1 << to.exponent) - 1) << to.fraction;
    if (exponent == 0x7ff)
        return fraction ? (1ull << width) - 1 : (finite ? infinity - 1 : infinity) | (uint64_t)negative << width;
    if (exponent == 0 && fraction == 0)
        return (uint64_t)negative << width;
    uint64_t magnitude = exponent ? fraction | 1ull << 52 : fraction;
    return round_to_format(negative, magnitude, (exponent ? exponent : 1) - 1075, to, rounding, finite);
}

// fp16 and bf16 to fp32: exact.
static inline float float_of_f16(uint32_t half) {
    uint32_t sign = half << 16 & 0x80000000u, magnitude = half & 0x7fff;
    // Subnormals and normals alike: shift the bits to fp32's position, then correct the exponent by a multiplication.
    float value = float_of(magnitude << 13) * 0x1p112f;
    uint32_t bits = magnitude >= 0x7c00 ? 0x7f800000u | (magnitude & 0x3ff) << 13 : bits_of(value);
    return float_of(bits | sign);
}

static inline float float_of_bf16(uint32_t half) {
    return float_of(half << 16);
}

// To nearest, from fp32: the common case, in a form that vectorizes.
static inline uint32_t f16_of_float(float value) {
    uint32_t bits = bits_of(value), sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffffu;
    uint32_t normal = (magnitude + 0xfff + (magnitude >> 13 & 1) - 0x38000000u) >> 13;
    // Below 2^-14: adding 0.5 puts the last fp16 bit at the last fp32 bit, and the host rounds.
    uint32_t small = bits_of(float_of(magnitude) + 0.5f) - 0x3f000000u;
    uint32_t result = magnitude < 0x38800000u ? small : normal;
    result = magnitude >= 0x477ff000u ? 0x7c00 : result;
    return magnitude > 0x7f800000u ? 0x7fff : result | sign;
}

static inline uint32_t bf16_of_float(float value) {
    uint32_t bits = bits_of(value);
    uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    return (bits & 0x7fffffffu) > 0x7f800000u ? 0x7fff : rounded;
}

#endif
