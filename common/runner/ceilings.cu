#include "runner/ceilings.h"
#include "runner/sm_count.cuh"

#include <cuda_runtime.h>
#include <stdint.h>

namespace {

constexpr int COPY_THREADS = 512;
constexpr int COPY_AT_ONCE = 4; // loads that a thread has under way
constexpr int COPY_BLOCKS_PER_SM = 2;

__global__ void __launch_bounds__(COPY_THREADS)
    copy(const float4 *__restrict__ from /* [count] */, float4 *__restrict__ to /* [count] */, size_t count) {
    const size_t step = static_cast<size_t>(gridDim.x) * COPY_THREADS * COPY_AT_ONCE;
    for (size_t base = static_cast<size_t>(blockIdx.x) * COPY_THREADS * COPY_AT_ONCE + threadIdx.x; base < count;
         base += step) {
        float4 value[COPY_AT_ONCE];
#pragma unroll
        for (int i = 0; i < COPY_AT_ONCE; i++)
            if (base + i * COPY_THREADS < count)
                value[i] = from[base + i * COPY_THREADS];
#pragma unroll
        for (int i = 0; i < COPY_AT_ONCE; i++)
            if (base + i * COPY_THREADS < count)
                to[base + i * COPY_THREADS] = value[i];
    }
}

// One block fills an SM of any architecture from sm_75 on evenly: 8 warps for each of its four schedulers, and 8 chains
// a warp, hide the few clocks that a multiply-add takes.
constexpr int FMA_THREADS = 1024;
constexpr int FMA_CHAINS = 8;
constexpr int FMA_STEPS = 32;
constexpr int FMA_ROUNDS = 4096;

__global__ void __launch_bounds__(FMA_THREADS)
    multiply_add(float *sink /* [gridDim.x][FMA_THREADS] */, float factor, float addend) {
    float chain[FMA_CHAINS];
#pragma unroll
    for (int c = 0; c < FMA_CHAINS; c++)
        chain[c] = threadIdx.x + c;
    for (int round = 0; round < FMA_ROUNDS; round++) {
#pragma unroll
        for (int step = 0; step < FMA_STEPS; step++) {
#pragma unroll
            for (int c = 0; c < FMA_CHAINS; c++)
                chain[c] = fmaf(chain[c], factor, addend);
        }
    }
    float sum = 0;
#pragma unroll
    for (int c = 0; c < FMA_CHAINS; c++)
        sum += chain[c];
    // Stored, so that nothing of it can be left out.
    sink[blockIdx.x * FMA_THREADS + threadIdx.x] = sum;
}

} // namespace

cudaError_t ceiling_copy(const void *from, void *to, size_t bytes, cudaStream_t stream) {
    copy<<<sm_count() * COPY_BLOCKS_PER_SM, COPY_THREADS, 0, stream>>>(
        static_cast<const float4 *>(from), static_cast<float4 *>(to), bytes / sizeof(float4));
    return cudaGetLastError();
}

size_t ceiling_fma_threads(void) {
    return static_cast<size_t>(sm_count()) * FMA_THREADS;
}

double ceiling_fma_flops(void) {
    return 2.0 * FMA_CHAINS * FMA_STEPS * FMA_ROUNDS * static_cast<double>(ceiling_fma_threads());
}

cudaError_t ceiling_fma(float *sink, cudaStream_t stream) {
    // Values stay near 1: neither operands nor results are ever special.
    multiply_add<<<sm_count(), FMA_THREADS, 0, stream>>>(sink, 0.999f, 0.001f);
    return cudaGetLastError();
}
