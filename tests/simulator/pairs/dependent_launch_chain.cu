// In a chain of three programmatic dependent launches the second kernel waits for the first, so that the wait of
// the third kernel covers both.
#include <cstdio>

__global__ void produce(int *values, int count) {
    cudaTriggerProgrammaticLaunchCompletion();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        values[i] = i + 1;
}

__global__ void clear(int *counters, int count) {
    cudaGridDependencySynchronize();
    cudaTriggerProgrammaticLaunchCompletion();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        counters[i] = 0;
}

__global__ void count_values(const int *values, int *counters, int count) {
    cudaGridDependencySynchronize();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        atomicAdd(&counters[values[i] % 16], 1);
}

int main() {
    const int count = 1024;
    int *values, *counters, host[16];
    cudaStream_t stream;
    cudaMalloc(&values, count * sizeof *values);
    cudaMalloc(&counters, sizeof host);
    cudaMemset(values, 0, count * sizeof *values);
    cudaStreamCreate(&stream);
    cudaDeviceSynchronize();

    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(4);
    config.blockDim = dim3(256);
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = 1;
    produce<<<4, 256, 0, stream>>>(values, count);
    cudaLaunchKernelEx(&config, clear, counters, 16);
    cudaLaunchKernelEx(&config, count_values, (const int *)values, counters, count);

    const cudaError_t error = cudaStreamSynchronize(stream);
    cudaMemcpy(host, counters, sizeof host, cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (int i = 0; i < 16; i++)
        wrong += host[i] != count / 16;
    printf("%s, %d wrong\n", cudaGetErrorName(error), wrong);
    return error != cudaSuccess || wrong != 0;
}
