// fp16 and bf16 arithmetic. A sum, difference or product of two of them, rounded to odd in fp64 and then to 16 bits, is
// correctly rounded; so is fma, because the product is exact in fp64.
#include "half.h"

#include "exact.h"
#include "round.h"

#include <math.h>

static inline uint32_t flush_half(uint32_t bits, uint32_t n) {
    uint32_t exponent = n & HALF_BF16 ? 0x7f80 : 0x7c00;
    return n & HALF_FTZ && !(bits & exponent) ? bits & 0x8000 : bits;
}

static inline double load_half(uint32_t bits, uint32_t n) {
    bits &= 0xffff;
    bits = flush_half(bits, n);
    return n & HALF_BF16 ? float_of_bf16(bits) : float_of_f16(bits);
}

static inline uint32_t store_rounded(double value, uint32_t n, enum ptx_rounding rounding) {
    if (n & HALF_SAT)
        value = value > 0 ? (value < 1 ? value : 1) : 0;
    if (n & HALF_RELU && !(value > 0) && value == value)
        value = 0;
    return flush_half((uint32_t)narrow_double(value, n & HALF_BF16 ? FORMAT_BF16 : FORMAT_F16, rounding, false), n);
}

static inline uint32_t store_half(double value, uint32_t n) {
    return store_rounded(value, n, PTX_RN);
}

static inline uint32_t half_add(uint32_t x, uint32_t y, uint32_t z, uint32_t n) {
    (void)z;
    return store_half(add_odd(load_half(x, n), load_half(y, n)), n);
}

static inline uint32_t half_sub(uint32_t x, uint32_t y, uint32_t z, uint32_t n) {
    (void)z;
    return store_half(add_odd(load_half(x, n), -load_half(y, n)), n);
}

static inline uint32_t half_mul(uint32_t x, uint32_t y, uint32_t z, uint32_t n) {
    (void)z;
    double product = load_half(x, n) * load_half(y, n);
    // As in fp32, a product counts as subnormal before it is rounded.
    bool tiny = fabs(product) < (n & HALF_BF16 ? 0x1p-126 : 0x1p-14);
    return store_half(n & HALF_FTZ && tiny ? copysign(0, product) : product, n);
}

static inline uint32_t half_fma(uint32_t x, uint32_t y, uint32_t z, uint32_t n) {
    return store_half(add_odd(load_half(x, n) * load_half(y, n), load_half(z, n)), n);
}

static inline uint32_t half_least(uint32_t x, uint32_t y, bool greatest, uint32_t n) {
    double a = load_half(x, n), b = load_half(y, n);
    uint32_t sign = n & HALF_XORSIGN ? (x ^ y) & 0x8000 : 0;
    x &= n & HALF_XORSIGN ? 0x7fff : 0xffff;
    y &= n & HALF_XORSIGN ? 0x7fff : 0xffff;
    a = n & HALF_XORSIGN ? fabs(a) : a;
    b = n & HALF_XORSIGN ? fabs(b) : b;
    if ((a != a && b != b) || (n & HALF_NAN && (a != a || b != b)))
        return 0x7fff;
    bool less = a < b || (a == b && x > y);
    uint32_t chosen = a != a ? y : b != b ? x : less != greatest ? x : y;
    return flush_half(chosen, n) | sign;
}

static inline uint32_t half_min(uint32_t x, uint32_t y, uint32_t z, uint32_t n) {
    (void)z;
    return half_least(x, y, false, n);
}

static inline uint32_t half_max(uint32_t x, uint32_t y, uint32_t z, uint32_t n) {
    (void)z;
    return half_least(x, y, true, n);
}

// NaN has one form, as in sums.
static inline uint32_t half_sign(uint32_t x, uint32_t sign, uint32_t n) {
    double value = load_half(x, n);
    x = flush_half(x, n);
    return value != value ? 0x7fff : sign ? x ^ sign : x & 0x7fff;
}

