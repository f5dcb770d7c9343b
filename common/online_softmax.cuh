// Online softmax: one tile of scores after the other, in the accumulator registers of a warpgroup.
#pragma once

#include "accumulator_layout.cuh"
#include "ex2.cuh"

#include <type_traits>

__device__ inline float shift_of(float row_max, float scale) {
    return row_max == -INFINITY ? 0.0f : scale * row_max; // -inf - -inf would be NaN
}

// Sets a row's maximum to its largest score so far plus `headroom`, and rescales its sum. The caller multiplies the
// output accumulator by rescale[]. scale: softmax_scale log2(e), since weights are powers of 2.
template <int COLUMNS>
__device__ inline void update_row_max(const float (&S_rmem)[LANE_ROWS][COLUMNS], float scale, RowState &softmax,
                                      float (&rescale)[LANE_ROWS], float headroom = 0.0f) {
#pragma unroll
    for (int i = 0; i < LANE_ROWS; i++) {
        float lane_max = S_rmem[i][0];
        for (int j = 1; j < COLUMNS; j++)
            lane_max = fmaxf(lane_max, S_rmem[i][j]);
        const float new_max = fmaxf(softmax.max[i], lanes_max<LANES_PER_ROW>(lane_max) + headroom);
        rescale[i] = new_max == -INFINITY ? 0.0f : ex2(scale * (softmax.max[i] - new_max));
        softmax.max[i] = new_max;
        softmax.shift[i] = shift_of(new_max, scale);
        softmax.sum[i] *= rescale[i];
    }
}

// Conditional rescaling: calls update_row_max() only if the weight of some score of the warp would exceed 2^threshold.
// Returns whether it did. The warp vote makes the branch uniform.
template <int COLUMNS>
__device__ inline bool update_row_max_lazily(const float (&S_rmem)[LANE_ROWS][COLUMNS], float scale, float threshold,
                                             RowState &softmax, float (&rescale)[LANE_ROWS]) {
    bool must_rescale = false;
    for (int i = 0; i < LANE_ROWS; i++) {
        float lane_max = S_rmem[i][0]; // over the scores of this lane
        for (int j = 1; j < COLUMNS; j++)
            lane_max = fmaxf(lane_max, S_rmem[i][j]);
        must_rescale |= scale * (lane_max - softmax.max[i]) > threshold;
    }
    if (!__any_sync(ALL_LANES, must_rescale))
        return false;
    update_row_max(S_rmem, scale, softmax, rescale);
    return true;
}

// bf16 weights and fp32 sums keep their full relative precision from 2^-48 to 2^48. So a row's maximum may be that far
// above its largest score (headroom), and a score that far above the maximum (rescale threshold). fp16 has a smaller
// exponent range.
constexpr float WEIGHT_EXPONENT_RANGE = 48.0f;
// The smallest rescale factor that matters: a score that raises the maximum gets the weight 2^-48 (headroom). An old
// weight, up to 2^48, still contributes to the sum if it becomes 2^-24 times that: 2^-(48 + 24) / 2^48 = 2^-(2 * 48 +
// 24).
static_assert(2 * WEIGHT_EXPONENT_RANGE + 24 <= 126,
              "a rescale factor below 2^-126 is flushed to 0, and the sum so far would be lost");

template <class E>
__device__ inline float max_headroom(float scale) {
    return std::is_same_v<E, __half> ? 0.0f : WEIGHT_EXPONENT_RANGE / scale;
}

// The rescale threshold as a score, in integer form for exceeds_threshold(); INT32_MIN: every score exceeds it. fp16
// weights stay below 2^14, since fp16 overflows at 2^16.
template <class E>
__device__ inline int score_limit(float row_max, float scale) {
    const float limit = row_max + (std::is_same_v<E, __half> ? 14.0f : WEIGHT_EXPONENT_RANGE) / scale;
    return limit >= 0.0f ? __float_as_int(limit) : INT32_MIN;
}

