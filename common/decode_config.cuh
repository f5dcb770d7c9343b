// The kernel configurations of a lesson on decoding, how many shares there are, and the counters of their blocks.
#pragma once

#include "decode_shares.cuh"
#include "kernel_config.cuh"

#include <atomic>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

constexpr float LOG2_E = 1.44269504f;

struct DecodeConfig {
    int head_dim, rows; // the largest head_dim, rows per row tile
    int keys, threads;  // keys per tile, threads per block
    size_t shared_bytes, partial_bytes;
    const void *kernel;
    cudaError_t (*launch)(const struct DecodeConfig *config, const struct decode_problem *p, cudaStream_t stream);
};

// Counters of arrivals, one for each share in which work begins that continues behind it. The last block to arrive sets
// its counter to 0 again. Each launch has counters of its own, since launches in different streams may run
// concurrently.
constexpr int MAX_SHARES = 1024, ARRIVAL_CALLS = 64;
static __device__ unsigned arrival_counters[ARRIVAL_CALLS][MAX_SHARES];

static inline cudaError_t acquire_arrivals(unsigned **arrivals) {
    static std::atomic<unsigned> calls;
    void *first;
    const cudaError_t error = cudaGetSymbolAddress(&first, arrival_counters);
    if (error == cudaSuccess)
        *arrivals = (unsigned *)first + (size_t)(calls++ % ARRIVAL_CALLS) * MAX_SHARES;
    return error;
}

// As many shares as blocks are resident at a time, but none that could never have a tile. Lengths are known to the
// device alone: what counts here is what the cache has room for.
static inline cudaError_t count_shares(const struct DecodeConfig *config, const struct decode_problem *p, int *shares) {
    int device = 0, sms = 0, blocks_per_sm = 0;
    const int64_t row_tiles = (int64_t)p->batch * p->kv_heads * ((rows_of_group(*p) - 1) / config->rows + 1);
    const int64_t tiles = row_tiles * (((int64_t)p->pages_per_request * p->page_size - 1) / config->keys + 1);
    cudaError_t error = tiles > INT32_MAX ? cudaErrorInvalidConfiguration : cudaGetDevice(&device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
    if (error == cudaSuccess)
        error = cudaFuncSetAttribute(config->kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                     (int)config->shared_bytes);
    if (error == cudaSuccess)
        error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks_per_sm, config->kernel, config->threads,
                                                              config->shared_bytes);
    const int64_t most = min((int64_t)sms * blocks_per_sm, (int64_t)MAX_SHARES);
    *shares = (int)min(tiles, most);
    return error == cudaSuccess && *shares < 1 ? cudaErrorInvalidConfiguration : error;
}
