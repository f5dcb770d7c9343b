// A second file with device code, whose symbols have the same names as in test_runtime_kernels.cu; the tests also build
// it as a shared library that a program loads and unloads.
#include "test_runtime_other.h"

#include <cuda_runtime.h>

static __device__ int answer = 43;

static __global__ void read_answer(int *to) {
    *to = answer;
}

extern "C" int answer_of_the_other_file() {
    int value = -1, *device;
    if (cudaMalloc(&device, sizeof value) != cudaSuccess) {
        return -1;
    }
    read_answer<<<1, 1>>>(device);
    cudaError_t error = cudaMemcpy(&value, device, sizeof value, cudaMemcpyDeviceToHost);
    cudaFree(device);
    return error == cudaSuccess ? value : -1;
}
