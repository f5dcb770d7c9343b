// Launches. nvcc turns
//
//     kernel<<<grid, block, shared, stream>>>(a, b);
//
// into __cudaPushCallConfiguration(grid, block, shared, stream) followed by a call of a host function named kernel,
// which collects the addresses of its arguments in an array, pops the configuration and calls cudaLaunchKernel (until
// CUDA 12) or __cudaLaunchKernel with a handle from __cudaGetKernel (since CUDA 13).
#include "launch.h"
#include "device.h"
#include "function.h"
#include "graph.h"
#include "module.h"
#include "occupancy.h"
#include "stream.h"

#include "../machine/children.h"
#include "../simulator.h"

#include <stdlib.h>
#include <string.h>

// Messages name the launch, because the functions that <<< >>> expands to are not in the program's source.
#define LAUNCH(body) api_leave(api_enter("launch") == cudaSuccess ? (body) : api_entry_error())

// A stack, because nvcc evaluates the arguments of a launch after the push, and they may launch kernels themselves.
#define MAX_CONFIGURATIONS 16
static _Thread_local struct configuration pushed[MAX_CONFIGURATIONS];
static _Thread_local int pushed_count;

// Returns non-zero if the launch must not proceed.
EXPORTED unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t dynamic_shared_bytes, void *stream) {
    if (pushed_count == MAX_CONFIGURATIONS) {
        return LAUNCH(api_error(cudaErrorLaunchOutOfResources,
                                "more than %d nested launches in the arguments of a launch", MAX_CONFIGURATIONS));
    }
    pushed[pushed_count++] = (struct configuration){
        .grid = grid, .block = block, .dynamic_shared_bytes = dynamic_shared_bytes, .stream = stream};
    return 0;
}

EXPORTED cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *dynamic_shared_bytes, void *stream) {
    if (pushed_count == 0) {
        return LAUNCH(
            api_error(cudaErrorMissingConfiguration, "a kernel was called like a host function, without <<< >>>"));
    }
    const struct configuration *top = &pushed[--pushed_count];
    *grid = top->grid;
    *block = top->block;
    *dynamic_shared_bytes = top->dynamic_shared_bytes;
    *(cudaStream_t *)stream = top->stream;
    return cudaSuccess;
}

// An invalid grid or block size is cudaErrorInvalidValue: measured with CUDA 13.0 on an H200. CUDA 12 may return
// cudaErrorInvalidConfiguration.
static cudaError_t check_block(const struct function *function, dim3 block) {
    const struct sim_device *gpu = &device_current()->simulated;
    uint64_t threads = (uint64_t)block.x * block.y * block.z;
    const char *rule = NULL;
    if (threads == 0)
        rule = "each dimension must be at least 1";
    else if (block.x > 1024 || block.y > 1024 || block.z > 64)
        rule = "at most 1024 x 1024 x 64 threads are allowed";
    else if (threads > (uint64_t)gpu->max_threads_per_block)
        rule = "at most 1024 threads in total are allowed";
    if (rule) {
        return api_error(cudaErrorInvalidValue, "invalid block of %u x %u x %u threads for kernel %s: %s", block.x,
                         block.y, block.z, function->plain_name, rule);
    }
    if (threads > (uint64_t)function_max_threads(function)) {
        return api_error(cudaErrorInvalidValue,
                         "invalid block of %u x %u x %u threads for kernel %s: __launch_bounds__ of the kernel allows "
                         "at most %d threads",
                         block.x, block.y, block.z, function->plain_name, function_max_threads(function));
    }
    return cudaSuccess;
}

// A block can start only if an SM has registers for all of its threads, as many per thread as ptxas allocated.
static cudaError_t check_registers(const struct function *function, dim3 block) {
    const struct sim_device *gpu = &device_current()->simulated;
    int threads = (int)(block.x * block.y * block.z);
    if (!function->registers || occupancy_blocks(gpu, threads, function->registers, 0) > 0)
        return cudaSuccess;
    return api_error(cudaErrorLaunchOutOfResources,
                     "too many registers for blocks of %d threads of kernel %s: each thread needs %d registers "
                     "(ptxas), and %s has %d per block; __launch_bounds__(%d) makes ptxas use fewer",
                     threads, function->plain_name, function->registers, gpu->name, (int)gpu->registers_per_block,
                     threads);
}

