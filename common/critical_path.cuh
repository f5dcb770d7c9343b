// The softmax of lesson 20: what keeps the chain from the scores to the next issue of wgmmas short.
#pragma once

#include "hopper.cuh"
#include "online_softmax.cuh"
#include "wgmma.cuh"

// What a kernel does before, and what after it has to wait.
template <int D, int KEYS, int CONSUMER_WARPGROUPS>
struct CriticalPathTraits {
    // The scores of EARLY_KEYS keys become weights before the wait for P V, the others after it (0: all). It pays at
    // D == 128, whose P V takes twice as long as at D == 64. SPECULATIVE_COLUMNS of them, per lane, do before the vote.
    static constexpr int EARLY_KEYS = D == 128 ? KEYS / 4 : 0, EARLY_COLUMNS = EARLY_KEYS / LANES_PER_ROW;
    static constexpr int SPECULATIVE_COLUMNS = EARLY_COLUMNS / 2;
    // Whether a row's shift stays in a register. At D == 128 it is computed again where it is needed: ptxas then places
    // the exponentials better.
    static constexpr bool KEEPS_SHIFT = D != 128;
    // Of four warpgroups, one is always ready to issue without ping-pong; and they lack registers for a pending P V.
    static constexpr bool PINGPONG = CONSUMER_WARPGROUPS < 4;
};

template <bool CONDITION>
__device__ inline void bar_sync_if(int barrier, int threads) {
    if (CONDITION)
        bar_sync(barrier, threads);
}
template <bool CONDITION>
__device__ inline void bar_arrive_if(int barrier, int threads) {
    if (CONDITION)
        bar_arrive(barrier, threads);
}

// The stage of Q from which TMA is storing the output of a work tile; -1: none. The stage is released only when TMA has
// read it, some time later, so that no warpgroup waits for the store.
struct PendingStore {
    int q_stage = -1;

    template <class T>
    __device__ void release(T &smem) {
        if (q_stage >= 0 && threadIdx.x % WARPGROUP_SIZE == 0) {
            cp_async_bulk_wait_group_read();
            mbarrier_arrive(&smem.Q_empty[q_stage]);
        }
        q_stage = -1;
    }
};

// max: the largest score at the last rescaling plus headroom. shift: a weight is 2^(scaled score - shift). limit: the
// rescale threshold, see score_limit().
struct RowStateWithHeadroom : RowState<LANE_ROWS> {
    float shift[LANE_ROWS] = {};
    int limit[LANE_ROWS] = {};
};

// bf16 weights and fp32 sums keep their full relative precision from 2^-48 to 2^48. So a row's maximum may be that far
// above its largest score (headroom), and a score that far above the maximum (rescale threshold). A score that raises
// the maximum gets the weight 2^-48; an old weight, up to 2^48, still matters if it becomes 2^-24 times that.
constexpr float WEIGHT_EXPONENT_RANGE = 48.0f;
static_assert(2 * WEIGHT_EXPONENT_RANGE + 24 <= 126,
              "a rescale factor below 2^-126 is flushed to 0, and the sum so far would be lost");

// The rescale threshold as a score, in integer form for exceeds_threshold(); INT32_MIN: every score exceeds it. fp16
// weights stay below 2^14, since fp16 overflows at 2^16.
template <class E>
__device__ inline int score_limit(float row_max, float scale) {
    const float limit = row_max + (std::is_same_v<E, __half> ? 14.0f : WEIGHT_EXPONENT_RANGE) / scale;
    return limit >= 0.0f ? __float_as_int(limit) : INT32_MIN;
}

// Warp vote: whether any score of the warp exceeds its row's rescale threshold. Scores are compared as integers, since
// non-negative floats have the order of their bits, and VIMNMX3 takes the maximum of three integers. Two dependency
// chains per row halve the latency.
template <int COLUMNS>
__device__ inline bool exceeds_threshold(const float (&S_rmem)[LANE_ROWS][COLUMNS],
                                         const RowStateWithHeadroom &softmax) {
    bool exceeds = false;
#pragma unroll
    for (int i = 0; i < LANE_ROWS; i++) {
        int chain[2] = {__float_as_int(S_rmem[i][0]), __float_as_int(S_rmem[i][1])};
#pragma unroll
        for (int j = 2; j < COLUMNS; j += 2)
            chain[j / 2 % 2] =
                __vimax3_s32(chain[j / 2 % 2], __float_as_int(S_rmem[i][j]), __float_as_int(S_rmem[i][j + 1]));
        exceeds |= max(chain[0], chain[1]) > softmax.limit[i];
    }
    return __any_sync(ALL_LANES, exceeds);
}

