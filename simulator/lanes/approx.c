// The approximate functions. PTX guarantees bounds and special values, not bits; these functions are more accurate than
// the bounds (PTX ISA 9.0, section 9.7.3), and equal in both builds because they use only additions, multiplications
// and divisions in a fixed order.
#include "build.h"

// n & 1: .ftz.
#define APPROXIMATE(name, function)                                                                                    \
    void LANE(name)(void *d, const void *a, const void *b, const void *c, uint32_t n) {                                \
        cell32 *result = d;                                                                                            \
        const cell32 *first = a, *second = b;                                                                          \
        (void)c, (void)second;                                                                                         \
        uint32_t tiny = n & 1 ? 0 : 0x7fffffu; /* subnormal bits that count */                                         \
        EACH_LANE {                                                                                                    \
            uint32_t bits = first[i];                                                                                  \
            float x = float_of(bits & 0x7f800000u ? bits : bits & (0x80000000u | tiny));                               \
            uint32_t value = result_f32(function);                                                                     \
            result[i] = value & 0x7f800000u ? value : value & (0x80000000u | tiny);                                    \
        }                                                                                                              \
    }

// Rounds to the nearest integer, for |x| < 2^22: the sum with 1.5 * 2^23 has no fraction bits.
static inline float nearest(float x) {
    return (x + 12582912.0f) - 12582912.0f;
}

// 2^n for n in -126 .. 127.
static inline float power_of_two(int32_t n) {
    return float_of((uint32_t)(n + 127) << 23);
}

// 2^x = 2^n * 2^f with |f| <= 1/2; the polynomial is the Taylor series of e^(f ln 2). The scale is applied in two
// steps, so that subnormal results are rounded once.
static inline float exp2_approx(float x) {
    float clamped = x > 130.0f ? 130.0f : x < -160.0f ? -160.0f : x;
    float n = nearest(clamped);
    float f = clamped - n;
    float p = 1.5403530e-4f;
    p = p * f + 1.3333558e-3f;
    p = p * f + 9.6181291e-3f;
    p = p * f + 5.5504109e-2f;
    p = p * f + 2.4022651e-1f;
    p = p * f + 6.9314718e-1f;
    p = p * f + 1.0f;
    int32_t whole = (int32_t)n, half = whole >> 1;
    float value = p * power_of_two(half) * power_of_two(whole - half);
    return x != x ? x : value;
}
APPROXIMATE(ex2_approx_f32, exp2_approx(x))

// log2 x = e + 2/ln 2 * atanh(s) with s = (m - 1) / (m + 1), x = m * 2^e, m in [sqrt(1/2), sqrt(2)).
static inline float log2_approx(float x) {
    double value = (double)x;
    uint64_t bits = bits64_of(value);
    int64_t shift = (int64_t)(bits - 0x3fe6a09e667f3bcdull) >> 52;
    double m = double_of(bits - ((uint64_t)shift << 52));
    double s = (m - 1) / (m + 1), q = s * s;
    double p = 1.0 / 13;
    p = p * q + 1.0 / 11;
    p = p * q + 1.0 / 9;
    p = p * q + 1.0 / 7;
    p = p * q + 1.0 / 5;
    p = p * q + 1.0 / 3;
    p = p * q + 1.0;
    float result = (float)((double)(int32_t)shift + s * p * 2.8853900817779268);
    result = x == 0 ? -__builtin_inff() : result;
    result = x == __builtin_inff() ? x : result;
    return x < 0 || x != x ? __builtin_nanf("") : result;
}
APPROXIMATE(lg2_approx_f32, log2_approx(x))

APPROXIMATE(rcp_approx_f32, 1 / x)
APPROXIMATE(sqrt_approx_f32, __builtin_sqrtf(x))
APPROXIMATE(rsqrt_approx_f32, (float)(1 / __builtin_sqrt((double)x)))

