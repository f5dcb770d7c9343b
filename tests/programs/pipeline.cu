// Asynchronous copies overlapped with work: cuda::pipeline with stages, cuda::barrier with split arrive and wait, and
// the primitives below them.
#include "program.cuh"

#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
#include <cuda/pipeline>

#pragma nv_diag_suppress static_var_with_dynamic_init // init() initializes the barriers

namespace cg = cooperative_groups;
constexpr int STAGES = 2, COPIED = 128; // elements per stage

__global__ void by_pipeline(const float *x, float *sums, int tiles) {
    __shared__ alignas(16) float stage[STAGES][COPIED];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, STAGES> state;
    const auto block = cg::this_thread_block();
    auto pipeline = cuda::make_pipeline(block, &state);
    float sum = 0;
    for (int tile = 0, issued = 0; tile < tiles; tile++) {
        for (; issued < tiles && issued < tile + STAGES; issued++) {
            pipeline.producer_acquire();
            cuda::memcpy_async(block, stage[issued % STAGES], x + issued * COPIED,
                               cuda::aligned_size_t<16>(COPIED * sizeof(float)), pipeline);
            pipeline.producer_commit();
        }
        pipeline.consumer_wait();
        sum += stage[tile % STAGES][COPIED - 1 - threadIdx.x];
        pipeline.consumer_release();
    }
    sums[threadIdx.x] = sum;
}

// Half of the block is the producer, the other half the consumer.
__global__ void by_barrier(const float *x, float *sums, int tiles) {
    using barrier = cuda::barrier<cuda::thread_scope_block>;
    __shared__ float stage[COPIED];
    __shared__ barrier full, empty;
    if (threadIdx.x == 0) {
        init(&full, 2 * COPIED);
        init(&empty, 2 * COPIED);
    }
    __syncthreads();
    const bool producer = threadIdx.x < COPIED;
    const int i = threadIdx.x % COPIED;
    float sum = 0;
    for (int tile = 0; tile < tiles; tile++) {
        if (producer) {
            if (tile > 0)
                empty.arrive_and_wait();
            stage[i] = x[tile * COPIED + i];
            auto token = full.arrive();
            (void)token;
        } else {
            if (tile > 0)
                empty.arrive_and_wait();
            full.arrive_and_wait();
            sum += stage[COPIED - 1 - i];
        }
    }
    if (!producer)
        sums[i] = sum;
}

__global__ void by_group(const float *x, float *sums, int tiles) {
    __shared__ alignas(16) float stage[COPIED];
    const auto block = cg::this_thread_block();
    float sum = 0;
    for (int tile = 0; tile < tiles; tile++) {
        cg::memcpy_async(block, stage, x + tile * COPIED, COPIED * sizeof(float));
        cg::wait(block);
        sum += stage[COPIED - 1 - threadIdx.x];
        block.sync();
    }
    sums[threadIdx.x] = sum;
}

int main() {
    const int tiles = 6;
    const std::vector<float> x = whole_numbers(tiles * COPIED, 100);
    std::vector<float> expected(COPIED);
    for (int tile = 0; tile < tiles; tile++)
        for (int i = 0; i < COPIED; i++)
            expected[i] += x[tile * COPIED + COPIED - 1 - i];
    const float *from = to_device(x);
    float *sums = zeros<float>(COPIED);
    by_pipeline<<<1, COPIED>>>(from, sums, tiles);
    EXPECT(to_host(sums, COPIED) == expected);
    OK(cudaMemset(sums, 0, COPIED * sizeof(float)));
    by_barrier<<<1, 2 * COPIED>>>(from, sums, tiles);
    EXPECT(to_host(sums, COPIED) == expected);
    OK(cudaMemset(sums, 0, COPIED * sizeof(float)));
    by_group<<<1, COPIED>>>(from, sums, tiles);
    EXPECT(to_host(sums, COPIED) == expected);
    return 0;
}
