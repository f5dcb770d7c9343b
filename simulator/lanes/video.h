// The operations of video instructions on parts of words.
#ifndef SIMULATOR_LANES_VIDEO_H
#define SIMULATOR_LANES_VIDEO_H

#include "lanes.h"

enum lane_video_operation {
    VIDEO_ADD,
    VIDEO_SUB,
    VIDEO_ABSDIFF,
    VIDEO_MIN,
    VIDEO_MAX,
    VIDEO_AVERAGE,
    VIDEO_COMPARE, // 1 or 0
    VIDEO_SHIFT_LEFT,
    VIDEO_SHIFT_RIGHT,
};

// The selector of an operand of a scalar instruction.
enum lane_video_part { VIDEO_WORD, VIDEO_B0, VIDEO_B1, VIDEO_B2, VIDEO_B3, VIDEO_H0, VIDEO_H1 };

// Flags and fields of video.c's operations in `extra`.
enum {
    VIDEO_OPERATION = 15, // not of video_mad
    VIDEO_SIGNED_A = 1 << 4,
    VIDEO_SIGNED_B = 1 << 5,
    VIDEO_SIGNED = 1 << 6, // the result
    VIDEO_SATURATE = 1 << 7,
    VIDEO_COMPARISON = 8, // enum ptx_compare up to PTX_GE

    // Parts: two or four per word.
    VIDEO_FOUR = 1 << 11, // bytes; else halves
    VIDEO_SUM = 1 << 12,  // all results are added to the third operand
    VIDEO_MASK = 13,      // four bits that select parts

    // Of video and video_mad: enum lane_video_part of an operand.
    VIDEO_A = 11,
    VIDEO_B = 14,
    VIDEO_D = 17,
    VIDEO_SECOND = 20, // 0, or enum ptx_variant
    VIDEO_CLAMP = 1 << 28,

    VIDEO_SCALE = 17, // of video_mad: the right shift of the sum
    VIDEO_NEGATES_PRODUCT = 1 << 21,
    VIDEO_NEGATES_C = 1 << 22,
    VIDEO_PLUS_ONE = 1 << 23,
};

// The part of `width` bits at index `index` of a word.
static inline int32_t part(uint32_t value, int index, int width, bool is_signed) {
    uint32_t bits = value << (32 - width - index * width);
    return is_signed ? (int32_t)bits >> (32 - width) : (int32_t)(bits >> (32 - width));
}

#endif
