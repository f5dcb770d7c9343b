// Properties and attributes of the device. Limits of textures and surfaces stay 0.
#include "device.h"

#include <stdio.h>
#include <string.h>

#define MAX_PITCH 2147483647
#define MAX_GRID_X 2147483647
#define MAX_GRID_YZ 65535
#define ACCESS_WINDOW_BYTES (128 << 20)

static void fill_properties(struct cudaDeviceProp *p, const struct device *device) {
    const struct sim_device *gpu = &device->simulated;
    bool ampere_or_newer = gpu->compute_capability >= 80;
    memset(p, 0, sizeof *p);
    snprintf(p->name, sizeof p->name, "%s", gpu->name);
    memcpy(p->uuid.bytes, "simulated device", sizeof p->uuid.bytes);
    p->totalGlobalMem = gpu->global_bytes;
    p->sharedMemPerBlock = gpu->shared_per_block;
    p->sharedMemPerBlockOptin = gpu->shared_per_block_optin;
    p->sharedMemPerMultiprocessor = gpu->shared_per_sm;
    p->reservedSharedMemPerBlock = gpu->reserved_shared;
    p->regsPerBlock = gpu->registers_per_block;
    p->regsPerMultiprocessor = gpu->registers_per_sm;
    p->warpSize = 32;
    p->memPitch = MAX_PITCH;
    p->maxThreadsPerBlock = gpu->max_threads_per_block;
    p->maxThreadsPerMultiProcessor = gpu->max_threads_per_sm;
    p->maxBlocksPerMultiProcessor = gpu->max_blocks_per_sm;
    p->maxThreadsDim[0] = p->maxThreadsDim[1] = 1024;
    p->maxThreadsDim[2] = 64;
    p->maxGridSize[0] = MAX_GRID_X;
    p->maxGridSize[1] = p->maxGridSize[2] = MAX_GRID_YZ;
    p->totalConstMem = gpu->const_bytes;
    p->major = gpu->compute_capability / 10;
    p->minor = gpu->compute_capability % 10;
    p->multiProcessorCount = gpu->sms;
    p->memoryBusWidth = gpu->memory_bus_bits;
    p->l2CacheSize = (int)gpu->l2_bytes;
    p->persistingL2CacheMaxSize = (int)device->persisting_l2_bytes;
    p->accessPolicyMaxWindowSize = ampere_or_newer ? ACCESS_WINDOW_BYTES : 0;
    p->textureAlignment = p->surfaceAlignment = 512;
    p->texturePitchAlignment = 32;
    p->asyncEngineCount = device->copy_engines;
    p->ECCEnabled = device->ecc;
    p->concurrentKernels = 1;
    p->cooperativeLaunch = 1;
    p->unifiedAddressing = 1;
    p->streamPrioritiesSupported = 1;
    p->globalL1CacheSupported = p->localL1CacheSupported = 1;
    p->memoryPoolsSupported = 1;
    p->canMapHostMemory = p->managedMemory = p->concurrentManagedAccess = 1;
    p->clusterLaunch = gpu->compute_capability >= 90;
#if CUDART_VERSION < 13000
    p->clockRate = gpu->clock_khz;
    p->memoryClockRate = gpu->memory_clock_khz;
    p->singleToDoublePrecisionPerfRatio = device->single_to_double_ratio;
    p->deviceOverlap = 1;
#endif
}

static cudaError_t get_properties(struct cudaDeviceProp *properties, int ordinal) {
    if (!properties)
        return api_error(cudaErrorInvalidValue, "the pointer to the result is NULL");
    cudaError_t error = device_check_ordinal(ordinal);
    if (error == cudaSuccess)
        fill_properties(properties, device_current());
    return error;
}

