// Separate compilation and dynamic parallelism: a quicksort that partitions its input and launches itself on both
// parts.
#include "linked.cuh"
#include "program.cuh"

#include <algorithm>

static __device__ int same_name(int x) {
    return x + 1;
}

__device__ int of_main = 5;

__global__ void across_files(int *out) {
    out[0] = same_name(10);
    out[1] = of_other_file(10);
    out[2] = limits[1] + counter;
    out[3] = larger(3, 4);
    if (threadIdx.x == 0)
        printf("%d %s\n", out[1], "by another file");
}

// Sorts x[0 .. n): short arrays by one thread, else by launching itself on the smaller and the larger elements.
__global__ void sort_part(int *x, int n) {
    if (n < 8) {
        for (int i = 1; i < n; i++)
            for (int k = i; k > 0 && x[k] < x[k - 1]; k--) {
                const int kept = x[k];
                x[k] = x[k - 1];
                x[k - 1] = kept;
            }
        return;
    }
    const int middle = x[n / 2];
    int low = 0, high = n - 1;
    while (low <= high) {
        while (x[low] < middle)
            low++;
        while (x[high] > middle)
            high--;
        if (low <= high) {
            const int kept = x[low];
            x[low++] = x[high];
            x[high--] = kept;
        }
    }
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    sort_part<<<1, 1, 0, stream>>>(x, high + 1);
    cudaStreamDestroy(stream);
    sort_part<<<1, 1>>>(x + low, n - low);
}

__global__ void append(int *log, int value) {
    log[++log[0]] = value;
}

// A tail launch runs last, although it is enqueued first.
__global__ void in_turn(int *log) {
    append<<<1, 1, 0, cudaStreamTailLaunch>>>(log, 3);
    append<<<1, 1>>>(log, 1);
    append<<<1, 1>>>(log, 2);
}

// One kernel allocates memory, another one uses it, and a third one frees it.
__global__ void take(int **kept, int n) {
    if (cudaMalloc((void **)kept, n * sizeof(int)) == cudaSuccess)
        for (int i = 0; i < n; i++)
            (*kept)[i] = i * i;
}

__global__ void read_kept(int **kept, int *out) {
    out[threadIdx.x] = (*kept)[threadIdx.x];
}

__global__ void give_back(int **kept, int *out) {
    out[0] = cudaFree(*kept);
}

// A copy is ordered among the launches.
__global__ void copy_between(int *log, int *kept) {
    append<<<1, 1>>>(log, 5);
    const cudaError_t error = cudaMemcpyAsync(kept, log, 2 * sizeof(int), cudaMemcpyDeviceToDevice, 0);
    if (error != cudaSuccess)
        printf("%s\n", cudaGetErrorString(error));
    append<<<1, 1>>>(log, 6);
}

static void copies_of_kernels() {
    int *log = zeros<int>(8), *kept = zeros<int>(2);
    copy_between<<<1, 1>>>(log, kept);
    EXPECT(to_host(kept, 2) == std::vector<int>({1, 5}) && to_host(log, 3) == std::vector<int>({2, 5, 6}));
}

static void memory_of_kernels() {
    int **kept = zeros<int *>(1), *out = zeros<int>(8);
    take<<<1, 1>>>(kept, 8);
    read_kept<<<1, 8>>>(kept, out);
    EXPECT(to_host(out, 8) == std::vector<int>({0, 1, 4, 9, 16, 25, 36, 49}));
    give_back<<<1, 1>>>(kept, out);
    EXPECT(to_host(out, 1)[0] == cudaSuccess);
}

int main() {
    int *out = zeros<int>(4);
    across_files<<<1, 1>>>(out);
    EXPECT(to_host(out, 4) == std::vector<int>({11, 20, 7 + 40, 4}));
    int counted = 41;
    OK(cudaMemcpyToSymbol(counter, &counted, sizeof counted));
    EXPECT(count_in_other_file() == 42);

    const int n = 500;
    std::vector<int> numbers(n);
    for (int i = 0; i < n; i++)
        numbers[i] = i * 7919 % 1009;
    int *x = to_device(numbers);
    std::sort(numbers.begin(), numbers.end());
    sort_part<<<1, 1>>>(x, n);
    EXPECT(to_host(x, n) == numbers);
    int *log = zeros<int>(8);
    in_turn<<<1, 1>>>(log);
    EXPECT(to_host(log, 4) == std::vector<int>({3, 1, 2, 3}));
    memory_of_kernels();
    copies_of_kernels();
    conditions();
    return 0;
}
