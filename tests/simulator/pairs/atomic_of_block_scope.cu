// All blocks count in one histogram in global memory by additions that are atomic on the device.
#include <cstdio>

__global__ void histogram(const unsigned char *letters, int count, int *bins) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        atomicAdd(&bins[letters[i] % 16], 1);
}

int main() {
    const int count = 8192;
    unsigned char letters[count], *device_letters;
    int *bins, host[16];
    for (int i = 0; i < count; i++)
        letters[i] = i * 7;
    cudaMalloc(&device_letters, count);
    cudaMalloc(&bins, sizeof host);
    cudaMemcpy(device_letters, letters, count, cudaMemcpyHostToDevice);
    cudaMemset(bins, 0, sizeof host);
    histogram<<<8, 128>>>(device_letters, count, bins);
    const cudaError_t error = cudaMemcpy(host, bins, sizeof host, cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (int i = 0; i < 16; i++)
        wrong += host[i] != count / 16;
    printf("%s, %d wrong\n", cudaGetErrorName(error), wrong);
    return error != cudaSuccess || wrong != 0;
}