static cudaError_t check_grid(const struct function *function, dim3 grid) {
    if (grid.x == 0 || grid.y == 0 || grid.z == 0) {
        return api_error(cudaErrorInvalidValue,
                         "invalid grid of %u x %u x %u blocks for kernel %s: each dimension must be at least 1", grid.x,
                         grid.y, grid.z, function->plain_name);
    }
    if (grid.x > 2147483647u || grid.y > 65535 || grid.z > 65535) {
        return api_error(
            cudaErrorInvalidValue,
            "invalid grid of %u x %u x %u blocks for kernel %s: at most 2147483647 x 65535 x 65535 are allowed", grid.x,
            grid.y, grid.z, function->plain_name);
    }
    return cudaSuccess;
}

static cudaError_t check_shared(const struct function *function, size_t dynamic) {
    const struct sim_device *gpu = &device_current()->simulated;
    size_t fixed = function->kernel->static_shared_bytes;
    if (dynamic <= function->max_dynamic_shared)
        return cudaSuccess;
    if (dynamic + fixed > gpu->shared_per_block_optin || dynamic + fixed < fixed) {
        return api_error(cudaErrorInvalidValue,
                         "%zu + %zu bytes of dynamic and static shared memory for kernel %s are too many: %s allows "
                         "%zu bytes per block",
                         dynamic, fixed, function->plain_name, gpu->name, gpu->shared_per_block_optin);
    }
    return api_error(cudaErrorInvalidValue,
                     "%zu bytes of dynamic shared memory for kernel %s exceed the kernel's limit of %zu bytes; call "
                     "cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, %zu) before the launch",
                     dynamic, function->plain_name, function->max_dynamic_shared, dynamic);
}

// The parameter block of the kernel: each argument at its PTX offset.
static void *pack_parameters(const struct ptx_kernel *kernel, void **arguments) {
    unsigned char *block = calloc(1, kernel->param_bytes + 1);
    for (int i = 0; i < kernel->params && block; i++)
        memcpy(block + kernel->param[i].offset, arguments[i], kernel->param[i].size);
    return block;
}

// The CUDA error for the status of the interpreter. A GPU would also report the first group and become unusable. The
// second group are errors that only the simulator detects, such as a race: the launch fails, the device does not.
static cudaError_t error_of_status(enum sim_status status, bool *sticky) {
    *sticky = true;
    switch (status) {
    case SIM_OK:
        return cudaSuccess;
    case SIM_ILLEGAL_ADDRESS:
        return cudaErrorIllegalAddress;
    case SIM_MISALIGNED_ADDRESS:
        return cudaErrorMisalignedAddress;
    case SIM_ILLEGAL_INSTRUCTION:
        return cudaErrorIllegalInstruction;
    case SIM_ASSERT:
        return cudaErrorAssert;
    case SIM_TRAP:
        return cudaErrorLaunchFailure;
    case SIM_LAUNCH_TIMEOUT:
        return cudaErrorLaunchTimeout;
    case SIM_LAUNCH_FAILURE:
        *sticky = false;
        return cudaErrorLaunchFailure;
    case SIM_OUT_OF_HOST_MEMORY:
        *sticky = false;
        return api_error(cudaErrorLaunchOutOfResources, "out of host memory: the launch cannot be simulated");
    }
    return cudaErrorUnknown;
}

// The number of blocks of the launch that can be resident on the GPU.
static uint64_t resident_blocks(const struct function *function, const struct configuration *configuration) {
    const struct sim_device *gpu = &device_current()->simulated;
    dim3 block = configuration->block;
    int blocks_per_sm = occupancy_blocks(gpu, (int)(block.x * block.y * block.z), occupancy_registers(function),
                                         function->kernel->static_shared_bytes + configuration->dynamic_shared_bytes);
    dim3 cluster = configuration->cluster;
    int size = (int)(cluster.x * cluster.y * cluster.z);
    if (size > 1)
        return (uint64_t)size * (uint64_t)cluster_occupancy(function, size, (int)(block.x * block.y * block.z),
                                                            configuration->dynamic_shared_bytes);
    return (uint64_t)gpu->sms * (blocks_per_sm > 1 ? (uint64_t)blocks_per_sm : 1);
}

// cooperative_groups stores the grid barrier in the second of two words, whose address the driver provides.
#define WORKSPACE_BYTES 8

static struct sim_allocation *make_workspace(void) {
    struct sim_allocation *workspace = sim_memory_allocate(WORKSPACE_BYTES, SIM_ALLOCATION_HEAP, NULL);
    if (workspace) {
        memset(workspace->bytes, 0, WORKSPACE_BYTES);
        sim_memory_mark_written(workspace, 0, WORKSPACE_BYTES);
    }
    return workspace;
}

