// Video instructions, by the PTX ISA: parts of words are extended, combined, clamped, and then combined with a third
// operand or inserted into it.
#include "video.h"
#include "../ptx/program.h"
#include "build.h"

static inline bool compared(int64_t x, int64_t y, uint32_t n) {
    switch (n >> VIDEO_COMPARISON & 7) {
    case PTX_EQ:
        return x == y;
    case PTX_NE:
        return x != y;
    case PTX_LT:
        return x < y;
    case PTX_LE:
        return x <= y;
    case PTX_GT:
        return x > y;
    default:
        return x >= y;
    }
}

static inline int64_t combined(int64_t x, int64_t y, uint32_t n) {
    switch (n & VIDEO_OPERATION) {
    case VIDEO_ADD:
        return x + y;
    case VIDEO_SUB:
        return x - y;
    case VIDEO_MIN:
        return x < y ? x : y;
    case VIDEO_MAX:
        return x > y ? x : y;
    case VIDEO_AVERAGE: // halves are rounded away from 0
        return (x + y + (x + y >= 0)) >> 1;
    case VIDEO_COMPARE:
        return compared(x, y, n);
    default:
        return x > y ? x - y : y - x;
    }
}

static inline int64_t clamped(int64_t value, int width, bool is_signed) {
    int64_t least = is_signed ? -(INT64_C(1) << (width - 1)) : 0;
    int64_t most = (INT64_C(1) << (width - is_signed)) - 1;
    return value < least ? least : value > most ? most : value;
}

// A result that is inserted into a part of a word is clamped as ptxas does for an H200: a negative one becomes the
// largest value, and the result of a shift is clamped as a word. The PTX ISA specifies clamping from both sides, to the
// part.
static inline int64_t clamped_into(int64_t value, int width, uint32_t n) {
    if ((n & VIDEO_OPERATION) >= VIDEO_SHIFT_LEFT)
        return clamped(value, 32, n & VIDEO_SIGNED);
    const int64_t most = (INT64_C(1) << (width - !!(n & VIDEO_SIGNED))) - 1;
    return value < 0 || value > most ? most : value;
}

static inline uint32_t parts_of(uint32_t x, uint32_t y, uint32_t z, uint32_t n) {
    const int count = n & VIDEO_FOUR ? 4 : 2, width = 32 / count;
    uint32_t word = 0;
    for (int k = 0; k < count; k++) {
        const uint32_t all = (1u << width) - 1;
        int64_t value = combined(part(x, k, width, n & VIDEO_SIGNED_A), part(y, k, width, n & VIDEO_SIGNED_B), n);
        if (n & VIDEO_SATURATE)
            value = clamped(value, width, n & VIDEO_SIGNED);
        bool taken = n >> (VIDEO_MASK + k) & 1;
        if (n & VIDEO_SUM)
            z += taken ? (uint32_t)value : 0;
        word |= (taken ? (uint32_t)value & all : z >> k * width & all) << k * width;
    }
    return n & VIDEO_SUM ? z : word;
}
INTEGER(parts, u32, u32, parts_of(x, y, z, n))

static inline int64_t selected(uint32_t word, enum lane_video_part which, bool is_signed) {
    switch (which) {
    case VIDEO_WORD:
        return is_signed ? (int64_t)(int32_t)word : (int64_t)word;
    case VIDEO_H0:
    case VIDEO_H1:
        return part(word, which == VIDEO_H1, 16, is_signed);
    default:
        return part(word, (int)which - VIDEO_B0, 8, is_signed);
    }
}

// The result of a shift has 34 bits with its sign, as all other results have at most.
static inline int64_t shifted(int64_t x, uint32_t y, uint32_t n) {
    uint32_t by = !(n & VIDEO_CLAMP) ? y & 31 : y > 32 ? 32 : y;
    if ((n & VIDEO_OPERATION) == VIDEO_SHIFT_RIGHT)
        return x >> by;
    return (int64_t)((uint64_t)x << by << 30) >> 30;
}

