// Mistakes of one class whose causes differ. Argument: the case.
#include "../../checked.cuh"

#include <cstdint>
#include <cstring>

__global__ void store(float *p, int64_t i) {
    p[i + threadIdx.x] = 1;
}

__global__ void store_row(float *p, int row, int stride) {
    const int64_t first = row * stride; // the product has 32 bits
    p[first + threadIdx.x] = 1;
}

__global__ void shuffle(int *p, unsigned mask, int from) {
    if (threadIdx.x < 16)
        p[threadIdx.x] = __shfl_sync(mask, (int)threadIdx.x, from);
    else
        p[threadIdx.x] = __shfl_sync(0xffff0000, (int)threadIdx.x, 16);
}

__global__ void ring(int *out, int arrivals, int turns) {
    __shared__ alignas(8) uint64_t full[2];
    uint32_t second = (uint32_t)__cvta_generic_to_shared(&full[1]), done = 0;
    if (threadIdx.x == 0)
        asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(second), "r"(arrivals));
    __syncthreads();
    for (int i = 0; i < turns; i++, done = 0) {
        if (threadIdx.x == 32)
            asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(second) : "memory");
        while (!done)
            asm volatile("{.reg .pred P; mbarrier.try_wait.parity.shared.b64 P, [%1], %2; selp.u32 %0, 1, 0, P;}"
                         : "=r"(done)
                         : "r"(second), "r"(i & 1)
                         : "memory");
        __syncthreads();
    }
    out[threadIdx.x] = turns;
}

// The signal comes before all warps have seen the phase end: some orders leave one of them behind.
template <bool READS>
__global__ void signal_early(int *out, int turns, bool together) {
    __shared__ alignas(8) uint64_t bar[2];
    __shared__ int slot;
    int sum = 0;
    uint32_t ready = (uint32_t)__cvta_generic_to_shared(&bar[0]), empty = ready + 8;
    auto wait = [](uint32_t barrier, int parity) {
        for (uint32_t done = 0; !done;)
            asm volatile("{.reg .pred P; mbarrier.try_wait.parity.shared.b64 P, [%1], %2; selp.u32 %0, 1, 0, P;}"
                         : "=r"(done)
                         : "r"(barrier), "r"(parity)
                         : "memory");
    };
    if (threadIdx.x == 0)
        for (int i = 0; i < 2; i++)
            asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(ready + 8 * i));
    __syncthreads();
    for (int i = 0; i < turns; i++) {
        if (threadIdx.x < 32) {
            wait(empty, (i & 1) ^ 1);
            if (threadIdx.x == 0) {
                slot = i;
                asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(ready) : "memory");
            }
            __syncwarp();
        } else {
            wait(ready, i & 1);
            if constexpr (READS)
                sum += slot;
            if (together)
                asm volatile("bar.sync 1, 128;" ::: "memory");
            if (threadIdx.x == 32)
                asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(empty) : "memory");
        }
    }
    out[threadIdx.x] = sum;
}

template <int ALIGNMENT>
struct with_map {
    int before[4];
    alignas(ALIGNMENT) unsigned char map[128];
};

template <int ALIGNMENT>
__global__ void prefetch(const __grid_constant__ with_map<ALIGNMENT> p) {
    asm volatile("prefetch.tensormap [%0];" ::"l"(p.map) : "memory");
}

int main(int, char **argument) {
    const char *name = argument[1];
    const int n = 1 << 10;
    float *p, *large;
    static float own[4096];
    OK(cudaMalloc(&p, n * sizeof(float)));
    auto is = [&](const char *wanted) { return !strcmp(name, wanted); };
    if (is("past")) {
        store<<<1, 32>>>(p, n - 16);
    } else if (is("far")) {
        store<<<1, 32>>>(p, 3 << 24);
    } else if (is("before")) {
        store<<<1, 32>>>(p, -1);
    } else if (is("null")) {
        store<<<1, 32>>>(nullptr, 0);
    } else if (is("host")) {
        store<<<1, 32>>>(own, 0);
    } else if (is("wrapped")) {
        OK(cudaMalloc(&large, (size_t)12 << 30));
        store_row<<<1, 32>>>(large, 1 << 16, 40000);
    } else if (is("freed")) {
        OK(cudaFree(p));
        store<<<1, 32>>>(p, 0);
    } else if (is("mask")) {
        shuffle<<<1, 32>>>((int *)p, 0xff, 0);
    } else if (is("other-branch")) {
        shuffle<<<1, 32>>>((int *)p, 0xffff, 20);
    } else if (is("map")) {
        prefetch<16><<<1, 32>>>({});
    } else if (is("aligned-map")) {
        prefetch<64><<<1, 32>>>({});
    } else if (is("arrivals")) {
        ring<<<1, 64>>>((int *)p, 2, 3);
    } else if (is("ring")) {
        ring<<<1, 64>>>((int *)p, 1, 3);
    } else if (is("early")) {
        signal_early<false><<<1, 160>>>((int *)p, 9, false);
    } else if (is("early-reads")) {
        signal_early<true><<<1, 160>>>((int *)p, 9, false);
    } else if (is("together")) {
        signal_early<true><<<1, 160>>>((int *)p, 9, true);
    } else {
        return 2;
    }
    printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    return 0;
}