// All blocks of a cooperative launch must be resident at the same time.
static cudaError_t check_cooperative(const struct function *function, const struct configuration *configuration) {
    uint64_t blocks = (uint64_t)configuration->grid.x * configuration->grid.y * configuration->grid.z;
    uint64_t limit = resident_blocks(function, configuration);
    if (!configuration->cooperative || blocks <= limit)
        return cudaSuccess;
    return api_error(cudaErrorCooperativeLaunchTooLarge,
                     "cooperative launch of %llu blocks of kernel %s is too large: %s holds %llu resident blocks",
                     (unsigned long long)blocks, function->plain_name, device_current()->simulated.name,
                     (unsigned long long)limit);
}

static unsigned long launches, failed_launches, unordered_launches;

unsigned long simulator_launches(void) {
    return launches;
}

unsigned long simulator_failed_launches(void) {
    return failed_launches;
}

unsigned long simulator_unordered_launches(void) {
    return unordered_launches;
}

// A launch counts when it runs: a captured launch counts when its graph is launched, and in the graph's stream.
cudaError_t launch_packed(const struct function *function, const struct configuration *configuration,
                          const void *parameters) {
    struct sim_allocation *workspace = configuration->cooperative ? make_workspace() : NULL;
    if (!parameters || (configuration->cooperative && !workspace))
        return api_error(cudaErrorLaunchOutOfResources, "out of host memory");
    dim3 grid = configuration->grid, block = configuration->block, cluster = configuration->cluster;
    struct sim_launch launch = {
        .kernel = function->bound,
        .grid = {grid.x, grid.y, grid.z},
        .block = {block.x, block.y, block.z},
        .cluster = {cluster.x, cluster.y, cluster.z},
        .explicit_cluster = configuration->explicit_cluster,
        .dynamic_shared_bytes = configuration->dynamic_shared_bytes,
        .parameters = parameters,
        .device = &device_current()->simulated,
        .ordinal = device_ordinal(),
        .grid_workspace = workspace ? workspace->address : 0,
        .resident_blocks = resident_blocks(function, configuration),
        .timeline = stream_timeline(configuration->stream),
        .programmatic = configuration->programmatic,
    };
    launches++;
    unordered_launches += !stream_is_after_inputs(configuration->stream);
    struct sim_counts counts = {0};
    struct sim_children children = {.lock = PTHREAD_MUTEX_INITIALIZER};
    launch.children = &children;
    enum sim_status status = sim_launch_run(&launch, &counts);
    if (workspace)
        sim_memory_free(workspace->address);
    bool sticky;
    cudaError_t error = error_of_status(status, &sticky);
    if (error != cudaSuccess)
        api_set_launch_error(error, sticky);
    if (error == cudaSuccess && children.first)
        error = launch_children(function, &children, configuration->stream);
    sim_children_free(&children);
    return error;
}

static cudaError_t run_or_record(const void *host_or_handle, const struct function *function,
                                 const struct configuration *configuration, void **arguments) {
    const struct ptx_kernel *kernel = function->kernel;
    if (!arguments && kernel->params > 0) {
        return api_error(cudaErrorInvalidValue, "kernel %s has %d parameters, but the launch passes none",
                         function->plain_name, kernel->params);
    }
    void *parameters = pack_parameters(kernel, arguments);
    if (configuration->node_operation) {
        *configuration->node_operation = new_launch_operation(host_or_handle, function, configuration, parameters);
        return *configuration->node_operation ? cudaSuccess
                                              : api_error(cudaErrorMemoryAllocation, "out of host memory");
    }
    if (capture_is_active(configuration->stream))
        return capture_add(configuration->stream,
                           new_launch_operation(host_or_handle, function, configuration, parameters));
    cudaError_t error = launch_packed(function, configuration, parameters);
    free(parameters);
    return error;
}

static cudaError_t launch(const void *host_or_handle, struct configuration *configuration, void **arguments) {
    struct function *function = NULL;
    cudaError_t error = stream_check(configuration->stream);
    if (error == cudaSuccess)
        error = stream_check_device(configuration->stream);
    if (error == cudaSuccess)
        error = function_find_loaded(host_or_handle, &function);
    if (error == cudaSuccess)
        error = check_block(function, configuration->block);
    if (error == cudaSuccess)
        error = check_registers(function, configuration->block);
    if (error == cudaSuccess)
        error = check_grid(function, configuration->grid);
    if (error == cudaSuccess)
        error = check_shared(function, configuration->dynamic_shared_bytes);
    if (error == cudaSuccess)
        error = cluster_of_launch(function, configuration->grid, configuration->block,
                                  configuration->dynamic_shared_bytes, configuration->cluster_request,
                                  &configuration->cluster, &configuration->explicit_cluster);
    if (error == cudaSuccess)
        error = check_cooperative(function, configuration);
    failed_launches += error != cudaSuccess;
    if (error == cudaSuccess)
        error = run_or_record(host_or_handle, function, configuration, arguments);
    if (error != cudaSuccess)
        api_record_failed_launch();
    return error;
}

