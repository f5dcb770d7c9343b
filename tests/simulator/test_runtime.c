// The runtime without kernels: the results of its calls, and the error of each misuse, which is the one that NVIDIA's
// runtime returns on a GPU. test_runtime_device.c tests devices, test_runtime.bats kernels.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "machine/kernel_name.h"
#include "runtime/api.h"

#include <string.h>
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

static int fresh_device(void **state) {
    (void)state;
    return cudaDeviceReset() == cudaSuccess ? 0 : -1;
}

static void error_names(void **state) {
    (void)state;
    assert_string_equal(cudaGetErrorName(cudaSuccess), "cudaSuccess");
    assert_string_equal(cudaGetErrorString(cudaSuccess), "no error");
    assert_string_equal(cudaGetErrorName(cudaErrorIllegalAddress), "cudaErrorIllegalAddress");
    assert_string_equal(cudaGetErrorString(cudaErrorIllegalAddress), "an illegal memory access was encountered");
    assert_string_equal(cudaGetErrorString(cudaErrorInvalidConfiguration), "invalid configuration argument");
    assert_string_equal(cudaGetErrorName((cudaError_t)12345), "unrecognized error code");
    assert_string_equal(cudaGetErrorString((cudaError_t)12345), "unrecognized error code");
}

static void last_error_is_the_most_recent(void **state) {
    (void)state;
    void *p;
    assert_int_equal(cudaFree(&p), cudaErrorInvalidValue);
    assert_int_equal(cudaSetDevice(1), cudaErrorInvalidDevice);
    OK(cudaMalloc(&p, 16)); // success does not clear it
    assert_int_equal(cudaGetLastError(), cudaErrorInvalidDevice);
    assert_int_equal(cudaGetLastError(), cudaSuccess);
    OK(cudaFree(p));
}

static void malloc_and_free(void **state) {
    (void)state;
    void *p = &p;
    size_t free_before, free_after, total;
    OK(cudaMalloc(&p, 0));
    assert_null(p);
    OK(cudaFree(NULL));
    FAILS(cudaErrorInvalidValue, cudaMalloc(NULL, 16));
    OK(cudaMemGetInfo(&free_before, &total));
    OK(cudaMalloc(&p, 1000));
    assert_int_equal((uintptr_t)p % 256, 0);
    OK(cudaMemGetInfo(&free_after, &total));
    assert_int_equal(free_before - free_after, 1000);
    FAILS(cudaErrorInvalidValue, cudaFree((char *)p + 4));
    OK(cudaFree(p));
    FAILS(cudaErrorInvalidValue, cudaFree(p));
    FAILS(cudaErrorInvalidValue, cudaFree(&p));
    FAILS(cudaErrorMemoryAllocation, cudaMalloc(&p, total + 1));
    assert_null(p);
    FAILS(cudaErrorMemoryAllocation, cudaMalloc(&p, SIZE_MAX));
}

static void copies_keep_the_bytes(void **state) {
    (void)state;
    unsigned char in[64], out[64] = {0};
    void *a, *b;
    for (int i = 0; i < 64; i++)
        in[i] = (unsigned char)(i * 7);
    OK(cudaMalloc(&a, 64));
    OK(cudaMalloc(&b, 64));
    OK(cudaMemcpy(a, in, 64, cudaMemcpyHostToDevice));
    OK(cudaMemcpyAsync(b, a, 64, cudaMemcpyDeviceToDevice, NULL));
    OK(cudaMemcpy(out, b, 64, cudaMemcpyDefault));
    assert_memory_equal(in, out, 64);
    OK(cudaMemset((char *)b + 8, 0xab, 4));
    OK(cudaMemcpy(out, b, 64, cudaMemcpyDeviceToHost));
    memset(in + 8, 0xab, 4);
    assert_memory_equal(in, out, 64);
    OK(cudaMemcpy(out, in, 64, cudaMemcpyHostToHost));
    OK(cudaMemcpy(NULL, NULL, 0, cudaMemcpyHostToDevice));
}

