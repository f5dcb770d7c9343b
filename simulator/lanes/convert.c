// cvt. The conversions that compilers use most have loops of their own; convert_any does all of them, one lane at a
// time.
#include "convert.h"

#include "mma.h"
#include "round.h"

#include <math.h>

#define CONVERT(name, D_CELL, S_CELL, expression)                                                                      \
    void LANE(name)(void *d, const void *a, const void *b, const void *c, uint32_t n) {                                \
        D_CELL *result = d;                                                                                            \
        const S_CELL *source = a;                                                                                      \
        const cell32 *second = b;                                                                                      \
        (void)c, (void)n, (void)second;                                                                                \
        EACH_LANE {                                                                                                    \
            S_CELL x = source[i];                                                                                      \
            result[i] = (expression);                                                                                  \
        }                                                                                                              \
    }

// Integers: from the low bits of a register, extended to the register of the result.
CONVERT(extend_u8, cell32, cell32, (uint8_t)x)
CONVERT(extend_u16, cell32, cell32, (uint16_t)x)
CONVERT(extend_s8, cell32, cell32, (uint32_t)(int8_t)x)
CONVERT(extend_s16, cell32, cell32, (uint32_t)(int16_t)x)
CONVERT(widen_u32, cell64, cell32, x)
CONVERT(widen_s32, cell64, cell32, (uint64_t)(int32_t)x)
CONVERT(widen_low_u32, cell64, cell64, (uint32_t)x)
CONVERT(widen_low_s32, cell64, cell64, (uint64_t)(int32_t)x)
CONVERT(low_b32, cell32, cell64, (uint32_t)x)

CONVERT(f32_of_s32, cell32, cell32, bits_of((float)(int32_t)x))
CONVERT(f32_of_u32, cell32, cell32, bits_of((float)x))
CONVERT(f64_of_s32, cell64, cell32, bits64_of((double)(int32_t)x))
CONVERT(f64_of_u32, cell64, cell32, bits64_of((double)x))
CONVERT(f64_of_f32, cell64, cell32, bits64_of((double)float_of(x)))
CONVERT(f32_of_f64, cell32, cell64, bits_of((float)double_of(x)))

// Out of range gives the nearest integer of the type, NaN 0.
static inline uint32_t s32_of(float value) {
    int32_t inside = value >= -0x1p31f && value < 0x1p31f ? (int32_t)value : 0;
    return value >= 0x1p31f ? 0x7fffffffu : value < -0x1p31f ? 0x80000000u : (uint32_t)inside;
}

static inline uint32_t u32_of(float value) {
    uint32_t inside = value >= 0 && value < 0x1p32f ? (uint32_t)value : 0;
    return value >= 0x1p32f ? 0xffffffffu : inside;
}
CONVERT(s32_of_f32_rz, cell32, cell32, s32_of(float_of(x)))
CONVERT(u32_of_f32_rz, cell32, cell32, u32_of(float_of(x)))
CONVERT(s32_of_f32_rn, cell32, cell32, s32_of(rintf(float_of(x))))
CONVERT(s32_of_f32_rm, cell32, cell32, s32_of(floorf(float_of(x))))
CONVERT(s32_of_f32_rp, cell32, cell32, s32_of(ceilf(float_of(x))))
CONVERT(round_f32_rn, cell32, cell32, result_f32(rintf(float_of(x))))
CONVERT(round_f32_rz, cell32, cell32, result_f32(truncf(float_of(x))))
CONVERT(round_f32_rm, cell32, cell32, result_f32(floorf(float_of(x))))
CONVERT(round_f32_rp, cell32, cell32, result_f32(ceilf(float_of(x))))

