// A sum in three ways: a tree in shared memory, warp shuffles, and a last block that adds up the partial sums of all
// blocks.
#include "program.cuh"

__global__ void sum_by_tree(const float *x, float *sum, int n) {
    extern __shared__ float partial[];
    const int stride = gridDim.x * blockDim.x;
    float mine = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride)
        mine += x[i];
    partial[threadIdx.x] = mine;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half)
            partial[threadIdx.x] += partial[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        atomicAdd(sum, partial[0]);
}

__device__ float sum_of_warp(float x) {
    for (int offset = 16; offset > 0; offset /= 2)
        x += __shfl_down_sync(0xffffffff, x, offset);
    return x;
}

__device__ float sum_of_block(float x) {
    __shared__ float of_warp[32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    x = sum_of_warp(x);
    if (lane == 0)
        of_warp[warp] = x;
    __syncthreads();
    return sum_of_warp(lane < blockDim.x / 32 ? of_warp[lane] : 0);
}

__device__ unsigned finished;

__global__ void sum_by_last_block(const float4 *x, float *partial, float *sum, int n4) {
    __shared__ bool last;
    float mine = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n4; i += gridDim.x * blockDim.x) {
        const float4 four = x[i];
        mine += four.x + four.y + four.z + four.w;
    }
    mine = sum_of_block(mine);
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = mine;
        __threadfence();
        last = atomicInc(&finished, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last)
        return;
    mine = 0;
    for (int i = threadIdx.x; i < gridDim.x; i += blockDim.x)
        mine += ((volatile float *)partial)[i];
    mine = sum_of_block(mine);
    if (threadIdx.x == 0)
        *sum = mine;
}

int main() {
    const int n = 40000, blocks = 24;
    const std::vector<float> x = whole_numbers(n, 100);
    double expected = 0;
    for (float one : x)
        expected += one;
    const float *x_device = to_device(x);
    float *sum = zeros<float>(1), *partial = zeros<float>(blocks);
    sum_by_tree<<<blocks, 128, 128 * sizeof(float)>>>(x_device, sum, n);
    EXPECT(to_host(sum, 1)[0] == expected);
    for (int again = 0; again < 2; again++) {
        OK(cudaMemset(sum, 0, sizeof *sum));
        sum_by_last_block<<<blocks, 256>>>((const float4 *)x_device, partial, sum, n / 4);
        EXPECT(to_host(sum, 1)[0] == expected);
    }
    return 0;
}
