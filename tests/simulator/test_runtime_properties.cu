// Prints the properties that the runtime reports for its device, one per line. For a GPU that the simulator models,
// only the name should differ (runtime-on-gpu compares them).
#include <cstdio>
#include <cuda_runtime.h>

static int attribute(cudaDeviceAttr which) {
    int value = -1;
    cudaDeviceGetAttribute(&value, which, 0);
    return value;
}

int main() {
    cudaDeviceProp p;
    if (cudaGetDeviceProperties(&p, 0) != cudaSuccess) {
        return 1;
    }
    printf("name %s\n", p.name);
#define FIELD(name) printf(#name " %zu\n", (size_t)p.name)
    FIELD(major);
    FIELD(minor);
    FIELD(multiProcessorCount);
    FIELD(totalGlobalMem);
    FIELD(totalConstMem);
    FIELD(sharedMemPerBlock);
    FIELD(sharedMemPerBlockOptin);
    FIELD(sharedMemPerMultiprocessor);
    FIELD(reservedSharedMemPerBlock);
    FIELD(regsPerBlock);
    FIELD(regsPerMultiprocessor);
    FIELD(warpSize);
    FIELD(maxThreadsPerBlock);
    FIELD(maxThreadsPerMultiProcessor);
    FIELD(maxBlocksPerMultiProcessor);
    FIELD(maxThreadsDim[0]);
    FIELD(maxThreadsDim[1]);
    FIELD(maxThreadsDim[2]);
    FIELD(maxGridSize[0]);
    FIELD(maxGridSize[1]);
    FIELD(maxGridSize[2]);
    FIELD(memPitch);
    FIELD(memoryBusWidth);
    FIELD(l2CacheSize);
    FIELD(persistingL2CacheMaxSize);
    FIELD(accessPolicyMaxWindowSize);
    FIELD(textureAlignment);
    FIELD(texturePitchAlignment);
    FIELD(surfaceAlignment);
    FIELD(asyncEngineCount);
    FIELD(ECCEnabled);
    FIELD(concurrentKernels);
    FIELD(unifiedAddressing);
    FIELD(managedMemory);
    FIELD(canMapHostMemory);
    FIELD(streamPrioritiesSupported);
    FIELD(globalL1CacheSupported);
    FIELD(localL1CacheSupported);
    FIELD(memoryPoolsSupported);
    FIELD(clusterLaunch);
    printf("clock_khz %d\n", attribute(cudaDevAttrClockRate));
    printf("memory_clock_khz %d\n", attribute(cudaDevAttrMemoryClockRate));
    printf("single_to_double_ratio %d\n", attribute(cudaDevAttrSingleToDoublePrecisionPerfRatio));
    int least, greatest;
    cudaDeviceGetStreamPriorityRange(&least, &greatest);
    printf("stream_priorities %d to %d\n", least, greatest);
    for (int limit = 0; limit <= cudaLimitPersistingL2CacheSize; limit++) {
        size_t value = 0;
        cudaError_t error = cudaDeviceGetLimit(&value, (cudaLimit)limit);
        printf("limit_%d %zu %s\n", limit, value, cudaGetErrorName(error));
    }
    return 0;
}
