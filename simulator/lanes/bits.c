// Logic, shifts, and operations on bit fields.
#include "build.h"

INTEGER(and_b32, u32, u32, x &y)
INTEGER(and_b64, u64, u64, x &y)
INTEGER(or_b32, u32, u32, x | y)
INTEGER(or_b64, u64, u64, x | y)
INTEGER(xor_b32, u32, u32, x ^ y)
INTEGER(xor_b64, u64, u64, x ^ y)
INTEGER(not_b16, u16, u16, ~x)
INTEGER(not_b32, u32, u32, ~x)
INTEGER(not_b64, u64, u64, ~x)
INTEGER(cnot_b16, u16, u16, x == 0)
INTEGER(cnot_b32, u32, u32, x == 0)
INTEGER(cnot_b64, u64, u64, x == 0)
INTEGER(mov_b32, u32, u32, x)
INTEGER(mov_b64, u64, u64, x)

// A predicate register is one word with one bit per lane, so logic on it needs no loop.
#define PREDICATE(name, expression)                                                                                    \
    void LANE(name)(void *d, const void *a, const void *b, const void *c, uint32_t n) {                                \
        uint32_t x = *(const cell32 *)a, y = *(const cell32 *)b;                                                       \
        (void)c, (void)n, (void)y;                                                                                     \
        *(cell32 *)d = (expression);                                                                                   \
    }
PREDICATE(and_pred, x &y)
PREDICATE(or_pred, x | y)
PREDICATE(xor_pred, x ^ y)
PREDICATE(not_pred, ~x)
PREDICATE(mov_pred, x)

