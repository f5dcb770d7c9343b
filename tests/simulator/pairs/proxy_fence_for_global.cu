// Each thread has a proxy fence between its ordinary store to global memory and the bulk copy that loads what is
// stored.
#include <cstdint>
#include <cstdio>

constexpr int count = 256;

__device__ uint32_t address_of(const void *shared) {
    return (uint32_t)__cvta_generic_to_shared(shared);
}

__global__ void reverse(int *scratch, int *reversed) {
    __shared__ alignas(128) int tile[count];
    __shared__ uint64_t barrier;
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(address_of(&barrier)) : "memory");
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    }
    scratch[threadIdx.x] = 2 * threadIdx.x;
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address_of(&barrier)),
                     "r"((int)sizeof tile)
                     : "memory");
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                         address_of(tile)),
                     "l"(scratch), "r"((int)sizeof tile), "r"(address_of(&barrier))
                     : "memory");
    }
    uint32_t complete = 0;
    while (!complete)
        asm volatile(
            "{\n .reg .pred p;\n mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0;\n selp.u32 %0, 1, 0, p;\n}"
            : "=r"(complete)
            : "r"(address_of(&barrier))
            : "memory");
    reversed[threadIdx.x] = tile[count - 1 - threadIdx.x];
}

int main() {
    int *scratch, *reversed, host[count];
    cudaMalloc(&scratch, sizeof host);
    cudaMalloc(&reversed, sizeof host);
    cudaMemset(scratch, 0, sizeof host);
    reverse<<<1, count>>>(scratch, reversed);
    const cudaError_t error = cudaMemcpy(host, reversed, sizeof host, cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (int i = 0; i < count; i++)
        wrong += host[i] != 2 * (count - 1 - i);
    printf("%s, %d wrong\n", cudaGetErrorName(error), wrong);
    return error != cudaSuccess || wrong != 0;
}