CONVERT(f32_of_f16, cell32, cell32, result_f32(float_of_f16(x)))
CONVERT(f32_of_bf16, cell32, cell32, x << 16)
CONVERT(f16_of_f32, cell32, cell32, f16_of_float(float_of(x)))
CONVERT(bf16_of_f32, cell32, cell32, bf16_of_float(float_of(x)))
// The first source goes to the upper half.
CONVERT(f16x2_of_f32, cell32, cell32, f16_of_float(float_of(x)) << 16 | f16_of_float(float_of(second[i])))
CONVERT(bf16x2_of_f32, cell32, cell32, bf16_of_float(float_of(x)) << 16 | bf16_of_float(float_of(second[i])))

static inline bool is_float(enum ptx_type type) {
    return type == PTX_F16 || type == PTX_BF16 || type == PTX_TF32 || type == PTX_F32 || type == PTX_F64;
}

static inline bool is_signed(enum ptx_type type) {
    return type == PTX_S8 || type == PTX_S16 || type == PTX_S32 || type == PTX_S64;
}

static inline int width_of(enum ptx_type type) {
    switch (type) {
    case PTX_B8:
    case PTX_U8:
    case PTX_S8:
        return 8;
    case PTX_B16:
    case PTX_U16:
    case PTX_S16:
    case PTX_F16:
    case PTX_BF16:
        return 16;
    case PTX_B64:
    case PTX_U64:
    case PTX_S64:
    case PTX_F64:
        return 64;
    default:
        return 32;
    }
}

static inline uint64_t low_bits(uint64_t value, int width) {
    return width == 64 ? value : value & ((1ull << width) - 1);
}

static double read_float(uint64_t bits, enum ptx_type type, bool ftz) {
    switch (type) {
    case PTX_F16:
        return float_of_f16((uint32_t)bits & 0xffff);
    case PTX_BF16:
        return float_of_bf16((uint32_t)bits & 0xffff);
    case PTX_F64:
        return double_of(bits);
    default:
        return ftz ? flush(float_of((uint32_t)bits)) : float_of((uint32_t)bits);
    }
}

// Most conversions return one NaN; those from fp64 keep its sign and upper fraction bits, quieted, and .rna.tf32 only
// clears bits (measured on an H200).
static uint64_t write_nan(uint64_t bits, const struct lane_conversion *how) {
    bool passes = how->from == PTX_F64;
    uint64_t sign = bits >> 63, fraction = bits & 0x000fffffffffffffu;
    switch (how->to) {
    case PTX_F16:
        return passes ? sign << 15 | 0x7e00 | fraction >> 42 : 0x7fff;
    case PTX_BF16:
        return 0x7fff;
    case PTX_F64:
        return how->ftz ? 0x7fffffffe0000000u : bits | 0x0008000000000000u;
    case PTX_TF32:
        return how->rounding == PTX_RNA ? bits & ~0x1fffull : 0x7fffe000;
    default:
        return passes ? sign << 31 | 0x7fc00000 | fraction >> 29 : CANONICAL_NAN;
    }
}

static uint64_t write_float(double value, const struct lane_conversion *how) {
    enum ptx_rounding rounding = how->rounding;
    if (how->relu && !(value > 0) && value == value)
        value = 0;
    if (how->saturate)
        value = value > 0 ? (value < 1 ? value : 1) : 0;
    switch (how->to) {
    case PTX_F16:
        return narrow_double(value, FORMAT_F16, rounding, how->finite);
    case PTX_BF16:
        return narrow_double(value, FORMAT_BF16, rounding, how->finite);
    case PTX_F64:
        return bits64_of(value);
    case PTX_TF32: // 10 bits of fraction in an fp32 register
        return narrow_double(value, (struct format){10, 8}, rounding, how->finite) << 13;
    default: {
        uint32_t bits = (uint32_t)narrow_double(value, FORMAT_F32, rounding, how->finite);
        return how->ftz ? flush_bits(bits) : bits;
    }
    }
}

static double to_integral(double value, enum ptx_rounding rounding) {
    switch (rounding) {
    case PTX_RNI:
        return rint(value);
    case PTX_RZI:
        return trunc(value);
    case PTX_RMI:
        return floor(value);
    case PTX_RPI:
        return ceil(value);
    default:
        return value;
    }
}

