// One misuse of CUDA per case, and the error that NVIDIA's runtime returns for it. `test_runtime_errors NAME` prints
// the error that the current runtime returns, and exits with 0 if it is the expected one; without a name it lists all
// cases. The same binary, run on a GPU, shows whether the expectations are right (runtime-on-gpu); they were validated
// with CUDA 13.0 on an H200.
#include <cassert>
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>

__global__ void store(int *to, size_t index) {
    to[index] = 1;
}

__global__ void store_wide(int4 *to) {
    *to = make_int4(1, 2, 3, 4);
}

__global__ void __launch_bounds__(64) at_most_64(int *to) {
    *to = 1;
}

__global__ void use_dynamic_shared(int *to) {
    extern __shared__ int tile[];
    tile[threadIdx.x] = 1;
    *to = tile[threadIdx.x];
}

__global__ void use_both_kinds_of_shared(int *to) {
    __shared__ int fixed[1024];
    extern __shared__ int tile[];
    fixed[threadIdx.x] = tile[threadIdx.x] = 1;
    *to = tile[threadIdx.x] + fixed[threadIdx.x];
}

__global__ void fail_assertion(int n) {
    assert(n < 0);
}

__global__ void trap() {
    __trap();
}

__constant__ int constant[4];

static int *device_ints() {
    int *device = nullptr;
    cudaMalloc(&device, 256);
    return device;
}

static cudaError_t after_launch() {
    cudaError_t error = cudaGetLastError();
    return error != cudaSuccess ? error : cudaDeviceSynchronize();
}

static cudaError_t launch(dim3 grid, dim3 block, size_t shared = 0) {
    use_dynamic_shared<<<grid, block, shared>>>(device_ints());
    return after_launch();
}

