// The simulated device: its properties, its selection, and the occupancy of its SMs.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime/api.h"
#include "runtime/device.h"
#include "runtime/occupancy.h"

#include <cuda_occupancy.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define OK(call) assert_int_equal(call, cudaSuccess)

// Expects that the call returns the error, and that cudaGetLastError returns it once more.
#define FAILS(error, call)                                                                                             \
    do {                                                                                                               \
        assert_int_equal(call, error);                                                                                 \
        assert_int_equal(cudaPeekAtLastError(), error);                                                                \
        assert_int_equal(cudaGetLastError(), error);                                                                   \
        assert_int_equal(cudaGetLastError(), cudaSuccess);                                                             \
    } while (0)

static void there_is_one_device(void **state) {
    (void)state;
    int count = 0, device = -1;
    struct cudaDeviceProp properties;
    OK(cudaGetDeviceCount(&count));
    assert_int_equal(count, 1);
    OK(cudaSetDevice(0));
    OK(cudaGetDevice(&device));
    assert_int_equal(device, 0);
    FAILS(cudaErrorInvalidDevice, cudaSetDevice(1));
    FAILS(cudaErrorInvalidDevice, cudaSetDevice(-1));
    FAILS(cudaErrorInvalidDevice, cudaGetDeviceProperties(&properties, 1));
    FAILS(cudaErrorInvalidValue, cudaGetDeviceProperties(NULL, 0));
    FAILS(cudaErrorInvalidDevice, cudaDeviceGetAttribute(&count, cudaDevAttrWarpSize, 7));
}

