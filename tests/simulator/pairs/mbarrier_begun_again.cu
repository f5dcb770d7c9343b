// All threads have seen the phase complete before thread 0 initializes the mbarrier again.
#include <cstdint>
#include <cstdio>

__device__ uint32_t address_of(const void *shared) {
    return (uint32_t)__cvta_generic_to_shared(shared);
}

__device__ void arrive(uint64_t *barrier) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(address_of(barrier)) : "memory");
}

__device__ void wait_for_phase_0(uint64_t *barrier) {
    uint32_t complete = 0;
    while (!complete)
        asm volatile(
            "{\n .reg .pred p;\n mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0;\n selp.u32 %0, 1, 0, p;\n}"
            : "=r"(complete)
            : "r"(address_of(barrier))
            : "memory");
}

__global__ void rotate(int *sums, int rounds) {
    __shared__ uint64_t barrier;
    __shared__ int slots[128];
    int sum = 0;
    for (int round = 0; round < rounds; round++) {
        if (threadIdx.x == 0)
            asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(address_of(&barrier)), "r"(blockDim.x)
                         : "memory");
        __syncthreads();
        slots[threadIdx.x] = round + threadIdx.x;
        arrive(&barrier);
        wait_for_phase_0(&barrier);
        sum += slots[(threadIdx.x + 1) % blockDim.x];
        __syncthreads();
        if (threadIdx.x == 0)
            asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(address_of(&barrier)) : "memory");
    }
    sums[threadIdx.x] = sum;
}

int main() {
    const int threads = 128, rounds = 4;
    int *sums, host[threads];
    cudaMalloc(&sums, sizeof host);
    rotate<<<1, threads>>>(sums, rounds);
    const cudaError_t error = cudaMemcpy(host, sums, sizeof host, cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (int i = 0; i < threads; i++)
        wrong += host[i] != 6 + rounds * ((i + 1) % threads);
    printf("%s, %d wrong\n", cudaGetErrorName(error), wrong);
    return error != cudaSuccess || wrong != 0;
}