static uint64_t integer_of_float(double value, const struct lane_conversion *how) {
    int width = width_of(how->to);
    if (value != value)
        return how->from == PTX_F64 || width == 64 ? 1ull << (width - 1) : 0;
    double low = is_signed(how->to) ? -ldexp(1, width - 1) : 0;
    double past = ldexp(1, is_signed(how->to) ? width - 1 : width);
    value = to_integral(value, how->rounding);
    if (value >= past)
        return is_signed(how->to) ? (1ull << (width - 1)) - 1 : low_bits(~0ull, width);
    if (value < low)
        return is_signed(how->to) ? 1ull << (width - 1) : 0;
    return low_bits(is_signed(how->to) ? (uint64_t)(int64_t)value : (uint64_t)value, width);
}

static uint64_t float_of_integer(uint64_t bits, const struct lane_conversion *how) {
    bool negative = is_signed(how->from) && bits >> 63;
    uint64_t magnitude = negative ? 0 - bits : bits;
    if (magnitude == 0)
        return 0;
    struct format to = how->to == PTX_F16    ? FORMAT_F16
                       : how->to == PTX_BF16 ? FORMAT_BF16
                       : how->to == PTX_F64  ? FORMAT_F64
                                             : FORMAT_F32;
    return round_to_format(negative, magnitude, 0, to, how->rounding, false);
}

static uint64_t integer_of_integer(uint64_t bits, const struct lane_conversion *how) {
    int width = width_of(how->to);
    bool negative = is_signed(how->from) && bits >> 63;
    if (how->saturate) {
        uint64_t largest = is_signed(how->to) ? (1ull << (width - 1)) - 1 : low_bits(~0ull, width);
        uint64_t lowest = is_signed(how->to) ? ~0ull << (width - 1) : 0;
        if (negative)
            bits = !is_signed(how->to) || (int64_t)bits < (int64_t)lowest ? lowest : bits;
        else
            bits = bits > largest ? largest : bits;
    }
    return low_bits(bits, width);
}

uint64_t LANE(convert_one)(uint64_t bits, const struct lane_conversion *how) {
    int from_width = width_of(how->from);
    uint64_t result;
    bits = low_bits(bits, from_width);
    if (is_float(how->from)) {
        double value = read_float(bits, how->from, how->ftz);
        if (is_float(how->to)) {
            bool same = how->from == how->to && how->rounding == PTX_ROUND_NONE && !how->saturate && !how->relu;
            if (same && !how->ftz) {
                result = bits;
            } else if (value != value && !how->saturate) {
                bool raw = how->from == PTX_F64 || how->to == PTX_TF32;
                result = write_nan(raw ? bits : bits64_of(value), how);
            } else {
                result = write_float(to_integral(value, how->rounding), how);
            }
        } else {
            result = integer_of_float(value, how);
        }
    } else {
        if (is_signed(how->from) && from_width < 64 && bits >> (from_width - 1))
            bits |= ~0ull << from_width;
        result = is_float(how->to) ? float_of_integer(bits, how) : integer_of_integer(bits, how);
    }
    int to_width = width_of(how->to);
    if (is_signed(how->to) && to_width < 64 && result >> (to_width - 1))
        result |= ~0ull << to_width;
    return result;
}

// cvt.pack: two 32-bit integers, saturated to the 8 or 16 bits of n (negative: of a signed type), next to each other;
// for 8 bits the third source's lower half is above them.
static inline uint32_t saturated(int32_t value, int bits, bool to_signed) {
    int32_t most = (1 << (bits - to_signed)) - 1, least = to_signed ? -(1 << (bits - 1)) : 0;
    value = value > most ? most : value < least ? least : value;
    return (uint32_t)value & ((1u << bits) - 1);
}

