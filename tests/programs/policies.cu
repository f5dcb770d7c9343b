// Cache policies of asynchronous copies and atomics: the results are the same with and without them.
#include "program.cuh"

constexpr int THREADS = 64;

__device__ unsigned long long policy() {
    unsigned long long made;
    asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(made));
    return made;
}

__global__ void copies(int *result, const int *from) {
    __shared__ __align__(16) int whole[4 * THREADS], parts[4 * THREADS];
    const int t = threadIdx.x;
    const unsigned to_whole = (unsigned)__cvta_generic_to_shared(whole + 4 * t);
    const unsigned to_parts = (unsigned)__cvta_generic_to_shared(parts + 4 * t);
    // Bytes past the source size become zero.
    asm volatile("cp.async.cg.shared.global.L2::cache_hint [%0], [%1], 16, %2;" ::"r"(to_whole), "l"(from + 4 * t),
                 "l"(policy())
                 : "memory");
    asm volatile("cp.async.cg.shared.global.L2::cache_hint.L2::128B [%0], [%1], 16, %2, %3;" ::"r"(to_parts),
                 "l"(from + 4 * t), "r"(4 * (t % 5)), "l"(policy())
                 : "memory");
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncthreads();
    for (int i = t; i < 4 * THREADS; i += THREADS) {
        result[i] = whole[i];
        result[4 * THREADS + i] = parts[i];
    }
}

__global__ void atomics(int *before, float2 *pair_before, int *count, float2 *sums) {
    const int t = threadIdx.x;
    asm volatile("atom.global.add.L2::cache_hint.u32 %0, [%1], 1, %2;"
                 : "=r"(before[t])
                 : "l"(count), "l"(policy())
                 : "memory");
    asm volatile("atom.global.add.L2::cache_hint.v2.f32 {%0, %1}, [%2], {%3, %4}, %5;"
                 : "=f"(pair_before[t].x), "=f"(pair_before[t].y)
                 : "l"(sums), "f"(1.0f), "f"(2.0f), "l"(policy())
                 : "memory");
}

int main() {
    std::vector<int> from(4 * THREADS);
    for (int i = 0; i < 4 * THREADS; i++)
        from[i] = 7 * i + 1;
    int *result = zeros<int>(8 * THREADS);
    copies<<<1, THREADS>>>(result, to_device(from));
    OK(cudaGetLastError());
    const std::vector<int> copied = to_host(result, 8 * THREADS);
    for (int i = 0; i < 4 * THREADS; i++) {
        EXPECT(copied[i] == from[i]);
        EXPECT(copied[4 * THREADS + i] == (i % 4 < i / 4 % 5 ? from[i] : 0));
    }
    int *before = zeros<int>(THREADS), *count = zeros<int>(1);
    float2 *pair_before = zeros<float2>(THREADS), *sums = zeros<float2>(1);
    atomics<<<1, THREADS>>>(before, pair_before, count, sums);
    OK(cudaGetLastError());
    std::vector<int> times(THREADS), pair_times(THREADS);
    const std::vector<int> counted = to_host(before, THREADS);
    const std::vector<float2> pairs = to_host(pair_before, THREADS);
    for (int i = 0; i < THREADS; i++) {
        EXPECT(counted[i] >= 0 && counted[i] < THREADS && !times[counted[i]]++);
        const int x = (int)pairs[i].x;
        EXPECT(x >= 0 && x < THREADS && pairs[i].y == 2 * pairs[i].x && !pair_times[x]++);
    }
    EXPECT(to_host(count, 1)[0] == THREADS);
    const float2 sum = to_host(sums, 1)[0];
    EXPECT(sum.x == THREADS && sum.y == 2 * THREADS);
    return 0;
}
