// Tiles copied by cuda::memcpy_async and cuda::barrier (bulk copies on Hopper) over tiles that were read or zeroed
// before.
#include "program.cuh"

#include <cooperative_groups.h>
#include <cuda/barrier>

#pragma nv_diag_suppress static_var_with_dynamic_init // init() initializes the barriers

namespace cg = cooperative_groups;
using barrier = cuda::barrier<cuda::thread_scope_block>;
constexpr int MOVED = 256; // elements per tile, and threads

// Double buffering: the block copies the next tile while it adds up the current one, as a GEMM does.
__global__ void in_turn(const float *x, float *sums, int tiles) {
    __shared__ alignas(16) float tile[2][MOVED];
    __shared__ barrier full[2];
    const auto block = cg::this_thread_block();
    const int t = threadIdx.x;
    if (t == 0) {
        init(&full[0], MOVED);
        init(&full[1], MOVED);
    }
    block.sync();
    cuda::memcpy_async(block, tile[0], x, cuda::aligned_size_t<16>(sizeof tile[0]), full[0]);
    float sum = 0;
    for (int i = 0; i < tiles; i++) {
        if (i + 1 < tiles)
            cuda::memcpy_async(block, tile[(i + 1) % 2], x + (i + 1) * MOVED, cuda::aligned_size_t<16>(sizeof tile[0]),
                               full[(i + 1) % 2]);
        full[i % 2].arrive_and_wait();
        sum += tile[i % 2][MOVED - 1 - t];
        block.sync();
    }
    sums[t] = sum;
}

// Each thread copies its 16 bytes over zeros; the last tile is partial.
__global__ void by_thread(const float *x, float *sums, int n) {
    __shared__ alignas(16) float tile[MOVED];
    __shared__ barrier full;
    const int t = threadIdx.x;
    if (t == 0)
        init(&full, MOVED);
    tile[t] = 0;
    __syncthreads();
    float sum = 0;
    for (int start = 0; start < n; start += MOVED) {
        if (4 * t < MOVED && start + 4 * t < n)
            cuda::memcpy_async(&tile[4 * t], &x[start + 4 * t], cuda::aligned_size_t<16>(16), full);
        full.arrive_and_wait();
        sum += tile[MOVED - 1 - t];
        __syncthreads();
        tile[t] = 0;
        __syncthreads();
    }
    sums[t] = sum;
}

int main() {
    const int tiles = 5, n = tiles * MOVED - 64;
    std::vector<float> x = whole_numbers(tiles * MOVED, 100), expected(MOVED);
    for (int i = n; i < tiles * MOVED; i++)
        x[i] = 0;
    for (int i = 0; i < tiles * MOVED; i++)
        expected[MOVED - 1 - i % MOVED] += x[i];
    const float *from = to_device(x);
    float *sums = zeros<float>(MOVED);
    in_turn<<<1, MOVED>>>(from, sums, tiles);
    EXPECT(to_host(sums, MOVED) == expected);
    OK(cudaMemset(sums, 0, MOVED * sizeof(float)));
    by_thread<<<1, MOVED>>>(from, sums, n);
    EXPECT(to_host(sums, MOVED) == expected);
    return 0;
}
