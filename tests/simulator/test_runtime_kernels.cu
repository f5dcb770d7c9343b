// Ordinary CUDA programs that check their own results; the argument selects a case. They are independent of the
// simulator: the same binary runs on a GPU with NVIDIA's runtime.
#include "../checked.cuh"
#include "test_runtime_other.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <thread>
#include <vector>

template <typename T>
static T *to_device(const T *host, int n) {
    T *device;
    OK(cudaMalloc(&device, n * sizeof(T)));
    OK(cudaMemcpy(device, host, n * sizeof(T), cudaMemcpyHostToDevice));
    return device;
}

// ---- A kernel, kernel templates, and a kernel of another file

__global__ void add(const float *a, const float *b, float *sum, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        sum[i] = a[i] + b[i];
    }
}

static void vector_add() {
    const int n = 1000;
    static float a[n], b[n], sum[n];
    for (int i = 0; i < n; i++) {
        a[i] = i;
        b[i] = 0.5f * i;
    }
    float *device_a = to_device(a, n), *device_b = to_device(b, n), *device_sum;
    OK(cudaMalloc(&device_sum, sizeof sum));
    add<<<(n + 255) / 256, 256>>>(device_a, device_b, device_sum, n);
    OK(cudaGetLastError());
    OK(cudaDeviceSynchronize());
    OK(cudaMemcpy(sum, device_sum, sizeof sum, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++) {
        EXPECT(sum[i] == 1.5f * i);
    }
    OK(cudaFree(device_a));
    OK(cudaFree(device_b));
    OK(cudaFree(device_sum));
}

template <typename T, int factor>
__global__ void scale(T *x) {
    x[threadIdx.x] *= factor;
}

template <typename T>
static void scale_by_three() {
    T x[32];
    for (int i = 0; i < 32; i++) {
        x[i] = T(i);
    }
    T *device = to_device(x, 32);
    scale<T, 3><<<1, 32>>>(device);
    OK(cudaMemcpy(x, device, sizeof x, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 32; i++) {
        EXPECT(x[i] == T(3 * i));
    }
}

static void templates() {
    scale_by_three<float>();
    scale_by_three<double>();
    scale_by_three<int>();
    scale_by_three<unsigned long long>();
}

// Both files have a kernel and a variable with the same names, which the runtime must not confuse.
static __device__ int answer = 42;

static __global__ void read_answer(int *to) {
    *to = answer;
}

static void two_files() {
    int here, *device = to_device(&here, 1);
    read_answer<<<1, 1>>>(device);
    OK(cudaMemcpy(&here, device, sizeof here, cudaMemcpyDeviceToHost));
    EXPECT(here == 42);
    EXPECT(answer_of_the_other_file() == 43);
}

// ---- Variables

__constant__ float weights[4];
__device__ int counter = 7;
__device__ int table[3] = {10, 20, 30};
__device__ int *into_table = &table[1];

__global__ void use_variables(float *sum) {
    atomicAdd(&counter, 1);
    if (threadIdx.x == 0) {
        *sum = weights[0] + weights[1] * 10 + weights[3] * 100;
        atomicAdd(&into_table[1], 1); // both blocks execute this
    }
}

static void variables() {
    const float values[4] = {1, 2, 3, 4};
    float zero = 0, sum, *device = to_device(&zero, 1);
    OK(cudaMemcpyToSymbol(weights, values, sizeof values));
    use_variables<<<2, 32>>>(device);
    OK(cudaMemcpy(&sum, device, sizeof sum, cudaMemcpyDeviceToHost));
    EXPECT(sum == 421);
    int count, third;
    OK(cudaMemcpyFromSymbol(&count, counter, sizeof count));
    EXPECT(count == 7 + 64);
    OK(cudaMemcpyFromSymbol(&third, table, sizeof third, 2 * sizeof third));
    EXPECT(third == 32);
    void *address;
    size_t size;
    OK(cudaGetSymbolAddress(&address, table));
    OK(cudaGetSymbolSize(&size, table));
    EXPECT(size == sizeof table);
    OK(cudaMemset(address, 0, size));
    OK(cudaMemcpyFromSymbol(&third, table, sizeof third, 2 * sizeof third));
    EXPECT(third == 0);
    EXPECT(cudaMemcpyToSymbol(weights, values, sizeof values, 4) == cudaErrorInvalidValue);
}

static void reset_restores_variables() {
    int count;
    float zero = 0;
    use_variables<<<1, 32>>>(to_device(&zero, 1));
    OK(cudaDeviceReset());
    OK(cudaMemcpyFromSymbol(&count, counter, sizeof count));
    EXPECT(count == 7);
    vector_add();
}

__managed__ int shared_by_both = 5;

__global__ void raise() {
    shared_by_both += threadIdx.x == 0 ? 1 : 0;
}

static void managed_variable() {
    EXPECT(shared_by_both == 5);
    shared_by_both = 20;
    raise<<<1, 1>>>();
    OK(cudaDeviceSynchronize());
    EXPECT(shared_by_both == 21);
}

static void host_memory_in_kernels() {
    int *managed, *pinned;
    OK(cudaMallocManaged(&managed, 32 * sizeof *managed));
    OK(cudaMallocHost(&pinned, 32 * sizeof *pinned));
    for (int i = 0; i < 32; i++) {
        managed[i] = pinned[i] = i;
    }
    scale<int, 3><<<1, 32>>>(managed);
    scale<int, 5><<<1, 32>>>(pinned);
    OK(cudaDeviceSynchronize());
    EXPECT(managed[31] == 93 && pinned[31] == 155);
    OK(cudaFree(managed));
    OK(cudaFreeHost(pinned));
}

// ---- Launches

struct mixed {
    char first;
    double second;
    short third[3];
    const float *fourth;
};

__global__ void take_mixed(char c, mixed m, float *to, short last) {
    *to = c + m.first + m.second + m.third[2] + *m.fourth + last;
}

static void parameters_of_any_size() {
    float one = 1, *device = to_device(&one, 1), *to = to_device(&one, 1);
    mixed m = {2, 3.5, {0, 0, 4}, device};
    take_mixed<<<1, 1>>>(10, m, to, 100);
    OK(cudaMemcpy(&one, to, sizeof one, cudaMemcpyDeviceToHost));
    EXPECT(one == 10 + 2 + 3.5f + 4 + 1 + 100);
}

__global__ void where(uint3 *to) {
    int block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    int thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    to[block * blockDim.x * blockDim.y * blockDim.z + thread] =
        make_uint3(blockIdx.x * 100 + threadIdx.x, blockIdx.y * 100 + threadIdx.y, blockIdx.z * 100 + threadIdx.z);
}

static void three_dimensions() {
    const int n = 2 * 3 * 4 * 5 * 3 * 2;
    static uint3 host[n];
    uint3 *device = to_device(host, n);
    where<<<dim3(2, 3, 4), dim3(5, 3, 2)>>>(device);
    OK(cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost));
    EXPECT(host[0].x == 0 && host[0].y == 0 && host[0].z == 0);
    EXPECT(host[1].x == 1 && host[5].y == 1 && host[15].z == 1);
    EXPECT(host[n - 1].x == 104 && host[n - 1].y == 202 && host[n - 1].z == 301);
}

__global__ void reverse(const float *in, float *out) {
    extern __shared__ float tile[];
    for (int i = threadIdx.x; i < 25600; i += blockDim.x) {
        tile[i] = in[i];
    }
    __syncthreads();
    for (int i = threadIdx.x; i < 25600; i += blockDim.x) {
        out[i] = tile[25599 - i];
    }
}

static void hundred_kib_of_shared_memory() {
    const int n = 25600;
    static float host[n];
    for (int i = 0; i < n; i++) {
        host[i] = i;
    }
    float *in = to_device(host, n), *out = to_device(host, n);
    OK(cudaFuncSetAttribute(reverse, cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof host));
    reverse<<<1, 256, sizeof host>>>(in, out);
    OK(cudaGetLastError());
    OK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    EXPECT(host[0] == n - 1 && host[n - 1] == 0);
}

// nvcc evaluates it between the push of the configuration and the launch, because its result is an argument.
static float *scaled(float *device) {
    scale<float, 5><<<1, 32>>>(device);
    return device;
}

static void every_way_to_launch() {
    float x[32] = {1, 1}, *device = to_device(x, 32);
    void *arguments[] = {&device};
    OK(cudaLaunchKernel((const void *)scale<float, 3>, dim3(1), dim3(32), arguments, 0, 0));
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(1);
    config.blockDim = dim3(32);
    OK(cudaLaunchKernelEx(&config, scale<float, 3>, device));
    cudaKernel_t handle;
    OK(cudaGetKernel(&handle, scale<float, 3>));
    OK(cudaLaunchKernel((const void *)handle, dim3(1), dim3(32), arguments, 0, 0));
    scale<float, 7><<<1, 32>>>(scaled(device));
    OK(cudaMemcpy(x, device, sizeof x, cudaMemcpyDeviceToHost));
    EXPECT(x[1] == 27 * 5 * 7);
}

static void launch_in_a_stream_of_its_own(bool *right) {
    float x[32] = {1, 1}, *device = to_device(x, 32);
    cudaStream_t stream;
    OK(cudaStreamCreate(&stream));
    for (int i = 0; i < 8; i++) {
        scale<float, 2><<<1, 32, 0, stream>>>(device);
    }
    bool failed = cudaFree(x) == cudaErrorInvalidValue; // errors are per host thread
    OK(cudaMemcpyAsync(x, device, sizeof x, cudaMemcpyDeviceToHost, stream));
    OK(cudaStreamSynchronize(stream));
    *right = failed && cudaGetLastError() == cudaErrorInvalidValue && cudaGetLastError() == cudaSuccess && x[1] == 256;
    OK(cudaStreamDestroy(stream));
}

static void host_threads() {
    bool right[4] = {};
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; i++) {
        threads.emplace_back(launch_in_a_stream_of_its_own, &right[i]);
    }
    for (std::thread &thread : threads) {
        thread.join();
    }
    EXPECT(right[0] && right[1] && right[2] && right[3]);
}