// Computes the weights of a row's first columns with the maximum so far, while the warp vote is pending. The scores are
// kept: if the vote raises the maximum, the weights are computed again.
template <int SPECULATIVE_COLUMNS, int SIZE, int COLUMNS>
__device__ inline void exponentiate_speculatively(const float (&S_rmem)[LANE_ROWS][COLUMNS], float scale,
                                                  const RowState &softmax, float (&speculative)[LANE_ROWS][SIZE]) {
#pragma unroll
    for (int i = 0; i < LANE_ROWS; i++)
        for (int j = 0; j < SPECULATIVE_COLUMNS; j++)
            speculative[i][j] = ex2(scale * S_rmem[i][j] - softmax.shift[i]);
}

// update_row_max() with the largest headroom that E allows; also updates the threshold and the speculative weights.
template <class E, int SPECULATIVE_COLUMNS, int SIZE, int COLUMNS>
__device__ inline void update_row_max_with_headroom(const float (&S_rmem)[LANE_ROWS][COLUMNS], float scale,
                                                    RowState &softmax, float (&rescale)[LANE_ROWS],
                                                    float (&speculative)[LANE_ROWS][SIZE]) {
    update_row_max(S_rmem, scale, softmax, rescale, max_headroom<E>(scale));
    for (int i = 0; i < LANE_ROWS; i++)
        softmax.limit[i] = score_limit<E>(softmax.max[i], scale);
    exponentiate_speculatively<SPECULATIVE_COLUMNS>(S_rmem, scale, softmax, speculative);
}

// Warp vote: whether any score of the warp exceeds its row's rescale threshold. Scores are compared as integers, since
// non-negative floats have the order of their bits, and VIMNMX3 takes the maximum of three integers. Two dependency
// chains per row halve the latency.
template <int COLUMNS>
__device__ inline bool exceeds_threshold(const float (&S_rmem)[LANE_ROWS][COLUMNS], const RowState &softmax) {
    bool exceeds = false;
#pragma unroll
    for (int i = 0; i < LANE_ROWS; i++) {
        int max_bits[2] = {__float_as_int(S_rmem[i][0]), __float_as_int(S_rmem[i][1])};
#pragma unroll
        for (int j = 2; j < COLUMNS; j += 2)
            max_bits[j / 2 % 2] =
                __vimax3_s32(max_bits[j / 2 % 2], __float_as_int(S_rmem[i][j]), __float_as_int(S_rmem[i][j + 1]));
        exceeds |= max(max_bits[0], max_bits[1]) > softmax.limit[i];
    }
    return __any_sync(ALL_LANES, exceeds);
}

// Replaces the scores of columns FROM .. TO - 1 by their weights and adds the weights to the row sums.
// PRECOMPUTED_SHIFT: reads softmax.shift, which then occupies registers across iterations; otherwise recomputes the
// shift from the maximum.
template <int FROM, int TO, bool PRECOMPUTED_SHIFT = false, int COLUMNS>
__device__ inline void exponentiate(float (&S_rmem)[LANE_ROWS][COLUMNS], float scale, RowState &softmax) {
#pragma unroll
    for (int i = 0; i < LANE_ROWS; i++) {
        const float shift = PRECOMPUTED_SHIFT ? softmax.shift[i] : shift_of(softmax.max[i], scale);
#pragma unroll
        for (int j = FROM; j < TO; j++) {
            S_rmem[i][j] = ex2(scale * S_rmem[i][j] - shift);
            softmax.sum[i] += S_rmem[i][j];
        }
    }
}

// The same for columns 0 .. TO - 1, of which the first SPECULATIVE weights are already computed.
template <int SPECULATIVE_COLUMNS, int TO, bool PRECOMPUTED_SHIFT, int SIZE, int COLUMNS>
__device__ inline void exponentiate_remaining(float (&S_rmem)[LANE_ROWS][COLUMNS], float scale, RowState &softmax,
                                              const float (&speculative)[LANE_ROWS][SIZE]) {
#pragma unroll
    for (int i = 0; i < LANE_ROWS; i++) {
        for (int j = 0; j < SPECULATIVE_COLUMNS; j++) {
            S_rmem[i][j] = speculative[i][j];
            softmax.sum[i] += speculative[i][j];
        }
    }
    exponentiate<SPECULATIVE_COLUMNS, TO, PRECOMPUTED_SHIFT>(S_rmem, scale, softmax);
}
