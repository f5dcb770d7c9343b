// What truth-run does where forms go wrong: it is linked with these forms, and with a runtime whose device is this
// process's memory.
//
//   TRUTH_SECONDS=1 truth-stuck DIRECTORY     as truth-run
#include "truth.h"

#include <cuda_runtime_api.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int broken; // by a form that failed: the device answers nothing else

cudaError_t cudaGetDeviceCount(int *count) {
    *count = 1;
    return cudaSuccess;
}

cudaError_t cudaMalloc(void **memory, size_t size) {
    *memory = malloc(size);
    return *memory ? cudaSuccess : cudaErrorMemoryAllocation;
}

cudaError_t cudaMemset(void *memory, int value, size_t count) {
    memset(memory, value, count);
    return broken ? cudaErrorLaunchFailure : cudaSuccess;
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t count, enum cudaMemcpyKind kind) {
    (void)kind;
    memcpy(to, from, count);
    return cudaSuccess;
}

cudaError_t cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared,
                             cudaStream_t stream) {
    (void)kernel, (void)grid, (void)block, (void)arguments, (void)shared, (void)stream;
    return cudaErrorNotSupported;
}

cudaError_t cudaDeviceSynchronize(void) {
    return broken ? cudaErrorLaunchFailure : cudaSuccess;
}

const char *cudaGetErrorString(cudaError_t error) {
    return error == cudaSuccess ? "no error" : "an error";
}

static int works(const struct truth_form *form, void *result, void *const input[3]) {
    (void)form;
    memcpy(result, input[0], TRUTH_ELEMENTS * sizeof(uint32_t));
    return cudaSuccess;
}

static int fails(const struct truth_form *form, void *result, void *const input[3]) {
    (void)form, (void)result, (void)input;
    broken = 1;
    return cudaSuccess;
}

static int ends(const struct truth_form *form, void *result, void *const input[3]) {
    (void)form, (void)result, (void)input;
    _exit(0);
}

static int hangs(const struct truth_form *form, void *result, void *const input[3]) {
    (void)form, (void)result, (void)input;
    while (pause() < 0) {
    }
    return cudaSuccess;
}

#define FORM(name, launch)                                                                                             \
    { name, NULL, TRUTH_I32, {TRUTH_I32, TRUTH_NONE, TRUTH_NONE}, TRUTH_EXACT, 0, launch }
const struct truth_form truth_integer[] = {
    FORM("works", works), FORM("fails", fails),         FORM("works_after", works),   FORM("ends", ends),
    FORM("hangs", hangs), FORM("works_at_last", works), FORM("fails_at_last", fails), {.name = NULL}};
#define NONE                                                                                                           \
    {                                                                                                                  \
        { .name = NULL }                                                                                               \
    }
const struct truth_form truth_real[] = NONE, truth_half[] = NONE, truth_convert[] = NONE, truth_approximate[] = NONE,
                        truth_video[] = NONE, truth_warp[] = NONE, truth_memory[] = NONE, truth_atomic[] = NONE,
                        truth_matrix[] = NONE, truth_sparse[] = NONE, truth_wgmma[] = NONE, truth_sparse_wgmma[] = NONE,
                        truth_barrier[] = NONE, truth_bulk[] = NONE, truth_tensor[] = NONE, truth_cluster[] = NONE,
                        truth_wmma[] = NONE, truth_texture[] = NONE, truth_surface[] = NONE;