static void streams_and_events() {
    cudaStream_t first, second;
    cudaEvent_t start, done;
    float x[32], milliseconds;
    for (float &value : x) {
        value = 1;
    }
    float *device = to_device(x, 32);
    OK(cudaStreamCreate(&first));
    OK(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
    OK(cudaEventCreate(&start));
    OK(cudaEventCreate(&done));
    OK(cudaEventRecord(start, first));
    scale<float, 3><<<1, 32, 0, first>>>(device);
    OK(cudaEventRecord(done, first));
    OK(cudaStreamWaitEvent(second, done, 0));
    scale<float, 5><<<1, 32, 0, second>>>(device);
    OK(cudaMemcpyAsync(x, device, sizeof x, cudaMemcpyDeviceToHost, second));
    OK(cudaStreamSynchronize(second));
    EXPECT(x[31] == 15);
    OK(cudaEventElapsedTime(&milliseconds, start, done));
    EXPECT(milliseconds >= 0);
    OK(cudaStreamDestroy(first));
    OK(cudaStreamDestroy(second));
}

__global__ void __launch_bounds__(128) bounded(float *x) {
    __shared__ float fixed[256];
    fixed[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = fixed[blockDim.x - 1 - threadIdx.x];
}

static void what_a_kernel_needs() {
    cudaFuncAttributes attributes;
    int blocks, grid, block;
    OK(cudaFuncGetAttributes(&attributes, bounded));
    EXPECT(attributes.sharedSizeBytes == 1024);
    EXPECT(attributes.maxThreadsPerBlock == 128);
    EXPECT(attributes.numRegs > 0);
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, bounded, 128, 0));
    EXPECT(blocks == 16);
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, bounded, 128, 40 << 10));
    EXPECT(blocks == 5);
    OK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, bounded));
    EXPECT(grid > 0 && block > 0 && block <= 128);
}

