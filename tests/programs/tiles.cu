// Cooperative-group tiles of several warps, which use the reserved shared memory: reductions, shuffles, votes and
// synchronization of tiles of 64 to 512 threads, with additional shared memory of the program.
#include "program.cuh"

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

constexpr int THREADS = 512, BLOCKS = 3, PARTS = 5;

__device__ unsigned size_of_shared(bool with_reserved) {
    unsigned bytes;
    if (with_reserved)
        asm("mov.u32 %0, %%aggr_smem_size;" : "=r"(bytes));
    else
        asm("mov.u32 %0, %%total_smem_size;" : "=r"(bytes));
    return bytes;
}

template <int SIZE>
__global__ void tiles(int *result, unsigned *bytes) {
    extern __shared__ int own[];
    const auto block = cooperative_groups::this_thread_block();
    const auto tile = cooperative_groups::tiled_partition<SIZE>(block);
    const int at = blockIdx.x * THREADS + threadIdx.x, x = at * at % 1009;
    own[threadIdx.x] = x;
    tile.sync(); // only the tile's values are visible
    result[PARTS * at] = own[threadIdx.x / SIZE * SIZE + (threadIdx.x + 33) % SIZE];
    // Sequential use of the same storage.
    result[PARTS * at + 1] = cooperative_groups::reduce(tile, x, cooperative_groups::plus<int>());
    result[PARTS * at + 2] = cooperative_groups::reduce(tile, x, cooperative_groups::greater<int>());
    result[PARTS * at + 3] = tile.shfl(x, SIZE - 3);
    result[PARTS * at + 4] = tile.any(x == 1008) + 2 * tile.all(x < 1000);
    if (at == 0) {
        bytes[0] = size_of_shared(false);
        bytes[1] = size_of_shared(true);
    }
}

template <int SIZE>
void check() {
    int *result = zeros<int>(PARTS * THREADS * BLOCKS);
    unsigned *bytes = zeros<unsigned>(2);
    tiles<SIZE><<<BLOCKS, THREADS, THREADS * sizeof(int)>>>(result, bytes);
    OK(cudaGetLastError());
    const std::vector<int> got = to_host(result, PARTS * THREADS * BLOCKS);
    for (int first = 0; first < THREADS * BLOCKS; first += SIZE) {
        int sum = 0, most = 0;
        bool any = false, all = true;
        auto x = [&](int i) { return (first + i) * (first + i) % 1009; };
        for (int i = 0; i < SIZE; i++) {
            sum += x(i);
            most = x(i) > most ? x(i) : most;
            any |= x(i) == 1008;
            all &= x(i) < 1000;
        }
        for (int i = 0; i < SIZE; i++) {
            const int *of_thread = &got[PARTS * (first + i)];
            EXPECT(of_thread[0] == x((i + 33) % SIZE));
            EXPECT(of_thread[1] == sum && of_thread[2] == most);
            EXPECT(of_thread[3] == x(SIZE - 3) && of_thread[4] == any + 2 * all);
        }
    }
    cudaDeviceProp properties;
    OK(cudaGetDeviceProperties(&properties, 0));
    const std::vector<unsigned> sizes = to_host(bytes, 2);
    EXPECT(sizes[0] >= THREADS * sizeof(int) && sizes[1] == sizes[0] + properties.reservedSharedMemPerBlock);
}

int main() {
    check<64>();
    check<128>();
    check<256>();
    check<512>();
    return 0;
}
