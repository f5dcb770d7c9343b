// fp32 arithmetic. Host operations return the same bits as the GPU's, because both follow IEEE 754, except for NaN, of
// which the GPU has one, subnormals under .ftz, and rounding modes other than to nearest.
#include "exact.h"

#define FLOAT(name, expression)                                                                                        \
    void LANE(name)(void *d, const void *a, const void *b, const void *c, uint32_t n) {                                \
        cell32 *result = d;                                                                                            \
        const cell32 *first = a, *second = b, *third = c;                                                              \
        (void)n, (void)second, (void)third;                                                                            \
        EACH_LANE {                                                                                                    \
            float x = float_of(first[i]), y = float_of(second[i]), z = float_of(third[i]);                             \
            (void)x, (void)y, (void)z;                                                                                 \
            result[i] = (expression);                                                                                  \
        }                                                                                                              \
    }

FLOAT(add_f32, result_f32(x + y))
FLOAT(sub_f32, result_f32(x - y))
FLOAT(mul_f32, result_f32(x *y))
FLOAT(fma_f32, result_f32(fma_nearest(x, y, z)))
FLOAT(div_f32, result_f32(x / y))
FLOAT(rcp_f32, result_f32(1 / x))
FLOAT(sqrt_f32, result_f32(__builtin_sqrtf(x)))

FLOAT(add_ftz_f32, flush_bits(result_f32(flush(x) + flush(y))))
FLOAT(sub_ftz_f32, flush_bits(result_f32(flush(x) - flush(y))))
FLOAT(div_ftz_f32, flush_bits(result_f32(flush(x) / flush(y))))
FLOAT(rcp_ftz_f32, flush_bits(result_f32(1 / flush(x))))
FLOAT(sqrt_ftz_f32, flush_bits(result_f32(__builtin_sqrtf(flush(x)))))

// Whether .ftz flushes a result: a product that is subnormal before it is rounded, an fma whose result would be
// subnormal if it were rounded to 24 bits with an unbounded exponent (both measured on an H200). This differs from a
// test of the result only if the result is the smallest normal number.
static inline bool product_is_tiny(double exact, uint32_t rounding) {
    (void)rounding;
    return fabs(exact) < 0x1p-126;
}

static inline bool sum_is_tiny(double exact, uint32_t rounding) {
    return fabsf(narrow(exact * 0x1p64, rounding)) < 0x1p-62f;
}

static inline bool is_edge(uint32_t bits) {
    return (bits & 0x7fffffffu) == 0x00800000u;
}

#define FLOAT_FLUSHED(name, rounded, unrounded, is_tiny)                                                               \
    void LANE(name)(void *d, const void *a, const void *b, const void *c, uint32_t n) {                                \
        const cell32 *first = a, *second = b, *third = c;                                                              \
        uint32_t bits[LANES], edges = 0;                                                                               \
        (void)n, (void)third;                                                                                          \
        EACH_LANE {                                                                                                    \
            float x = flush(float_of(first[i])), y = flush(float_of(second[i])), z = flush(float_of(third[i]));        \
            (void)z;                                                                                                   \
            bits[i] = flush_bits(result_f32(rounded));                                                                 \
            edges |= is_edge(bits[i]);                                                                                 \
        }                                                                                                              \
        for (int i = 0; edges && i < LANES; i++) {                                                                     \
            float x = flush(float_of(first[i])), y = flush(float_of(second[i])), z = flush(float_of(third[i]));        \
            (void)z;                                                                                                   \
            if (is_edge(bits[i]) && is_tiny(unrounded, LANE_NEAREST))                                                  \
                bits[i] &= 0x80000000u;                                                                                \
        }                                                                                                              \
        memcpy(d, bits, sizeof bits);                                                                                  \
    }
FLOAT_FLUSHED(mul_ftz_f32, x *y, (double)x *y, product_is_tiny)
FLOAT_FLUSHED(fma_ftz_f32, fma_nearest(x, y, z), fma_odd(x, y, z), sum_is_tiny)

// Other rounding modes: n is the mode, and 4 is added for .ftz.
static inline float source(float value, uint32_t n) {
    return n & 4 ? flush(value) : value;
}

static inline uint32_t result_rounded(float value, uint32_t n) {
    uint32_t bits = result_f32(value);
    return n & 4 ? flush_bits(bits) : bits;
}

static inline bool positive_zero(float value) {
    return bits_of(value) == 0;
}

static inline float add_rounded(float x, float y, uint32_t rounding) {
    return narrow_sum(add_odd(x, y), positive_zero(x) && positive_zero(y), rounding);
}

static inline float fma_rounded(float x, float y, float z, uint32_t n) {
    bool product_positive_zero = (x == 0 || y == 0) && !((bits_of(x) ^ bits_of(y)) >> 31);
    double exact = fma_odd(x, y, z);
    if (n & 4 && sum_is_tiny(exact, n & 3) && exact != 0)
        return (float)copysign(0, exact);
    return narrow_sum(exact, product_positive_zero && positive_zero(z), n & 3);
}

// The sign of the remainder determines the side of the true quotient on which the fp64 one is.
static inline float div_rounded(float x, float y, uint32_t rounding) {
    double quotient = (double)x / (double)y;
    double error = fma(-quotient, y, x) / y;
    error = error == error ? error : 0; // infinities and zeros: exact
    return narrow(odd(quotient, error), rounding);
}

static inline float sqrt_rounded(float x, uint32_t rounding) {
    double root = sqrt(x);
    return narrow(odd(root, fma(-root, root, x)), rounding);
}

