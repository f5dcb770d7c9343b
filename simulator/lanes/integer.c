// Integer arithmetic on 16, 32 and 64 bits. Sums and products are taken in unsigned types, which wrap as the GPU does.
#include "../ptx/program.h"
#include "build.h"
#include "video.h"

INTEGER(add_u16, u16, u16, x + y)
INTEGER(add_u32, u32, u32, x + y)
INTEGER(add_u64, u64, u64, x + y)
INTEGER(sub_u16, u16, u16, x - y)
INTEGER(sub_u32, u32, u32, x - y)
INTEGER(sub_u64, u64, u64, x - y)

static inline int32_t saturate(int64_t value) {
    return value > INT32_MAX ? INT32_MAX : value < INT32_MIN ? INT32_MIN : (int32_t)value;
}
INTEGER(add_sat_s32, s32, s32, saturate((int64_t)x + y))
INTEGER(sub_sat_s32, s32, s32, saturate((int64_t)x - y))

INTEGER(mul_lo_u16, u16, u16, (uint32_t)x *y)
INTEGER(mul_lo_u32, u32, u32, x *y)
INTEGER(mul_lo_u64, u64, u64, x *y)
INTEGER(mul_hi_u16, u16, u16, (uint32_t)x *y >> 16)
INTEGER(mul_hi_s16, s16, s16, (int32_t)x *y >> 16)
INTEGER(mul_hi_u32, u32, u32, (uint64_t)x *y >> 32)
INTEGER(mul_hi_s32, s32, s32, (int64_t)x *y >> 32)
INTEGER(mul_hi_u64, u64, u64, (unsigned __int128)x *y >> 64)
INTEGER(mul_hi_s64, s64, s64, (__int128)x *y >> 64)
INTEGER(mul_wide_u16, u32, u16, (uint32_t)x *y)
INTEGER(mul_wide_s16, s32, s16, (int32_t)x *y)
INTEGER(mul_wide_u32, u64, u32, (uint64_t)x *y)
INTEGER(mul_wide_s32, s64, s32, (int64_t)x *y)

INTEGER(mad_lo_u16, u16, u16, (uint32_t)x *y + z)
INTEGER(mad_lo_u32, u32, u32, x *y + z)
INTEGER(mad_lo_u64, u64, u64, x *y + z)
INTEGER(mad_hi_u16, u16, u16, ((uint32_t)x * y >> 16) + z)
INTEGER(mad_hi_s16, s16, s16, ((int32_t)x * y >> 16) + z)
INTEGER(mad_hi_u32, u32, u32, (uint32_t)((uint64_t)x *y >> 32) + z)
INTEGER(mad_hi_s32, u32, s32, (uint32_t)((int64_t)x *y >> 32) + (uint32_t)z)
INTEGER(mad_hi_u64, u64, u64, (uint64_t)((unsigned __int128)x *y >> 64) + z)
INTEGER(mad_hi_s64, u64, s64, (uint64_t)((__int128)x *y >> 64) + (uint64_t)z)
INTEGER(mad_hi_sat_s32, s32, s32, saturate(((int64_t)x * y >> 32) + z))

