// The table of devices, and the calls that select, reset and synchronize with one. The values are those of
// cudaGetDeviceProperties on the real GPU, except the name, which says that the device is simulated.
#include "device.h"
#include "array.h"
#include "device_memory.h"
#include "graph.h"
#include "host_memory.h"
#include "module.h"
#include "stream.h"

#include "../execution/launch.h"
#include "../machine/timeline.h"

#include <stdlib.h>
#include <string.h>

#define KIB(n) ((size_t)(n) << 10)
#define MIB(n) ((size_t)(n) << 20)

static const struct device devices[] = {
    {
        .key = "h200",
        .simulated = {.name = "NVIDIA H200 (simulated)",
                      .compute_capability = 90,
                      .sms = 132,
                      .global_bytes = 150109880320,
                      .shared_per_block = KIB(48),
                      .shared_per_block_optin = KIB(227),
                      .shared_per_sm = KIB(228),
                      .reserved_shared = KIB(1),
                      .l2_bytes = MIB(60),
                      .const_bytes = KIB(64),
                      .registers_per_sm = 65536,
                      .registers_per_block = 65536,
                      .max_threads_per_sm = 2048,
                      .max_threads_per_block = 1024,
                      .max_blocks_per_sm = 32,
                      .clock_khz = 1980000,
                      .memory_clock_khz = 3201000,
                      .memory_bus_bits = 6016},
        .persisting_l2_bytes = MIB(60) / 8 * 5,
        .single_to_double_ratio = 2,
        .copy_engines = 3,
        .ecc = true,
    },
    {
        .key = "a100",
        .simulated = {.name = "NVIDIA A100-SXM4-80GB (simulated)",
                      .compute_capability = 80,
                      .sms = 108,
                      .global_bytes = MIB(81154),
                      .shared_per_block = KIB(48),
                      .shared_per_block_optin = KIB(163),
                      .shared_per_sm = KIB(164),
                      .reserved_shared = KIB(1),
                      .l2_bytes = MIB(40),
                      .const_bytes = KIB(64),
                      .registers_per_sm = 65536,
                      .registers_per_block = 65536,
                      .max_threads_per_sm = 2048,
                      .max_threads_per_block = 1024,
                      .max_blocks_per_sm = 32,
                      .clock_khz = 1410000,
                      .memory_clock_khz = 1593000,
                      .memory_bus_bits = 5120},
        .persisting_l2_bytes = MIB(40) / 8 * 5,
        .single_to_double_ratio = 2,
        .copy_engines = 3,
        .ecc = true,
    },
    {
        .key = "rtx4090",
        .simulated = {.name = "NVIDIA GeForce RTX 4090 (simulated)",
                      .compute_capability = 89,
                      .sms = 128,
                      .global_bytes = MIB(24217),
                      .shared_per_block = KIB(48),
                      .shared_per_block_optin = KIB(99),
                      .shared_per_sm = KIB(100),
                      .reserved_shared = KIB(1),
                      .l2_bytes = MIB(72),
                      .const_bytes = KIB(64),
                      .registers_per_sm = 65536,
                      .registers_per_block = 65536,
                      .max_threads_per_sm = 1536,
                      .max_threads_per_block = 1024,
                      .max_blocks_per_sm = 24,
                      .clock_khz = 2520000,
                      .memory_clock_khz = 10501000,
                      .memory_bus_bits = 384},
        .persisting_l2_bytes = MIB(72) / 16 * 11,
        .single_to_double_ratio = 64,
        .copy_engines = 2,
        .ecc = false,
    },
    {
        .key = "t4",
        .simulated = {.name = "Tesla T4 (simulated)",
                      .compute_capability = 75,
                      .sms = 40,
                      .global_bytes = 15843721216,
                      .shared_per_block = KIB(48),
                      .shared_per_block_optin = KIB(64),
                      .shared_per_sm = KIB(64),
                      .reserved_shared = 0,
                      .l2_bytes = MIB(4),
                      .const_bytes = KIB(64),
                      .registers_per_sm = 65536,
                      .registers_per_block = 65536,
                      .max_threads_per_sm = 1024,
                      .max_threads_per_block = 1024,
                      .max_blocks_per_sm = 16,
                      .clock_khz = 1590000,
                      .memory_clock_khz = 5001000,
                      .memory_bus_bits = 256},
        .persisting_l2_bytes = 0,
        .single_to_double_ratio = 32,
        .copy_engines = 3,
        .ecc = true,
    },
};

