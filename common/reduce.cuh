// Sums and maxima over the lanes of a warp and the threads of a block.
#pragma once

constexpr int WARP_SIZE = 32;
constexpr unsigned ALL_LANES = 0xffffffffu;

// The largest value of LANES neighbouring lanes, in each of them. LANES is a power of two. fmaxf drops a NaN; the
// exponential that follows brings it back.
template <int LANES>
__device__ inline float lanes_max(float value) {
    for (int distance = 1; distance < LANES; distance *= 2)
        value = fmaxf(value, __shfl_xor_sync(ALL_LANES, value, distance));
    return value;
}

template <int LANES>
__device__ inline float lanes_sum(float value) {
    for (int distance = 1; distance < LANES; distance *= 2)
        value += __shfl_xor_sync(ALL_LANES, value, distance);
    return value;
}

// The same over a block of any whole number of warps, in every thread. partial_smem has one float a warp, at most 32;
// it may be used again after the next __syncthreads() of the caller or the next call with another array.
__device__ inline float block_max(float value, float *partial_smem /* [warps] */) {
    const int lane = threadIdx.x % WARP_SIZE, warp = threadIdx.x / WARP_SIZE, warps = blockDim.x / WARP_SIZE;
    value = lanes_max<WARP_SIZE>(value);
    if (lane == 0)
        partial_smem[warp] = value;
    __syncthreads();
    return lanes_max<WARP_SIZE>(lane < warps ? partial_smem[lane] : -INFINITY);
}

__device__ inline float block_sum(float value, float *partial_smem /* [warps] */) {
    const int lane = threadIdx.x % WARP_SIZE, warp = threadIdx.x / WARP_SIZE, warps = blockDim.x / WARP_SIZE;
    value = lanes_sum<WARP_SIZE>(value);
    if (lane == 0)
        partial_smem[warp] = value;
    __syncthreads();
    return lanes_sum<WARP_SIZE>(lane < warps ? partial_smem[lane] : 0.0f);
}
