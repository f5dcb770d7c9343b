// Launch configuration from the occupancy API, kernel attributes, more than 48 KiB of shared memory, and a launch by
// name.
#include "program.cuh"

__global__ void fill(int *x, int n, int value) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        x[i] = value + i;
}

__global__ void reverse(int *x, int n) {
    extern __shared__ int kept[];
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        kept[i] = x[i];
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        x[i] = kept[n - 1 - i];
}

__global__ void __launch_bounds__(128, 4) bounded(int *x) {
    x[threadIdx.x]++;
}

int main() {
    int devices, device, blocks, threads, fit;
    cudaDeviceProp properties;
    OK(cudaGetDeviceCount(&devices));
    OK(cudaGetDevice(&device));
    OK(cudaGetDeviceProperties(&properties, device));
    EXPECT(devices >= 1 && properties.warpSize == 32 && properties.multiProcessorCount > 0 && properties.name[0]);
    OK(cudaOccupancyMaxPotentialBlockSize(&blocks, &threads, fill, 0, 0));
    EXPECT(threads % 32 == 0 && threads <= properties.maxThreadsPerBlock);
    const int n = 15000; // 60000 bytes
    int *x = zeros<int>(n);
    fill<<<blocks, threads>>>(x, n, 5);
    OK(cudaFuncSetAttribute(reverse, cudaFuncAttributeMaxDynamicSharedMemorySize, n * (int)sizeof(int)));
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, reverse, 256, n * sizeof(int)));
    EXPECT(fit >= 1 && fit < 5);
    int length = n;
    void *arguments[] = {&x, &length};
    OK(cudaLaunchKernel((const void *)reverse, dim3(1), dim3(256), arguments, n * sizeof(int), nullptr));
    const std::vector<int> result = to_host(x, n);
    for (int i = 0; i < n; i++)
        EXPECT(result[i] == 5 + n - 1 - i);
    cudaFuncAttributes attributes;
    OK(cudaFuncGetAttributes(&attributes, bounded));
    EXPECT(attributes.maxThreadsPerBlock == 128);
    bounded<<<1, 256>>>(x);
    EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
    size_t free_bytes, all_bytes;
    OK(cudaMemGetInfo(&free_bytes, &all_bytes));
    EXPECT(free_bytes < all_bytes && all_bytes <= properties.totalGlobalMem);
    return 0;
}
