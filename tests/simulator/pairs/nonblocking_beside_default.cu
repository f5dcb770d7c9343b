// A kernel of a blocking stream reads what a kernel of the default stream writes; such a stream waits for the
// default stream.
#include <cstdio>

__global__ void fill(float *values, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        values[i] = i;
}

__global__ void increment(float *values, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        values[i] += 1;
}

int main() {
    const int count = 2048;
    float *values, host[count];
    cudaStream_t stream;
    cudaMalloc(&values, sizeof host);
    cudaStreamCreate(&stream);

    fill<<<8, 256>>>(values, count);
    increment<<<8, 256, 0, stream>>>(values, count);
    cudaStreamSynchronize(stream);

    const cudaError_t error = cudaMemcpy(host, values, sizeof host, cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (int i = 0; i < count; i++)
        wrong += host[i] != i + 1;
    printf("%s, %d wrong\n", cudaGetErrorName(error), wrong);
    return error != cudaSuccess || wrong != 0;
}
