// How many SMs the GPU in use has: what a ceiling is to fill.
#pragma once

#include <cuda_runtime.h>

static inline int sm_count() {
    int device = 0, count = 0;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device);
    return count;
}
