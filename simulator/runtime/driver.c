// What the runtime says of the driver below it (there is none), and of profilers (they see nothing here).
#include "api.h"

static cudaError_t version(int *to) {
    if (to == NULL) {
        return api_error(cudaErrorInvalidValue, "the pointer to the result is NULL");
    }
    *to = CUDART_VERSION;
    return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int *to) {
    return HOST_CALL(version(to));
}

cudaError_t cudaDriverGetVersion(int *to) {
    return HOST_CALL(version(to));
}

static cudaError_t find_nothing(void **function, enum cudaDriverEntryPointQueryResult *result) {
    if (function == NULL) {
        return api_error(cudaErrorInvalidValue, "the pointer to the result is NULL");
    }
    *function = NULL;
    if (result != NULL) {
        *result = cudaDriverEntryPointSymbolNotFound;
    }
    return cudaSuccess;
}

cudaError_t cudaGetDriverEntryPoint(const char *symbol, void **function, unsigned long long flags,
                                    enum cudaDriverEntryPointQueryResult *result) {
    (void)symbol;
    (void)flags;
    return DEVICE_CALL(find_nothing(function, result));
}

#if CUDART_VERSION >= 12050
cudaError_t cudaGetDriverEntryPointByVersion(const char *symbol, void **function, unsigned int cuda_version,
                                             unsigned long long flags, enum cudaDriverEntryPointQueryResult *result) {
    (void)symbol;
    (void)cuda_version;
    (void)flags;
    return DEVICE_CALL(find_nothing(function, result));
}
#endif

// Declared in cuda_profiler_api.h, which the toolkit's wheels do not carry.
EXPORTED cudaError_t cudaProfilerStart(void) {
    return DEVICE_CALL(cudaSuccess);
}

EXPORTED cudaError_t cudaProfilerStop(void) {
    return DEVICE_CALL(cudaSuccess);
}
