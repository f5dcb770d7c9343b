// All threads of a warpgroup have read a stage before one of them gives it back to the producer.
#include <cstdint>
#include <cstdio>

constexpr int consumers = 128, tile = 128, tiles = 6;

__device__ uint32_t address_of(const void *shared) {
    return (uint32_t)__cvta_generic_to_shared(shared);
}

__device__ void init(uint64_t *barrier, int count) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(address_of(barrier)), "r"(count) : "memory");
}

__device__ void wait(uint64_t *barrier, int parity) {
    uint32_t complete = 0;
    while (!complete)
        asm volatile(
            "{\n .reg .pred p;\n mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n selp.u32 %0, 1, 0, p;\n}"
            : "=r"(complete)
            : "r"(address_of(barrier)), "r"(parity)
            : "memory");
}

__global__ void add_tiles(const int *values, int *sums) {
    __shared__ alignas(128) int stage[tile];
    __shared__ uint64_t full, empty;
    if (threadIdx.x == 0) {
        init(&full, 1);
        init(&empty, 1);
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    }
    __syncthreads();

    if (threadIdx.x == consumers) {
        for (int t = 0; t < tiles; t++) {
            wait(&empty, (t & 1) ^ 1);
            asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address_of(&full)),
                         "r"((int)sizeof stage)
                         : "memory");
            asm volatile(
                "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                    address_of(stage)),
                "l"(values + t * tile), "r"((int)sizeof stage), "r"(address_of(&full))
                : "memory");
        }
    } else if (threadIdx.x < consumers) {
        int sum = 0;
        for (int t = 0; t < tiles; t++) {
            wait(&full, t & 1);
            sum += stage[threadIdx.x];
            asm volatile("bar.sync 1, 128;" ::: "memory");
            if (threadIdx.x == 0)
                asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(address_of(&empty)) : "memory");
        }
        sums[threadIdx.x] = sum;
    }
}

int main() {
    int host[tiles * tile], *values, *sums;
    for (int i = 0; i < tiles * tile; i++)
        host[i] = i;
    cudaMalloc(&values, sizeof host);
    cudaMalloc(&sums, tile * sizeof *sums);
    cudaMemcpy(values, host, sizeof host, cudaMemcpyHostToDevice);
    add_tiles<<<1, consumers + 32>>>(values, sums);
    const cudaError_t error = cudaMemcpy(host, sums, tile * sizeof *sums, cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (int i = 0; i < tile; i++)
        wrong += host[i] != 15 * tile + tiles * i;
    printf("%s, %d wrong\n", cudaGetErrorName(error), wrong);
    return error != cudaSuccess || wrong != 0;
}
