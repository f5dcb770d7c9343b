// Occupancy: see occupancy.h. The scarcest resource limits the blocks on an SM: block slots, warps, registers, shared
// memory. Hardware allocates each of them in units, so each demand is first rounded up (the units are those of NVIDIA's
// occupancy calculator for compute capability 7.5 and later).
#include "occupancy.h"
#include "device.h"
#include "module.h"

#define WARP 32
#define SM_PARTITIONS 4   // sub-partitions of an SM, each with a quarter of its registers and warps
#define REGISTER_UNIT 256 // register allocation unit of a warp

static size_t round_up(size_t value, size_t unit) {
    return (value + unit - 1) / unit * unit;
}

static size_t shared_unit(const struct sim_device *gpu) {
    return gpu->compute_capability >= 80 ? 128 : 256;
}

static int minimum(int a, int b) {
    return a < b ? a : b;
}

static int blocks_by_registers(const struct sim_device *gpu, int warps, int registers_per_thread) {
    size_t registers_per_warp = round_up((size_t)registers_per_thread * WARP, REGISTER_UNIT);
    // Whether a block can start at all is decided as if its warps were distributed evenly over the four sub-partitions.
    if (registers_per_warp * round_up((size_t)warps, SM_PARTITIONS) > (size_t)gpu->registers_per_block)
        return 0;
    size_t warps_on_sm = (size_t)gpu->registers_per_sm / SM_PARTITIONS / registers_per_warp * SM_PARTITIONS;
    return (int)(warps_on_sm / (size_t)warps);
}

static int blocks_by_shared(const struct sim_device *gpu, size_t shared_bytes) {
    if (shared_bytes > gpu->shared_per_block_optin)
        return 0;
    size_t bytes_per_block = round_up(shared_bytes + gpu->reserved_shared, shared_unit(gpu));
    return bytes_per_block == 0 ? gpu->max_blocks_per_sm : (int)(gpu->shared_per_sm / bytes_per_block);
}

int occupancy_blocks(const struct sim_device *gpu, int threads, int registers_per_thread, size_t shared_bytes) {
    if (threads < 1 || threads > gpu->max_threads_per_block)
        return 0;
    int warps = (threads + WARP - 1) / WARP;
    int blocks = minimum(gpu->max_blocks_per_sm, gpu->max_threads_per_sm / WARP / warps);
    blocks = minimum(blocks, blocks_by_registers(gpu, warps, registers_per_thread));
    return minimum(blocks, blocks_by_shared(gpu, shared_bytes));
}

int occupancy_registers(const struct function *function) {
    return function->registers ? function->registers : OCCUPANCY_ASSUMED_REGISTERS;
}

static cudaError_t max_blocks(int *blocks, const void *host, int threads, size_t dynamic_bytes) {
    if (!blocks || threads < 1)
        return api_error(cudaErrorInvalidValue, "the block has %d threads, or the pointer to the result is NULL",
                         threads);
    struct function *function = NULL;
    cudaError_t error = function_find_loaded(host, &function);
    if (error == cudaSuccess) {
        *blocks = occupancy_blocks(&device_current()->simulated, threads, occupancy_registers(function),
                                   function->kernel->static_shared_bytes + dynamic_bytes);
    }
    return error;
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *function, int threads,
                                                          size_t dynamic_bytes) {
    return DEVICE_CALL(max_blocks(blocks, function, threads, dynamic_bytes));
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *function, int threads,
                                                                   size_t dynamic_bytes, unsigned int flags) {
    (void)flags; // caching of global loads in L1 mattered only on older devices
    return DEVICE_CALL(max_blocks(blocks, function, threads, dynamic_bytes));
}

// The maximum of dynamic shared memory with which that many blocks still fit.
static cudaError_t available_shared(size_t *bytes, const void *host, int blocks, int threads) {
    struct function *function = NULL;
    if (!bytes || blocks < 1 || threads < 1) {
        return api_error(cudaErrorInvalidValue, "%d blocks of %d threads, or the pointer to the result is NULL", blocks,
                         threads);
    }
    cudaError_t error = function_find_loaded(host, &function);
    if (error != cudaSuccess)
        return error;
    const struct sim_device *gpu = &device_current()->simulated;
    if (occupancy_blocks(gpu, threads, occupancy_registers(function), function->kernel->static_shared_bytes) < blocks)
        return api_error(cudaErrorInvalidValue, "%d blocks of %d threads do not fit on one SM", blocks, threads);
    size_t bytes_available =
        gpu->shared_per_sm / (size_t)blocks / shared_unit(gpu) * shared_unit(gpu) - gpu->reserved_shared;
    bytes_available = bytes_available < gpu->shared_per_block_optin ? bytes_available : gpu->shared_per_block_optin;
    *bytes = bytes_available - function->kernel->static_shared_bytes;
    return cudaSuccess;
}

cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, const void *function, int blocks, int threads) {
    return DEVICE_CALL(available_shared(bytes, function, blocks, threads));
}