static void copies_of_rows(void **state) {
    (void)state;
    char in[3][8] = {"abcdefg", "hijklmn", "opqrstu"}, out[3][8] = {"", "", ""};
    void *device;
    size_t pitch;
    OK(cudaMallocPitch(&device, &pitch, 5, 3));
    assert_int_equal(pitch, 512);
    OK(cudaMemset2D(device, pitch, 'x', 5, 3));
    OK(cudaMemcpy2D(device, pitch, in, 8, 3, 3, cudaMemcpyHostToDevice));
    OK(cudaMemcpy2D(out, 8, device, pitch, 5, 3, cudaMemcpyDeviceToHost));
    assert_string_equal(out[0], "abcxx");
    assert_string_equal(out[2], "opqxx");
    FAILS(cudaErrorInvalidPitchValue, cudaMemcpy2D(device, 2, in, 8, 3, 3, cudaMemcpyHostToDevice));
    FAILS(cudaErrorInvalidValue, cudaMemcpy2D(device, pitch, in, 8, 3, 4, cudaMemcpyHostToDevice));
    FAILS(cudaErrorInvalidValue, cudaMemset2D(device, pitch, 0, 5, 4));
}

static void invalid_copies(void **state) {
    (void)state;
    char host[64];
    void *device, *freed;
    OK(cudaMalloc(&device, 32));
    OK(cudaMalloc(&freed, 32));
    OK(cudaFree(freed));
    FAILS(cudaErrorInvalidValue, cudaMemcpy(device, host, 33, cudaMemcpyHostToDevice));
    FAILS(cudaErrorInvalidValue, cudaMemcpy((char *)device + 1, host, 32, cudaMemcpyHostToDevice));
    FAILS(cudaErrorInvalidValue, cudaMemcpy(host, device, 33, cudaMemcpyDeviceToHost));
    FAILS(cudaErrorInvalidValue, cudaMemcpy(host, host + 32, 32, cudaMemcpyHostToDevice));
    FAILS(cudaErrorInvalidValue, cudaMemcpy(host, freed, 32, cudaMemcpyDeviceToHost));
    FAILS(cudaErrorInvalidValue, cudaMemcpy(NULL, device, 32, cudaMemcpyDeviceToHost));
    FAILS(cudaErrorInvalidValue, cudaMemcpy(device, NULL, 32, cudaMemcpyHostToDevice));
    FAILS(cudaErrorInvalidValue, cudaMemcpy(device, device, 16, cudaMemcpyHostToDevice));
    FAILS(cudaErrorInvalidMemcpyDirection, cudaMemcpy(device, host, 32, (enum cudaMemcpyKind)9));
    FAILS(cudaErrorInvalidValue, cudaMemset(host, 0, 32));
    FAILS(cudaErrorInvalidValue, cudaMemset(device, 0, 33));
    FAILS(cudaErrorInvalidValue, cudaMemset(NULL, 0, 1));
}

static void host_memory(void **state) {
    (void)state;
    char *pinned, *managed, plain[64];
    void *device;
    struct cudaPointerAttributes attributes;
    OK(cudaMalloc(&device, 64));
    OK(cudaMallocHost((void **)&pinned, 64));
    OK(cudaMallocManaged((void **)&managed, 64, cudaMemAttachGlobal));
    memset(pinned, 1, 64);
    memset(managed, 2, 64);
    OK(cudaMemcpy(device, pinned, 64, cudaMemcpyHostToDevice));
    OK(cudaMemcpy(managed, device, 64, cudaMemcpyDefault));
    assert_memory_equal(managed, pinned, 64);
    OK(cudaMemset(managed, 3, 64));
    assert_int_equal(managed[63], 3);
    OK(cudaPointerGetAttributes(&attributes, pinned));
    assert_int_equal(attributes.type, cudaMemoryTypeHost);
    OK(cudaPointerGetAttributes(&attributes, managed + 8));
    assert_int_equal(attributes.type, cudaMemoryTypeManaged);
    OK(cudaPointerGetAttributes(&attributes, device));
    assert_int_equal(attributes.type, cudaMemoryTypeDevice);
    assert_null(attributes.hostPointer);
    OK(cudaPointerGetAttributes(&attributes, plain));
    assert_int_equal(attributes.type, cudaMemoryTypeUnregistered);
    FAILS(cudaErrorInvalidValue, cudaFree(pinned));
    FAILS(cudaErrorInvalidValue, cudaFreeHost(plain));
    OK(cudaFreeHost(pinned));
    OK(cudaFree(managed));
    FAILS(cudaErrorInvalidValue, cudaFreeHost(pinned));
    OK(cudaHostRegister(plain, 64, cudaHostRegisterDefault));
    FAILS(cudaErrorHostMemoryAlreadyRegistered, cudaHostRegister(plain, 64, cudaHostRegisterDefault));
    OK(cudaHostUnregister(plain));
    FAILS(cudaErrorHostMemoryNotRegistered, cudaHostUnregister(plain));
}

