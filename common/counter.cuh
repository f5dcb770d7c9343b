// Counters in device memory for kernels whose blocks take their work one after the other. A kernel leaves its counter
// at 0.
#pragma once

#include <atomic>
#include <cuda_runtime_api.h>

constexpr unsigned COUNTERS = 1024;
static __device__ unsigned counters[COUNTERS];

// Another one at each launch, since launches on different streams may run at the same time: up to COUNTERS of them.
static inline cudaError_t take_counter(unsigned **counter) {
    static std::atomic<unsigned> taken;
    void *first;
    const cudaError_t error = cudaGetSymbolAddress(&first, counters);
    if (error == cudaSuccess)
        *counter = (unsigned *)first + taken++ % COUNTERS;
    return error;
}