cudaError_t cudaLaunchKernel(const void *function, dim3 grid, dim3 block, void **arguments, size_t dynamic_shared_bytes,
                             cudaStream_t stream) {
    struct configuration configuration = {
        .grid = grid, .block = block, .dynamic_shared_bytes = dynamic_shared_bytes, .stream = stream};
    return LAUNCH(launch(function, &configuration, arguments));
}

// nvcc's code gets a handle once per call site and stores it in a static variable.
static cudaError_t get_kernel(cudaKernel_t *handle, const void *host) {
    struct function *function;
    cudaError_t error = function_find(host, &function);
    *handle = (cudaKernel_t)function;
    return error;
}

cudaError_t cudaGetKernel(cudaKernel_t *handle, const void *function) {
    return HOST_CALL(get_kernel(handle, function));
}

EXPORTED cudaError_t __cudaGetKernel(cudaKernel_t *handle, const void *function) {
    return HOST_CALL(get_kernel(handle, function));
}

EXPORTED cudaError_t __cudaLaunchKernel(cudaKernel_t handle, dim3 grid, dim3 block, void **arguments,
                                        size_t dynamic_shared_bytes, cudaStream_t stream) {
    struct configuration configuration = {
        .grid = grid, .block = block, .dynamic_shared_bytes = dynamic_shared_bytes, .stream = stream};
    return LAUNCH(launch(handle, &configuration, arguments));
}

// Attributes that only affect ordering or placement have no effect; the ones that a kernel can observe are applied.
static cudaError_t apply_launch_attribute(const cudaLaunchAttribute *attribute, struct configuration *configuration) {
    switch ((int)attribute->id) {
    case cudaLaunchAttributeClusterDimension:
        configuration->cluster_request.size =
            (dim3){attribute->val.clusterDim.x, attribute->val.clusterDim.y, attribute->val.clusterDim.z};
        if (attribute->val.clusterDim.x == 0)
            return api_error(cudaErrorInvalidClusterSize, "the cluster has 0 blocks");
        return cudaSuccess;
    case cudaLaunchAttributeProgrammaticStreamSerialization:
        configuration->programmatic = attribute->val.programmaticStreamSerializationAllowed != 0;
        return cudaSuccess;
    case cudaLaunchAttributeCooperative:
        configuration->cooperative |= attribute->val.cooperative != 0;
        return cudaSuccess;
#if CUDART_VERSION >= 12080
    case cudaLaunchAttributePreferredClusterDimension:
        configuration->cluster_request.preferred =
            (dim3){attribute->val.preferredClusterDim.x, attribute->val.preferredClusterDim.y,
                   attribute->val.preferredClusterDim.z};
        configuration->cluster_request.has_preferred = true;
        return cudaSuccess;
#endif
    default:
        return cudaSuccess;
    }
}

static cudaError_t launch_extended(const cudaLaunchConfig_t *config, const void *host, void **arguments) {
    if (!config)
        return api_error(cudaErrorInvalidValue, "the configuration is NULL");
    struct configuration plain = {.grid = config->gridDim,
                                  .block = config->blockDim,
                                  .dynamic_shared_bytes = config->dynamicSmemBytes,
                                  .stream = config->stream};
    for (unsigned i = 0; i < config->numAttrs; i++) {
        cudaError_t error = apply_launch_attribute(&config->attrs[i], &plain);
        if (error != cudaSuccess)
            return error;
    }
    return launch(host, &plain, arguments);
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *function, void **arguments) {
    return LAUNCH(launch_extended(config, function, arguments));
}

cudaError_t cudaLaunchCooperativeKernel(const void *function, dim3 grid, dim3 block, void **arguments,
                                        size_t dynamic_shared_bytes, cudaStream_t stream) {
    struct configuration configuration = {.grid = grid,
                                          .block = block,
                                          .dynamic_shared_bytes = dynamic_shared_bytes,
                                          .stream = stream,
                                          .cooperative = true};
    return LAUNCH(launch(function, &configuration, arguments));
}

cudaError_t launch_kernel(const void *host_or_handle, const struct configuration *configuration, void **arguments) {
    struct configuration configuration_copy = *configuration;
    return launch(host_or_handle, &configuration_copy, arguments);
}
