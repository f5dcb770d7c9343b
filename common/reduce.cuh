// Reductions, sum and maximum, over the lanes of a warp and the threads of a block.
#pragma once

constexpr int WARP_SIZE = 32;
constexpr unsigned ALL_LANES = 0xffffffffu;

// The maximum over LANES adjacent lanes, in each of them (butterfly reduction). LANES is a power of two. fmaxf drops a
// NaN, but the exponential of the NaN score restores it.
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

// The same over a block of whole warps, in every thread. partial_smem has one float per warp, at most 32. It may be
// reused after the caller's next __syncthreads(), or after the next call with another array.
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