// x mod 2 pi in fp64 is accurate in the range for which PTX has a bound, |x| <= 100 pi, and far beyond.
static inline double reduced(float x) {
    double turns = (double)x * 0.15915494309189535;
    double whole = (turns + 6755399441055744.0) - 6755399441055744.0;
    double rest = (turns - whole) * 6.283185307179586;
    return x - x == 0 ? rest : __builtin_nan("");
}

// Taylor series to x^23 on [-pi, pi].
static inline float sine(float x) {
    double r = reduced(x), q = r * r, p = -1.0 / 25852016738884976640000.0;
    p = p * q + 1.0 / 51090942171709440000.0;
    p = p * q - 1.0 / 121645100408832000.0;
    p = p * q + 1.0 / 355687428096000.0;
    p = p * q - 1.0 / 1307674368000.0;
    p = p * q + 1.0 / 6227020800.0;
    p = p * q - 1.0 / 39916800.0;
    p = p * q + 1.0 / 362880.0;
    p = p * q - 1.0 / 5040.0;
    p = p * q + 1.0 / 120.0;
    p = p * q - 1.0 / 6.0;
    // The GPU computes x / 2 pi first, and flushes it if it is subnormal (measured on an H200).
    double turns = (double)x * 0.15915494309189535;
    bool vanishes = (turns < 0 ? -turns : turns) < 0x1p-126;
    return vanishes ? float_of(bits_of(x) & 0x80000000u) : (float)(r + r * q * p);
}

static inline float cosine(float x) {
    double r = reduced(x), q = r * r, p = 1.0 / 620448401733239439360000.0;
    p = p * q - 1.0 / 1124000727777607680000.0;
    p = p * q + 1.0 / 2432902008176640000.0;
    p = p * q - 1.0 / 6402373705728000.0;
    p = p * q + 1.0 / 20922789888000.0;
    p = p * q - 1.0 / 87178291200.0;
    p = p * q + 1.0 / 479001600.0;
    p = p * q - 1.0 / 3628800.0;
    p = p * q + 1.0 / 40320.0;
    p = p * q - 1.0 / 720.0;
    p = p * q + 1.0 / 24.0;
    p = p * q - 1.0 / 2.0;
    return (float)(1.0 + q * p);
}
APPROXIMATE(sin_approx_f32, sine(x))
APPROXIMATE(cos_approx_f32, cosine(x))

// tanh x = (1 - e^-2x) / (1 + e^-2x); near 0, where that cancels, the series.
static inline float hyperbolic_tangent(float x) {
    double magnitude = x < 0 ? -(double)x : (double)x;
    double e = (double)exp2_approx((float)(magnitude * -2.8853900817779268));
    double wide = (1 - e) / (1 + e), q = magnitude * magnitude;
    double narrow = magnitude * (1 - q * (1.0 / 3 - q * (2.0 / 15 - q * (17.0 / 315))));
    double value = magnitude < 0.125 ? narrow : wide;
    return x != x ? x : (float)(x < 0 ? -value : value);
}
APPROXIMATE(tanh_approx_f32, x == 0 ? x : hyperbolic_tangent(x))

// div.approx returns 0 (NaN for an infinite dividend) if the divisor exceeds 2^126; div.full does not.
static inline float divide_approx(float x, float y) {
    float magnitude = y < 0 ? -y : y;
    bool huge = magnitude > 0x1p126f && magnitude < __builtin_inff();
    bool infinite = x - x != 0 && x == x;
    float zero = float_of((bits_of(x) ^ bits_of(y)) & 0x80000000u);
    return huge ? (infinite || x != x ? __builtin_nanf("") : zero) : x / y;
}
#define DIVISOR float_of(second[i] & 0x7f800000u ? second[i] : second[i] & (0x80000000u | tiny))
APPROXIMATE(div_approx_f32, divide_approx(x, DIVISOR))
APPROXIMATE(div_full_f32, x / DIVISOR)