#define DEVICES (sizeof devices / sizeof devices[0])

static const struct device *current;
static int count = 1;

const struct device *device_current(void) {
    return current;
}

int device_count(void) {
    return count;
}

int device_ordinal(void) {
    return sim_memory_device();
}

static cudaError_t read_count(void) {
    const char *text = getenv("SIM_DEVICES");
    if (!text || !*text)
        return cudaSuccess;
    char *end;
    long devices = strtol(text, &end, 10);
    if (*end || devices < 1 || devices > SIM_DEVICES)
        return api_error(cudaErrorNoDevice, "invalid SIM_DEVICES=%s: the simulator has 1 to %d devices", text,
                         SIM_DEVICES);
    count = (int)devices;
    return cudaSuccess;
}

cudaError_t device_initialise(void) {
    if (current)
        return cudaSuccess;
    cudaError_t error = read_count();
    if (error != cudaSuccess)
        return error;
    const char *key = getenv("SIMULATOR_DEVICE");
    if (!key || *key == '\0')
        key = devices[0].key;
    for (size_t i = 0; i < DEVICES; i++) {
        if (strcmp(devices[i].key, key) == 0) {
            current = &devices[i];
            sim_memory_set_capacity(current->simulated.global_bytes);
            sim_options(); // read the environment now: a kernel's library may change it later
            return cudaSuccess;
        }
    }
    char known[128] = "";
    for (size_t i = 0; i < DEVICES; i++)
        strcat(strcat(known, i == 0 ? "" : ", "), devices[i].key);
    return api_error(cudaErrorNoDevice, "unknown device SIMULATOR_DEVICE=%s; use one of: %s", key, known);
}

cudaError_t device_check_ordinal(int ordinal) {
    if (ordinal >= 0 && ordinal < count)
        return cudaSuccess;
    if (count == 1)
        return api_error(cudaErrorInvalidDevice,
                         "invalid device ordinal %d: the simulator has one device, 0; SIM_DEVICES=n gives it more",
                         ordinal);
    return api_error(cudaErrorInvalidDevice, "invalid device ordinal %d: the simulator has devices 0 to %d", ordinal,
                     count - 1);
}

static cudaError_t write_int(int *to, int value) {
    if (!to)
        return api_error(cudaErrorInvalidValue, "the pointer to the result is NULL");
    *to = value;
    return cudaSuccess;
}

// An unknown SIMULATOR_DEVICE is an error even for a query.
static cudaError_t get_count(int *devices) {
    cudaError_t error = api_entry_error() == cudaErrorNoDevice ? cudaErrorNoDevice : cudaSuccess;
    cudaError_t written = write_int(devices, error == cudaSuccess ? count : 0);
    return error != cudaSuccess ? error : written;
}

cudaError_t cudaGetDeviceCount(int *devices) {
    return HOST_CALL(get_count(devices));
}

cudaError_t cudaGetDevice(int *device) {
    return HOST_CALL(write_int(device, device_ordinal()));
}

static cudaError_t set_device(int ordinal) {
    cudaError_t error = device_check_ordinal(ordinal);
    if (error == cudaSuccess)
        sim_memory_set_device(ordinal);
    return error;
}

cudaError_t cudaSetDevice(int device) {
    return DEVICE_CALL(set_device(device));
}

cudaError_t cudaInitDevice(int device, unsigned int device_flags, unsigned int flags) {
    (void)device_flags;
    (void)flags;
    return DEVICE_CALL(device_check_ordinal(device));
}

// The flags select how the host waits for the device. The simulator never waits.
static unsigned device_flags;

static cudaError_t set_flags(unsigned flags) {
    device_flags = flags;
    return cudaSuccess;
}

