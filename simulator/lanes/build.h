// For the files lanes/*.c except lanes.c: names that differ between the two builds, and loops over the 32 lanes.
#ifndef SIMULATOR_LANES_BUILD_H
#define SIMULATOR_LANES_BUILD_H

#include "lanes.h"

#include <string.h>

#if defined(LANES_AVX2)
#define LANE(name) name##_avx2
#elif defined(LANES_GENERIC)
#define LANE(name) name##_generic
#else
#error "compile lanes/*.c but lanes.c with -DLANES_AVX2 -mavx2 -mfma -mf16c, and again with -DLANES_GENERIC"
#endif

#define LANE_OPERATION(name) lane_operation LANE(name);
#include "lanes.def"
#undef LANE_OPERATION

// The same registers are read as unsigned, signed and floating-point cells by different instructions.
typedef uint32_t __attribute__((may_alias)) cell32;
typedef uint64_t __attribute__((may_alias)) cell64;

// A type's cell in the register file, its C type, and the unsigned type that truncates a result to its width.
#define CELL_u16 cell32
#define CELL_s16 cell32
#define CELL_u32 cell32
#define CELL_s32 cell32
#define CELL_u64 cell64
#define CELL_s64 cell64
#define TYPE_u16 uint16_t
#define TYPE_s16 int16_t
#define TYPE_u32 uint32_t
#define TYPE_s32 int32_t
#define TYPE_u64 uint64_t
#define TYPE_s64 int64_t
#define CUT_u16 uint16_t
#define CUT_s16 uint16_t
#define CUT_u32 uint32_t
#define CUT_s32 uint32_t
#define CUT_u64 uint64_t
#define CUT_s64 uint64_t

// Lanes are independent even if d is the same register as a source.
#define EACH_LANE _Pragma("GCC ivdep") for (int i = 0; i < LANES; i++)
#define EACH_CELL(count) _Pragma("GCC ivdep") for (uint32_t i = 0; i < (count); i++)

// yes if the mask has bit i, else no. AVX2 shifts each lane by its own count; other hosts vectorize a comparison and a
// selection.
#if defined(LANES_AVX2)
#define CHOSEN32(yes, no, mask, i) ((mask) >> (i)&1 ? (yes) : (no))
#define CHOSEN64 CHOSEN32
#else
static const uint32_t lane_bit[LANES] = {
    1u << 0,  1u << 1,  1u << 2,  1u << 3,  1u << 4,  1u << 5,  1u << 6,  1u << 7,  1u << 8,  1u << 9,  1u << 10,
    1u << 11, 1u << 12, 1u << 13, 1u << 14, 1u << 15, 1u << 16, 1u << 17, 1u << 18, 1u << 19, 1u << 20, 1u << 21,
    1u << 22, 1u << 23, 1u << 24, 1u << 25, 1u << 26, 1u << 27, 1u << 28, 1u << 29, 1u << 30, 1u << 31};
static inline uint32_t lane_mask(uint32_t mask, int i) {
    return -(uint32_t)((mask & lane_bit[i]) != 0);
}
static inline uint32_t CHOSEN32(uint32_t yes, uint32_t no, uint32_t mask, int i) {
    return (yes & lane_mask(mask, i)) | (no & ~lane_mask(mask, i));
}
static inline uint64_t CHOSEN64(uint64_t yes, uint64_t no, uint32_t mask, int i) {
    uint64_t where = (uint64_t)(int64_t)(int32_t)lane_mask(mask, i);
    return (yes & where) | (no & ~where);
}
#endif

// Defines operation `name` on sources of type S (x, y, z) with a result of type D; n is the immediate.
#define INTEGER(name, D, S, expression)                                                                                \
    void LANE(name)(void *d, const void *a, const void *b, const void *c, uint32_t n) {                                \
        CELL_##D *result = d;                                                                                          \
        const CELL_##S *first = a, *second = b, *third = c;                                                            \
        (void)n, (void)second, (void)third;                                                                            \
        EACH_LANE {                                                                                                    \
            TYPE_##S x = (TYPE_##S)first[i], y = (TYPE_##S)second[i], z = (TYPE_##S)third[i];                          \
            (void)x, (void)y, (void)z;                                                                                 \
            result[i] = (CUT_##D)(expression);                                                                         \
        }                                                                                                              \
    }

static inline float float_of(uint32_t bits) {
    float value;
    memcpy(&value, &bits, 4);
    return value;
}

static inline uint32_t bits_of(float value) {
    uint32_t bits;
    memcpy(&bits, &value, 4);
    return bits;
}

static inline double double_of(uint64_t bits) {
    double value;
    memcpy(&value, &bits, 8);
    return value;
}

static inline uint64_t bits64_of(double value) {
    uint64_t bits;
    memcpy(&bits, &value, 8);
    return bits;
}

// Every fp32 operation of the GPU returns this NaN; the host would propagate a payload.
#define CANONICAL_NAN 0x7fffffffu

static inline uint32_t result_f32(float value) {
    return value != value ? CANONICAL_NAN : bits_of(value);
}

// .ftz: a subnormal counts as a zero of the same sign.
static inline uint32_t flush_bits(uint32_t bits) {
    return bits & 0x7f800000u ? bits : bits & 0x80000000u;
}

static inline float flush(float value) {
    return float_of(flush_bits(bits_of(value)));
}

#endif
