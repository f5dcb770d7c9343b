// Prefix sums: an up-sweep and a down-sweep within each block, a scan of the block sums, and their addition to each
// block.
#include "program.cuh"

constexpr int SCANNED = 512; // elements per block

// x becomes the exclusive sum within its block; totals, if not NULL, receives the block's sum.
__global__ void scan_blocks(int *x, int *totals) {
    __shared__ int tile[SCANNED];
    const int t = threadIdx.x, first = blockIdx.x * SCANNED;
    tile[2 * t] = x[first + 2 * t];
    tile[2 * t + 1] = x[first + 2 * t + 1];
    int offset = 1;
    for (int pairs = SCANNED / 2; pairs > 0; pairs /= 2, offset *= 2) {
        __syncthreads();
        if (t < pairs)
            tile[offset * (2 * t + 2) - 1] += tile[offset * (2 * t + 1) - 1];
    }
    if (t == 0) {
        if (totals)
            totals[blockIdx.x] = tile[SCANNED - 1];
        tile[SCANNED - 1] = 0;
    }
    for (int pairs = 1; pairs < SCANNED; pairs *= 2) {
        offset /= 2;
        __syncthreads();
        if (t < pairs) {
            const int left = offset * (2 * t + 1) - 1, right = offset * (2 * t + 2) - 1, kept = tile[left];
            tile[left] = tile[right];
            tile[right] += kept;
        }
    }
    __syncthreads();
    x[first + 2 * t] = tile[2 * t];
    x[first + 2 * t + 1] = tile[2 * t + 1];
}

__global__ void add_to_blocks(int *x, const int *before) {
    x[blockIdx.x * SCANNED + threadIdx.x] += before[blockIdx.x];
}

int main() {
    const int blocks = 20, n = blocks * SCANNED;
    std::vector<int> x(n);
    for (int i = 0; i < n; i++)
        x[i] = i * 7 % 13 - 3;
    int *x_device = to_device(x), *totals = zeros<int>(SCANNED);
    scan_blocks<<<blocks, SCANNED / 2>>>(x_device, totals);
    scan_blocks<<<1, SCANNED / 2>>>(totals, nullptr);
    add_to_blocks<<<blocks, SCANNED>>>(x_device, totals);
    const std::vector<int> sums = to_host(x_device, n);
    for (int i = 0, sum = 0; i < n; sum += x[i++])
        EXPECT(sums[i] == sum);
    return 0;
}
