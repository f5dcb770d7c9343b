// Inputs drawn from integers alone, so that they are the same bits on every machine. The first half of each array walks
// through the special values of its type, with every pair of them between inputs 0 and 1; the rest is random.
#include "truth.h"

#include <string.h>

static const uint64_t special_integers[] = {
    0,
    1,
    2,
    3,
    7,
    31,
    32,
    33,
    0x7f,
    0x80,
    0xff,
    0x7fff,
    0x8000,
    0xffff,
    0x10000,
    0x7fffffff,
    0x80000000,
    0xfffffffe,
    0xffffffff,
    0x100000000,
    0x7fffffffffffffff,
    0x8000000000000000,
    0xfffffffffffffffe,
    0xffffffffffffffff,
};
static const uint16_t special_f16[] = {
    // zeros, ones, 2, 0.5, 1.5, 65504, infinities, NaNs, subnormals, smallest normals
    0x0000, 0x8000, 0x3c00, 0xbc00, 0x4000, 0x3800, 0x3e00, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00,
    0x7c01, 0xfe01, 0x0001, 0x8001, 0x03ff, 0x0400, 0x8400, 0x3bff, 0x3c01, 0x4f80, 0x57f8, 0xd600,
};
static const uint16_t special_bf16[] = {
    0x0000, 0x8000, 0x3f80, 0xbf80, 0x4000, 0x3f00, 0x3fc0, 0x7f7f, 0xff7f, 0x7f80, 0xff80, 0x7fc0,
    0x7f81, 0xffc1, 0x0001, 0x8001, 0x007f, 0x0080, 0x8080, 0x3f7f, 0x3f81, 0x41f0, 0x4b00, 0xc2c0,
};
static const uint32_t special_f32[] = {
    // as above, and where conversions to integers change: 2^31, 2^23 + 0.5, 2.5, ...
    0x00000000, 0x80000000, 0x3f800000, 0xbf800000, 0x40000000, 0x3f000000, 0xbfc00000, 0x7f7fffff,
    0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0x7f800001, 0xffc12345, 0x00000001, 0x80000001,
    0x007fffff, 0x00800000, 0x80800000, 0x3f7fffff, 0x4f000000, 0x5f000000, 0x4b000001, 0xc0200000,
};
static const uint64_t special_f64[] = {
    0x0000000000000000, 0x8000000000000000, 0x3ff0000000000000, 0xbff0000000000000, 0x4000000000000000,
    0x3fe0000000000000, 0xbff8000000000000, 0x7fefffffffffffff, 0xffefffffffffffff, 0x7ff0000000000000,
    0xfff0000000000000, 0x7ff8000000000000, 0x7ff0000000000001, 0xfff8123456789abc, 0x0000000000000001,
    0x8000000000000001, 0x000fffffffffffff, 0x0010000000000000, 0x47efffffe0000000, 0x3fefffffffffffff,
    0x41e0000000000000, 0x43e0000000000000, 0x3810000000000001, 0xc004000000000000,
};
enum { SPECIALS = 24, SPECIAL_ELEMENTS = TRUTH_ELEMENTS / 2 };

