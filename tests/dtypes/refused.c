// What a lesson of 16 bits does not take: attention_forward returns an error and launches nothing.
//
//   refused KERNEL.so [old]        old: of a device that is too old for it
//
// Prints a line for each call that should have been refused and was not; exit status 1 where there is one.
#include "attention.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

typedef cudaError_t attention_function(const struct attention_problem *, cudaStream_t);

enum { ROWS = 16, HEAD_DIM = 64, BYTES = 2 * ROWS * 512 };

static attention_function *forward;
static struct attention_problem good;
static int failures;

// Whether the output is as it was, and no error comes late.
static bool untouched(void) {
    static unsigned char now[BYTES];
    if (cudaDeviceSynchronize() != cudaSuccess || cudaMemcpy(now, good.o, BYTES, cudaMemcpyDeviceToHost) != cudaSuccess)
        return false;
    for (int i = 0; i < BYTES; i++)
        if (now[i] != 0xff)
            return false;
    return true;
}

static void require_refused(const char *what, const struct attention_problem *p, cudaError_t expected) {
    cudaError_t error = forward(p, NULL);
    if (error == expected && untouched())
        return;
    failures++;
    printf("%s: %s, expected %s, and no launch\n", what, cudaGetErrorName(error), cudaGetErrorName(expected));
}

int main(int argc, char **argv) {
    void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL, *memory[4];
    forward = library ? (attention_function *)dlsym(library, "attention_forward") : NULL;
    for (int i = 0; i < 4; i++)
        if (cudaMalloc(&memory[i], 2 * BYTES) != cudaSuccess ||
            cudaMemset(memory[i], i < 3 ? 0 : 0xff, BYTES) != cudaSuccess)
            forward = NULL;
    if (!forward)
        return 2;
    good = (struct attention_problem){.nq = ROWS, .nk = ROWS, .head_dim = HEAD_DIM, .softmax_scale = 0.125f};
    good.q = memory[0], good.k = memory[1], good.v = memory[2], good.o = memory[3], good.dtype = ATTENTION_BF16;
    good.batch = good.heads = good.kv_heads = 1;
    good.q_stride = good.k_stride = good.v_stride = good.o_stride =
        (struct attention_strides){ROWS * HEAD_DIM, ROWS * HEAD_DIM, HEAD_DIM};
    if (argc > 2) {
        require_refused("an older device", &good, cudaErrorNoKernelImageForDevice);
        return failures > 0;
    }
    struct attention_problem p = good;
    p.dtype = ATTENTION_FP32;
    require_refused("fp32", &p, cudaErrorInvalidValue);
    p = good, p.head_dim = 257;
    require_refused("a head dimension of 257", &p, cudaErrorInvalidValue);
    p = good, p.softmax_scale = 0;
    require_refused("a scale of 0", &p, cudaErrorInvalidValue);
    const void **const inputs[] = {&p.q, &p.k, &p.v};
    for (int i = 0; i < 3; i++) {
        p = good, *inputs[i] = (const char *)memory[i] + 2;
        require_refused("a tensor 2 bytes past a multiple of 16", &p, cudaErrorMisalignedAddress);
    }
    p = good, p.o = (char *)memory[3] + 8;
    require_refused("an output 8 bytes past a multiple of 16", &p, cudaErrorMisalignedAddress);
    if (forward(&good, NULL) != cudaSuccess || untouched()) // what is good is launched
        failures++, puts("what is covered was not launched");
    return failures > 0;
}