static inline uint32_t half_neg(uint32_t x, uint32_t y, uint32_t z, uint32_t n) {
    (void)y, (void)z;
    return half_sign(x, 0x8000, n);
}

static inline uint32_t half_abs(uint32_t x, uint32_t y, uint32_t z, uint32_t n) {
    (void)y, (void)z;
    return half_sign(x, 0, n);
}

// Approximate functions: fp32 results truncated to 16 bits, which equals an H200's result in nine of ten cases in which
// rounding to nearest would differ.
static uint32_t half_through(lane_operation *single, uint32_t x, uint32_t n) {
    uint32_t in[LANES] = {0}, out[LANES];
    in[0] = bits_of((float)load_half(x, n));
    single(out, in, in, in, 0);
    bool overflows = fabsf(float_of(out[0])) >= (n & HALF_BF16 ? 0x1p128 : 0x1p16);
    return store_rounded(float_of(out[0]), n, overflows ? PTX_RN : PTX_RZ);
}

static inline uint32_t half_ex2(uint32_t x, uint32_t y, uint32_t z, uint32_t n) {
    (void)y, (void)z;
    return half_through(LANE(ex2_approx_f32), x, n);
}

static inline uint32_t half_tanh(uint32_t x, uint32_t y, uint32_t z, uint32_t n) {
    (void)y, (void)z;
    return half_through(LANE(tanh_approx_f32), x, n);
}

#define HALF(name)                                                                                                     \
    void LANE(name)(void *d, const void *a, const void *b, const void *c, uint32_t n) {                                \
        cell32 *result = d;                                                                                            \
        const cell32 *first = a, *second = b, *third = c;                                                              \
        for (int i = 0; i < LANES; i++) {                                                                              \
            uint32_t x = first[i], y = second[i], z = third[i];                                                        \
            uint32_t low = name(x & 0xffff, y & 0xffff, z & 0xffff, n);                                                \
            result[i] = n & HALF_PAIR ? low | name(x >> 16, y >> 16, z >> 16, n) << 16 : low;                          \
        }                                                                                                              \
    }
HALF(half_add)
HALF(half_sub)
HALF(half_mul)
HALF(half_fma)
HALF(half_min)
HALF(half_max)
HALF(half_neg)
HALF(half_abs)
HALF(half_ex2)
HALF(half_tanh)

static bool compares(double x, double y, uint32_t how) {
    bool unordered = x != x || y != y;
    switch (how) {
    case PTX_EQ:
        return x == y;
    case PTX_NE:
        return !unordered && x != y;
    case PTX_LT:
        return x < y;
    case PTX_LE:
        return x <= y;
    case PTX_GT:
        return x > y;
    case PTX_GE:
        return x >= y;
    case PTX_EQU:
        return unordered || x == y;
    case PTX_NEU:
        return unordered || x != y;
    case PTX_LTU:
        return unordered || x < y;
    case PTX_LEU:
        return unordered || x <= y;
    case PTX_GTU:
        return unordered || x > y;
    case PTX_GEU:
        return unordered || x >= y;
    case PTX_NUM:
        return !unordered;
    default:
        return unordered;
    }
}

// The predicates of the lower halves; with HALF_PAIR (for setp p|q) the second word has those of the upper halves.
void LANE(half_compare)(void *d, const void *a, const void *b, const void *c, uint32_t n) {
    const cell32 *first = a, *second = b;
    uint32_t low = 0, high = 0, how = n / HALF_COMPARE;
    (void)c;
    for (int i = 0; i < LANES; i++) {
        low |= (uint32_t)compares(load_half(first[i], n), load_half(second[i], n), how) << i;
        high |= (uint32_t)compares(load_half(first[i] >> 16, n), load_half(second[i] >> 16, n), how) << i;
    }
    ((cell32 *)d)[0] = low;
    if (n & HALF_PAIR)
        ((cell32 *)d)[1] = high;
}