// Computes the weights of a row's first columns with the maximum so far, while the warp vote is pending. The scores are
// kept: if the vote raises the maximum, the weights are computed again.
template <int SPECULATIVE_COLUMNS, int SIZE, int COLUMNS>
__device__ inline void exponentiate_speculatively(const float (&S_rmem)[LANE_ROWS][COLUMNS], float scale,
                                                  const RowStateWithHeadroom &softmax,
                                                  float (&speculative)[LANE_ROWS][SIZE]) {
#pragma unroll
    for (int i = 0; i < LANE_ROWS; i++)
        for (int j = 0; j < SPECULATIVE_COLUMNS; j++)
            speculative[i][j] = ex2(scale * S_rmem[i][j] - shift_of(softmax.max[i], scale));
}

// Sets the maxima to the largest scores so far plus the largest headroom that E allows, and everything that depends on
// them. The caller multiplies the output accumulator by rescale[].
template <class E, int SPECULATIVE_COLUMNS, int SIZE, int COLUMNS>
__device__ inline void update_row_max_with_headroom(const float (&S_rmem)[LANE_ROWS][COLUMNS], float scale,
                                                    RowStateWithHeadroom &softmax, float (&rescale)[LANE_ROWS],
                                                    float (&speculative)[LANE_ROWS][SIZE]) {
#pragma unroll
    for (int i = 0; i < LANE_ROWS; i++) {
        float lane_max = S_rmem[i][0];
        for (int j = 1; j < COLUMNS; j++)
            lane_max = fmaxf(lane_max, S_rmem[i][j]);
        const float headroom = std::is_same_v<E, __half> ? 0.0f : WEIGHT_EXPONENT_RANGE / scale;
        const float new_max = fmaxf(softmax.max[i], lanes_max<LANES_PER_ROW>(lane_max) + headroom);
        rescale[i] = new_max == -INFINITY ? 0.0f : ex2(scale * (softmax.max[i] - new_max));
        softmax.max[i] = new_max;
        softmax.sum[i] *= rescale[i];
        softmax.shift[i] = shift_of(new_max, scale);
        softmax.limit[i] = score_limit<E>(new_max, scale);
    }
    exponentiate_speculatively<SPECULATIVE_COLUMNS>(S_rmem, scale, softmax, speculative);
}

// Replaces the scores of columns FROM .. TO - 1 by their weights and adds the weights to the row sums; the weights of
// the first SPECULATIVE_COLUMNS are already computed.
template <int FROM, int TO, int SPECULATIVE_COLUMNS, bool KEEPS_SHIFT, int SIZE, int COLUMNS>
__device__ inline void exponentiate(float (&S_rmem)[LANE_ROWS][COLUMNS], float scale, RowStateWithHeadroom &softmax,
                                    const float (&speculative)[LANE_ROWS][SIZE]) {
#pragma unroll
    for (int i = 0; i < LANE_ROWS; i++) {
        const float shift = KEEPS_SHIFT ? softmax.shift[i] : shift_of(softmax.max[i], scale);
#pragma unroll
        for (int j = FROM; j < TO; j++) {
            S_rmem[i][j] = j < SPECULATIVE_COLUMNS ? speculative[i][j] : ex2(scale * S_rmem[i][j] - shift);
            softmax.sum[i] += S_rmem[i][j];
        }
    }
}

// Keeps ptxas from hoisting wgmma_wait_group above the early exponentials: by a fence, and if there are early ones by
// the branch of a wait for an mbarrier whose phase is complete.
template <bool EARLY, int COLUMNS>
__device__ inline void keep_above_wait(float (&S_rmem)[LANE_ROWS][COLUMNS], uint64_t *complete, uint32_t phase) {
    warpgroup_fence_operand(S_rmem);
    if (EARLY)
        mbarrier_wait(complete, phase);
}
