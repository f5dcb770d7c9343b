// A single-pass scan with decoupled look-back: each block publishes its sum and inspects its predecessors. State and
// sum share one 16-byte word, which is stored and loaded atomically.
#include "program.cuh"

enum : unsigned long long { NOTHING, OWN_SUM, SUM_SO_FAR };

__device__ void publish(ulonglong2 *at, unsigned long long state, long long sum) {
    asm volatile("st.relaxed.gpu.v2.u64 [%0], {%1, %2};" ::"l"(at), "l"(state), "l"(sum) : "memory");
}

__device__ ulonglong2 look_at(const ulonglong2 *at) {
    ulonglong2 value;
    asm volatile("ld.relaxed.gpu.v2.u64 {%0, %1}, [%2];" : "=l"(value.x), "=l"(value.y) : "l"(at) : "memory");
    return value;
}

__device__ unsigned next_block;

__global__ void scan_in_one_pass(const int *x, long long *sums, ulonglong2 *status) {
    __shared__ int number;
    __shared__ long long of_warp[32], before;
    if (threadIdx.x == 0)
        number = atomicAdd(&next_block, 1); // a block waits only for blocks with smaller indices
    __syncthreads();
    const int block = number, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    long long sum = x[block * blockDim.x + threadIdx.x];
    for (int offset = 1; offset < 32; offset *= 2) {
        const long long left = __shfl_up_sync(0xffffffff, sum, offset);
        sum += lane >= offset ? left : 0;
    }
    if (lane == 31)
        of_warp[warp] = sum;
    __syncthreads();
    for (int w = 0; w < warp; w++)
        sum += of_warp[w];
    if (threadIdx.x == blockDim.x - 1) {
        publish(&status[block], block == 0 ? SUM_SO_FAR : OWN_SUM, sum);
        long long earlier = 0;
        for (int i = block - 1; i >= 0;) {
            const ulonglong2 value = look_at(&status[i]);
            if (value.x == NOTHING)
                continue;
            earlier += (long long)value.y;
            i = value.x == SUM_SO_FAR ? -1 : i - 1;
        }
        if (block > 0)
            publish(&status[block], SUM_SO_FAR, earlier + sum);
        before = earlier;
    }
    __syncthreads();
    sums[block * blockDim.x + threadIdx.x] = before + sum;
}

// The same with two words: the value is stored first, then a flag.
__global__ void chain(long long *running_sum, unsigned *ready, const int *x, int iterations) {
    const int block = blockIdx.x;
    if (threadIdx.x > 0)
        return;
    for (int iteration = 0; iteration < iterations; iteration++) {
        const int at = iteration * gridDim.x + block;
        long long before = 0;
        if (block > 0) {
            unsigned flag;
            do {
                asm volatile("ld.relaxed.gpu.u32 %0, [%1];" : "=r"(flag) : "l"(ready + at - 1) : "memory");
                __threadfence();
            } while (flag == 0);
            before = running_sum[at - 1];
        }
        running_sum[at] = before + x[at];
        asm volatile("st.release.gpu.u32 [%0], %1;" ::"l"(ready + at), "r"(1) : "memory");
    }
}

// Even blocks store pairs with equal halves, odd blocks search for a torn pair.
__global__ void pairs(ulonglong2 *at, int *torn, int iterations) {
    for (int i = 0; i < iterations; i++) {
        if (blockIdx.x % 2 == 0) {
            publish(at + threadIdx.x, i, i);
        } else {
            const ulonglong2 value = look_at(at + threadIdx.x);
            if (value.x != value.y)
                atomicAdd(torn, 1);
        }
    }
}

int main() {
    const int blocks = 64, threads = 128, n = blocks * threads;
    std::vector<int> x(n);
    for (int i = 0; i < n; i++)
        x[i] = i % 1000 - 400;
    const int *x_device = to_device(x);
    long long *sums = zeros<long long>(n);
    scan_in_one_pass<<<blocks, threads>>>(x_device, sums, zeros<ulonglong2>(blocks));
    const std::vector<long long> result = to_host(sums, n);
    long long sum = 0;
    for (int i = 0; i < n; i++)
        EXPECT(result[i] == (sum += x[i]));
    const int iterations = n / 8;
    long long *chained = zeros<long long>(n);
    chain<<<8, 32>>>(chained, zeros<unsigned>(n), x_device, iterations);
    const std::vector<long long> chains = to_host(chained, n);
    for (int iteration = 0; iteration < iterations; iteration++) {
        sum = 0;
        for (int block = 0; block < 8; block++)
            EXPECT(chains[8 * iteration + block] == (sum += x[8 * iteration + block]));
    }
    int *torn = zeros<int>(1);
    pairs<<<2, 32>>>(zeros<ulonglong2>(32), torn, 10000);
    EXPECT(to_host(torn, 1)[0] == 0);
    return 0;
}
