// Sums and maxima over the lanes of a warp and the threads of a block.
#pragma once

constexpr int WARP_SIZE = 32;
constexpr unsigned ALL_LANES = 0xffffffffu;

// The largest value of the warp, in every lane. fmaxf drops a NaN; the exponential that follows brings it back.
__device__ inline float warp_max(float value) {
    for (int distance = WARP_SIZE / 2; distance > 0; distance /= 2)
        value = fmaxf(value, __shfl_xor_sync(ALL_LANES, value, distance));
    return value;
}

__device__ inline float warp_sum(float value) {
    for (int distance = WARP_SIZE / 2; distance > 0; distance /= 2)
        value += __shfl_xor_sync(ALL_LANES, value, distance);
    return value;
}

// The same over a block of any whole number of warps, in every thread. partial_smem has one float a warp, at most 32;
// it may be used again after the next __syncthreads() of the caller or the next call with another array.
template <typename Reduce>
__device__ inline float block_reduce(float value, float identity, float *partial_smem /* [warps] */, Reduce reduce) {
    const int lane = threadIdx.x % WARP_SIZE, warp = threadIdx.x / WARP_SIZE, warps = blockDim.x / WARP_SIZE;
    value = reduce(value);
    if (lane == 0)
        partial_smem[warp] = value;
    __syncthreads();
    return reduce(lane < warps ? partial_smem[lane] : identity);
}

__device__ inline float block_max(float value, float *partial_smem /* [warps] */) {
    return block_reduce(value, -INFINITY, partial_smem, warp_max);
}

__device__ inline float block_sum(float value, float *partial_smem /* [warps] */) {
    return block_reduce(value, 0.0f, partial_smem, warp_sum);
}
