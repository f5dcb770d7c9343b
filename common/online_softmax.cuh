// Online softmax, one tile of scores after the other in the accumulator layout. scale: softmax_scale log2(e), since
// weights are powers of 2.
#pragma once

#include "accumulator_layout.cuh"
#include "ex2.cuh"
#include "mma.cuh"

constexpr float LOG2_E = 1.44269504f;
constexpr float RESCALE_THRESHOLD = 8.0f; // in log2 units: rescale only if a weight would exceed 2^8

// The softmax state of a lane's rows. max: the score whose weight is 1, the largest score at the last rescaling. sum:
// this lane's partial sum of weights.
template <int ROWS>
struct RowState {
    float max[ROWS], sum[ROWS] = {};

    __device__ RowState() {
        for (int i = 0; i < ROWS; i++)
            max[i] = -INFINITY;
    }
};

__device__ inline float shift_of(float row_max, float scale) {
    return row_max == -INFINITY ? 0.0f : scale * row_max; // -inf - -inf would be NaN
}

// Conditional rescaling: if the weight of some score of the warp would exceed 2^RESCALE_THRESHOLD, sets the maxima to
// the largest scores so far and rescales the sums. Returns whether it did; the caller then multiplies the output
// accumulator by rescale[]. The warp vote makes the branch uniform.
template <int ROWS, int COLUMNS>
__device__ inline bool update_row_max_lazily(const float (&S_rmem)[ROWS][COLUMNS], float scale, RowState<ROWS> &softmax,
                                             float (&rescale)[ROWS]) {
    float lane_max[ROWS]; // over the scores of this lane
    bool must_rescale = false;
    for (int i = 0; i < ROWS; i++) {
        lane_max[i] = S_rmem[i][0];
        for (int j = 1; j < COLUMNS; j++)
            lane_max[i] = fmaxf(lane_max[i], S_rmem[i][j]);
        must_rescale |= scale * (lane_max[i] - softmax.max[i]) > RESCALE_THRESHOLD;
    }
    if (!__any_sync(ALL_LANES, must_rescale))
        return false;
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        const float new_max = fmaxf(softmax.max[i], lanes_max<LANES_PER_ROW>(lane_max[i]));
        rescale[i] = new_max == -INFINITY ? 0.0f : ex2(scale * (softmax.max[i] - new_max));
        softmax.max[i] = new_max;
        softmax.sum[i] *= rescale[i];
    }
    return true;
}

// Replaces the scores of a lane's columns FROM .. TO - 1 by their weights and adds the weights to the row sums.
template <int FROM, int TO, int ROWS, int COLUMNS>
__device__ inline void exponentiate(float (&S_rmem)[ROWS][COLUMNS], float scale, RowState<ROWS> &softmax) {
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        const float shift = shift_of(softmax.max[i], scale);
#pragma unroll
        for (int j = FROM; j < TO; j++) {
            S_rmem[i][j] = ex2(scale * S_rmem[i][j] - shift);
            softmax.sum[i] += S_rmem[i][j];
        }
    }
}
template <int ROWS, int COLUMNS>
__device__ inline void exponentiate(float (&S_rmem)[ROWS][COLUMNS], float scale, RowState<ROWS> &softmax) {
    exponentiate<0, COLUMNS>(S_rmem, scale, softmax);
}

// Rounds 16 columns of rows i and i + 1 to E and packs them as four 8 x 8 matrices: the layout of an A operand and of
// stmatrix.
template <class E, int ROWS, int COLUMNS>
__device__ inline void round_x4(uint32_t (&to)[4], const float (&rmem)[ROWS][COLUMNS], int column, int i = 0) {
    for (int n = 0; n < 4; n++)
        to[n] = cvt_rn_x2<E>(rmem[i + n % 2][column / 4 + n / 2 * 2], rmem[i + n % 2][column / 4 + n / 2 * 2 + 1]);
}