static void the_default_pool(void **state) {
    (void)state;
    cudaMemPool_t pool;
    uint64_t keep = UINT64_MAX;
    void *device;
    OK(cudaDeviceGetDefaultMemPool(&pool, 0));
    OK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
    OK(cudaMallocFromPoolAsync(&device, 64, pool, NULL));
    OK(cudaMemset(device, 0, 64));
    OK(cudaFreeAsync(device, NULL));
    FAILS(cudaErrorInvalidDevice, cudaDeviceGetDefaultMemPool(&pool, 1));
    FAILS(cudaErrorInvalidValue, cudaMallocFromPoolAsync(&device, 64, NULL, NULL));
}

static void count_calls(void *count) {
    ++*(int *)count;
}

static void streams(void **state) {
    (void)state;
    cudaStream_t stream, low;
    int priority, called = 0;
    unsigned flags;
    OK(cudaStreamCreate(&stream));
    OK(cudaStreamCreateWithPriority(&low, cudaStreamNonBlocking, -100));
    OK(cudaStreamGetPriority(low, &priority));
    assert_int_equal(priority, -5);
    OK(cudaStreamGetFlags(low, &flags));
    assert_int_equal(flags, cudaStreamNonBlocking);
    OK(cudaStreamSynchronize(stream));
    OK(cudaStreamQuery(stream));
    OK(cudaStreamSynchronize(NULL));
    OK(cudaStreamSynchronize(cudaStreamLegacy));
    OK(cudaLaunchHostFunc(stream, count_calls, &called));
    assert_int_equal(called, 1);
    OK(cudaStreamDestroy(stream));
    FAILS(cudaErrorInvalidResourceHandle, cudaStreamDestroy(stream));
    FAILS(cudaErrorInvalidResourceHandle, cudaStreamSynchronize(stream));
    FAILS(cudaErrorInvalidResourceHandle, cudaStreamDestroy(NULL));
    FAILS(cudaErrorInvalidValue, cudaStreamCreateWithFlags(&stream, 77));
    void *device;
    FAILS(cudaErrorInvalidResourceHandle, cudaMallocAsync(&device, 16, stream));
    OK(cudaMallocAsync(&device, 16, low));
    OK(cudaFreeAsync(device, low));
}

static void events(void **state) {
    (void)state;
    cudaEvent_t start, end, untimed;
    float milliseconds = -1;
    OK(cudaEventCreate(&start));
    OK(cudaEventCreate(&end));
    OK(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
    OK(cudaEventQuery(start));
    FAILS(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&milliseconds, start, end));
    OK(cudaEventRecord(start, NULL));
    usleep(2000);
    OK(cudaEventRecord(end, NULL));
    OK(cudaEventSynchronize(end));
    OK(cudaStreamWaitEvent(NULL, end, 0));
    OK(cudaEventElapsedTime(&milliseconds, start, end));
    assert_true(milliseconds >= 2.0f && milliseconds < 60000.0f);
    OK(cudaEventRecord(untimed, NULL));
    FAILS(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&milliseconds, start, untimed));
    OK(cudaEventDestroy(start));
    FAILS(cudaErrorInvalidResourceHandle, cudaEventRecord(start, NULL));
    FAILS(cudaErrorInvalidResourceHandle, cudaEventRecord(NULL, NULL));
}

