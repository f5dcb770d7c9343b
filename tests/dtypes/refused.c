// What a lesson of 16 bits does not take: attention_forward returns an error and launches nothing.
//
//   refused KERNEL.so
//   refused KERNEL.so bulk         of a lesson with bulk copies, which do not take every head dimension and stride
//   refused KERNEL.so old ERROR    of a device that is too old for it: by the error of this number
//
// Prints a line for each call that should have been refused and was not; exit status 1 where there is one.
#include "attention.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
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

static void require_launched(const char *what, const struct attention_problem *p) {
    if (forward(p, NULL) == cudaSuccess && !untouched() && cudaMemset(good.o, 0xff, BYTES) == cudaSuccess)
        return;
    failures++;
    printf("%s: not launched\n", what);
}

// Two heads of each tensor, one of them with another stride.
static void refuse_stride(const char *what, int64_t head, int64_t row, cudaError_t expected) {
    struct attention_problem p = good;
    p.heads = p.kv_heads = 2;
    struct attention_strides *const strides[] = {&p.q_stride, &p.k_stride, &p.v_stride, &p.o_stride};
    for (int i = 0; i < 4; i++) {
        const struct attention_strides usual = *strides[i];
        *strides[i] = (struct attention_strides){usual.batch, head, row};
        require_refused(what, &p, expected);
        *strides[i] = usual;
    }
}

static void refuse_what_bulk_copies_do_not_take(void) {
    struct attention_problem p = good;
    p.head_dim = 60;
    require_refused("a head dimension of 60", &p, cudaErrorMisalignedAddress);
    refuse_stride("rows 65 elements apart", ROWS * HEAD_DIM, HEAD_DIM + 1, cudaErrorMisalignedAddress);
    refuse_stride("heads 1028 elements apart", 1028, HEAD_DIM, cudaErrorMisalignedAddress);
    refuse_stride("heads 2^40 elements apart", INT64_C(1) << 40, HEAD_DIM, cudaErrorInvalidValue);
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
    if (argc > 3) {
        require_refused("an older device", &good, (cudaError_t)atoi(argv[3]));
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
    if (argc > 2)
        refuse_what_bulk_copies_do_not_take();
    require_launched("what is covered", &good);
    p = good, p.q_stride.head = p.k_stride.batch = 3, p.v_stride.head = 1028;
    require_launched("strides that are not used", &p);
    return failures > 0;
}
