// The host waits for the event that follows the kernel before it reads managed memory.
#include <cstdio>

__global__ void square(int *values, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        values[i] *= values[i];
}

int main() {
    const int count = 1000;
    int *values;
    cudaStream_t stream;
    cudaEvent_t squared;
    cudaMallocManaged(&values, count * sizeof *values);
    cudaStreamCreate(&stream);
    cudaEventCreateWithFlags(&squared, cudaEventDisableTiming);
    for (int i = 0; i < count; i++)
        values[i] = i % 10;

    square<<<4, 256, 0, stream>>>(values, count);
    cudaEventRecord(squared, stream);
    cudaEventSynchronize(squared);
    int sum = 0;
    for (int i = 0; i < count; i++)
        sum += values[i];

    const cudaError_t error = cudaStreamSynchronize(stream);
    printf("%s, sum %d, expected 28500\n", cudaGetErrorName(error), sum);
    cudaFree(values);
    return error != cudaSuccess || sum != 28500;
}
