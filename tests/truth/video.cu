// Video instructions: arithmetic on two or four parts of a word, signed and unsigned in every mix, clamped, and summed
// up.
#include "forms.cuh"

#define OF_TYPE(F, op, d, a, b)                                                                                        \
    F(op##_##d##_##a##_##b, I32, I32, I32, I32, #op "." #d "." #a "." #b " %0, %1, %2, %3;", EXACT, 0)                 \
    F(op##_##d##_##a##_##b##_sat, I32, I32, I32, I32, #op "." #d "." #a "." #b ".sat %0, %1, %2, %3;", EXACT, 0)       \
    F(op##_##d##_##a##_##b##_add, I32, I32, I32, I32, #op "." #d "." #a "." #b ".add %0, %1, %2, %3;", EXACT, 0)

// The eight mixes for sums and differences, whose results can leave the range on either side; four for the others.
#define OF_FOUR(F, op)                                                                                                 \
    OF_TYPE(F, op, u32, u32, u32)                                                                                      \
    OF_TYPE(F, op, s32, s32, s32)                                                                                      \
    OF_TYPE(F, op, u32, s32, u32)                                                                                      \
    OF_TYPE(F, op, s32, u32, s32)
#define OF_EIGHT(F, op)                                                                                                \
    OF_FOUR(F, op)                                                                                                     \
    OF_TYPE(F, op, u32, s32, s32)                                                                                      \
    OF_TYPE(F, op, s32, u32, u32)                                                                                      \
    OF_TYPE(F, op, u32, u32, s32)                                                                                      \
    OF_TYPE(F, op, s32, s32, u32)

#define COMPARISON(F, op, a, b, compare)                                                                               \
    F(op##_##a##_##b##_##compare, I32, I32, I32, I32, #op "." #a "." #b "." #compare " %0, %1, %2, %3;", EXACT, 0)     \
    F(op##_##a##_##b##_##compare##_add, I32, I32, I32, I32, #op "." #a "." #b "." #compare ".add %0, %1, %2, %3;",     \
      EXACT, 0)
#define COMPARISONS(F, op, a, b)                                                                                       \
    COMPARISON(F, op, a, b, eq)                                                                                        \
    COMPARISON(F, op, a, b, ne)                                                                                        \
    COMPARISON(F, op, a, b, lt)                                                                                        \
    COMPARISON(F, op, a, b, le)                                                                                        \
    COMPARISON(F, op, a, b, gt)                                                                                        \
    COMPARISON(F, op, a, b, ge)

// The comparisons of unlike signs are two of six: the others take the same parts of the operands.
#define OF_WIDTH(F, n)                                                                                                 \
    OF_EIGHT(F, vadd##n)                                                                                               \
    OF_EIGHT(F, vsub##n)                                                                                               \
    OF_FOUR(F, vavrg##n)                                                                                               \
    OF_FOUR(F, vabsdiff##n)                                                                                            \
    OF_FOUR(F, vmin##n)                                                                                                \
    OF_FOUR(F, vmax##n)                                                                                                \
    COMPARISONS(F, vset##n, u32, u32)                                                                                  \
    COMPARISONS(F, vset##n, s32, s32)                                                                                  \
    COMPARISON(F, vset##n, s32, u32, lt)                                                                               \
    COMPARISON(F, vset##n, u32, s32, eq)

#define FORMS(F)                                                                                                       \
    OF_WIDTH(F, 2)                                                                                                     \
    OF_WIDTH(F, 4)

TRUTH_KERNELS(FORMS)
TRUTH_TABLE(truth_video, FORMS)
