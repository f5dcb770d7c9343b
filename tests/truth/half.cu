// fp16 and bf16, one or two values per register.
#include "forms.cuh"

#define SETP(text) ".reg .pred p; " text " selp.u32 %0, 1, 0, p;"

// Instructions of all four types.
#define ALL_TYPES(F, T, type)                                                                                          \
    F(add_rn_##type, T, T, T, NONE, "add.rn." #type " %0, %1, %2;", EXACT, 0)                                          \
    F(sub_rn_##type, T, T, T, NONE, "sub.rn." #type " %0, %1, %2;", EXACT, 0)                                          \
    F(mul_rn_##type, T, T, T, NONE, "mul.rn." #type " %0, %1, %2;", EXACT, 0)                                          \
    F(fma_rn_##type, T, T, T, T, "fma.rn." #type " %0, %1, %2, %3;", EXACT, 0)                                         \
    F(fma_rn_relu_##type, T, T, T, T, "fma.rn.relu." #type " %0, %1, %2, %3;", EXACT, 0)                               \
    F(neg_##type, T, T, NONE, NONE, "neg." #type " %0, %1;", EXACT, 0)                                                 \
    F(abs_##type, T, T, NONE, NONE, "abs." #type " %0, %1;", EXACT, 0)                                                 \
    F(min_##type, T, T, T, NONE, "min." #type " %0, %1, %2;", EXACT, 0)                                                \
    F(max_##type, T, T, T, NONE, "max." #type " %0, %1, %2;", EXACT, 0)                                                \
    F(min_NaN_##type, T, T, T, NONE, "min.NaN." #type " %0, %1, %2;", EXACT, 0)                                        \
    F(max_NaN_##type, T, T, T, NONE, "max.NaN." #type " %0, %1, %2;", EXACT, 0)                                        \
    F(max_xorsign_abs_##type, T, T, T, NONE, "max.xorsign.abs." #type " %0, %1, %2;", EXACT, 0)                        \
    F(fma_rn_oob_##type, T, T, T, T, "fma.rn.oob." #type " %0, %1, %2, %3;", EXACT, 0)

// Instructions of the fp16 types only.
#define FP16_TYPES(F, T, type)                                                                                         \
    F(add_ftz_##type, T, T, T, NONE, "add.ftz." #type " %0, %1, %2;", EXACT, 0)                                        \
    F(add_sat_##type, T, T, T, NONE, "add.sat." #type " %0, %1, %2;", EXACT, 0)                                        \
    F(mul_ftz_sat_##type, T, T, T, NONE, "mul.ftz.sat." #type " %0, %1, %2;", EXACT, 0)                                \
    F(fma_rn_ftz_##type, T, T, T, T, "fma.rn.ftz." #type " %0, %1, %2, %3;", EXACT, 0)                                 \
    F(fma_rn_sat_##type, T, T, T, T, "fma.rn.sat." #type " %0, %1, %2, %3;", EXACT, 0)

#define COMPARISONS(F, T, type)                                                                                        \
    F(setp_eq_##type, I32, T, T, NONE, SETP("setp.eq." #type " p, %1, %2;"), EXACT, 0)                                 \
    F(setp_lt_##type, I32, T, T, NONE, SETP("setp.lt." #type " p, %1, %2;"), EXACT, 0)                                 \
    F(setp_geu_##type, I32, T, T, NONE, SETP("setp.geu." #type " p, %1, %2;"), EXACT, 0)                               \
    F(setp_num_##type, I32, T, T, NONE, SETP("setp.num." #type " p, %1, %2;"), EXACT, 0)                               \
    F(set_gt_u32_##type, I32, T, T, NONE, "set.gt.u32." #type " %0, %1, %2;", EXACT, 0)

#define PAIR_COMPARISONS(F, T, type)                                                                                   \
    F(setp_lt_##type, I32, T, T, NONE,                                                                                 \
      ".reg .pred p, q; setp.lt." #type " p|q, %1, %2; selp.u32 %0, 1, 0, p; @q add.u32 %0, %0, 2;", EXACT, 0)         \
    F(set_ge_##type, T, T, T, NONE, "set.ge." #type "." #type " %0, %1, %2;", EXACT, 0)

#define FORMS(F)                                                                                                       \
    ALL_TYPES(F, F16, f16)                                                                                             \
    ALL_TYPES(F, BF16, bf16)                                                                                           \
    ALL_TYPES(F, F16X2, f16x2)                                                                                         \
    ALL_TYPES(F, BF16X2, bf16x2)                                                                                       \
    FP16_TYPES(F, F16, f16)                                                                                            \
    FP16_TYPES(F, F16X2, f16x2)                                                                                        \
    COMPARISONS(F, F16, f16)                                                                                           \
    COMPARISONS(F, BF16, bf16)                                                                                         \
    PAIR_COMPARISONS(F, F16X2, f16x2)                                                                                  \
    PAIR_COMPARISONS(F, BF16X2, bf16x2)

TRUTH_KERNELS(FORMS)
TRUTH_TABLE(truth_half, FORMS)
