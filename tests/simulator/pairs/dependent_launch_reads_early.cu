// A dependent kernel loads the outputs of its primary kernel after cudaGridDependencySynchronize().
#include <cstdio>

__global__ void primary(float *values, int count) {
    cudaTriggerProgrammaticLaunchCompletion();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        values[i] = i;
}

// Only the weight may be loaded early: no kernel writes it.
__global__ void secondary(const float *values, const float *weight, float *weighted, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float factor = *weight;
    cudaGridDependencySynchronize();
    const float value = i < count ? values[i] : 0;
    if (i < count)
        weighted[i] = factor * value;
}

int main() {
    const int count = 1024;
    float *values, *weight, *weighted, host[count];
    const float two = 2;
    cudaStream_t stream;
    cudaMalloc(&values, sizeof host);
    cudaMalloc(&weighted, sizeof host);
    cudaMalloc(&weight, sizeof two);
    cudaMemset(values, 0, sizeof host);
    cudaMemcpy(weight, &two, sizeof two, cudaMemcpyHostToDevice);
    cudaStreamCreate(&stream);

    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(4);
    config.blockDim = dim3(256);
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = 1;
    primary<<<4, 256, 0, stream>>>(values, count);
    cudaLaunchKernelEx(&config, secondary, (const float *)values, (const float *)weight, weighted, count);

    const cudaError_t error = cudaStreamSynchronize(stream);
    cudaMemcpy(host, weighted, sizeof host, cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (int i = 0; i < count; i++)
        wrong += host[i] != 2.0f * i;
    printf("%s, %d wrong\n", cudaGetErrorName(error), wrong);
    return error != cudaSuccess || wrong != 0;
}