void LANE(pack_saturated)(void *d, const void *a, const void *b, const void *c, uint32_t n) {
    cell32 *result = d;
    const cell32 *first = a, *second = b, *third = c;
    bool to_signed = (int32_t)n < 0;
    int bits = to_signed ? -(int32_t)n : (int32_t)n;
    EACH_LANE {
        uint32_t above = bits == 8 ? third[i] << 16 : 0;
        result[i] = above | saturated((int32_t)first[i], bits, to_signed) << bits |
                    saturated((int32_t)second[i], bits, to_signed);
    }
}

// ---- Pairs of fp8
// -----------------------------------------------------------------------------------------------------

// Rounds to nearest, and saturates to the largest number; a NaN has no sign (PTX ISA, cvt with .satfinite).
static uint32_t f8_of_float(float value, uint32_t n) {
    const bool e5m2 = n & LANE_E5M2;
    const int fraction = e5m2 ? 2 : 3, bias = e5m2 ? 15 : 7;
    const double most = e5m2 ? 57344 : 448;
    if (value != value)
        return 0x7f;
    if (n & LANE_F8_RELU && !(value > 0))
        return 0;
    const double magnitude = fabs((double)value) < most ? fabs((double)value) : most;
    const int leading = magnitude < ldexp(1, 1 - bias) ? 1 - bias : ilogb(magnitude);
    // A subnormal number's exponent field is 0; the leading bit of any other number adds 1 to it.
    const uint32_t units = (uint32_t)rint(ldexp(magnitude, fraction - leading));
    return (signbit(value) ? 0x80 : 0) | (((uint32_t)(leading + bias - 1) << fraction) + units);
}

// The first source goes to the upper byte; a pair of halves keeps its order.
void LANE(f8x2_of_f32)(void *d, const void *a, const void *b, const void *c, uint32_t n) {
    cell32 *result = d;
    const cell32 *first = a, *second = b;
    (void)c;
    EACH_LANE
    result[i] = f8_of_float(float_of(first[i]), n) << 8 | f8_of_float(float_of(second[i]), n);
}

void LANE(f8x2_of_f16x2)(void *d, const void *a, const void *b, const void *c, uint32_t n) {
    cell32 *result = d;
    const cell32 *source = a;
    (void)b, (void)c;
    EACH_LANE
    result[i] = f8_of_float(float_of_f16(source[i] >> 16), n) << 8 | f8_of_float(float_of_f16(source[i] & 0xffff), n);
}

static uint32_t f16_of_f8(uint32_t bits, uint32_t n) {
    const bool e5m2 = n & LANE_E5M2;
    const float value = mma_float_of_f8(bits, e5m2 ? 2 : 3, e5m2 ? 15 : 7);
    if (value != value)
        return 0x7fff;
    return n & LANE_F8_RELU && !(value > 0) ? 0 : f16_of_float(value);
}

void LANE(f16x2_of_f8x2)(void *d, const void *a, const void *b, const void *c, uint32_t n) {
    cell32 *result = d;
    const cell32 *source = a;
    (void)b, (void)c;
    EACH_LANE
    result[i] = f16_of_f8(source[i] >> 8 & 0xff, n) << 16 | f16_of_f8(source[i] & 0xff, n);
}

// c: one struct lane_conversion. Registers may be of 32 or 64 bits.
void LANE(convert_any)(void *d, const void *a, const void *b, const void *c, uint32_t n) {
    const struct lane_conversion *how = c;
    (void)n;
    for (int i = 0; i < LANES; i++) {
        uint64_t bits = how->from_cell == 8 ? ((const cell64 *)a)[i] : ((const cell32 *)a)[i];
        uint64_t value = LANE(convert_one)(bits, how);
        if (how->pair) // f16x2 or bf16x2 out of two fp32 sources
            value = value << 16 | LANE(convert_one)(((const cell32 *)b)[i], how);
        if (how->to_cell == 8)
            ((cell64 *)d)[i] = value;
        else
            ((cell32 *)d)[i] = (uint32_t)low_bits(value, how->to_bits);
    }
}