// Shift amounts are 32-bit registers for all types; amounts past the width give zeros (or sign bits).
#define SHIFT(name, T, expression)                                                                                     \
    void LANE(name)(void *d, const void *a, const void *b, const void *c, uint32_t n) {                                \
        CELL_##T *result = d;                                                                                          \
        const CELL_##T *first = a;                                                                                     \
        const cell32 *second = b;                                                                                      \
        (void)c, (void)n;                                                                                              \
        EACH_LANE {                                                                                                    \
            TYPE_##T x = (TYPE_##T)first[i];                                                                           \
            uint32_t y = second[i];                                                                                    \
            result[i] = (CUT_##T)(expression);                                                                         \
        }                                                                                                              \
    }
SHIFT(shl_b16, u16, y > 15 ? 0 : (uint32_t)x << y)
SHIFT(shl_b32, u32, y > 31 ? 0 : x << (y & 31))
SHIFT(shl_b64, u64, y > 63 ? 0 : x << (y & 63))
SHIFT(shr_u16, u16, y > 15 ? 0 : x >> y)
SHIFT(shr_u32, u32, y > 31 ? 0 : x >> (y & 31))
SHIFT(shr_u64, u64, y > 63 ? 0 : x >> (y & 63))
SHIFT(shr_s16, s16, x >> (y > 15 ? 15 : y))
SHIFT(shr_s32, s32, x >> (y > 31 ? 31 : y))
SHIFT(shr_s64, s64, x >> (y > 63 ? 63 : y))

// shf: the 64 bits y:x shifted; .l keeps the upper half, .r the lower one. .clamp stops at 32.
static inline uint64_t joined(uint32_t low, uint32_t high) {
    return (uint64_t)high << 32 | low;
}
INTEGER(shf_l_wrap, u32, u32, joined(x, y) << (z & 31) >> 32)
INTEGER(shf_l_clamp, u32, u32, z > 31 ? x : joined(x, y) << (z & 31) >> 32)
INTEGER(shf_r_wrap, u32, u32, joined(x, y) >> (z & 31))
INTEGER(shf_r_clamp, u32, u32, z > 31 ? y : joined(x, y) >> (z & 31))

// bfe, bfi: position and length are the low byte of 32-bit registers.
static inline uint64_t field_mask(uint32_t length) {
    return length > 63 ? ~0ull : (1ull << length) - 1;
}

// Bits of the field past the top of the value are copies of the sign bit, which is the field's last bit within the
// value.
static inline uint64_t extract(uint64_t value, uint32_t position, uint32_t length, uint32_t width, bool is_signed) {
    position &= 0xff;
    length &= 0xff;
    uint32_t top = width - 1, last = position + length - 1;
    bool sign = is_signed && length && value >> (last > top ? top : last) & 1;
    uint32_t there = position > top ? 0 : length < width - position ? length : width - position;
    uint64_t field = there ? value >> position & field_mask(there) : 0;
    return sign ? field | ~field_mask(there) : field;
}

#define BFE(name, T, width, is_signed)                                                                                 \
    void LANE(name)(void *d, const void *a, const void *b, const void *c, uint32_t n) {                                \
        CELL_##T *result = d;                                                                                          \
        const CELL_##T *first = a;                                                                                     \
        const cell32 *second = b, *third = c;                                                                          \
        (void)n;                                                                                                       \
        for (int i = 0; i < LANES; i++)                                                                                \
            result[i] = (CUT_##T)extract(first[i], second[i], third[i], width, is_signed);                             \
    }
BFE(bfe_u32, u32, 32, false)
BFE(bfe_s32, u32, 32, true)
BFE(bfe_u64, u64, 64, false)
BFE(bfe_s64, u64, 64, true)

// bfi has four sources: the low byte of c is the position, its next byte the length (carry.c joins the two registers).
static inline uint64_t insert(uint64_t field, uint64_t into, uint32_t where, uint32_t width) {
    uint32_t position = where & 0xff, length = where >> 8 & 0xff;
    if (position > width - 1)
        return into;
    uint64_t mask = field_mask(length) << position;
    return (into & ~mask) | (field << position & mask);
}

#define BFI(name, T, width)                                                                                            \
    void LANE(name)(void *d, const void *a, const void *b, const void *c, uint32_t n) {                                \
        CELL_##T *result = d;                                                                                          \
        const CELL_##T *first = a, *second = b;                                                                        \
        const cell32 *third = c;                                                                                       \
        (void)n;                                                                                                       \
        for (int i = 0; i < LANES; i++)                                                                                \
            result[i] = (CUT_##T)insert(first[i], second[i], third[i], width);                                         \
    }
BFI(bfi_b32, u32, 32)
BFI(bfi_b64, u64, 64)
INTEGER(join_bytes, u32, u32, (x & 0xff) | (y & 0xff) << 8)

// Results of these are 32 bits wide whatever the source is.
#define COUNT(name, T, expression)                                                                                     \
    void LANE(name)(void *d, const void *a, const void *b, const void *c, uint32_t n) {                                \
        cell32 *result = d;                                                                                            \
        const CELL_##T *first = a;                                                                                     \
        (void)b, (void)c, (void)n;                                                                                     \
        for (int i = 0; i < LANES; i++) {                                                                              \
            TYPE_##T x = (TYPE_##T)first[i];                                                                           \
            result[i] = (uint32_t)(expression);                                                                        \
        }                                                                                                              \
    }
COUNT(popc_b32, u32, __builtin_popcount(x))
COUNT(popc_b64, u64, __builtin_popcountll(x))
COUNT(clz_b32, u32, x ? __builtin_clz(x) : 32)
COUNT(clz_b64, u64, x ? __builtin_clzll(x) : 64)

// The position of the highest bit that differs from the sign; n: count from the top instead (.shiftamt).
static inline uint32_t highest(uint64_t value, uint32_t width, uint32_t from_top) {
    uint32_t bit = value ? 63 - (uint32_t)__builtin_clzll(value) : UINT32_MAX;
    return value && from_top ? width - 1 - bit : bit;
}
COUNT(bfind_u32, u32, highest(x, 32, n))
COUNT(bfind_s32, s32, highest(x < 0 ? ~(uint32_t)x : (uint32_t)x, 32, n))
COUNT(bfind_u64, u64, highest(x, 64, n))
COUNT(bfind_s64, s64, highest(x < 0 ? ~(uint64_t)x : (uint64_t)x, 64, n))

static inline uint64_t reversed(uint64_t x) {
    x = (x >> 1 & 0x5555555555555555u) | (x & 0x5555555555555555u) << 1;
    x = (x >> 2 & 0x3333333333333333u) | (x & 0x3333333333333333u) << 2;
    x = (x >> 4 & 0x0f0f0f0f0f0f0f0fu) | (x & 0x0f0f0f0f0f0f0f0fu) << 4;
    return __builtin_bswap64(x);
}
INTEGER(brev_b32, u32, u32, reversed(x) >> 32)
INTEGER(brev_b64, u64, u64, reversed(x))

// fns: the position of the z-th set bit of x from bit y on, upwards for positive z, downwards for negative; all ones:
// none.
static uint32_t nth_set(uint32_t bits, uint32_t base, int32_t nth) {
    int32_t step = nth < 0 ? -1 : 1;
    uint32_t left = nth < 0 ? 0u - (uint32_t)nth : (uint32_t)nth;
    if (nth == 0)
        return base < 32 && bits >> base & 1 ? base : UINT32_MAX;
    for (int32_t bit = (int32_t)base; bit >= 0 && bit < 32; bit += step)
        if ((bits >> bit & 1) && --left == 0)
            return (uint32_t)bit;
    return UINT32_MAX;
}
INTEGER(fns_b32, u32, u32, nth_set(x, y, (int32_t)z))

// lop3: n is the truth table, bit (x << 2 | y << 1 | z).
void LANE(lop3_b32)(void *d, const void *a, const void *b, const void *c, uint32_t n) {
    cell32 *result = d;
    const cell32 *first = a, *second = b, *third = c;
    uint32_t t[8];
    for (int k = 0; k < 8; k++)
        t[k] = n >> k & 1 ? ~0u : 0;
    EACH_LANE {
        uint32_t x = first[i], y = second[i], z = third[i];
        uint32_t x0 = (~y & ((~z & t[0]) | (z & t[1]))) | (y & ((~z & t[2]) | (z & t[3])));
        uint32_t x1 = (~y & ((~z & t[4]) | (z & t[5]))) | (y & ((~z & t[6]) | (z & t[7])));
        result[i] = (~x & x0) | (x & x1);
    }
}

// prmt: each result byte is one of the eight bytes y:x, or its sign. n: the mode, 0 for the plain one (see
// instructions/bind_bits.c).
static inline uint32_t permute(uint32_t x, uint32_t y, uint32_t selectors) {
    uint64_t bytes = joined(x, y);
    uint32_t result = 0;
    for (int k = 0; k < 4; k++) {
        uint32_t selector = selectors >> 4 * k & 0xf;
        uint8_t byte = (uint8_t)(bytes >> 8 * (selector & 7));
        result |= (uint32_t)(selector & 8 ? (byte & 0x80 ? 0xff : 0) : byte) << 8 * k;
    }
    return result;
}

// The selectors of the modes f4e b4e rc8 ecl ecr rc16, by the low two bits of the third source.
static const uint16_t prmt_modes[6][4] = {
    {0x3210, 0x4321, 0x5432, 0x6543}, {0x5670, 0x6701, 0x7012, 0x0123}, {0x0000, 0x1111, 0x2222, 0x3333},
    {0x3210, 0x3211, 0x3222, 0x3333}, {0x0000, 0x1110, 0x2210, 0x3210}, {0x1010, 0x3232, 0x1010, 0x3232},
};
INTEGER(prmt_b32, u32, u32, permute(x, y, n ? prmt_modes[n - 1][z & 3] : z))

// bmsk: y ones from bit x on. szext: x cut to y bits, then sign- or zero-extended. n: clamp (1) or wrap (0).
static inline uint32_t bit_mask(uint32_t position, uint32_t length, uint32_t clamp) {
    position = clamp ? position : position & 31;
    length = clamp ? length : length & 31;
    return position > 31 ? 0 : (length > 31 ? ~0u : (1u << length) - 1) << position;
}

static inline uint32_t extended(uint32_t x, uint32_t y, uint32_t clamp, bool is_signed) {
    y = clamp ? (y > 32 ? 32 : y) : y & 31;
    uint32_t cut = y > 31 ? x : x & ((1u << y) - 1);
    return is_signed && y && y < 32 && x >> (y - 1) & 1 ? cut | ~0u << y : cut;
}
INTEGER(bmsk_b32, u32, u32, bit_mask(x, y, n))
INTEGER(szext_u32, u32, u32, extended(x, y, n, false))
INTEGER(szext_s32, u32, u32, extended(x, y, n, true))