// splitmix64: every counter gives an independent 64-bit number.
static uint64_t random_bits(uint64_t counter) {
    uint64_t z = counter * 0x9e3779b97f4a7c15 + 0x2545f4914f6cdd1d;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

static int special_index(int input, int i) {
    return input == 0 ? i % SPECIALS : input == 1 ? i / SPECIALS % SPECIALS : (i * 7 + i / SPECIALS * 5) % SPECIALS;
}

static uint32_t float_bits(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

// A random number of a floating-point format: half of them any bits at all, half of a size near 1.
static uint64_t random_real(uint64_t bits, int mantissa, int exponent_bits) {
    if (bits >> 63)
        return bits & ((2ull << (mantissa + exponent_bits)) - 1);
    const uint64_t bias = (1ull << (exponent_bits - 1)) - 1, exponent = bias - 8 + (bits >> 56) % 16;
    return (bits >> 55 & 1) << (mantissa + exponent_bits) | exponent << mantissa | (bits & ((1ull << mantissa) - 1));
}

static uint16_t half_of(enum truth_type type, int input, int i, uint64_t bits) {
    const int fp16 = type == TRUTH_F16 || type == TRUTH_F16X2;
    if (i < SPECIAL_ELEMENTS)
        return (fp16 ? special_f16 : special_bf16)[special_index(input, i)];
    return (uint16_t)(fp16 ? random_real(bits, 10, 5) : random_real(bits, 7, 8));
}

// fp16 and bf16 of an integer from -4 to 4.
static uint16_t small_half(enum truth_type type, uint64_t bits) {
    static const uint16_t fp16[] = {0xc400, 0xc200, 0xc000, 0xbc00, 0x0000, 0x3c00, 0x4000, 0x4200, 0x4400};
    static const uint16_t bf16[] = {0xc080, 0xc040, 0xc000, 0xbf80, 0x0000, 0x3f80, 0x4000, 0x4040, 0x4080};
    return (type == TRUTH_SMALL_F16X2 ? fp16 : bf16)[bits % 9];
}

// fp16 and bf16 in [-1, 1): sign, an exponent from -1 to -4, any mantissa.
static uint16_t unit_half(enum truth_type type, uint64_t bits) {
    const uint64_t sign = bits >> 40 & 1, below_one = 1 + (bits >> 41 & 3);
    return (uint16_t)(type == TRUTH_UNIT_F16X2 ? sign << 15 | (15 - below_one) << 10 | (bits & 0x3ff)
                                               : sign << 15 | (127 - below_one) << 7 | (bits & 0x7f));
}

static uint64_t element(enum truth_type type, int input, int i) {
    const uint64_t bits = random_bits(((uint64_t)type << 40) + ((uint64_t)input << 32) + (uint64_t)i);
    const uint64_t more = random_bits(bits);
    const int special = special_index(input, i), is_special = i < SPECIAL_ELEMENTS;
    // Signed numerator over a power of two: exact in fp32, so the same on every host.
    const float fraction = (float)(int32_t)(bits >> 32) * 0x1p-31f;
    switch (type) {
    case TRUTH_NONE:
        return 0;
    case TRUTH_I16:
    case TRUTH_I32:
    case TRUTH_I64:
        // Shifted by a random amount, so that small numbers are as frequent as large ones.
        return is_special ? special_integers[special] : (uint64_t)((int64_t)bits >> (more & 63));
    case TRUTH_SHIFT:
        return is_special ? (uint64_t)((i + 29 * input) % 72) : bits % 72;
    case TRUTH_F16:
    case TRUTH_BF16:
        return half_of(type, input, i, bits);
    case TRUTH_F16X2:
    case TRUTH_BF16X2:
        return half_of(type, input, i, bits) | (uint32_t)half_of(type, input, (i + 5) % TRUTH_ELEMENTS, more) << 16;
    case TRUTH_F32:
        return is_special ? special_f32[special] : random_real(bits, 23, 8);
    case TRUTH_F64:
        return is_special ? special_f64[special] : random_real(bits << 1, 52, 11);
    case TRUTH_ANGLE:
        return is_special && i < SPECIALS ? special_f32[special] : float_bits(fraction * (more & 1 ? 314.0f : 3.0f));
    case TRUTH_POWER:
        return is_special && i < SPECIALS ? special_f32[special] : float_bits(fraction * (more & 1 ? 160.0f : 2.0f));
    case TRUTH_SMALL_F16X2:
    case TRUTH_SMALL_BF16X2:
        return small_half(type, bits) | (uint32_t)small_half(type, more) << 16;
    case TRUTH_SMALL_F32:
        return float_bits((float)(int)(bits % 9) - 4.0f);
    case TRUTH_UNIT_F16X2:
    case TRUTH_UNIT_BF16X2:
        return unit_half(type, bits) | (uint32_t)unit_half(type, more) << 16;
    case TRUTH_UNIT_F32:
        // A multiple of 2^-10: tf32 holds it without rounding.
        return float_bits((float)((int)(bits & 0x7ff) - 0x400) * 0x1p-10f);
    }
    return 0;
}

size_t truth_type_bytes(enum truth_type type) {
    switch (type) {
    case TRUTH_I16:
    case TRUTH_F16:
    case TRUTH_BF16:
        return 2;
    case TRUTH_I64:
    case TRUTH_F64:
        return 8;
    default:
        return 4;
    }
}

void truth_fill(enum truth_type type, int input, void *values) {
    const size_t bytes = truth_type_bytes(type);
    for (int i = 0; i < TRUTH_ELEMENTS; i++) {
        const uint64_t value = element(type, input, i);
        memcpy((char *)values + (size_t)i * bytes, &value, bytes);
    }
}
