// Before a bulk store each thread makes its writes to shared memory visible to the async proxy.
#include <cstdint>
#include <cstdio>

__global__ void store_tile(int *values) {
    __shared__ alignas(128) int tile[512];
    for (int i = threadIdx.x; i < 512; i += blockDim.x)
        tile[i] = 5 * i;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(values),
                     "r"((uint32_t)__cvta_generic_to_shared(tile)), "r"((int)sizeof tile)
                     : "memory");
        asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    }
}

int main() {
    int *values, host[512];
    cudaMalloc(&values, sizeof host);
    store_tile<<<1, 128>>>(values);
    const cudaError_t error = cudaMemcpy(host, values, sizeof host, cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (int i = 0; i < 512; i++)
        wrong += host[i] != 5 * i;
    printf("%s, %d wrong\n", cudaGetErrorName(error), wrong);
    return error != cudaSuccess || wrong != 0;
}
