// What the forms of mma and of mma.sp share.
#ifndef PRODUCTS_CUH
#define PRODUCTS_CUH

#include "forms.cuh"

// Threads that write count results each.
#define RETURN_PAST(count)                                                                                             \
    if (INDEX >= TRUTH_ELEMENTS / count) {                                                                             \
        return;                                                                                                        \
    }

#define EXACT_MMA(name, R, A, C)                                                                                       \
    { #name "_exact", (const void *)name, TRUTH_##R, {TRUTH_##A, TRUTH_##A, TRUTH_##C }, TRUTH_EXACT, 0 }
#define RANDOM_MMA(name, R, A, C, bound)                                                                               \
    { #name "_random", (const void *)name, TRUTH_##R, {TRUTH_##A, TRUTH_##A, TRUTH_##C }, TRUTH_NEAR, bound }
#define INTEGER_MMA(name)                                                                                              \
    { #name, (const void *)name, TRUTH_I32, {TRUTH_I32, TRUTH_I32, TRUTH_I32 }, TRUTH_EXACT, 0 }

// Small integers make every order of summation exact. For the others the order is the hardware's own: at most 17 terms
// of size 1 are added, each addition truncated to fp32's 24 bits at a size under 32, or to fp16's 11 bits at the end.
#define FP32_SUM (17 * 0x1p-19)
#define FP16_SUM 0x1p-6

#endif
