// Queries about the driver (the simulator has only the functions of driver.h) and about profilers (which record nothing
// here).
#include "api.h"

#include "driver.h"

#include <string.h>

static cudaError_t version(int *to) {
    if (!to)
        return api_error(cudaErrorInvalidValue, "the pointer to the result is NULL");
    *to = CUDART_VERSION;
    return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int *to) {
    return HOST_CALL(version(to));
}

cudaError_t cudaDriverGetVersion(int *to) {
    return HOST_CALL(version(to));
}

static cudaError_t find_function(const char *symbol, void **function, enum cudaDriverEntryPointQueryResult *result) {
    if (!symbol || !function)
        return api_error(cudaErrorInvalidValue, "the pointer to the %s is NULL", symbol ? "result" : "name");
    bool tiled = strcmp(symbol, "cuTensorMapEncodeTiled") == 0, known = true;
    if (tiled)
        *function = (void *)(uintptr_t)driver_tensor_map_encode_tiled;
    else if (strcmp(symbol, "cuTensorMapEncodeIm2col") == 0)
        *function = (void *)(uintptr_t)driver_tensor_map_encode_im2col;
    else if (strcmp(symbol, "cuTensorMapReplaceAddress") == 0)
        *function = (void *)(uintptr_t)driver_tensor_map_replace_address;
    else
        known = (*function = NULL);
    if (result)
        *result = known ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
    return cudaSuccess;
}

cudaError_t cudaGetDriverEntryPoint(const char *symbol, void **function, unsigned long long flags,
                                    enum cudaDriverEntryPointQueryResult *result) {
    (void)flags;
    return DEVICE_CALL(find_function(symbol, function, result));
}

#if CUDART_VERSION >= 12050
cudaError_t cudaGetDriverEntryPointByVersion(const char *symbol, void **function, unsigned int cuda_version,
                                             unsigned long long flags, enum cudaDriverEntryPointQueryResult *result) {
    (void)cuda_version;
    (void)flags;
    return DEVICE_CALL(find_function(symbol, function, result));
}
#endif

// cuda_profiler_api.h declares these, but the toolkit's wheels do not contain it.
EXPORTED cudaError_t cudaProfilerStart(void) {
    return DEVICE_CALL(cudaSuccess);
}

EXPORTED cudaError_t cudaProfilerStop(void) {
    return DEVICE_CALL(cudaSuccess);
}
