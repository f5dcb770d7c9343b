// Cooperative groups: tiled partitions of a warp, coalesced groups, and grid synchronization.
#include "program.cuh"

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

// Smoothing iterations in one launch: each reads its neighbours' values of the previous iteration.
__global__ void smooth(float *one, float *two, int n, int iterations) {
    const cg::grid_group grid = cg::this_grid();
    for (int iteration = 0; iteration < iterations; iteration++) {
        const float *from = iteration % 2 ? two : one;
        float *to = iteration % 2 ? one : two;
        for (int i = grid.thread_rank(); i < n; i += grid.size())
            to[i] = 0.5f * from[(i + n - 1) % n] + 0.5f * from[(i + 1) % n];
        grid.sync();
    }
}

__global__ void groups(const int *x, int *sums, int *found, int n) {
    const cg::thread_block block = cg::this_thread_block();
    const cg::thread_block_tile<8> tile = cg::tiled_partition<8>(block);
    const int i = block.group_index().x * block.size() + block.thread_rank();
    const int sum = cg::reduce(tile, x[i], cg::plus<int>());
    if (tile.thread_rank() == 0)
        sums[i / 8] = sum;
    if (x[i] % 3 == 0) {
        const cg::coalesced_group threes = cg::coalesced_threads();
        if (threes.thread_rank() == 0)
            atomicAdd(found, threes.size());
    }
    block.sync();
    const cg::coalesced_group alike = cg::labeled_partition(cg::tiled_partition<32>(block), x[i] % 4);
    const int most = cg::reduce(alike, x[i], cg::greater<int>());
    if (most < x[i])
        atomicAdd(found, 1000000);
}

int main() {
    const int n = 3000, iterations = 5;
    std::vector<float> x = whole_numbers(n, 64), next(n);
    float *one = to_device(x), *two = zeros<float>(n);
    int supported, fit, length = n, times = iterations;
    OK(cudaDeviceGetAttribute(&supported, cudaDevAttrCooperativeLaunch, 0));
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, smooth, 128, 0));
    EXPECT(supported && fit > 0);
    void *arguments[] = {&one, &two, &length, &times};
    OK(cudaLaunchCooperativeKernel(smooth, dim3(8), dim3(128), arguments, 0, nullptr));
    for (int iteration = 0; iteration < iterations; iteration++) {
        for (int i = 0; i < n; i++)
            next[i] = 0.5f * x[(i + n - 1) % n] + 0.5f * x[(i + 1) % n];
        x.swap(next);
    }
    EXPECT(to_host(iterations % 2 ? two : one, n) == x);

    const int count = 1024;
    std::vector<int> numbers(count);
    int threes = 0;
    for (int i = 0; i < count; i++) {
        numbers[i] = i * 37 % 101;
        threes += numbers[i] % 3 == 0;
    }
    int *sums = zeros<int>(count / 8), *found = zeros<int>(1);
    groups<<<4, 256>>>(to_device(numbers), sums, found, count);
    EXPECT(to_host(found, 1)[0] == threes);
    const std::vector<int> result = to_host(sums, count / 8);
    for (int i = 0; i < count; i += 8) {
        int sum = 0;
        for (int k = 0; k < 8; k++)
            sum += numbers[i + k];
        EXPECT(result[i / 8] == sum);
    }
    return 0;
}