static cudaError_t no_threads() {
    return launch(1, 0);
}
static cudaError_t no_threads_in_y() {
    return launch(1, dim3(32, 0));
}
static cudaError_t no_blocks() {
    return launch(0, 32);
}
static cudaError_t no_blocks_in_z() {
    return launch(dim3(1, 1, 0), 32);
}
static cudaError_t too_many_threads() {
    return launch(1, 1025);
}
static cudaError_t too_many_threads_in_all() {
    return launch(1, dim3(64, 32));
}
static cudaError_t too_many_threads_in_z() {
    return launch(1, dim3(1, 1, 65));
}
static cudaError_t too_many_blocks_in_y() {
    return launch(dim3(1, 65536), 32);
}
static cudaError_t more_threads_than_launch_bounds() {
    at_most_64<<<1, 65>>>(device_ints());
    return after_launch();
}
static cudaError_t shared_memory_without_permission() {
    return launch(1, 32, 49153);
}
static cudaError_t dynamic_and_static_shared_memory_without_permission() {
    use_both_kinds_of_shared<<<1, 32, 49152>>>(device_ints());
    return after_launch();
}
static cudaError_t shared_memory_beyond_the_device() {
    return launch(1, 32, 300 << 10);
}
static cudaError_t permission_beyond_the_device() {
    return cudaFuncSetAttribute(use_dynamic_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 300 << 10);
}
static cudaError_t permission_beyond_the_device_with_static() {
    return cudaFuncSetAttribute(use_both_kinds_of_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 227 << 10);
}
static cudaError_t negative_permission() {
    return cudaFuncSetAttribute(use_dynamic_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, -1);
}
static cudaError_t launch_of_no_kernel() {
    void *arguments[1] = {nullptr};
    return cudaLaunchKernel((const void *)device_ints, dim3(1), dim3(1), arguments, 0, 0);
}
static cudaError_t attributes_of_no_kernel() {
    cudaFuncAttributes attributes;
    return cudaFuncGetAttributes(&attributes, (const void *)device_ints);
}
static cudaError_t copy_to_no_symbol() {
    static int host;
    int value = 1;
    return cudaMemcpyToSymbol(&host, &value, sizeof value, 0, cudaMemcpyHostToDevice);
}
static cudaError_t copy_past_a_symbol() {
    int values[5] = {};
    return cudaMemcpyToSymbol(constant, values, sizeof values);
}
static cudaError_t copy_from_symbol_to_the_wrong_side() {
    int value;
    return cudaMemcpyFromSymbol(&value, constant, sizeof value, 0, cudaMemcpyHostToDevice);
}
static cudaError_t free_of_host_memory() {
    static int host;
    return cudaFree(&host);
}
static cudaError_t free_twice() {
    int *device = device_ints();
    cudaFree(device);
    return cudaFree(device);
}
static cudaError_t free_inside() {
    return cudaFree(device_ints() + 1);
}
static cudaError_t free_host_twice() {
    void *pinned;
    cudaMallocHost(&pinned, 64);
    cudaFreeHost(pinned);
    return cudaFreeHost(pinned);
}
static cudaError_t copy_in_no_direction() {
    int host = 0;
    return cudaMemcpy(device_ints(), &host, sizeof host, (cudaMemcpyKind)17);
}
static cudaError_t copy_of_rows_wider_than_the_pitch() {
    int host[64] = {};
    return cudaMemcpy2D(device_ints(), 8, host, 8, 9, 2, cudaMemcpyHostToDevice);
}
static cudaError_t malloc_of_too_much() {
    void *device;
    return cudaMalloc(&device, size_t(1) << 46);
}
static cudaError_t malloc_to_nowhere() {
    return cudaMalloc((void **)nullptr, 16);
}
static cudaError_t no_such_device() {
    return cudaSetDevice(1000);
}
static cudaError_t properties_of_no_device() {
    cudaDeviceProp properties;
    return cudaGetDeviceProperties(&properties, -1);
}
static cudaError_t elapsed_time_of_an_event_never_recorded() {
    cudaEvent_t start, end;
    float milliseconds;
    cudaEventCreate(&start);
    cudaEventCreate(&end);
    return cudaEventElapsedTime(&milliseconds, start, end);
}
static cudaError_t elapsed_time_without_timing() {
    cudaEvent_t start, end;
    float milliseconds;
    cudaEventCreateWithFlags(&start, cudaEventDisableTiming);
    cudaEventCreate(&end);
    cudaEventRecord(start);
    cudaEventRecord(end);
    cudaEventSynchronize(end);
    return cudaEventElapsedTime(&milliseconds, start, end);
}
static cudaError_t null_event() {
    return cudaEventRecord(nullptr);
}
static cudaError_t null_stream_destroyed() {
    return cudaStreamDestroy(nullptr);
}
static cudaError_t unknown_stream_flags() {
    cudaStream_t stream;
    return cudaStreamCreateWithFlags(&stream, 64);
}
static cudaError_t store_far_outside() {
    store<<<1, 1>>>(device_ints(), size_t(1) << 42);
    return after_launch();
}
static cudaError_t store_to_null() {
    store<<<1, 1>>>(nullptr, 0);
    return after_launch();
}
static cudaError_t misaligned_store() {
    store_wide<<<1, 1>>>((int4 *)(device_ints() + 1));
    return after_launch();
}
static cudaError_t failed_assertion() {
    fail_assertion<<<1, 1>>>(1);
    return after_launch();
}
static cudaError_t trapped() {
    trap<<<1, 1>>>();
    return after_launch();
}

// A fault is sticky: each later call that needs the device returns it. cudaGetLastError does not need the device: it
// returns the last error once and clears it.
static cudaError_t fault_is_sticky_at_malloc() {
    store_to_null();
    cudaGetLastError();
    void *device;
    return cudaMalloc(&device, 16);
}
static cudaError_t fault_is_sticky_at_launch() {
    store_to_null();
    at_most_64<<<1, 1>>>(nullptr);
    return cudaGetLastError();
}
static cudaError_t last_error_of_a_fault_is_returned_once() {
    store_to_null();
    if (cudaDeviceSynchronize() != cudaErrorIllegalAddress || cudaGetLastError() != cudaErrorIllegalAddress) {
        return cudaErrorUnknown;
    }
    return cudaGetLastError();
}

// An ordinary error is not sticky: the next call works, and cudaGetLastError clears the error.
static cudaError_t error_is_cleared() {
    cudaSetDevice(1000);
    cudaGetLastError();
    return cudaGetLastError();
}
static cudaError_t launch_after_an_error() {
    launch(1, 0);
    return launch(1, 32, 128);
}

