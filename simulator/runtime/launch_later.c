// Launches that do not run when a program asks for them: nodes of graphs, and what kernels launch.
#include "launch.h"

#include "../machine/children.h"

#include <stdlib.h>

// A node of a graph: the parameters as they were when it was described.
struct launching {
    struct work work;
    const void *host_or_handle;
    struct configuration configuration;
    void *parameters;
    void **argument; // [kernel->params] in parameters
};

static cudaError_t run_launching(const struct work *work, cudaStream_t stream) {
    const struct launching *l = (const struct launching *)work;
    struct configuration configuration = l->configuration;
    struct function *function = NULL;
    configuration.stream = stream;
    cudaError_t error = function_find_loaded(l->host_or_handle, &function);
    return error == cudaSuccess ? launch_packed(function, &configuration, l->parameters) : error;
}

static void release_launching(struct work *work) {
    free(((struct launching *)work)->parameters);
    free(((struct launching *)work)->argument);
}

struct work *launch_work(const void *host_or_handle, const struct function *function,
                         const struct configuration *configuration, void *parameters) {
    const struct ptx_kernel *kernel = function->kernel;
    struct launching *l = work_new(sizeof *l, cudaGraphNodeTypeKernel, run_launching);
    void **argument = calloc((size_t)kernel->params + 1, sizeof *argument);
    if (!l || !argument || !parameters) {
        free(l);
        free(argument);
        free(parameters);
        return NULL;
    }
    for (int i = 0; i < kernel->params; i++)
        argument[i] = (uint8_t *)parameters + kernel->param[i].offset;
    *l = (struct launching){l->work, host_or_handle, *configuration, parameters, argument};
    l->work.release = release_launching;
    return &l->work;
}

cudaError_t kernel_work(const struct cudaKernelNodeParams *params, struct work **work) {
    if (!params || params->extra)
        return api_error(cudaErrorInvalidValue, "the parameters are NULL, or in a buffer of their own (extra)");
    struct configuration configuration = {.grid = params->gridDim,
                                          .block = params->blockDim,
                                          .dynamic_shared_bytes = params->sharedMemBytes,
                                          .stream = cudaStreamPerThread,
                                          .described = work};
    return launch_kernel(params->func, &configuration, params->kernelParams);
}

cudaError_t kernel_params(const struct work *work, struct cudaKernelNodeParams *params) {
    const struct launching *l = (const struct launching *)work;
    if (work->type != cudaGraphNodeTypeKernel)
        return api_error(cudaErrorInvalidValue, "the node is no kernel");
    *params = (struct cudaKernelNodeParams){.func = (void *)l->host_or_handle,
                                            .gridDim = l->configuration.grid,
                                            .blockDim = l->configuration.block,
                                            .sharedMemBytes = (unsigned)l->configuration.dynamic_shared_bytes,
                                            .kernelParams = l->argument};
    return cudaSuccess;
}

// ---- Launches and copies by kernels

static cudaError_t run_copy(const struct sim_child *child) {
    struct work *work = copy_work((void *)(uintptr_t)child->to, child->bytes, (const void *)(uintptr_t)child->from,
                                  child->bytes, child->bytes, 1, cudaMemcpyDefault);
    cudaError_t error =
        work ? work->run(work, NULL) : api_error(cudaErrorMemoryAllocation, "the host has no memory left");
    work_drop(work);
    return error;
}

static cudaError_t run_child(const struct function *parent, const struct sim_child *child, cudaStream_t stream) {
    struct function *function = function_at(parent, child->kernel);
    if (!function)
        return api_error(cudaErrorInvalidDeviceFunction, "kernel %s launches 0x%llx, which is no kernel",
                         parent->plain_name, (unsigned long long)child->kernel);
    cudaError_t error = function_find_loaded(function, &function);
    if (error != cudaSuccess)
        return error;
    const struct ptx_kernel *kernel = function->kernel;
    uint8_t *bytes = sim_memory_find(child->buffer, 1)->bytes;
    void **argument = calloc((size_t)kernel->params + 1, sizeof *argument);
    if (!argument)
        return api_error(cudaErrorMemoryAllocation, "the host has no memory left");
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
        for (const struct sim_child *one = children->first; one && error == cudaSuccess; one = one->next)
            if (one->launched && one->tail == tail)
                error = one->bytes ? run_copy(one) : run_child(parent, one, stream);
    return error;
}