// The addend of mad.wide is as wide as the product.
#define MAD_WIDE(name, S, WIDE)                                                                                        \
    void LANE(name)(void *d, const void *a, const void *b, const void *c, uint32_t n) {                                \
        CELL_##WIDE *result = d;                                                                                       \
        const CELL_##S *first = a, *second = b;                                                                        \
        const CELL_##WIDE *third = c;                                                                                  \
        (void)n;                                                                                                       \
        EACH_LANE {                                                                                                    \
            result[i] = (CUT_##WIDE)((TYPE_##WIDE)(TYPE_##S)first[i] * (TYPE_##S)second[i]) + third[i];                \
        }                                                                                                              \
    }
MAD_WIDE(mad_wide_u16, u16, u32)
MAD_WIDE(mad_wide_s16, s16, s32)
MAD_WIDE(mad_wide_u32, u32, u64)
MAD_WIDE(mad_wide_s32, s32, s64)

// mul24 and mad24 multiply the low 24 bits; .hi returns bits 16 to 47 of the product.
static inline int32_t low24(int32_t value) {
    return (int32_t)((uint32_t)value << 8) >> 8;
}
INTEGER(mul24_lo_u32, u32, u32, (x & 0xffffff) * (y & 0xffffff))
INTEGER(mul24_lo_s32, u32, s32, (uint32_t)low24(x) * (uint32_t)low24(y))
INTEGER(mul24_hi_u32, u32, u32, (uint64_t)(x & 0xffffff) * (y & 0xffffff) >> 16)
INTEGER(mul24_hi_s32, u32, s32, (int64_t)low24(x) * low24(y) >> 16)
INTEGER(mad24_lo_u32, u32, u32, (x & 0xffffff) * (y & 0xffffff) + z)
INTEGER(mad24_lo_s32, u32, s32, (uint32_t)low24(x) * (uint32_t)low24(y) + (uint32_t)z)
INTEGER(mad24_hi_u32, u32, u32, (uint32_t)((uint64_t)(x & 0xffffff) * (y & 0xffffff) >> 16) + z)
INTEGER(mad24_hi_s32, u32, s32, (uint32_t)((int64_t)low24(x) * low24(y) >> 16) + (uint32_t)z)

// PTX does not define the quotient by zero; the GPU returns all ones, and the dividend as the remainder. The quotient
// of the smallest integer and -1 wraps around.
INTEGER(div_u16, u16, u16, y ? x / y : UINT16_MAX)
INTEGER(div_u32, u32, u32, y ? x / y : UINT32_MAX)
INTEGER(div_u64, u64, u64, y ? x / y : UINT64_MAX)
INTEGER(rem_u16, u16, u16, y ? x % y : x)
INTEGER(rem_u32, u32, u32, y ? x % y : x)
INTEGER(rem_u64, u64, u64, y ? x % y : x)
INTEGER(div_s16, s16, s16, y ? x / y : -1)
INTEGER(div_s32, u32, s32, y == 0 ? UINT32_MAX : y == -1 ? 0u - (uint32_t)x : (uint32_t)(x / y))
INTEGER(div_s64, u64, s64, y == 0 ? UINT64_MAX : y == -1 ? 0u - (uint64_t)x : (uint64_t)(x / y))
INTEGER(rem_s16, s16, s16, y ? x % y : x)
INTEGER(rem_s32, s32, s32, y == 0 ? x : y == -1 ? 0 : x % y)
INTEGER(rem_s64, s64, s64, y == 0 ? x : y == -1 ? 0 : x % y)

INTEGER(abs_s16, u16, s16, x < 0 ? -x : x)
INTEGER(abs_s32, u32, s32, x < 0 ? 0u - (uint32_t)x : (uint32_t)x)
INTEGER(abs_s64, u64, s64, x < 0 ? 0u - (uint64_t)x : (uint64_t)x)
INTEGER(neg_s16, u16, u16, 0u - x)
INTEGER(neg_s32, u32, u32, 0u - x)
INTEGER(neg_s64, u64, u64, 0u - x)

INTEGER(min_u16, u16, u16, x < y ? x : y)
INTEGER(min_s16, s16, s16, x < y ? x : y)
INTEGER(min_u32, u32, u32, x < y ? x : y)
INTEGER(min_s32, s32, s32, x < y ? x : y)
INTEGER(min_u64, u64, u64, x < y ? x : y)
INTEGER(min_s64, s64, s64, x < y ? x : y)
INTEGER(max_u16, u16, u16, x > y ? x : y)
INTEGER(max_s16, s16, s16, x > y ? x : y)
INTEGER(max_u32, u32, u32, x > y ? x : y)
INTEGER(max_s32, s32, s32, x > y ? x : y)
INTEGER(max_u64, u64, u64, x > y ? x : y)
INTEGER(max_s64, s64, s64, x > y ? x : y)
INTEGER(min_relu_s32, s32, s32, (x < y ? x : y) > 0 ? (x < y ? x : y) : 0)
INTEGER(max_relu_s32, s32, s32, (x > y ? x : y) > 0 ? (x > y ? x : y) : 0)

// Two 16-bit integers in a register.
#define PAIRWISE(low, high) ((uint32_t)(uint16_t)(low) | (uint32_t)(high) << 16)
#define LOW(v) ((int16_t)(v))
#define HIGH(v) ((int16_t)((v) >> 16))
INTEGER(add_u16x2, u32, u32, PAIRWISE(x + y, (x >> 16) + (y >> 16)))
INTEGER(min_u16x2, u32, u32, PAIRWISE((x & 0xffff) < (y & 0xffff) ? x : y, x >> 16 < y >> 16 ? x >> 16 : y >> 16))
INTEGER(max_u16x2, u32, u32, PAIRWISE((x & 0xffff) > (y & 0xffff) ? x : y, x >> 16 > y >> 16 ? x >> 16 : y >> 16))
INTEGER(min_s16x2, u32, u32, PAIRWISE(LOW(x) < LOW(y) ? x : y, HIGH(x) < HIGH(y) ? x >> 16 : y >> 16))
INTEGER(max_s16x2, u32, u32, PAIRWISE(LOW(x) > LOW(y) ? x : y, HIGH(x) > HIGH(y) ? x >> 16 : y >> 16))

#define AT_LEAST_0(v) ((v) > 0 ? (v) : 0)
INTEGER(min_relu_s16x2, u32, u32,
        PAIRWISE(AT_LEAST_0(LOW(x) < LOW(y) ? LOW(x) : LOW(y)), AT_LEAST_0(HIGH(x) < HIGH(y) ? HIGH(x) : HIGH(y))))
INTEGER(max_relu_s16x2, u32, u32,
        PAIRWISE(AT_LEAST_0(LOW(x) > LOW(y) ? LOW(x) : LOW(y)), AT_LEAST_0(HIGH(x) > HIGH(y) ? HIGH(x) : HIGH(y))))

INTEGER(sad_u16, u16, u16, (x > y ? x - y : y - x) + z)
INTEGER(sad_s16, u16, s16, (x > y ? x - y : y - x) + z)
INTEGER(sad_u32, u32, u32, (x > y ? x - y : y - x) + z)
INTEGER(sad_s32, u32, s32, (x > y ? (uint32_t)x - (uint32_t)y : (uint32_t)y - (uint32_t)x) + (uint32_t)z)
INTEGER(sad_u64, u64, u64, (x > y ? x - y : y - x) + z)
INTEGER(sad_s64, u64, s64, (x > y ? (uint64_t)x - (uint64_t)y : (uint64_t)y - (uint64_t)x) + (uint64_t)z)

// dp4a, dp2a: n has flags of the signed operands (bit 0: a, bit 1: b), and for dp2a of the half of b (bit 2: the upper
// one).
static inline uint32_t dot4(uint32_t x, uint32_t y, uint32_t z, uint32_t n) {
    for (int k = 0; k < 4; k++)
        z += (uint32_t)(part(x, k, 8, n & 1) * part(y, k, 8, n & 2));
    return z;
}

static inline uint32_t dot2(uint32_t x, uint32_t y, uint32_t z, uint32_t n) {
    for (int k = 0; k < 2; k++)
        z += (uint32_t)(part(x, k, 16, n & 1) * part(y, k + (n & 4 ? 2 : 0), 8, n & 2));
    return z;
}
INTEGER(dp4a, u32, u32, dot4(x, y, z, n))
INTEGER(dp2a, u32, u32, dot2(x, y, z, n))