static cudaError_t get_attribute(int *value, enum cudaDeviceAttr attribute, int ordinal) {
    struct cudaDeviceProp p;
    cudaError_t error =
        !value ? api_error(cudaErrorInvalidValue, "the pointer to the result is NULL") : get_properties(&p, ordinal);
    if (error != cudaSuccess)
        return error;
    const struct device *device = device_current();
    const struct {
        enum cudaDeviceAttr attribute;
        int value;
    } known[] = {
        {cudaDevAttrMaxThreadsPerBlock, p.maxThreadsPerBlock},
        {cudaDevAttrMaxBlockDimX, p.maxThreadsDim[0]},
        {cudaDevAttrMaxBlockDimY, p.maxThreadsDim[1]},
        {cudaDevAttrMaxBlockDimZ, p.maxThreadsDim[2]},
        {cudaDevAttrMaxGridDimX, p.maxGridSize[0]},
        {cudaDevAttrMaxGridDimY, p.maxGridSize[1]},
        {cudaDevAttrMaxGridDimZ, p.maxGridSize[2]},
        {cudaDevAttrMaxSharedMemoryPerBlock, (int)p.sharedMemPerBlock},
        {cudaDevAttrMaxSharedMemoryPerBlockOptin, (int)p.sharedMemPerBlockOptin},
        {cudaDevAttrMaxSharedMemoryPerMultiprocessor, (int)p.sharedMemPerMultiprocessor},
        {cudaDevAttrReservedSharedMemoryPerBlock, (int)p.reservedSharedMemPerBlock},
        {cudaDevAttrTotalConstantMemory, (int)p.totalConstMem},
        {cudaDevAttrWarpSize, p.warpSize},
        {cudaDevAttrMaxPitch, MAX_PITCH},
        {cudaDevAttrMaxRegistersPerBlock, p.regsPerBlock},
        {cudaDevAttrMaxRegistersPerMultiprocessor, p.regsPerMultiprocessor},
        {cudaDevAttrClockRate, device->simulated.clock_khz},
        {cudaDevAttrMemoryClockRate, device->simulated.memory_clock_khz},
        {cudaDevAttrGlobalMemoryBusWidth, p.memoryBusWidth},
        {cudaDevAttrL2CacheSize, p.l2CacheSize},
        {cudaDevAttrMaxPersistingL2CacheSize, p.persistingL2CacheMaxSize},
        {cudaDevAttrMaxAccessPolicyWindowSize, p.accessPolicyMaxWindowSize},
        {cudaDevAttrMultiProcessorCount, p.multiProcessorCount},
        {cudaDevAttrMaxThreadsPerMultiProcessor, p.maxThreadsPerMultiProcessor},
        {cudaDevAttrMaxBlocksPerMultiprocessor, p.maxBlocksPerMultiProcessor},
        {cudaDevAttrComputeCapabilityMajor, p.major},
        {cudaDevAttrComputeCapabilityMinor, p.minor},
        {cudaDevAttrTextureAlignment, (int)p.textureAlignment},
        {cudaDevAttrTexturePitchAlignment, (int)p.texturePitchAlignment},
        {cudaDevAttrSurfaceAlignment, (int)p.surfaceAlignment},
        {cudaDevAttrSingleToDoublePrecisionPerfRatio, device->single_to_double_ratio},
        {cudaDevAttrAsyncEngineCount, p.asyncEngineCount},
        {cudaDevAttrEccEnabled, p.ECCEnabled},
        {cudaDevAttrClusterLaunch, p.clusterLaunch},
        {cudaDevAttrGpuOverlap, 1},
        {cudaDevAttrConcurrentKernels, 1},
        {cudaDevAttrCooperativeLaunch, 1},
        {cudaDevAttrUnifiedAddressing, 1},
        {cudaDevAttrStreamPrioritiesSupported, 1},
        {cudaDevAttrGlobalL1CacheSupported, 1},
        {cudaDevAttrLocalL1CacheSupported, 1},
        {cudaDevAttrMemoryPoolsSupported, 1},
        {cudaDevAttrCanMapHostMemory, 1},
        {cudaDevAttrManagedMemory, 1},
        {cudaDevAttrConcurrentManagedAccess, 1},
    };
    *value = 0; // 0 for unlisted attributes: texture limits, peers, inter-process memory and the like
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (known[i].attribute == attribute)
            *value = known[i].value;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *properties, int device) {
    return DEVICE_CALL(get_properties(properties, device));
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device) {
    return DEVICE_CALL(get_attribute(value, attribute, device));
}

static cudaError_t pci_bus_id(char *text, int length, int ordinal) {
    cudaError_t error = device_check_ordinal(ordinal);
    if (error == cudaSuccess && (!text || length < (int)sizeof "0000:00:00.0"))
        error = api_error(cudaErrorInvalidValue, "the buffer must hold 13 characters");
    if (error == cudaSuccess)
        snprintf(text, (size_t)length, "0000:%02x:00.0", (unsigned)ordinal & 0xff);
    return error;
}

cudaError_t cudaDeviceGetPCIBusId(char *text, int length, int device) {
    return DEVICE_CALL(pci_bus_id(text, length, device));
}

// Priorities range from 0 to -5 as on the GPUs of the table; they have no effect.
static cudaError_t priority_range(int *lowest, int *greatest) {
    if (lowest)
        *lowest = 0;
    if (greatest)
        *greatest = -5;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetStreamPriorityRange(int *lowest, int *greatest) {
    return DEVICE_CALL(priority_range(lowest, greatest));
}
