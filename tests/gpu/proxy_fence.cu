// Where must fence.proxy.async stand between ordinary stores to shared memory and a bulk copy that reads them? By the
// PTX ISA, anywhere on the way from the stores to the copy: in each thread that stores, before the barrier, or in the
// thread that issues the copy, after the barrier. This program counts how often the copy reads an older value with
// the fence in either place and without one. nvcc -arch=sm_90a -o proxy_fence tests/gpu/proxy_fence.cu && ./proxy_fence
// It exits with 1 if one of the two places is not enough. That "none" shows no old value proves nothing.
#include <cstdint>
#include <cstdio>
#include <cuda_runtime.h>

enum Place { NONE, IN_WRITERS, IN_ISSUER, PLACES };
constexpr int THREADS = 256, WORDS = 8 * THREADS, ROUNDS = 200;

__device__ void fence() {
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// In each round the threads store another value, and one thread copies the tile out. old: words that held something
// else.
__global__ void copy_out(uint32_t *out, unsigned long long *old, int place) {
    extern __shared__ __align__(128) uint32_t tile[];
    uint32_t *to = out + (size_t)blockIdx.x * WORDS;
    unsigned long long wrong = 0;
    for (uint32_t round = 1; round <= ROUNDS; round++) {
        const uint32_t value = round * 2654435761u ^ blockIdx.x;
        for (int i = threadIdx.x; i < WORDS; i += THREADS)
            tile[i] = value;
        if (place == IN_WRITERS)
            fence();
        __syncthreads();
        if (threadIdx.x == 0) {
            if (place == IN_ISSUER)
                fence();
            asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to),
                         "r"((uint32_t)__cvta_generic_to_shared(tile)), "r"((uint32_t)(WORDS * 4))
                         : "memory");
            asm volatile("cp.async.bulk.commit_group;" ::: "memory");
            asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
            asm volatile("fence.proxy.async.global;" ::: "memory");
        }
        __syncthreads();
        for (int i = threadIdx.x; i < WORDS; i += THREADS)
            wrong += __ldcg(to + i) != value;
        __syncthreads();
    }
    atomicAdd(old, wrong);
}

int main() {
    static const char *const name[PLACES] = {"none", "in each thread that stores", "in the thread that issues"};
    const int blocks = 1056;
    uint32_t *out;
    unsigned long long *old, count[PLACES] = {};
    if (cudaMalloc(&out, (size_t)blocks * WORDS * 4) || cudaMallocManaged(&old, sizeof *old))
        return 2;
    for (int place = 0; place < PLACES; place++) {
        for (int launch = 0; launch < 20; launch++) {
            *old = 0;
            copy_out<<<blocks, THREADS, WORDS * 4>>>(out, old, place);
            if (cudaDeviceSynchronize() != cudaSuccess) {
                printf("%s\n", cudaGetErrorString(cudaGetLastError()));
                return 2;
            }
            count[place] += *old;
        }
        printf("fence %-28s old words: %llu of %llu\n", name[place], count[place], 20ull * ROUNDS * blocks * WORDS);
    }
    return count[IN_WRITERS] || count[IN_ISSUER];
}