#define CASE(name, error)                                                                                              \
    { #name, name, error }

static const struct {
    const char *name;
    cudaError_t (*run)();
    cudaError_t expected;
} cases[] = {
    CASE(no_threads, cudaErrorInvalidValue),
    CASE(no_threads_in_y, cudaErrorInvalidValue),
    CASE(no_blocks, cudaErrorInvalidValue),
    CASE(no_blocks_in_z, cudaErrorInvalidValue),
    CASE(too_many_threads, cudaErrorInvalidValue),
    CASE(too_many_threads_in_all, cudaErrorInvalidValue),
    CASE(too_many_threads_in_z, cudaErrorInvalidValue),
    CASE(too_many_blocks_in_y, cudaErrorInvalidValue),
    CASE(more_threads_than_launch_bounds, cudaErrorInvalidValue),
    CASE(shared_memory_without_permission, cudaErrorInvalidValue),
    CASE(dynamic_and_static_shared_memory_without_permission, cudaErrorInvalidValue),
    CASE(shared_memory_beyond_the_device, cudaErrorInvalidValue),
    CASE(permission_beyond_the_device, cudaErrorInvalidValue),
    CASE(permission_beyond_the_device_with_static, cudaErrorInvalidValue),
    CASE(negative_permission, cudaErrorInvalidValue),
    CASE(launch_of_no_kernel, cudaErrorInvalidResourceHandle),
    CASE(attributes_of_no_kernel, cudaErrorInvalidResourceHandle),
    CASE(copy_to_no_symbol, cudaErrorInvalidSymbol),
    CASE(copy_past_a_symbol, cudaErrorInvalidValue),
    CASE(copy_from_symbol_to_the_wrong_side, cudaErrorInvalidMemcpyDirection),
    CASE(free_of_host_memory, cudaErrorInvalidValue),
    CASE(free_twice, cudaErrorInvalidValue),
    CASE(free_inside, cudaErrorInvalidValue),
    CASE(free_host_twice, cudaErrorInvalidValue),
    CASE(copy_in_no_direction, cudaErrorInvalidMemcpyDirection),
    CASE(copy_of_rows_wider_than_the_pitch, cudaErrorInvalidPitchValue),
    CASE(malloc_of_too_much, cudaErrorMemoryAllocation),
    CASE(malloc_to_nowhere, cudaErrorInvalidValue),
    CASE(no_such_device, cudaErrorInvalidDevice),
    CASE(properties_of_no_device, cudaErrorInvalidDevice),
    CASE(elapsed_time_of_an_event_never_recorded, cudaErrorInvalidResourceHandle),
    CASE(elapsed_time_without_timing, cudaErrorInvalidResourceHandle),
    CASE(null_event, cudaErrorInvalidResourceHandle),
    CASE(null_stream_destroyed, cudaErrorInvalidResourceHandle),
    CASE(unknown_stream_flags, cudaErrorInvalidValue),
    CASE(store_far_outside, cudaErrorIllegalAddress),
    CASE(store_to_null, cudaErrorIllegalAddress),
    CASE(misaligned_store, cudaErrorMisalignedAddress),
    CASE(failed_assertion, cudaErrorAssert),
    CASE(trapped, cudaErrorLaunchFailure),
    CASE(fault_is_sticky_at_malloc, cudaErrorIllegalAddress),
    CASE(fault_is_sticky_at_launch, cudaErrorIllegalAddress),
    CASE(last_error_of_a_fault_is_returned_once, cudaSuccess),
    CASE(error_is_cleared, cudaSuccess),
    CASE(launch_after_an_error, cudaSuccess),
};

int main(int argc, char **argv) {
    for (const auto &one : cases) {
        if (argc < 2) {
            puts(one.name);
        } else if (strcmp(argv[1], one.name) == 0) {
            cudaError_t error = one.run();
            printf("%s: %s, expected %s\n", one.name, cudaGetErrorName(error), cudaGetErrorName(one.expected));
            return error == one.expected ? 0 : 1;
        }
    }
    return argc < 2 ? 0 : 2;
}
