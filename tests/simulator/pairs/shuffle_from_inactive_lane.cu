// All lanes execute the shuffle; only the even lanes use its result.
#include <cstdio>

__global__ void differences_of_pairs(const int *values, int *differences) {
    const int lane = threadIdx.x, mine = values[lane];
    const int next = __shfl_down_sync(0xffffffff, mine, 1);
    if (lane % 2 == 0)
        differences[lane / 2] = next - mine;
}

int main() {
    int *values, *differences, host[32];
    for (int i = 0; i < 32; i++)
        host[i] = i * i;
    cudaMalloc(&values, sizeof host);
    cudaMalloc(&differences, sizeof host / 2);
    cudaMemcpy(values, host, sizeof host, cudaMemcpyHostToDevice);
    differences_of_pairs<<<1, 32>>>(values, differences);
    const cudaError_t error = cudaMemcpy(host, differences, sizeof host / 2, cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (int i = 0; i < 16; i++)
        wrong += host[i] != 4 * i + 1;
    printf("%s, %d wrong\n", cudaGetErrorName(error), wrong);
    return error != cudaSuccess || wrong != 0;
}
