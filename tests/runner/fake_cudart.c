// A CUDA runtime without a device: memory is the host's, a "kernel" is a C function that has run when it returns. It
// lets the launcher and the runner be tested with kernels that fail in every way. With SIMULATED it passes for the
// simulator.
#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

static cudaError_t last_error, pending_error;
static bool sticky;
static unsigned findings;
static double spent_us;

// For the fake kernels: what the next synchronisation says, and for how long.
void fake_fail(cudaError_t error, bool stays);
void fake_fail(cudaError_t error, bool stays) {
    pending_error = error;
    sticky = stays;
}

void fake_launch_error(cudaError_t error);
void fake_launch_error(cudaError_t error) {
    last_error = error;
}

void fake_finding(const char *text);
void fake_finding(const char *text) {
    fprintf(stderr, "%s\n", text);
    findings++;
}

// Time that a kernel takes by the events' clock. With FAKE_CLOCK=1 none passes but this.
void fake_spend(double us);
void fake_spend(double us) {
    spent_us += us;
}

#ifdef SIMULATED
unsigned simulator_findings(void);
unsigned simulator_findings(void) {
    return findings;
}
#endif

static cudaError_t done(void) {
    if (sticky)
        last_error = pending_error;
    return sticky ? pending_error : cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int *count) {
    *count = getenv("FAKE_NO_GPU") ? 0 : 1;
    return *count ? cudaSuccess : cudaErrorNoDevice;
}

cudaError_t cudaSetDevice(int device) {
    return device ? cudaErrorInvalidDevice : cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *properties, int device) {
    memset(properties, 0, sizeof *properties);
    strcpy(properties->name, getenv("FAKE_NAME") ? getenv("FAKE_NAME") : "Fake GPU");
    return cudaSetDevice(device);
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device) {
    switch (attribute) {
    case cudaDevAttrMultiProcessorCount:
        *value = getenv("FAKE_SMS") ? atoi(getenv("FAKE_SMS")) : 10;
        break;
    case cudaDevAttrComputeCapabilityMajor:
        *value = getenv("FAKE_CAPABILITY") ? atoi(getenv("FAKE_CAPABILITY")) / 10 : 8;
        break;
    case cudaDevAttrComputeCapabilityMinor:
        *value = getenv("FAKE_CAPABILITY") ? atoi(getenv("FAKE_CAPABILITY")) % 10 : 6;
        break;
    case cudaDevAttrL2CacheSize:
        *value = 1 << 20;
        break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
        *value = 99 << 10;
        break;
    case cudaDevAttrClockRate:
        *value = 1000000;
        break;
    case cudaDevAttrMemoryClockRate:
        *value = 500000;
        break;
    case cudaDevAttrGlobalMemoryBusWidth:
        *value = 256;
        break;
    default:
        return cudaErrorInvalidValue;
    }
    return cudaSetDevice(device);
}

cudaError_t cudaDeviceGetPCIBusId(char *id, int size, int device) {
    snprintf(id, (size_t)size, "0000:00:00.0");
    return cudaSetDevice(device);
}

cudaError_t cudaRuntimeGetVersion(int *version) {
    *version = 13000;
    return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total) {
    *free_bytes = *total = (size_t)256 << 20;
    return done();
}

enum { HEADER = 4096 }; // before the memory: how much it is

// Only what is touched takes memory, as in the simulator: tensors with large strides have few rows.
cudaError_t cudaMalloc(void **pointer, size_t size) {
    char *mapping =
        mmap(NULL, size + HEADER, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapping == MAP_FAILED)
        return cudaErrorMemoryAllocation;
    memcpy(mapping, &size, sizeof size);
    *pointer = mapping + HEADER;
    return done();
}

cudaError_t cudaFree(void *pointer) {
    size_t size;
    if (pointer) {
        memcpy(&size, (char *)pointer - HEADER, sizeof size);
        munmap((char *)pointer - HEADER, size + HEADER);
    }
    return done();
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t size, enum cudaMemcpyKind kind) {
    (void)kind;
    memcpy(to, from, size);
    return done();
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t size, enum cudaMemcpyKind kind, cudaStream_t stream) {
    (void)stream;
    fake_spend((double)size * 1e-3); // 1 GB/s
    return cudaMemcpy(to, from, size, kind);
}

cudaError_t cudaMemset(void *to, int value, size_t size) {
    memset(to, value, size);
    return done();
}

cudaError_t cudaMemsetAsync(void *to, int value, size_t size, cudaStream_t stream) {
    (void)stream;
    return cudaMemset(to, value, size);
}

cudaError_t cudaDeviceSynchronize(void) {
    cudaError_t error = pending_error;
    if (!sticky)
        pending_error = cudaSuccess;
    last_error = error ? error : last_error;
    return error;
}

cudaError_t cudaDeviceReset(void) {
    if (getenv("FAKE_NO_RESET"))
        return done();
    pending_error = last_error = cudaSuccess;
    sticky = false;
    return cudaSuccess;
}

cudaError_t cudaStreamCreate(cudaStream_t *stream) {
    *stream = malloc(1);
    return done();
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned int flags) {
    (void)flags;
    return cudaStreamCreate(stream);
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *argument) {
    (void)stream;
    function(argument);
    return done();
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
    free(stream);
    return done();
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
    (void)stream;
    return cudaDeviceSynchronize();
}

cudaError_t cudaEventCreate(cudaEvent_t *event) {
    *event = malloc(sizeof(double));
    return done();
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
    free(event);
    return done();
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    static unsigned random;
    struct timespec t = {0};
    (void)stream;
    random = 1664525 * random + 1013904223;
    if (getenv("FAKE_JITTER")) // microseconds at most
        fake_spend(atof(getenv("FAKE_JITTER")) * (random >> 16) / 65536);
    if (!getenv("FAKE_CLOCK"))
        clock_gettime(CLOCK_MONOTONIC, &t);
    *(double *)event = spent_us * 1e-3 + (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
    return done();
}

cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t end) {
    *ms = (float)(*(const double *)end - *(const double *)start);
    return done();
}

cudaError_t cudaGetLastError(void) {
    cudaError_t error = last_error;
    last_error = cudaSuccess;
    return error;
}

const char *cudaGetErrorName(cudaError_t error) {
    return error == cudaErrorIllegalAddress ? "cudaErrorIllegalAddress" : "cudaErrorOther";
}

const char *cudaGetErrorString(cudaError_t error) {
    return error == cudaErrorIllegalAddress ? "an illegal memory access was encountered" : "some other error";
}
