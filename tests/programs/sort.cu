// Two sorts: a bitonic sort in shared memory, and a radix sort of one bit per pass over several blocks with ballots.
#include "program.cuh"

#include <algorithm>

__global__ void sort_tile(unsigned *x, int n) {
    extern __shared__ unsigned sorting[];
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        sorting[i] = x[i];
    __syncthreads();
    for (int size = 2; size <= n; size *= 2) {
        for (int distance = size / 2; distance > 0; distance /= 2) {
            for (int i = threadIdx.x; i < n; i += blockDim.x) {
                const int other = i ^ distance;
                const bool up = (i & size) == 0;
                if (other > i && (sorting[i] > sorting[other]) == up) {
                    const unsigned kept = sorting[i];
                    sorting[i] = sorting[other];
                    sorting[other] = kept;
                }
            }
            __syncthreads();
        }
    }
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        x[i] = sorting[i];
}

// The number of zeros of this bit in a warp's 32 keys.
__global__ void count_zeros(const unsigned *keys, int *zeros_of_warp, int bit) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned ones = __ballot_sync(0xffffffff, keys[i] >> bit & 1);
    if (i % 32 == 0)
        zeros_of_warp[i / 32] = __popc(~ones);
}

// One thread: converts counts to offsets. zeros_of_warp[warps] is the total.
__global__ void place_warps(int *zeros_of_warp, int warps) {
    int sum = 0;
    for (int i = 0; i <= warps; i++) {
        const int count = i < warps ? zeros_of_warp[i] : 0;
        zeros_of_warp[i] = sum;
        sum += count;
    }
}

__global__ void move_keys(const unsigned *from, unsigned *to, const int *zeros_before, int warps, int bit) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = i % 32, warp = i / 32;
    const unsigned key = from[i], below = (1u << lane) - 1;
    const bool one = key >> bit & 1;
    const unsigned ones = __ballot_sync(0xffffffff, one);
    const int zero = zeros_before[warp] + __popc(~ones & below);
    to[one ? zeros_before[warps] + 32 * warp - zeros_before[warp] + __popc(ones & below) : zero] = key;
}

int main() {
    const int n = 2048, warps = n / 32;
    std::vector<unsigned> keys(n);
    unsigned state = 7;
    for (unsigned &key : keys)
        key = (state = state * 1664525u + 1013904223u) >> 12;
    unsigned *one = to_device(keys), *two = to_device(keys);
    unsigned *tile = to_device(keys);
    int *counts = zeros<int>(warps + 1);
    std::sort(keys.begin(), keys.end());
    sort_tile<<<1, 256, n * sizeof(unsigned)>>>(tile, n);
    EXPECT(to_host(tile, n) == keys);
    for (int bit = 0; bit < 20; bit++) {
        count_zeros<<<n / 256, 256>>>(one, counts, bit);
        place_warps<<<1, 1>>>(counts, warps);
        move_keys<<<n / 256, 256>>>(one, two, counts, warps, bit);
        std::swap(one, two);
    }
    EXPECT(to_host(one, n) == keys);
    return 0;
}
