// Comparison and selection.
#include "build.h"

#include "../ptx/program.h"

#if defined(LANES_AVX2)
#include <immintrin.h>
#endif

// One bit per lane from 32 cells that are 0 or all ones.
static inline uint32_t pack(const uint32_t flags[LANES]) {
    uint32_t bits = 0;
#if defined(LANES_AVX2)
    for (int i = 0; i < LANES; i += 8) {
        __m256 eight = _mm256_loadu_ps((const float *)(const void *)(flags + i));
        bits |= (uint32_t)_mm256_movemask_ps(eight) << i;
    }
#else
    for (int i = 0; i < LANES; i++)
        bits |= (flags[i] & 1) << i;
#endif
    return bits;
}

#define COMPARE(name, CELL, READ, expression)                                                                          \
    void LANE(name)(void *d, const void *a, const void *b, const void *c, uint32_t n) {                                \
        const CELL *first = a, *second = b;                                                                            \
        uint32_t flags[LANES];                                                                                         \
        (void)c, (void)n;                                                                                              \
        EACH_LANE {                                                                                                    \
            __auto_type x = READ(first[i]);                                                                            \
            __auto_type y = READ(second[i]);                                                                           \
            flags[i] = (expression) ? ~0u : 0;                                                                         \
        }                                                                                                              \
        *(cell32 *)d = pack(flags);                                                                                    \
    }

#define AS_u16(v) ((uint16_t)(v))
#define AS_s16(v) ((int16_t)(v))
#define AS_u32(v) ((uint32_t)(v))
#define AS_s32(v) ((int32_t)(v))
#define AS_u64(v) ((uint64_t)(v))
#define AS_s64(v) ((int64_t)(v))
#define COMPARE_INTEGER(T, CELL)                                                                                       \
    COMPARE(eq_##T, CELL, AS_##T, x == y)                                                                              \
    COMPARE(ne_##T, CELL, AS_##T, x != y)                                                                              \
    COMPARE(lt_##T, CELL, AS_##T, x < y)                                                                               \
    COMPARE(le_##T, CELL, AS_##T, x <= y)                                                                              \
    COMPARE(gt_##T, CELL, AS_##T, x > y)                                                                               \
    COMPARE(ge_##T, CELL, AS_##T, x >= y)
COMPARE_INTEGER(u16, cell32)
COMPARE_INTEGER(s16, cell32)
COMPARE_INTEGER(u32, cell32)
COMPARE_INTEGER(s32, cell32)
COMPARE_INTEGER(u64, cell64)
COMPARE_INTEGER(s64, cell64)

// Ordered comparisons are false if an operand is NaN, unordered ones (...u) are true.
#define COMPARE_FLOAT(T, CELL, READ)                                                                                   \
    COMPARE(eq_##T, CELL, READ, x == y)                                                                                \
    COMPARE(ne_##T, CELL, READ, (x < y) | (x > y))                                                                     \
    COMPARE(lt_##T, CELL, READ, x < y)                                                                                 \
    COMPARE(le_##T, CELL, READ, x <= y)                                                                                \
    COMPARE(gt_##T, CELL, READ, x > y)                                                                                 \
    COMPARE(ge_##T, CELL, READ, x >= y)                                                                                \
    COMPARE(equ_##T, CELL, READ, !((x < y) | (x > y)))                                                                 \
    COMPARE(neu_##T, CELL, READ, x != y)                                                                               \
    COMPARE(ltu_##T, CELL, READ, !(x >= y))                                                                            \
    COMPARE(leu_##T, CELL, READ, !(x > y))                                                                             \
    COMPARE(gtu_##T, CELL, READ, !(x <= y))                                                                            \
    COMPARE(geu_##T, CELL, READ, !(x < y))                                                                             \
    COMPARE(num_##T, CELL, READ, (x == x) & (y == y))                                                                  \
    COMPARE(nan_##T, CELL, READ, (x != x) | (y != y))
#define FLUSHED(v) flush(float_of(v))
COMPARE_FLOAT(f32, cell32, float_of)
COMPARE_FLOAT(ftz_f32, cell32, FLUSHED)
COMPARE_FLOAT(f64, cell64, double_of)

#define SELECT(name, CELL, CONDITION, condition)                                                                       \
    void LANE(name)(void *d, const void *a, const void *b, const void *c, uint32_t n) {                                \
        CELL *result = d;                                                                                              \
        const CELL *first = a, *second = b;                                                                            \
        const CONDITION *third = c;                                                                                    \
        (void)n;                                                                                                       \
        EACH_LANE {                                                                                                    \
            result[i] = (condition) ? first[i] : second[i];                                                            \
        }                                                                                                              \
    }
void LANE(selp_b32)(void *d, const void *a, const void *b, const void *c, uint32_t n) {
    cell32 *result = d;
    const cell32 *first = a, *second = b;
    uint32_t bits = *(const cell32 *)c ^ n; // n: all ones for a negated predicate
    EACH_LANE {
        result[i] = CHOSEN32(first[i], second[i], bits, i);
    }
}

void LANE(selp_b64)(void *d, const void *a, const void *b, const void *c, uint32_t n) {
    cell64 *result = d;
    const cell64 *first = a, *second = b;
    uint32_t bits = *(const cell32 *)c ^ n;
    EACH_LANE {
        result[i] = CHOSEN64(first[i], second[i], bits, i);
    }
}

// slct: a if c is not negative, else b. n: 1 to flush subnormals of c first.
SELECT(slct_s32_b32, cell32, cell32, (int32_t)third[i] >= 0)
SELECT(slct_s32_b64, cell64, cell32, (int32_t)third[i] >= 0)
SELECT(slct_f32_b32, cell32, cell32, (n ? flush(float_of(third[i])) : float_of(third[i])) >= 0)
SELECT(slct_f32_b64, cell64, cell32, (n ? flush(float_of(third[i])) : float_of(third[i])) >= 0)

// testp: n is the enum ptx_variant of the tested property.
static inline bool is_class(bool finite, bool nan, bool tiny, uint32_t n) {
    switch (n) {
    case PTX_V_FINITE:
        return finite;
    case PTX_V_INFINITE:
        return !finite && !nan;
    case PTX_V_NUMBER:
        return !nan;
    case PTX_V_NOTANUMBER:
        return nan;
    case PTX_V_NORMAL:
        return finite && !tiny; // zeros count as normal (PTX ISA, testp)
    default:
        return tiny;
    }
}

void LANE(testp_f32)(void *d, const void *a, const void *b, const void *c, uint32_t n) {
    const cell32 *first = a;
    uint32_t bits = 0;
    (void)b, (void)c;
    for (int i = 0; i < LANES; i++) {
        uint32_t magnitude = first[i] & 0x7fffffffu;
        bool is = is_class(magnitude<0x7f800000u, magnitude> 0x7f800000u, magnitude && magnitude < 0x00800000u, n);
        bits |= (uint32_t)is << i;
    }
    *(cell32 *)d = bits;
}

void LANE(testp_f64)(void *d, const void *a, const void *b, const void *c, uint32_t n) {
    const cell64 *first = a;
    uint32_t bits = 0;
    (void)b, (void)c;
    for (int i = 0; i < LANES; i++) {
        uint64_t magnitude = first[i] & 0x7fffffffffffffffu;
        bool is = is_class(magnitude<0x7ff0000000000000u, magnitude> 0x7ff0000000000000u,
                           magnitude && magnitude < 0x0010000000000000u, n);
        bits |= (uint32_t)is << i;
    }
    *(cell32 *)d = bits;
}
