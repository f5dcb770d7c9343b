// Errors that a GPU does not detect or cannot recover from. The argument names a case; the exit status is 0 if all of
// its expectations held.
#include "../checked.cuh"

#include <cooperative_groups.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <dlfcn.h>

static unsigned findings() {
    auto count = (unsigned (*)())dlsym(RTLD_DEFAULT, "simulator_findings");
    EXPECT(count != nullptr);
    return count();
}

__global__ void store(int *to, size_t index) {
    to[index] = 1;
}

// Every thread reads an element that another thread wrote, without a barrier between the two.
__global__ void race(int *to) {
    __shared__ int tile[64];
    tile[threadIdx.x] = threadIdx.x;
    to[threadIdx.x] = tile[63 - threadIdx.x];
}

__global__ void never_ends(volatile int *flag) {
    while (*flag == 0) {
    }
}

static int *zeros() {
    int *device;
    EXPECT(cudaMalloc(&device, 256) == cudaSuccess);
    EXPECT(cudaMemset(device, 0, 256) == cudaSuccess);
    return device;
}

static void expect_working_launch() {
    int value = 0, *device = zeros();
    store<<<1, 1>>>(device, 5);
    EXPECT(cudaGetLastError() == cudaSuccess);
    EXPECT(cudaMemcpy(&value, device + 5, sizeof value, cudaMemcpyDeviceToHost) == cudaSuccess);
    EXPECT(value == 1);
}

static void race_is_not_sticky() {
    race<<<1, 64>>>(zeros());
    EXPECT(cudaGetLastError() == cudaErrorLaunchFailure);
    EXPECT(cudaDeviceSynchronize() == cudaSuccess);
    EXPECT(findings() > 0);
    expect_working_launch();
}

// A program that checks only cudaDeviceSynchronize also gets the error, once.
static void race_is_reported_at_the_next_synchronization() {
    race<<<1, 64>>>(zeros());
    EXPECT(cudaDeviceSynchronize() == cudaErrorLaunchFailure);
    EXPECT(cudaDeviceSynchronize() == cudaSuccess);
}

static void reset_after_a_fault() {
    int host;
    store<<<1, 1>>>(&host, 0);
    EXPECT(cudaGetLastError() == cudaErrorIllegalAddress);
    EXPECT(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
    EXPECT(findings() == 1);
    EXPECT(cudaDeviceReset() == cudaSuccess);
    EXPECT(cudaGetLastError() == cudaSuccess);
    expect_working_launch();
    EXPECT(findings() == 1);
}

static void endless_loop_ends() {
    never_ends<<<1, 32>>>(zeros());
    EXPECT(cudaGetLastError() == cudaErrorLaunchTimeout);
}

static void clean_code_has_no_finding() {
    expect_working_launch();
    EXPECT(findings() == 0);
}

static void unsupported_call() {
    cudaIpcMemHandle_t handle;
    EXPECT(cudaIpcGetMemHandle(&handle, zeros()) == cudaErrorNotSupported);
    EXPECT(cudaGetLastError() == cudaErrorNotSupported);
}

// In each round a block reads the value that its neighbour wrote in the previous round.
__global__ void pass_to_neighbour(int *value, int rounds) {
    auto grid = cooperative_groups::this_grid();
    for (int round = 0; round < rounds; round++) {
        const int *from = value + round % 2 * gridDim.x;
        int *to = value + (round + 1) % 2 * gridDim.x;
        if (threadIdx.x == 0) {
            to[blockIdx.x] = from[(blockIdx.x + 1) % gridDim.x] + 1;
        }
        grid.sync();
    }
}

static void cooperative_launch() {
    int *value, blocks = 0, rounds = 5, sms, supported, result = 0;
    EXPECT(cudaDeviceGetAttribute(&supported, cudaDevAttrCooperativeLaunch, 0) == cudaSuccess && supported == 1);
    EXPECT(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0) == cudaSuccess);
    EXPECT(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, pass_to_neighbour, 1024, 0) == cudaSuccess);
    EXPECT(cudaMalloc(&value, 2 * sizeof(int) * sms * blocks) == cudaSuccess);
    EXPECT(cudaMemset(value, 0, 2 * sizeof(int) * sms * blocks) == cudaSuccess);
    void *arguments[] = {&value, &rounds};
    EXPECT(cudaLaunchCooperativeKernel(pass_to_neighbour, dim3(sms * blocks), dim3(1024), arguments) == cudaSuccess);
    EXPECT(cudaMemcpy(&result, value + sms * blocks, sizeof result, cudaMemcpyDefault) == cudaSuccess && result == 5);
    EXPECT(cudaLaunchCooperativeKernel(pass_to_neighbour, dim3(sms * blocks + 1), dim3(1024), arguments) ==
           cudaErrorCooperativeLaunchTooLarge);
    EXPECT(cudaGetLastError() == cudaErrorCooperativeLaunchTooLarge);
    EXPECT(findings() == 0);
    expect_working_launch();
}

static void no_image() {
    EXPECT(cudaGetLastError() == cudaSuccess);
    store<<<1, 1>>>(nullptr, 0);
    EXPECT(cudaGetLastError() == cudaErrorNoKernelImageForDevice);
}

// The library that argv[2] names registers its own kernels and variables.
static const char *library;

static void library_load_and_unload() {
    for (int i = 0; i < 3; i++) {
        void *handle = dlopen(library, RTLD_NOW);
        EXPECT(handle != nullptr);
        auto answer = (int (*)())dlsym(handle, "answer_of_the_other_file");
        EXPECT(answer != nullptr && answer() == 43);
        dlclose(handle);
    }
    expect_working_launch();
}

static const struct {
    const char *name;
    void (*run)();
} cases[] = {
    {"race_is_not_sticky", race_is_not_sticky},
    {"race_is_reported_at_the_next_synchronization", race_is_reported_at_the_next_synchronization},
    {"reset_after_a_fault", reset_after_a_fault},
    {"endless_loop_ends", endless_loop_ends},
    {"clean_code_has_no_finding", clean_code_has_no_finding},
    {"unsupported_call", unsupported_call},
    {"cooperative_launch", cooperative_launch},
    {"no_image", no_image},
    {"library_load_and_unload", library_load_and_unload},
};

int main(int argc, char **argv) {
    library = argc > 2 ? argv[2] : "";
    for (const auto &one : cases) {
        if (argc > 1 && strcmp(argv[1], one.name) == 0) {
            one.run();
            return 0;
        }
    }
    return 2;
}