cudaError_t cudaSetDeviceFlags(unsigned int flags) {
    return DEVICE_CALL(set_flags(flags));
}

cudaError_t cudaGetDeviceFlags(unsigned int *flags) {
    return HOST_CALL(write_int((int *)flags, (int)device_flags));
}

static cudaError_t synchronize(void) {
    timeline_host_wait_for_device(device_ordinal());
    return capture_reject_all("the call synchronizes with the device");
}

cudaError_t cudaDeviceSynchronize(void) {
    return SYNCHRONIZING_CALL(synchronize());
}

// Frees everything that the program created, on all devices: memory, streams, events, the values of device variables,
// and errors. Kernels stay registered, so that the program can go on.
static cudaError_t reset(void) {
    module_unload_all();
    texture_free_all();
    mipmap_free_all();
    array_free_all();
    device_memory_free_all();
    host_memory_free_all();
    capture_end_all();
    graph_exec_free_all();
    graph_free_all();
    stream_destroy_all();
    event_destroy_all();
    for (int i = 0; i < count; i++)
        timeline_host_wait_for_device(i);
    timeline_forget();
    api_clear_errors();
    return cudaSuccess;
}

cudaError_t cudaDeviceReset(void) {
    return HOST_CALL(reset());
}

// The simulator does not enforce these limits; it stores them because programs read back the values that they set.
static size_t limits[] = {
    [cudaLimitStackSize] = 1024,
    [cudaLimitPrintfFifoSize] = 8650752,
    [cudaLimitMallocHeapSize] = MIB(8),
    [cudaLimitDevRuntimeSyncDepth] = 2,
    [cudaLimitDevRuntimePendingLaunchCount] = 2048,
    [cudaLimitMaxL2FetchGranularity] = 64,
    [cudaLimitPersistingL2CacheSize] = 11796480,
};

static cudaError_t limit(enum cudaLimit which, size_t *get, const size_t *set) {
    if ((size_t)which >= sizeof limits / sizeof limits[0])
        return api_error(cudaErrorUnsupportedLimit, "unknown limit %d", (int)which);
    if (which == cudaLimitDevRuntimeSyncDepth && current->simulated.compute_capability >= 90) {
        return api_error(cudaErrorUnsupportedLimit,
                         "device-side synchronization is not supported by compute capability 9.0 and higher");
    }
    if (!get && !set)
        return api_error(cudaErrorInvalidValue, "the pointer to the result is NULL");
    if (set)
        limits[which] = *set;
    else
        *get = limits[which];
    return cudaSuccess;
}

cudaError_t cudaDeviceGetLimit(size_t *value, enum cudaLimit which) {
    return DEVICE_CALL(limit(which, value, NULL));
}

cudaError_t cudaDeviceSetLimit(enum cudaLimit which, size_t value) {
    return DEVICE_CALL(limit(which, NULL, &value));
}

// The division of the L1/shared storage, which the simulator does not model.
static enum cudaFuncCache cache_config;

static cudaError_t set_cache_config(enum cudaFuncCache config) {
    cache_config = config;
    return cudaSuccess;
}

cudaError_t cudaDeviceSetCacheConfig(enum cudaFuncCache config) {
    return DEVICE_CALL(set_cache_config(config));
}

cudaError_t cudaDeviceGetCacheConfig(enum cudaFuncCache *config) {
    return DEVICE_CALL(write_int((int *)config, (int)cache_config));
}

// Banks have 4 bytes since Maxwell; the simulator only stores the setting.
static enum cudaSharedMemConfig bank_config = cudaSharedMemBankSizeFourByte;

static cudaError_t set_bank_config(enum cudaSharedMemConfig config) {
    bank_config = config == cudaSharedMemBankSizeDefault ? cudaSharedMemBankSizeFourByte : config;
    return cudaSuccess;
}

cudaError_t cudaDeviceSetSharedMemConfig(enum cudaSharedMemConfig config) {
    return DEVICE_CALL(set_bank_config(config));
}

cudaError_t cudaDeviceGetSharedMemConfig(enum cudaSharedMemConfig *config) {
    return DEVICE_CALL(write_int((int *)config, (int)bank_config));
}
