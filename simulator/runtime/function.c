// Attributes of kernels: cudaFuncGetAttributes, cudaFuncSetAttribute and related calls.
#include "function.h"
#include "cluster.h"
#include "device.h"
#include "module.h"
#include "occupancy.h"

int function_max_threads(const struct function *function) {
    const struct ptx_kernel *kernel = function->kernel;
    int bound = device_current()->simulated.max_threads_per_block;
    int declared = kernel->max_threads[0];
    for (int i = 1; i < 3; i++)
        declared *= kernel->max_threads[i] > 0 ? kernel->max_threads[i] : 1;
    return declared > 0 && declared < bound ? declared : bound;
}

static cudaError_t get_attributes(struct cudaFuncAttributes *attributes, const void *host) {
    struct function *function = NULL;
    cudaError_t error = !attributes ? api_error(cudaErrorInvalidValue, "the pointer to the result is NULL")
                                    : function_find_loaded(host, &function);
    if (error != cudaSuccess)
        return error;
    const struct ptx_kernel *kernel = function->kernel;
    *attributes = (struct cudaFuncAttributes){
        .sharedSizeBytes = kernel->static_shared_bytes,
        .constSizeBytes = module_const_bytes(function->module),
        .localSizeBytes = kernel->local_bytes,
        .maxThreadsPerBlock = function_max_threads(function),
        .numRegs = occupancy_registers(function),
        .ptxVersion = kernel->module->target,
        .binaryVersion = device_current()->simulated.compute_capability,
        .maxDynamicSharedSizeBytes = (int)function->max_dynamic_shared,
        .preferredShmemCarveout = function->carveout,
    };
    cluster_get_attributes(function, attributes);
    return cudaSuccess;
}

cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attributes, const void *function) {
    return DEVICE_CALL(get_attributes(attributes, function));
}

static cudaError_t allow_dynamic_shared(struct function *function, int bytes) {
    const struct sim_device *gpu = &device_current()->simulated;
    size_t max_bytes = gpu->shared_per_block_optin - function->kernel->static_shared_bytes;
    if (bytes < 0 || (size_t)bytes > max_bytes) {
        return api_error(
            cudaErrorInvalidValue,
            "%d bytes of dynamic shared memory for kernel %s are out of range: at most %zu bytes are allowed on %s",
            bytes, function->plain_name, max_bytes, gpu->name);
    }
    function->max_dynamic_shared = (size_t)bytes;
    return cudaSuccess;
}

static cudaError_t set_attribute(const void *host, enum cudaFuncAttribute attribute, int value) {
    struct function *function = NULL;
    cudaError_t error = function_find_loaded(host, &function);
    if (error != cudaSuccess)
        return error;
    switch (attribute) {
    case cudaFuncAttributeMaxDynamicSharedMemorySize:
        return allow_dynamic_shared(function, value);
    case cudaFuncAttributePreferredSharedMemoryCarveout:
        if (value < -1 || value > 100)
            return api_error(cudaErrorInvalidValue,
                             "invalid shared-memory carveout of %d %%: the carveout must be -1 (default) or 0 to 100",
                             value);
        function->carveout = value;
        return cudaSuccess;
    default:
        if (cluster_set_attribute(function, attribute, value, &error))
            return error;
        return api_error(cudaErrorInvalidValue, "attribute %d cannot be set", (int)attribute);
    }
}

cudaError_t cudaFuncSetAttribute(const void *function, enum cudaFuncAttribute attribute, int value) {
    return DEVICE_CALL(set_attribute(function, attribute, value));
}

// The division of L1 and shared memory and the bank width are hints, which hardware may ignore; the simulator does.
static cudaError_t check_function(const void *host) {
    struct function *function;
    return function_find(host, &function);
}

cudaError_t cudaFuncSetCacheConfig(const void *function, enum cudaFuncCache config) {
    (void)config;
    return DEVICE_CALL(check_function(function));
}

cudaError_t cudaFuncSetSharedMemConfig(const void *function, enum cudaSharedMemConfig config) {
    (void)config;
    return DEVICE_CALL(check_function(function));
}

static cudaError_t get_name(const char **name, const void *host) {
    if (!name)
        return api_error(cudaErrorInvalidValue, "the pointer to the result is NULL");
    struct function *function;
    cudaError_t error = function_find(host, &function);
    if (error == cudaSuccess)
        *name = function->name;
    return error;
}

cudaError_t cudaFuncGetName(const char **name, const void *function) {
    return DEVICE_CALL(get_name(name, function));
}

static cudaError_t parameter_info(const void *host, size_t index, size_t *offset, size_t *size) {
    struct function *function = NULL;
    cudaError_t error = function_find_loaded(host, &function);
    if (error != cudaSuccess)
        return error;
    if (!offset || index >= (size_t)function->kernel->params) {
        return api_error(cudaErrorInvalidValue, "kernel %s has %d parameters; index %zu is out of range",
                         function->plain_name, function->kernel->params, index);
    }
    *offset = function->kernel->param[index].offset;
    if (size)
        *size = function->kernel->param[index].size;
    return cudaSuccess;
}

cudaError_t cudaFuncGetParamInfo(const void *function, size_t index, size_t *offset, size_t *size) {
    return DEVICE_CALL(parameter_info(function, index, offset, size));
}
