// The softmax of scores that come tile by tile, in the registers of a warpgroup.
#pragma once

#include "ex2.cuh"
#include "warpgroup_rows.cuh"

#include <type_traits>

__device__ inline float shift_of(float row_max, float scale) {
    return row_max == -INFINITY ? 0.0f : scale * row_max; // -inf - -inf would be NaN
}

// scale: of powers of 2. Makes the largest score so far, or one that is larger by `headroom`, a row's maximum, and its
// sum relative to that. The output has to be multiplied by rescale[].
template <int COLUMNS>
__device__ inline void raise_rows(const float (&S_rmem)[LANE_ROWS][COLUMNS], float scale, RowState &rows,
                                  float (&rescale)[LANE_ROWS], float headroom = 0.0f) {
#pragma unroll
    for (int i = 0; i < LANE_ROWS; i++) {
        float lane_max = S_rmem[i][0];
        for (int j = 1; j < COLUMNS; j++)
            lane_max = fmaxf(lane_max, S_rmem[i][j]);
        const float new_max = fmaxf(rows.max[i], lanes_max<LANES_PER_ROW>(lane_max) + headroom);
        rescale[i] = new_max == -INFINITY ? 0.0f : ex2(scale * (rows.max[i] - new_max));
        rows.max[i] = new_max;
        rows.shift[i] = shift_of(new_max, scale);
        rows.sum[i] *= rescale[i];
    }
}

// The same, but only where a score of the warp has passed its row's maximum by so far that its weight would be over
// 2^lazy. Returns whether that is so.
template <int COLUMNS>
__device__ inline bool raise_maximum(const float (&S_rmem)[LANE_ROWS][COLUMNS], float scale, float lazy, RowState &rows,
                                     float (&rescale)[LANE_ROWS]) {
    bool grown = false;
    for (int i = 0; i < LANE_ROWS; i++) {
        float lane_max = S_rmem[i][0]; // of the lane's own scores
        for (int j = 1; j < COLUMNS; j++)
            lane_max = fmaxf(lane_max, S_rmem[i][j]);
        grown |= scale * (lane_max - rows.max[i]) > lazy;
    }
    if (!__any_sync(ALL_LANES, grown))
        return false;
    raise_rows(S_rmem, scale, rows, rescale);
    return true;
}

// How far above a row's largest score its maximum may be, and how far above that a score, as powers of two: weights of
// 2^-FAR and of 2^FAR are as exact in bf16 and in sums as one of 1. In fp16 they are not.
constexpr float FAR = 48.0f;
// A score that is FAR above the maximum has a weight of 2^FAR. If one that is up to 2^24 times as heavy raises the
// maximum, that weight counts, and it is multiplied by 2^-(2 FAR + 24).
static_assert(2 * FAR + 24 <= 126, "a rescale below 2^-126 is 0, and what was summed up would be lost");

template <class E>
__device__ inline float headroom_of(float scale) {
    return std::is_same_v<E, __half> ? 0.0f : FAR / scale;
}

// What a score may be before its weight is too large, as an integer for passes(); INT32_MIN: no score may be any. fp16
// ends at 2^16.
template <class E>
__device__ inline int limit_of(float row_max, float scale) {
    const float most = row_max + (std::is_same_v<E, __half> ? 14.0f : FAR) / scale;
    return most >= 0.0f ? __float_as_int(most) : INT32_MIN;
}

// Weights of a row's first columns, beside the scores: those are still there if the maximum has to be raised first.
template <int AHEAD, int MOST, int COLUMNS>
__device__ inline void weigh_ahead(const float (&S_rmem)[LANE_ROWS][COLUMNS], float scale, const RowState &rows,
                                   float (&ahead)[LANE_ROWS][MOST]) {
#pragma unroll
    for (int i = 0; i < LANE_ROWS; i++)
        for (int j = 0; j < AHEAD; j++)
            ahead[i][j] = ex2(scale * S_rmem[i][j] - rows.shift[i]);
}

// raise_rows() as far as E allows, what a score may be then, and the weights ahead once more.
template <class E, int AHEAD, int MOST, int COLUMNS>
__device__ inline void raise_far(const float (&S_rmem)[LANE_ROWS][COLUMNS], float scale, RowState &rows,
                                 float (&rescale)[LANE_ROWS], float (&ahead)[LANE_ROWS][MOST]) {
    raise_rows(S_rmem, scale, rows, rescale, headroom_of<E>(scale));
    for (int i = 0; i < LANE_ROWS; i++)
        rows.limit[i] = limit_of<E>(rows.max[i], scale);
    weigh_ahead<AHEAD>(S_rmem, scale, rows, ahead);
}

// Whether a score of the warp has passed its row's limit. As integers: floats that are not negative are in the order of
// their bits, and one instruction takes the largest of three. Two chains a row, since each is a chain of results.
// Beside them exponentials are computed, those of the weights ahead, for the case that no score has.
template <int AHEAD, int MOST, int COLUMNS>
__device__ inline bool passes(const float (&S_rmem)[LANE_ROWS][COLUMNS], float scale, const RowState &rows,
                              float (&ahead)[LANE_ROWS][MOST]) {
    bool passed = false;
    weigh_ahead<AHEAD>(S_rmem, scale, rows, ahead);
#pragma unroll
    for (int i = 0; i < LANE_ROWS; i++) {
        int most[2] = {__float_as_int(S_rmem[i][0]), __float_as_int(S_rmem[i][1])};
#pragma unroll
        for (int j = 2; j < COLUMNS; j += 2)
            most[j / 2 % 2] =
                __vimax3_s32(most[j / 2 % 2], __float_as_int(S_rmem[i][j]), __float_as_int(S_rmem[i][j + 1]));
        passed |= max(most[0], most[1]) > rows.limit[i];
    }
    return __any_sync(ALL_LANES, passed);
}

// Makes weights of the scores of columns FROM .. TO, and adds them up. CARRIED: with the rows' shift as it was when
// their maximum was raised; otherwise it is computed again, which takes no registers from one tile to the next.
template <int FROM, int TO, bool CARRIED = false, int COLUMNS>
__device__ inline void weigh(float (&S_rmem)[LANE_ROWS][COLUMNS], float scale, RowState &rows) {
#pragma unroll
    for (int i = 0; i < LANE_ROWS; i++) {
        const float shift = CARRIED ? rows.shift[i] : shift_of(rows.max[i], scale);
#pragma unroll
        for (int j = FROM; j < TO; j++) {
            S_rmem[i][j] = ex2(scale * S_rmem[i][j] - shift);
            rows.sum[i] += S_rmem[i][j];
        }
    }
}

// The same from a row's weights ahead on, which take the place of their scores.
template <int AHEAD, int TO, bool CARRIED, int MOST, int COLUMNS>
__device__ inline void weigh_from(float (&S_rmem)[LANE_ROWS][COLUMNS], float scale, RowState &rows,
                                  const float (&ahead)[LANE_ROWS][MOST]) {
#pragma unroll
    for (int i = 0; i < LANE_ROWS; i++) {
        for (int j = 0; j < AHEAD; j++) {
            S_rmem[i][j] = ahead[i][j];
            rows.sum[i] += ahead[i][j];
        }
    }
    weigh<AHEAD, TO, CARRIED>(S_rmem, scale, rows);
}