static void reset_frees_everything(void **state) {
    (void)state;
    void *device, *pinned;
    cudaStream_t stream;
    size_t free_bytes, total;
    OK(cudaMalloc(&device, 1 << 20));
    OK(cudaMallocHost(&pinned, 64));
    OK(cudaStreamCreate(&stream));
    assert_int_equal(cudaFree(&total), cudaErrorInvalidValue);
    OK(cudaDeviceReset());
    OK(cudaGetLastError());
    OK(cudaMemGetInfo(&free_bytes, &total));
    assert_int_equal(free_bytes, total);
    FAILS(cudaErrorInvalidValue, cudaFree(device));
    FAILS(cudaErrorInvalidValue, cudaFreeHost(pinned));
    FAILS(cudaErrorInvalidResourceHandle, cudaStreamSynchronize(stream));
}

static void unregistered_symbols(void **state) {
    (void)state;
    char symbol = 0;
    void *address;
    struct cudaFuncAttributes attributes;
    FAILS(cudaErrorInvalidSymbol, cudaMemcpyToSymbol(&symbol, "x", 1, 0, cudaMemcpyHostToDevice));
    FAILS(cudaErrorInvalidSymbol, cudaGetSymbolAddress(&address, &symbol));
    FAILS(cudaErrorInvalidResourceHandle, cudaLaunchKernel(&symbol, (dim3){1, 1, 1}, (dim3){1, 1, 1}, NULL, 0, NULL));
    FAILS(cudaErrorInvalidResourceHandle, cudaFuncGetAttributes(&attributes, &symbol));
    enum cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSuccess;
    address = &symbol;
#if CUDART_VERSION >= 12050
    OK(cudaGetDriverEntryPointByVersion("cuInit", &address, 12000, cudaEnableDefault, &found));
#else
    OK(cudaGetDriverEntryPoint("cuInit", &address, cudaEnableDefault, &found));
#endif
    assert_int_equal(found, cudaDriverEntryPointSymbolNotFound);
    assert_null(address);
}

static void expect_plain(const char *mangled, const char *plain) {
    size_t length;
    const char *found = kernel_plain_name(mangled, &length);
    assert_int_equal(length, strlen(plain));
    assert_memory_equal(found, plain, length);
}

static void plain_kernel_names(void **state) {
    (void)state;
    expect_plain("_Z3addPKfS0_Pfi", "add");
    expect_plain("_ZL11read_answerPi", "read_answer");
    expect_plain("_ZN12_GLOBAL__N_116attention_kernelILi64EEEvPKfPfi", "attention_kernel");
    expect_plain("_Z5scaleIfLi3EEvPT_", "scale");
    expect_plain("_Z16attention_kernel17attention_problem", "attention_kernel");
    expect_plain("plain_c", "plain_c");
    expect_plain("_Z", "_Z");
    expect_plain("_Z99short", "_Z99short");
    expect_plain("_Z99999999999999999999999x", "_Z99999999999999999999999x");
    expect_plain("", "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(error_names, fresh_device),
        cmocka_unit_test_setup(last_error_is_the_most_recent, fresh_device),
        cmocka_unit_test_setup(malloc_and_free, fresh_device),
        cmocka_unit_test_setup(copies_keep_the_bytes, fresh_device),
        cmocka_unit_test_setup(copies_of_rows, fresh_device),
        cmocka_unit_test_setup(invalid_copies, fresh_device),
        cmocka_unit_test_setup(host_memory, fresh_device),
        cmocka_unit_test_setup(the_default_pool, fresh_device),
        cmocka_unit_test_setup(streams, fresh_device),
        cmocka_unit_test_setup(events, fresh_device),
        cmocka_unit_test_setup(reset_frees_everything, fresh_device),
        cmocka_unit_test_setup(unregistered_symbols, fresh_device),
        cmocka_unit_test(plain_kernel_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
