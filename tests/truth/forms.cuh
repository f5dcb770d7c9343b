// Turns a list of forms into kernels and into the table that run.c walks. A file defines
//   #define FORMS(FORM) FORM(name, result, a, b, c, "PTX with %0 the result and %1 %2 %3 the inputs", how compared,
//   bound)
// and then TRUTH_KERNELS(FORMS) and TRUTH_TABLE(truth_x, FORMS). The types are those of enum truth_type.
#ifndef FORMS_CUH
#define FORMS_CUH

#include "truth.h"

// Of a thread in the grid: of an element.
#define INDEX (blockIdx.x * blockDim.x + threadIdx.x)

#define VALUE_NONE unsigned
#define VALUE_I16 unsigned short
#define VALUE_I32 unsigned
#define VALUE_I64 unsigned long long
#define VALUE_SHIFT unsigned
#define VALUE_F16 unsigned short
#define VALUE_BF16 unsigned short
#define VALUE_F16X2 unsigned
#define VALUE_BF16X2 unsigned
#define VALUE_F32 float
#define VALUE_F64 double
#define VALUE_ANGLE float
#define VALUE_POWER float

// The letter of the register class in inline PTX.
#define LETTER_NONE "r"
#define LETTER_I16 "h"
#define LETTER_I32 "r"
#define LETTER_I64 "l"
#define LETTER_SHIFT "r"
#define LETTER_F16 "h"
#define LETTER_BF16 "h"
#define LETTER_F16X2 "r"
#define LETTER_BF16X2 "r"
#define LETTER_F32 "f"
#define LETTER_F64 "d"
#define LETTER_ANGLE "f"
#define LETTER_POWER "f"

#define FORM_KERNEL(name, R, A, B, C, text, comparison, bound)                                                         \
    __global__ void name(VALUE_##R *result, const VALUE_##A *a, const VALUE_##B *b, const VALUE_##C *c) {              \
        const int i = INDEX;                                                                                           \
        VALUE_##R value;                                                                                               \
        asm volatile("{" text "}" : "=" LETTER_##R(value) : LETTER_##A(a[i]), LETTER_##B(b[i]), LETTER_##C(c[i]));     \
        result[i] = value;                                                                                             \
    }

#define FORM_ENTRY(name, R, A, B, C, text, comparison, bound)                                                          \
    {#name, (const void *)name, TRUTH_##R, {TRUTH_##A, TRUTH_##B, TRUTH_##C}, TRUTH_##comparison, bound},

#define TRUTH_KERNELS(list) list(FORM_KERNEL)
#define TRUTH_TABLE(table, list)                                                                                       \
    extern "C" const struct truth_form table[] = {                                                                     \
        list(FORM_ENTRY){nullptr, nullptr, TRUTH_NONE, {TRUTH_NONE, TRUTH_NONE, TRUTH_NONE}, TRUTH_EXACT, 0}};

#endif
