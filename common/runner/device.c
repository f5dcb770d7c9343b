#include "runner/device.h"

#include "message.h"
#include "runner/cuda.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

typedef unsigned findings_function(void);

static findings_function *find_findings(void) {
    return (findings_function *)dlsym(RTLD_DEFAULT, "simulator_findings");
}

static int attribute(enum cudaDeviceAttr which) {
    int value = 0;
    CUDA(cudaDeviceGetAttribute(&value, which, 0));
    return value;
}

// fp32 additions or multiplications that an SM starts in a clock (CUDA C++ Programming Guide, arithmetic instructions).
static int fp32_lanes(int compute_capability) {
    switch (compute_capability) {
    case 60:
    case 70:
    case 72:
    case 75:
    case 80:
        return 64;
    default:
        return 128;
    }
}

// The same of 16 bits on tensor cores, operations on an SM in a clock with sums in fp32: of the architecture's
// datasheet rate, dense, over SMs and clock.
static int tensor_operations(int compute_capability, enum attention_dtype dtype) {
    if (dtype == ATTENTION_FP32 || dtype > ATTENTION_BF16 || compute_capability < 70 ||
        (dtype == ATTENTION_BF16 && compute_capability < 80))
        return 0;
    switch (compute_capability) {
    case 80:
        return 2048;
    case 90:
        return 4096;
    case 100:
    case 103:
        return 8192;
    default:
        return 1024; // of some products half as much
    }
}

struct device device_open(enum device_choice choice) {
    struct device device = {0};
    struct cudaDeviceProp properties;
    int devices = 0;
    bool simulated = find_findings() != NULL;
    if (choice != DEVICE_ANY && simulated != (choice == DEVICE_SIMULATOR))
        message_exit(EXIT_BAD_INPUT, simulated
                                         ? "DEVICE=gpu, but the simulator's libcudart is first in the loader's path"
                                         : "DEVICE=sim, but the simulator's libcudart is missing: build it with make");
    cudaError_t status = cudaGetDeviceCount(&devices);
    if (status != cudaSuccess || devices == 0)
        message_exit(EXIT_BAD_INPUT, "no GPU answers (%s): see nvidia-smi; DEVICE=sim needs none",
                     cudaGetErrorString(status));
    CUDA(cudaSetDevice(0));
    CUDA(cudaGetDeviceProperties(&properties, 0));
    device.limits.simulated = simulated;
    device.limits.devices = devices;
    snprintf(device.name, sizeof device.name, "%.120s", properties.name);
    snprintf(device.limits.description, sizeof device.limits.description, "%s%s", device.name,
             simulated && !strstr(device.name, "simulat") ? " (simulated)" : "");
    for (int i = 0; i < 16; i++)
        snprintf(device.uuid + 2 * i, 3, "%02x", (unsigned char)properties.uuid.bytes[i]);
    device.sm_count = attribute(cudaDevAttrMultiProcessorCount);
    int capability = 10 * attribute(cudaDevAttrComputeCapabilityMajor) + attribute(cudaDevAttrComputeCapabilityMinor);
    device.limits.compute_capability = capability;
    device.l2_bytes = (size_t)attribute(cudaDevAttrL2CacheSize);
    device.limits.shared_bytes = (size_t)attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
    double clock_hz = 1e3 * attribute(cudaDevAttrClockRate), memory_hz = 1e3 * attribute(cudaDevAttrMemoryClockRate);
    for (int type = 0; type < ATTENTION_DTYPES; type++) {
        int tensor = tensor_operations(capability, (enum attention_dtype)type);
        device.peak_tflops[type] = device.sm_count * (type ? tensor : 2 * fp32_lanes(capability)) * clock_hz * 1e-12;
    }
    device.peak_gb_per_s = 2.0 * memory_hz * attribute(cudaDevAttrGlobalMemoryBusWidth) / 8 * 1e-9;
    return device;
}

// What the host can give without swapping, 0 where /proc does not say.
static size_t host_free_bytes(void) {
    FILE *file = fopen("/proc/meminfo", "r");
    char line[128];
    unsigned long long kibibytes = 0;
    while (file && !kibibytes && fgets(line, sizeof line, file))
        sscanf(line, "MemAvailable: %llu kB", &kibibytes);
    if (file)
        fclose(file);
    return (size_t)kibibytes * 1024;
}

