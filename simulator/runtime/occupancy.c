// Occupancy: see occupancy.h. An SM holds as many blocks as its scarcest resource allows: block slots, warps,
// registers, shared memory. Hardware hands out each of them in units, so each demand is rounded up first (the units are
// those of NVIDIA's occupancy calculator for compute capability 7.5 and later).
#include "occupancy.h"
#include "device.h"
#include "module.h"

#define WARP 32
#define QUARTERS 4        // of an SM, each with a quarter of its registers and its warps
#define REGISTER_UNIT 256 // registers of a warp

static size_t round_up(size_t value, size_t unit) {
    return (value + unit - 1) / unit * unit;
}

static size_t shared_unit(const struct sim_device *gpu) {
    return gpu->compute_capability >= 80 ? 128 : 256;
}

static int smaller(int a, int b) {
    return a < b ? a : b;
}

static int blocks_by_registers(const struct sim_device *gpu, int warps, int registers_per_thread) {
    size_t of_a_warp = round_up((size_t)registers_per_thread * WARP, REGISTER_UNIT);
    // Whether a block may start at all is decided as if its warps filled all four quarters evenly.
    if (of_a_warp * round_up((size_t)warps, QUARTERS) > (size_t)gpu->registers_per_block)
        return 0;
    size_t warps_on_sm = (size_t)gpu->registers_per_sm / QUARTERS / of_a_warp * QUARTERS;
    return (int)(warps_on_sm / (size_t)warps);
}

static int blocks_by_shared(const struct sim_device *gpu, size_t shared_bytes) {
    if (shared_bytes > gpu->shared_per_block_optin)
        return 0;
    size_t of_a_block = round_up(shared_bytes + gpu->reserved_shared, shared_unit(gpu));
    return of_a_block == 0 ? gpu->max_blocks_per_sm : (int)(gpu->shared_per_sm / of_a_block);
}

int occupancy_blocks(const struct sim_device *gpu, int threads, int registers_per_thread, size_t shared_bytes) {
    if (threads < 1 || threads > gpu->max_threads_per_block)
        return 0;
    int warps = (threads + WARP - 1) / WARP;
    int blocks = smaller(gpu->max_blocks_per_sm, gpu->max_threads_per_sm / WARP / warps);
    blocks = smaller(blocks, blocks_by_registers(gpu, warps, registers_per_thread));
    return smaller(blocks, blocks_by_shared(gpu, shared_bytes));
}

int occupancy_registers(const struct function *function) {
    return function->registers ? function->registers : OCCUPANCY_ASSUMED_REGISTERS;
}

static cudaError_t max_blocks(int *blocks, const void *host, int threads, size_t dynamic_bytes) {
    if (!blocks || threads < 1)
        return api_error(cudaErrorInvalidValue, "a block of %d threads, or the pointer to the result is NULL", threads);
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
    (void)flags; // whether global loads go through L1 mattered on devices older than those simulated
    return DEVICE_CALL(max_blocks(blocks, function, threads, dynamic_bytes));
}

// The most dynamic shared memory with which that many blocks still fit.
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
        return api_error(cudaErrorInvalidValue, "%d blocks of %d threads do not fit one SM", blocks, threads);
    size_t share = gpu->shared_per_sm / (size_t)blocks / shared_unit(gpu) * shared_unit(gpu) - gpu->reserved_shared;
    share = share < gpu->shared_per_block_optin ? share : gpu->shared_per_block_optin;
    *bytes = share - function->kernel->static_shared_bytes;
    return cudaSuccess;
}

cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, const void *function, int blocks, int threads) {
    return DEVICE_CALL(available_shared(bytes, function, blocks, threads));
}