// Launches more threads than the printf buffer can hold without collection.
__global__ void say(int n) {
    printf("thread %d of block %d: %d, %5.2f, %s, %c, %llu\n", threadIdx.x, blockIdx.x, n, 1.5, "text", 'x',
           123456789012345ull);
}

static void print() {
    say<<<2, 2>>>(-3);
    OK(cudaDeviceSynchronize());
}

static const struct {
    const char *name;
    void (*run)();
} cases[] = {
    {"vector_add", vector_add},
    {"templates", templates},
    {"two_files", two_files},
    {"variables", variables},
    {"reset_restores_variables", reset_restores_variables},
    {"managed_variable", managed_variable},
    {"host_memory_in_kernels", host_memory_in_kernels},
    {"parameters_of_any_size", parameters_of_any_size},
    {"three_dimensions", three_dimensions},
    {"hundred_kib_of_shared_memory", hundred_kib_of_shared_memory},
    {"every_way_to_launch", every_way_to_launch},
    {"host_threads", host_threads},
    {"streams_and_events", streams_and_events},
    {"what_a_kernel_needs", what_a_kernel_needs},
    {"print", print},
};

// No argument: prints the names of the cases. One argument: runs that case. The exit status is 0 if all of its
// expectations hold.
int main(int argc, char **argv) {
    for (const auto &one : cases) {
        if (argc < 2) {
            puts(one.name);
        } else if (strcmp(argv[1], one.name) == 0) {
            one.run();
            return 0;
        }
    }
    return argc < 2 ? 0 : 2;
}
