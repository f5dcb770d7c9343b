// Video instructions: arithmetic on two or four parts of a word, with all combinations of signs, saturation and
// accumulation; with selected source parts, merged into or combined with a third word.
//
// ptxas emulates these instructions and treats some words as signed that the PTX ISA defines as unsigned: the operands
// of .min and .max with an unsigned result, and vmad with a shift or saturation. In these cases the forms use parts of
// words and a third operand whose highest bit is 0 (SMALL).
#include "forms.cuh"

#define OF_TYPE(F, op, d, a, b)                                                                                        \
    F(op##_##d##_##a##_##b, I32, I32, I32, I32, #op "." #d "." #a "." #b " %0, %1, %2, %3;", EXACT, 0)                 \
    F(op##_##d##_##a##_##b##_sat, I32, I32, I32, I32, #op "." #d "." #a "." #b ".sat %0, %1, %2, %3;", EXACT, 0)       \
    F(op##_##d##_##a##_##b##_add, I32, I32, I32, I32, #op "." #d "." #a "." #b ".add %0, %1, %2, %3;", EXACT, 0)

// Eight combinations of signs for sums and differences, which can overflow on both sides; four for the others.
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

// Two of the six comparisons with different signs; the others use the same parts of the operands.
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

// Parts selected from both words, and a write mask.
#define CHOSEN(F, name, text) F(name, I32, I32, I32, I32, text ";", EXACT, 0)
#define OF_SELECTIONS(F)                                                                                               \
    CHOSEN(F, vadd4_b7531_b6420, "vadd4.u32.u32.u32 %0, %1.b7531, %2.b6420, %3")                                       \
    CHOSEN(F, vadd4_b0123_sat, "vadd4.s32.s32.s32.sat %0, %1.b0123, %2, %3")                                           \
    CHOSEN(F, vsub4_b4444_add, "vsub4.s32.u32.u32.add %0, %1, %2.b4444, %3")                                           \
    CHOSEN(F, vsub4_mask_b20, "vsub4.u32.s32.u32.sat %0.b20, %1.b3217, %2.b0564, %3")                                  \
    CHOSEN(F, vavrg4_mask_b3, "vavrg4.s32.s32.s32 %0.b3, %1.b7654, %2.b3210, %3")                                      \
    CHOSEN(F, vabsdiff4_mask_b210_add, "vabsdiff4.u32.u32.u32.add %0.b210, %1.b1111, %2.b7654, %3")                    \
    CHOSEN(F, vmin4_mask_b31, "vmin4.s32.s32.u32 %0.b31, %1.b7070, %2.b1616, %3")                                      \
    CHOSEN(F, vmax4_mask_b0, "vmax4.u32.u32.u32 %0.b0, %1, %2.b3333, %3")                                              \
    CHOSEN(F, vset4_mask_b32, "vset4.s32.u32.lt %0.b32, %1.b7240, %2.b3332, %3")                                       \
    CHOSEN(F, vset4_mask_b10_add, "vset4.u32.u32.ge.add %0.b10, %1.b6543, %2.b0707, %3")                               \
    CHOSEN(F, vadd2_h31_h20, "vadd2.u32.u32.u32 %0, %1.h31, %2.h20, %3")                                               \
    CHOSEN(F, vadd2_h01_sat, "vadd2.s32.s32.s32.sat %0, %1.h01, %2.h23, %3")                                           \
    CHOSEN(F, vsub2_mask_h1, "vsub2.u32.s32.u32.sat %0.h1, %1.h30, %2.h21, %3")                                        \
    CHOSEN(F, vavrg2_mask_h0, "vavrg2.u32.u32.u32 %0.h0, %1.h22, %2.h13, %3")                                          \
    CHOSEN(F, vabsdiff2_mask_h1_add, "vabsdiff2.s32.s32.s32.add %0.h1, %1.h33, %2.h10, %3")                            \
    CHOSEN(F, vmin2_mask_h10, "vmin2.s32.u32.s32 %0.h10, %1.h02, %2.h11, %3")                                          \
    CHOSEN(F, vmax2_mask_h0, "vmax2.u32.u32.u32 %0.h0, %1.h12, %2.h00, %3")                                            \
    CHOSEN(F, vset2_mask_h1, "vset2.s32.s32.gt %0.h1, %1.h32, %2.h10, %3")

// Each operation on words; on bytes and halfwords, saturated to the destination part; and combined with a third word.
#define OF_SCALAR(F, op)                                                                                               \
    CHOSEN(F, op##_u32_u32_u32, #op ".u32.u32.u32 %0, %1, %2")                                                         \
    CHOSEN(F, op##_s32_s32_u32_sat, #op ".s32.s32.u32.sat %0, %1, %2")                                                 \
    CHOSEN(F, op##_u32_s32_s32_sat, #op ".u32.s32.s32.sat %0, %1, %2")                                                 \
    CHOSEN(F, op##_b0_h1, #op ".s32.s32.s32 %0, %1.b0, %2.h1")                                                         \
    CHOSEN(F, op##_b3_b2_sat, #op ".u32.s32.u32.sat %0, %1.b3, %2.b2")                                                 \
    CHOSEN(F, op##_into_b0, #op ".u32.u32.u32 %0.b0, %1.b1, %2.b2, %3")                                                \
    CHOSEN(F, op##_into_b1_sat, #op ".s32.s32.s32.sat %0.b1, %1.b1, %2.b3, %3")                                        \
    CHOSEN(F, op##_into_b2_sat, #op ".u32.s32.s32.sat %0.b2, %1.h0, %2.b0, %3")                                        \
    CHOSEN(F, op##_into_b3, #op ".s32.u32.s32 %0.b3, %1, %2.h1, %3")                                                   \
    CHOSEN(F, op##_into_h0_sat, #op ".s32.s32.u32.sat %0.h0, %1.h1, %2, %3")                                           \
    CHOSEN(F, op##_into_h1_sat, #op ".u32.u32.s32.sat %0.h1, %1, %2.h0, %3")                                           \
    CHOSEN(F, op##_add, #op ".s32.s32.s32.add %0, %1, %2, %3")                                                         \
    CHOSEN(F, op##_sat_add, #op ".u32.s32.u32.sat.add %0, %1, %2.b1, %3")                                              \
    CHOSEN(F, op##_min, #op ".s32.s32.u32.sat.min %0, %1.b2, %2.h0, %3")                                               \
    CHOSEN(F, op##_max, #op ".s32.u32.s32.sat.max %0, %1.h1, %2.b0, %3")                                               \
    CHOSEN(F, op##_min_u32, #op ".u32.u32.u32.sat.min %0, %1.h1, %2.h0, %3")                                           \
    CHOSEN(F, op##_max_u32, #op ".u32.s32.s32.sat.max %0, %1.b1, %2.b0, %3")

#define OF_SET(F, a, b, compare)                                                                                       \
    CHOSEN(F, vset_##a##_##b##_##compare, "vset." #a "." #b "." #compare " %0, %1, %2")                                \
    CHOSEN(F, vset_##a##_##b##_##compare##_b2_h0, "vset." #a "." #b "." #compare " %0, %1.b2, %2.h0")                  \
    CHOSEN(F, vset_##a##_##b##_##compare##_into_b1, "vset." #a "." #b "." #compare " %0.b1, %1.b0, %2.b3, %3")         \
    CHOSEN(F, vset_##a##_##b##_##compare##_into_h1, "vset." #a "." #b "." #compare " %0.h1, %1.h0, %2.b3, %3")         \
    CHOSEN(F, vset_##a##_##b##_##compare##_add, "vset." #a "." #b "." #compare ".add %0, %1.h1, %2.h0, %3")            \
    CHOSEN(F, vset_##a##_##b##_##compare##_min, "vset." #a "." #b "." #compare ".min %0, %1.b3, %2.b0, %3")            \
    CHOSEN(F, vset_##a##_##b##_##compare##_max, "vset." #a "." #b "." #compare ".max %0, %1.b0, %2.h1, %3")

#define OF_SHIFT(F, op, mode)                                                                                          \
    CHOSEN(F, op##_##mode##_u32, #op ".u32.u32.u32." #mode " %0, %1, %2")                                              \
    CHOSEN(F, op##_##mode##_s32_b0, #op ".s32.s32.u32." #mode " %0, %1, %2.b0")                                        \
    CHOSEN(F, op##_##mode##_b2_b1_sat, #op ".u32.u32.u32.sat." #mode " %0, %1.b2, %2.b1")                              \
    CHOSEN(F, op##_##mode##_h1_b3_sat, #op ".s32.s32.u32.sat." #mode " %0, %1.h1, %2.b3")                              \
    CHOSEN(F, op##_##mode##_u32_of_s32_sat, #op ".u32.s32.u32.sat." #mode " %0, %1, %2.b2")                            \
    CHOSEN(F, op##_##mode##_into_b2, #op ".s32.s32.u32." #mode " %0.b2, %1.h0, %2.b0, %3")                             \
    CHOSEN(F, op##_##mode##_into_h0_sat, #op ".s32.s32.u32.sat." #mode " %0.h0, %1.b3, %2.b0, %3")                     \
    CHOSEN(F, op##_##mode##_add, #op ".u32.s32.u32." #mode ".add %0, %1.h1, %2.b0, %3")                                \
    CHOSEN(F, op##_##mode##_min, #op ".s32.s32.u32.sat." #mode ".min %0, %1.h1, %2.b0, %3")                            \
    CHOSEN(F, op##_##mode##_max, #op ".s32.u32.u32.sat." #mode ".max %0, %1.b1, %2.b0, %3")

#define SMALL ".reg .b32 small; and.b32 small, %3, 0x7fffffff; "
#define OF_MAD(F)                                                                                                      \
    CHOSEN(F, vmad_u32, "vmad.u32.u32.u32 %0, %1, %2, %3")                                                             \
    CHOSEN(F, vmad_s32, "vmad.s32.s32.s32 %0, %1, %2, %3")                                                             \
    CHOSEN(F, vmad_po, "vmad.s32.s32.s32.po %0, %1, %2, %3")                                                           \
    CHOSEN(F, vmad_minus_a, "vmad.s32.s32.s32 %0, -%1, %2, %3")                                                        \
    CHOSEN(F, vmad_minus_b_sat, "vmad.s32.s32.s32.sat %0, %1.h0, -%2.h1, %3")                                          \
    CHOSEN(F, vmad_minus_both, "vmad.s32.s32.s32.sat %0, -%1.h0, -%2.b1, %3")                                          \
    CHOSEN(F, vmad_minus_c, "vmad.s32.s32.s32.shr7 %0, %1, %2, -%3")                                                   \
    CHOSEN(F, vmad_s32_sat, "vmad.s32.s32.s32.sat %0, %1, %2, %3")                                                     \
    CHOSEN(F, vmad_s32_shr7, "vmad.s32.s32.s32.shr7 %0, %1, %2, %3")                                                   \
    CHOSEN(F, vmad_s32_shr15_sat, "vmad.s32.s32.s32.sat.shr15 %0, %1, %2, %3")                                         \
    CHOSEN(F, vmad_b0_h1_shr7, "vmad.s32.s32.u32.shr7 %0, %1.b0, %2.h1, %3")                                           \
    CHOSEN(F, vmad_h0_b3_shr15, "vmad.s32.u32.s32.shr15 %0, %1.h0, %2.b3, %3")                                         \
    CHOSEN(F, vmad_po_shr7_sat, "vmad.s32.s32.s32.po.sat.shr7 %0, %1.h1, %2.h0, %3")                                   \
    CHOSEN(F, vmad_of_bytes_minus_c, "vmad.s32.u32.u32.sat %0, %1.b2, %2.b1, -%3")                                     \
    CHOSEN(F, vmad_of_bytes, SMALL "vmad.u32.u32.u32.sat %0, %1.b3, %2.b0, small")                                     \
    CHOSEN(F, vmad_of_halves_shr7, SMALL "vmad.u32.u32.u32.shr7 %0, %1.h1, %2.h0, small")                              \
    CHOSEN(F, vmad_of_halves_po_shr15, SMALL "vmad.u32.u32.u32.po.sat.shr15 %0, %1.h0, %2.h1, small")

#define FORMS(F)                                                                                                       \
    OF_WIDTH(F, 2)                                                                                                     \
    OF_WIDTH(F, 4)                                                                                                     \
    OF_SELECTIONS(F)                                                                                                   \
    OF_SCALAR(F, vadd)                                                                                                 \
    OF_SCALAR(F, vsub)                                                                                                 \
    OF_SCALAR(F, vabsdiff)                                                                                             \
    OF_SCALAR(F, vmin)                                                                                                 \
    OF_SCALAR(F, vmax)                                                                                                 \
    OF_SET(F, u32, u32, lt)                                                                                            \
    OF_SET(F, s32, u32, ge)                                                                                            \
    OF_SET(F, u32, s32, ne)                                                                                            \
    OF_SET(F, s32, s32, le)                                                                                            \
    OF_SHIFT(F, vshl, clamp)                                                                                           \
    OF_SHIFT(F, vshl, wrap)                                                                                            \
    OF_SHIFT(F, vshr, clamp)                                                                                           \
    OF_SHIFT(F, vshr, wrap)                                                                                            \
    OF_MAD(F)

TRUTH_KERNELS(FORMS)
TRUTH_TABLE(truth_video, FORMS)