bool device_holds(const struct device *device, double device_bytes, double host_bytes, struct message *reason) {
    size_t free_bytes = 0, total = 0;
    double host_free = (double)host_free_bytes();
    CUDA(cudaMemGetInfo(&free_bytes, &total));
    // Some is left over for the context, kernels and printf buffers.
    double device_free = 0.95 * (double)free_bytes;
    // Simulated memory is the host's, and records for each byte whether it was written and by which threads it was
    // accessed.
    if (device->limits.simulated && host_free > 0 && host_free / 4 < device_free)
        device_free = host_free / 4;
    if (device_bytes > device_free)
        return message_set(reason, "needs %.1f GiB of memory, and %s has %.1f GiB free", device_bytes / 0x1p30,
                           device->limits.description, device_free / 0x1p30);
    if (host_free > 0 && host_bytes > host_free)
        return message_set(reason, "needs %.1f GiB of the host's memory for the reference, and %.1f GiB are free",
                           host_bytes / 0x1p30, host_free / 0x1p30);
    return true;
}

static unsigned long counted(const char *name) {
    unsigned long (*count)(void) = (unsigned long (*)(void))dlsym(RTLD_DEFAULT, name);
    return count ? count() : 0;
}

struct device_counts device_counts(void) {
    findings_function *findings = find_findings();
    return (struct device_counts){.known = dlsym(RTLD_DEFAULT, "simulator_launches"),
                                  .findings = findings ? findings() : 0,
                                  .launches = counted("simulator_launches"),
                                  .failed = counted("simulator_failed_launches"),
                                  .early = counted("simulator_unordered_launches")};
}

static uint64_t secret;

static void lock(const char *name) {
    void (*function)(uint64_t) = (void (*)(uint64_t))dlsym(RTLD_DEFAULT, name);
    if (function && secret)
        function(secret);
}

void device_lock(void) {
    if (getrandom(&secret, sizeof secret, 0) != sizeof secret || !secret)
        secret = (uint64_t)getpid();
    lock("simulator_lock");
}

void *device_control_function(const char *name) {
    lock("simulator_unlock");
    return dlsym(RTLD_DEFAULT, name);
}

void device_control_end(void) {
    lock("simulator_lock");
}

void device_inputs_on(cudaStream_t stream) {
    void (*inputs_on)(cudaStream_t) = (void (*)(cudaStream_t))device_control_function("simulator_set_input_stream");
    if (inputs_on)
        inputs_on(stream);
    device_control_end();
}

static void control(const char *name, uint64_t value) {
    void (*function)(uint64_t) = (void (*)(uint64_t))device_control_function(name);
    if (function)
        function(value);
    device_control_end();
}

void device_order(uint64_t seed) {
    control("simulator_set_order", seed);
}

void device_budget(uint64_t warp_instructions) {
    control("simulator_set_budget", warp_instructions);
}

void device_concurrent(enum device_concurrency state) {
    control("simulator_set_concurrency", state);
}

enum device_part device_part(void) {
    enum device_part (*part)(void) = (enum device_part(*)(void))dlsym(RTLD_DEFAULT, "simulator_coverage");
    return part ? part() : PART_WHOLE;
}

uint64_t device_whole(void) {
    uint64_t (*whole)(void) = (uint64_t(*)(void))dlsym(RTLD_DEFAULT, "simulator_total_instructions");
    return whole ? whole() : 0;
}

void device_withdraw(void *device, size_t bytes, int value) {
    void (*withdraw)(void *, size_t, int) =
        (void (*)(void *, size_t, int))device_control_function("simulator_overwrite_unwritten");
    if (withdraw)
        withdraw(device, bytes, value);
    device_control_end();
}

uint64_t device_overlaps(const void *device, size_t bytes) {
    uint64_t (*overlaps)(const void *, size_t) =
        (uint64_t(*)(const void *, size_t))dlsym(RTLD_DEFAULT, "simulator_overlap_distance");
    return overlaps ? overlaps(device, bytes) : 0;
}

static bool was_copied(const char *predicate, const void *device, size_t bytes) {
    bool (*copied)(const void *, size_t) = (bool (*)(const void *, size_t))dlsym(RTLD_DEFAULT, predicate);
    return copied && copied(device, bytes);
}

bool device_from_host(const void *device, size_t bytes) {
    return was_copied("simulator_copied_from_host", device, bytes);
}

bool device_to_host(const void *device, size_t bytes) {
    return was_copied("simulator_copied_to_host", device, bytes);
}

unsigned long device_calls_until_reuse(void) {
    return counted("simulator_calls_until_reuse");
}

int device_first_finding(void) {
    typedef int function(void);
    function *first = (function *)dlsym(RTLD_DEFAULT, "simulator_first_finding");
    return first ? first() : -1;
}
