// Launches that run later: kernel nodes of graphs, and launches by kernels.
#include "launch.h"

#include "../machine/children.h"

#include <stdlib.h>

// A kernel node: a copy of the parameters at the time of its definition.
struct launch_operation {
    struct operation operation;
    const void *host_or_handle;
    struct configuration configuration;
    void *parameters;
    void **argument; // [kernel->params] in parameters
};

static cudaError_t run_launch_operation(const struct operation *operation, cudaStream_t stream) {
    const struct launch_operation *l = (const struct launch_operation *)operation;
    struct configuration configuration = l->configuration;
    struct function *function = NULL;
    configuration.stream = stream;
    cudaError_t error = function_find_loaded(l->host_or_handle, &function);
    return error == cudaSuccess ? launch_packed(function, &configuration, l->parameters) : error;
}

static void release_launch_operation(struct operation *operation) {
    free(((struct launch_operation *)operation)->parameters);
    free(((struct launch_operation *)operation)->argument);
}

struct operation *new_launch_operation(const void *host_or_handle, const struct function *function,
                                       const struct configuration *configuration, void *parameters) {
    const struct ptx_kernel *kernel = function->kernel;
    struct launch_operation *l = operation_new(sizeof *l, cudaGraphNodeTypeKernel, run_launch_operation);
    void **argument = calloc((size_t)kernel->params + 1, sizeof *argument);
    if (!l || !argument || !parameters) {
        free(l);
        free(argument);
        free(parameters);
        return NULL;
    }
    for (int i = 0; i < kernel->params; i++)
        argument[i] = (uint8_t *)parameters + kernel->param[i].offset;
    *l = (struct launch_operation){l->operation, host_or_handle, *configuration, parameters, argument};
    l->operation.release = release_launch_operation;
    return &l->operation;
}

cudaError_t new_kernel_operation(const struct cudaKernelNodeParams *params, struct operation **operation) {
    if (!params || params->extra)
        return api_error(cudaErrorInvalidValue,
                         "the parameters are NULL, or are passed in 'extra', which is not supported");
    struct configuration configuration = {.grid = params->gridDim,
                                          .block = params->blockDim,
                                          .dynamic_shared_bytes = params->sharedMemBytes,
                                          .stream = cudaStreamPerThread,
                                          .node_operation = operation};
    return launch_kernel(params->func, &configuration, params->kernelParams);
}

cudaError_t kernel_params(const struct operation *operation, struct cudaKernelNodeParams *params) {
    const struct launch_operation *l = (const struct launch_operation *)operation;
    if (operation->type != cudaGraphNodeTypeKernel)
        return api_error(cudaErrorInvalidValue, "the node is not a kernel node");
    *params = (struct cudaKernelNodeParams){.func = (void *)l->host_or_handle,
                                            .gridDim = l->configuration.grid,
                                            .blockDim = l->configuration.block,
                                            .sharedMemBytes = (unsigned)l->configuration.dynamic_shared_bytes,
                                            .kernelParams = l->argument};
    return cudaSuccess;
}

// ---- Launches and copies by kernels

static cudaError_t run_copy(const struct sim_child *child) {
    struct operation *operation =
        new_memcpy_operation((void *)(uintptr_t)child->to, child->bytes, (const void *)(uintptr_t)child->from,
                             child->bytes, child->bytes, 1, cudaMemcpyDefault);
    cudaError_t error =
        operation ? operation->run(operation, NULL) : api_error(cudaErrorMemoryAllocation, "out of host memory");
    operation_release(operation);
    return error;
}

static cudaError_t run_child(const struct function *parent, const struct sim_child *child, cudaStream_t stream) {
    struct function *function = function_at_address(parent, child->kernel);
    if (!function)
        return api_error(cudaErrorInvalidDeviceFunction, "kernel %s launches 0x%llx, which is not a kernel",
                         parent->plain_name, (unsigned long long)child->kernel);
    cudaError_t error = function_find_loaded(function, &function);
    if (error != cudaSuccess)
        return error;
    const struct ptx_kernel *kernel = function->kernel;
    uint8_t *bytes = sim_memory_find(child->buffer, 1)->bytes;
    void **argument = calloc((size_t)kernel->params + 1, sizeof *argument);
    if (!argument)
        return api_error(cudaErrorMemoryAllocation, "out of host memory");
    for (int i = 0; i < kernel->params; i++)
        argument[i] = bytes + kernel->param[i].offset;
    struct configuration configuration = {.grid = {child->grid.x, child->grid.y, child->grid.z},
                                          .block = {child->block.x, child->block.y, child->block.z},
                                          .dynamic_shared_bytes = child->dynamic_shared_bytes,
                                          .stream = stream};
    error = launch_kernel(function, &configuration, argument);
    free(argument);
    return error;
}

cudaError_t launch_children(const struct function *parent, const struct sim_children *children, cudaStream_t stream) {
    cudaError_t error = cudaSuccess;
    for (int tail = 0; tail < 2; tail++)
        for (const struct sim_child *child = children->first; child && error == cudaSuccess; child = child->next)
            if (child->launched && child->tail == tail)
                error = child->bytes ? run_copy(child) : run_child(parent, child, stream);
    return error;
}
