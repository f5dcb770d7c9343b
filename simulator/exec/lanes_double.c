// fp64 arithmetic.
#include "lanes_build.h"

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

DOUBLE(add_f64, bits64_of(x + y))
DOUBLE(sub_f64, bits64_of(x - y))
DOUBLE(mul_f64, bits64_of(x *y))
DOUBLE(fma_f64, bits64_of(fma(x, y, z)))
DOUBLE(div_f64, bits64_of(x / y))
DOUBLE(rcp_f64, bits64_of(1 / x))
DOUBLE(sqrt_f64, bits64_of(sqrt(x)))

// n: 1 .rz, 2 .rm, 3 .rp, by the host's own rounding mode. Volatile operands keep each operation between the two
// changes of the mode, which the compiler does not know to matter.
#define DOUBLE_ROUNDED(name, expression)                                                                               \
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
            result[i] = bits64_of(value);                                                                              \
        }                                                                                                              \
        fesetround(before);                                                                                            \
    }
DOUBLE_ROUNDED(add_rounded_f64, x + y)
DOUBLE_ROUNDED(sub_rounded_f64, x - y)
DOUBLE_ROUNDED(mul_rounded_f64, x *y)
DOUBLE_ROUNDED(fma_rounded_f64, fma(x, y, z))
DOUBLE_ROUNDED(div_rounded_f64, x / y)
DOUBLE_ROUNDED(rcp_rounded_f64, 1 / x)
DOUBLE_ROUNDED(sqrt_rounded_f64, sqrt(x))

#define SIGN64 0x8000000000000000u

// rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64 look at the upper 32 bits only, and give only those.
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
    return x != x ? b : y != y ? a : chosen;
}
DOUBLE(min_f64, least(first[i], second[i], false))
DOUBLE(max_f64, least(first[i], second[i], true))
DOUBLE(abs_f64, first[i] & ~SIGN64)
DOUBLE(neg_f64, first[i] ^ SIGN64)
DOUBLE(copysign_f64, (first[i] & SIGN64) | (second[i] & ~SIGN64))
