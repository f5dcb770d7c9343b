// A histogram of bytes: per block in shared memory, then added to the result in global memory.
#include "program.cuh"

constexpr int BINS = 64;

__global__ void count_bytes(const unsigned char *data, int n, unsigned *bins) {
    __shared__ unsigned mine[BINS];
    for (int i = threadIdx.x; i < BINS; i += blockDim.x)
        mine[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&mine[data[i] % BINS], 1u);
    __syncthreads();
    for (int i = threadIdx.x; i < BINS; i += blockDim.x)
        if (mine[i])
            atomicAdd(&bins[i], mine[i]);
}

// One lane counts for all lanes with the same key.
__global__ void count_matches(const unsigned char *data, int n, unsigned *bins) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        const unsigned alike = __match_any_sync(__activemask(), data[i] % BINS);
        if (__ffs(alike) - 1 == threadIdx.x % 32)
            atomicAdd(&bins[data[i] % BINS], (unsigned)__popc(alike));
    }
}

int main() {
    const int n = 10007;
    std::vector<unsigned char> data(n);
    std::vector<unsigned> expected(BINS);
    for (int i = 0; i < n; i++) {
        data[i] = (unsigned char)(i * i % 251);
        expected[data[i] % BINS]++;
    }
    const unsigned char *data_device = to_device(data);
    unsigned *bins = zeros<unsigned>(BINS), *matched = zeros<unsigned>(BINS);
    count_bytes<<<6, 192>>>(data_device, n, bins);
    EXPECT(to_host(bins, BINS) == expected);
    count_matches<<<6, 192>>>(data_device, n, matched);
    EXPECT(to_host(matched, BINS) == expected);
    return 0;
}