static void the_default_is_an_h200(void **state) {
    (void)state;
    struct cudaDeviceProp p;
    OK(cudaGetDeviceProperties(&p, 0));
    assert_string_equal(p.name, "NVIDIA H200 (simulated)");
    assert_int_equal(p.multiProcessorCount, 132);
    assert_int_equal(p.major * 10 + p.minor, 90);
    assert_int_equal(p.sharedMemPerBlock, 49152);
    assert_int_equal(p.sharedMemPerBlockOptin, 232448);
    assert_int_equal(p.sharedMemPerMultiprocessor, 233472);
    assert_int_equal(p.l2CacheSize, 62914560);
    assert_int_equal(p.maxThreadsPerMultiProcessor, 2048);
    int value;
    OK(cudaDeviceGetAttribute(&value, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
    assert_int_equal(value, 232448);
    OK(cudaDeviceGetAttribute(&value, cudaDevAttrClockRate, 0));
    assert_int_equal(value, 1980000);
    OK(cudaDeviceGetAttribute(&value, cudaDevAttrMaxGridDimY, 0));
    assert_int_equal(value, 65535);
    OK(cudaRuntimeGetVersion(&value));
    assert_int_equal(value, CUDART_VERSION);
}

static void limits(void **state) {
    (void)state;
    size_t value;
    OK(cudaDeviceGetLimit(&value, cudaLimitStackSize));
    assert_int_equal(value, 1024);
    OK(cudaDeviceSetLimit(cudaLimitStackSize, 4096));
    OK(cudaDeviceGetLimit(&value, cudaLimitStackSize));
    assert_int_equal(value, 4096);
    FAILS(cudaErrorUnsupportedLimit, cudaDeviceGetLimit(&value, cudaLimitDevRuntimeSyncDepth));
    FAILS(cudaErrorUnsupportedLimit, cudaDeviceGetLimit(&value, (enum cudaLimit)77));
    FAILS(cudaErrorInvalidValue, cudaDeviceGetLimit(NULL, cudaLimitStackSize));
}

// The runtime selects the device once per process, so each device needs its own process. Returns the result of body, 0
// to 255.
static int with_device(const char *key, int (*body)(void)) {
    pid_t child = fork();
    if (child == 0) {
        setenv("SIMULATOR_DEVICE", key, 1);
        _exit(body());
    }
    int status;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int sms(void) {
    int count = 0;
    return cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, 0) == cudaSuccess ? count : 255;
}

static int no_device(void) {
    int count = -1;
    void *pointer;
    return cudaGetDeviceCount(&count) == cudaErrorNoDevice && count == 0 &&
           cudaMalloc(&pointer, 16) == cudaErrorNoDevice;
}

static void other_devices_by_environment(void **state) {
    (void)state;
    assert_int_equal(with_device("a100", sms), 108);
    assert_int_equal(with_device("rtx4090", sms), 128);
    assert_int_equal(with_device("t4", sms), 40);
    assert_int_equal(with_device("h200", sms), 132);
    assert_int_equal(with_device("", sms), 132);
    assert_true(with_device("voodoo2", no_device));
}

static void occupancy_of_known_cases(void **state) {
    (void)state;
    const struct sim_device *h200 = &device_current()->simulated;
    assert_int_equal(occupancy_blocks(h200, 256, 32, 0), 8);
    assert_int_equal(occupancy_blocks(h200, 1024, 64, 0), 1);
    assert_int_equal(occupancy_blocks(h200, 1024, 65, 0), 0);
    assert_int_equal(occupancy_blocks(h200, 32, 32, 0), 32);
    assert_int_equal(occupancy_blocks(h200, 128, 168, 0), 3);
    assert_int_equal(occupancy_blocks(h200, 128, 32, 113 << 10), 2);
    assert_int_equal(occupancy_blocks(h200, 128, 32, 114 << 10), 1);
    assert_int_equal(occupancy_blocks(h200, 128, 32, (227 << 10) + 1), 0);
    assert_int_equal(occupancy_blocks(h200, 1025, 32, 0), 0);
}

// The toolkit provides NVIDIA's occupancy calculation as a header.
static int blocks_by_nvidia(const struct sim_device *gpu, int threads, int registers, size_t shared_bytes) {
    const cudaOccDeviceProp device = {
        .computeMajor = gpu->compute_capability / 10,
        .computeMinor = gpu->compute_capability % 10,
        .maxThreadsPerBlock = gpu->max_threads_per_block,
        .maxThreadsPerMultiprocessor = gpu->max_threads_per_sm,
        .regsPerBlock = gpu->registers_per_block,
        .regsPerMultiprocessor = gpu->registers_per_sm,
        .warpSize = 32,
        .sharedMemPerBlock = gpu->shared_per_block,
        .sharedMemPerMultiprocessor = gpu->shared_per_sm,
        .numSms = gpu->sms,
        .sharedMemPerBlockOptin = gpu->shared_per_block_optin,
        .reservedSharedMemPerBlock = gpu->reserved_shared,
    };
    const cudaOccFuncAttributes function = {
        .maxThreadsPerBlock = gpu->max_threads_per_block,
        .numRegs = registers,
        .shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN,
        .maxDynamicSharedSizeBytes = gpu->shared_per_block_optin,
        .numBlockBarriers = 1,
    };
    const cudaOccDeviceState defaults = {.carveoutConfig = SHAREDMEM_CARVEOUT_MAX_SHARED};
    cudaOccResult result;
    cudaOccError error =
        cudaOccMaxActiveBlocksPerMultiprocessor(&result, &device, &function, &defaults, threads, shared_bytes);
    return error == CUDA_OCC_SUCCESS ? result.activeBlocksPerMultiprocessor : -1;
}

static int all_occupancies_agree(void) {
    device_initialise();
    const struct sim_device *gpu = &device_current()->simulated;
    for (int threads = 1; threads <= gpu->max_threads_per_block; threads += 31) {
        for (int registers = 8; registers <= 255; registers += 13) {
            for (size_t shared = 0; shared <= gpu->shared_per_block_optin; shared += 7919) {
                if (occupancy_blocks(gpu, threads, registers, shared) !=
                    blocks_by_nvidia(gpu, threads, registers, shared)) {
                    print_error("%s: %d threads, %d registers, %zu bytes\n", gpu->name, threads, registers, shared);
                    return 0;
                }
            }
        }
    }
    return 1;
}

static void occupancy_as_nvidia_calculates_it(void **state) {
    (void)state;
    assert_true(with_device("h200", all_occupancies_agree));
    assert_true(with_device("a100", all_occupancies_agree));
    assert_true(with_device("rtx4090", all_occupancies_agree));
    assert_true(with_device("t4", all_occupancies_agree));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        // These two run first: they need a process that has not selected its device.
        cmocka_unit_test(other_devices_by_environment),
        cmocka_unit_test(occupancy_as_nvidia_calculates_it),
        cmocka_unit_test(there_is_one_device),
        cmocka_unit_test(the_default_is_an_h200),
        cmocka_unit_test(limits),
        cmocka_unit_test(occupancy_of_known_cases),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
