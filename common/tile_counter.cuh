// Counters in device memory from which the blocks of a persistent kernel take work tiles. A kernel leaves its counter
// at 0 for the next launch.
#pragma once

#include <atomic>
#include <cuda_runtime_api.h>

constexpr unsigned TILE_COUNTERS = 1024;
static __device__ unsigned tile_counters[TILE_COUNTERS];

// Each launch gets another counter, since up to TILE_COUNTERS launches on different streams may run concurrently.
static inline cudaError_t acquire_tile_counter(unsigned **counter) {
    static std::atomic<unsigned> launches;
    void *first;
    const cudaError_t error = cudaGetSymbolAddress(&first, tile_counters);
    if (error == cudaSuccess)
        *counter = (unsigned *)first + launches++ % TILE_COUNTERS;
    return error;
}