FLOAT(add_rounded_f32, result_rounded(add_rounded(source(x, n), source(y, n), n & 3), n))
FLOAT(sub_rounded_f32, result_rounded(add_rounded(source(x, n), -source(y, n), n & 3), n))
static inline float mul_rounded(float x, float y, uint32_t n) {
    double exact = (double)x * y;
    return n & 4 && product_is_tiny(exact, n & 3) ? (float)copysign(0, exact) : narrow(exact, n & 3);
}
FLOAT(mul_rounded_f32, result_rounded(mul_rounded(source(x, n), source(y, n), n), n))
FLOAT(div_rounded_f32, result_rounded(div_rounded(source(x, n), source(y, n), n & 3), n))
FLOAT(rcp_rounded_f32, result_rounded(div_rounded(1, source(x, n), n & 3), n))
FLOAT(sqrt_rounded_f32, result_rounded(sqrt_rounded(source(x, n), n & 3), n))

// expf() uses fma.rm, so setting the processor's rounding mode pays. The barriers keep the compiler, which does not
// model the mode, from moving the loop past either change.
#if defined(LANES_AVX2)
#include <immintrin.h>
#define HAS_ROUNDING_MODES
static inline uint64_t begin_rounding(uint32_t rounding) {
    static const unsigned modes[4] = {_MM_ROUND_NEAREST, _MM_ROUND_TOWARD_ZERO, _MM_ROUND_DOWN, _MM_ROUND_UP};
    unsigned before = _mm_getcsr();
    _mm_setcsr((before & ~(unsigned)_MM_ROUND_MASK) | modes[rounding]);
    __asm__ volatile("" ::: "memory");
    return before;
}
static inline void end_rounding(uint64_t before) {
    __asm__ volatile("" ::: "memory");
    _mm_setcsr((unsigned)before);
}
#elif defined(__aarch64__)
#define HAS_ROUNDING_MODES
static inline uint64_t begin_rounding(uint32_t rounding) {
    static const uint64_t modes[4] = {0, 3, 2, 1}; // FPCR.RMode, bits 22 and 23
    uint64_t before;
    __asm__ volatile("mrs %0, fpcr" : "=r"(before)::"memory");
    __asm__ volatile("msr fpcr, %0" ::"r"((before & ~(3ull << 22)) | modes[rounding] << 22) : "memory");
    return before;
}
static inline void end_rounding(uint64_t before) {
    __asm__ volatile("msr fpcr, %0" ::"r"(before) : "memory");
}
#endif

#if defined(HAS_ROUNDING_MODES)
void LANE(fma_rounded_f32)(void *d, const void *a, const void *b, const void *c, uint32_t n) {
    if (n & 4) {
        cell32 *result_bits = d;
        const cell32 *x = a, *y = b, *z = c;
        for (int i = 0; i < LANES; i++) {
            float value = fma_rounded(flush(float_of(x[i])), flush(float_of(y[i])), flush(float_of(z[i])), n);
            result_bits[i] = flush_bits(result_f32(value));
        }
        return;
    }
    uint64_t before = begin_rounding(n & 3);
    LANE(fma_f32)(d, a, b, c, 0);
    end_rounding(before);
}
#else
FLOAT(fma_rounded_f32, result_rounded(fma_rounded(source(x, n), source(y, n), source(z, n), n), n))
#endif

// min and max prefer a number to NaN; with .NaN (n & 1) they return NaN. -0 is less than +0.
static inline uint32_t least(uint32_t a, uint32_t b, bool greatest, uint32_t n) {
    if (n & 4) {
        a = flush_bits(a);
        b = flush_bits(b);
    }
    if (n & 2) { // .xorsign.abs
        uint32_t sign = (a ^ b) & 0x80000000u;
        uint32_t value = least(a & 0x7fffffffu, b & 0x7fffffffu, greatest, n & 1);
        return (value & 0x7fffffffu) > 0x7f800000u ? CANONICAL_NAN : value | sign;
    }
    float x = float_of(a), y = float_of(b);
    bool a_nan = x != x, b_nan = y != y;
    bool less = x < y || (x == y && a >> 31 > b >> 31);
    uint32_t chosen = less != greatest ? a : b;
    chosen = a_nan ? b : b_nan ? a : chosen;
    return (a_nan && b_nan) || ((n & 1) && (a_nan || b_nan)) ? CANONICAL_NAN : chosen;
}
// The usual case without these flags is a loop without a branch.
#define LEAST(name, greatest)                                                                                          \
    void LANE(name)(void *d, const void *a, const void *b, const void *c, uint32_t n) {                                \
        cell32 *result = d;                                                                                            \
        const cell32 *first = a, *second = b;                                                                          \
        (void)c;                                                                                                       \
        if (n)                                                                                                         \
            EACH_LANE {                                                                                                \
                result[i] = least(first[i], second[i], greatest, n);                                                   \
            }                                                                                                          \
        else                                                                                                           \
            EACH_LANE {                                                                                                \
                result[i] = least(first[i], second[i], greatest, 0);                                                   \
            }                                                                                                          \
    }
LEAST(min_f32, false)
LEAST(max_f32, true)

FLOAT(abs_f32, result_f32(float_of(first[i] & 0x7fffffffu)))
FLOAT(neg_f32, result_f32(float_of(first[i] ^ 0x80000000u)))
FLOAT(abs_ftz_f32, result_f32(float_of(flush_bits(first[i]) & 0x7fffffffu)))
FLOAT(neg_ftz_f32, result_f32(float_of(flush_bits(first[i]) ^ 0x80000000u)))
FLOAT(copysign_f32, (first[i] & 0x80000000u) | (second[i] & 0x7fffffffu))

// .sat on the result of any of the above: to [0, 1], NaN to +0.
FLOAT(saturate_f32, x > 0 ? bits_of(x < 1 ? x : 1) : 0)
