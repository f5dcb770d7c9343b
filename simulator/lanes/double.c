// fp64 arithmetic. Unlike in fp32, NaN operands are propagated, quieted: of two, the second; fma prefers b, then c,
// then a. An invalid operation returns the NaN whose other fraction bits are 0 and whose sign is set (measured on an
// H200).
#include "build.h"

#include <fenv.h>
#include <math.h>

#define DOUBLE(name, expression)                                                                                       \
    void LANE(name)(void *d, const void *a, const void *b, const void *c, uint32_t n) {                                \
        cell64 *result = d;                                                                                            \
        const cell64 *first = a, *second = b, *third = c;                                                              \
        (void)n, (void)second, (void)third;                                                                            \
        EACH_LANE {                                                                                                    \
            double x = double_of(first[i]), y = double_of(second[i]), z = double_of(third[i]);                         \
            (void)x, (void)y, (void)z;                                                                                 \
            result[i] = (expression);                                                                                  \
        }                                                                                                              \
    }

#define QUIET 0x0008000000000000u
#define INVALID 0xfff8000000000000u

static inline uint64_t pass_nan(double x, double y, double value) {
    uint64_t bits = value == value ? bits64_of(value) : INVALID;
    bits = x != x ? bits64_of(x) | QUIET : bits;
    return y != y ? bits64_of(y) | QUIET : bits;
}

static inline uint64_t pass_nan3(double x, double y, double z, double value) {
    uint64_t bits = value == value ? bits64_of(value) : INVALID;
    bits = x != x ? bits64_of(x) | QUIET : bits;
    bits = z != z ? bits64_of(z) | QUIET : bits;
    return y != y ? bits64_of(y) | QUIET : bits;
}

DOUBLE(add_f64, pass_nan(x, y, x + y))
DOUBLE(sub_f64, pass_nan(x, y, x - y))
DOUBLE(mul_f64, pass_nan(x, y, x *y))
DOUBLE(fma_f64, pass_nan3(x, y, z, fma(x, y, z)))
DOUBLE(div_f64, bits64_of(x / y))
DOUBLE(rcp_f64, bits64_of(1 / x))
DOUBLE(sqrt_f64, bits64_of(sqrt(x)))

// n: 1 .rz, 2 .rm, 3 .rp, by the host's rounding mode. Volatile operands keep each operation between the two changes of
// the mode, which the compiler does not model.
#define DOUBLE_ROUNDED(name, expression, bits)                                                                         \
    void LANE(name)(void *d, const void *a, const void *b, const void *c, uint32_t n) {                                \
        static const int modes[4] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};                             \
        cell64 *result = d;                                                                                            \
        const cell64 *first = a, *second = b, *third = c;                                                              \
        int before = fegetround();                                                                                     \
        fesetround(modes[n & 3]);                                                                                      \
        for (int i = 0; i < LANES; i++) {                                                                              \
            volatile double x = double_of(first[i]), y = double_of(second[i]), z = double_of(third[i]);                \
            volatile double value = (expression);                                                                      \
            (void)y, (void)z;                                                                                          \
            result[i] = (bits);                                                                                        \
        }                                                                                                              \
        fesetround(before);                                                                                            \
    }
DOUBLE_ROUNDED(add_rounded_f64, x + y, pass_nan(x, y, value))
DOUBLE_ROUNDED(sub_rounded_f64, x - y, pass_nan(x, y, value))
DOUBLE_ROUNDED(mul_rounded_f64, x *y, pass_nan(x, y, value))
DOUBLE_ROUNDED(fma_rounded_f64, fma(x, y, z), pass_nan3(x, y, z, value))
DOUBLE_ROUNDED(div_rounded_f64, x / y, bits64_of(value))
DOUBLE_ROUNDED(rcp_rounded_f64, 1 / x, bits64_of(value))
DOUBLE_ROUNDED(sqrt_rounded_f64, sqrt(x), bits64_of(value))

#define SIGN64 0x8000000000000000u

// rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64 read and return the upper 32 bits only.
static inline uint64_t upper(uint64_t bits) {
    bits &= 0xffffffff00000000u;
    return bits & 0x7ff0000000000000u ? bits : bits & SIGN64;
}
DOUBLE(rcp_approx_f64, upper(bits64_of(1 / double_of(upper(first[i])))))
DOUBLE(rsqrt_approx_f64, upper(bits64_of(1 / sqrt(double_of(upper(first[i]))))))
DOUBLE(rsqrt_f64, bits64_of(1 / sqrt(x)))

static inline uint64_t least(uint64_t a, uint64_t b, bool greatest) {
    double x = double_of(a), y = double_of(b);
    bool less = x < y || (x == y && a >> 63 > b >> 63);
    uint64_t chosen = less != greatest ? a : b;
    chosen = x != x ? b : y != y ? a : chosen;
    return x != x && y != y ? b | QUIET : chosen;
}
DOUBLE(min_f64, least(first[i], second[i], false))
DOUBLE(max_f64, least(first[i], second[i], true))
DOUBLE(abs_f64, x == x ? first[i] & ~SIGN64 : first[i] | QUIET)
DOUBLE(neg_f64, x == x ? first[i] ^ SIGN64 : first[i] | QUIET)
DOUBLE(copysign_f64, (first[i] & SIGN64) | (second[i] & ~SIGN64))