// With an unsigned result, a negative value counts as large. vset compares its result with the third operand as an H200
// does, as words of a's type; the PTX ISA does not define the type.
static inline int64_t second(int64_t value, uint32_t z, uint32_t n) {
    const bool compares = (n & VIDEO_OPERATION) == VIDEO_COMPARE;
    const bool is_signed = n & (compares ? VIDEO_SIGNED_A : VIDEO_SIGNED);
    const int64_t other = is_signed ? (int64_t)(int32_t)z : (int64_t)z;
    const bool less = is_signed ? value < other : (uint64_t)value < (uint64_t)other;
    switch (n >> VIDEO_SECOND & 7) {
    case PTX_V_ADD:
        return value + other;
    case PTX_V_MIN:
        return less ? value : other;
    case PTX_V_MAX:
        return less ? other : value;
    default:
        return value;
    }
}

static inline uint32_t video_of(uint32_t x, uint32_t y, uint32_t z, uint32_t n) {
    const enum lane_video_part at = (enum lane_video_part)(n >> VIDEO_D & 7);
    const int width = at == VIDEO_WORD ? 32 : at < VIDEO_H0 ? 8 : 16;
    const int64_t a = selected(x, (enum lane_video_part)(n >> VIDEO_A & 7), n & VIDEO_SIGNED_A);
    const int64_t b = selected(y, (enum lane_video_part)(n >> VIDEO_B & 7), n & VIDEO_SIGNED_B);
    int64_t value = (n & VIDEO_OPERATION) >= VIDEO_SHIFT_LEFT ? shifted(a, (uint32_t)b, n) : combined(a, b, n);
    if (n & VIDEO_SATURATE)
        value = at == VIDEO_WORD ? clamped(value, width, n & VIDEO_SIGNED) : clamped_into(value, width, n);
    if (at == VIDEO_WORD)
        return (uint32_t)second(value, z, n);
    if (at == VIDEO_H1) // as ptxas does for an H200: the upper half of the result, although the PTX ISA specifies the
                        // lower one
        return ((uint32_t)value & 0xffff0000) | (z & 0xffff);
    const int shift = width * (int)(at < VIDEO_H0 ? at - VIDEO_B0 : at - VIDEO_H0);
    const uint32_t mask = ((1u << width) - 1) << shift;
    return ((uint32_t)value << shift & mask) | (z & ~mask);
}
INTEGER(video, u32, u32, video_of(x, y, z, n))

// a * b + c; negation inverts all bits and adds 1, as .po does. The sum has more than 64 bits before it is shifted.
static inline uint32_t mad_of(uint32_t x, uint32_t y, uint32_t z, uint32_t n) {
    const bool is_signed = n & (VIDEO_SIGNED_A | VIDEO_SIGNED_B | VIDEO_NEGATES_PRODUCT | VIDEO_NEGATES_C);
    __int128 product = (__int128)selected(x, (enum lane_video_part)(n >> VIDEO_A & 7), n & VIDEO_SIGNED_A) *
                       selected(y, (enum lane_video_part)(n >> VIDEO_B & 7), n & VIDEO_SIGNED_B);
    product = n & VIDEO_NEGATES_PRODUCT ? ~product : product;
    z = n & VIDEO_NEGATES_C ? ~z : z;
    product += is_signed ? (int64_t)(int32_t)z : (int64_t)z;
    product += !!(n & (VIDEO_NEGATES_PRODUCT | VIDEO_NEGATES_C | VIDEO_PLUS_ONE));
    product >>= n >> VIDEO_SCALE & 15;
    if (!(n & VIDEO_SATURATE))
        return (uint32_t)product;
    const __int128 least = is_signed ? INT32_MIN : 0, most = is_signed ? INT32_MAX : UINT32_MAX;
    return (uint32_t)(product < least ? least : product > most ? most : product);
}
INTEGER(video_mad, u32, u32, mad_of(x, y, z, n))
