// fp32 and fp64 arithmetic that IEEE 754 defines exactly, comparisons, and related instructions.
#include "forms.cuh"

#define SETP(text) ".reg .pred p; " text " selp.u32 %0, 1, 0, p;"

// add, sub, mul and fma with a rounding mode and other suffixes
#define ARITHMETIC(F, T, type, round)                                                                                  \
    F(add_##round##_##type, T, T, T, NONE, "add." #round "." #type " %0, %1, %2;", EXACT, 0)                           \
    F(sub_##round##_##type, T, T, T, NONE, "sub." #round "." #type " %0, %1, %2;", EXACT, 0)                           \
    F(mul_##round##_##type, T, T, T, NONE, "mul." #round "." #type " %0, %1, %2;", EXACT, 0)                           \
    F(fma_##round##_##type, T, T, T, T, "fma." #round "." #type " %0, %1, %2, %3;", EXACT, 0)                          \
    F(div_##round##_##type, T, T, T, NONE, "div." #round "." #type " %0, %1, %2;", EXACT, 0)                           \
    F(rcp_##round##_##type, T, T, NONE, NONE, "rcp." #round "." #type " %0, %1;", EXACT, 0)                            \
    F(sqrt_##round##_##type, T, T, NONE, NONE, "sqrt." #round "." #type " %0, %1;", EXACT, 0)

#define COMPARE(F, T, type, how)                                                                                       \
    F(setp_##how##_##type, I32, T, T, NONE, SETP("setp." #how "." #type " p, %1, %2;"), EXACT, 0)

#define COMPARISONS(F, T, type)                                                                                        \
    COMPARE(F, T, type, eq)                                                                                            \
    COMPARE(F, T, type, ne)                                                                                            \
    COMPARE(F, T, type, lt)                                                                                            \
    COMPARE(F, T, type, le)                                                                                            \
    COMPARE(F, T, type, gt)                                                                                            \
    COMPARE(F, T, type, ge)                                                                                            \
    COMPARE(F, T, type, equ)                                                                                           \
    COMPARE(F, T, type, neu)                                                                                           \
    COMPARE(F, T, type, ltu)                                                                                           \
    COMPARE(F, T, type, leu)                                                                                           \
    COMPARE(F, T, type, gtu)                                                                                           \
    COMPARE(F, T, type, geu)                                                                                           \
    COMPARE(F, T, type, num)                                                                                           \
    COMPARE(F, T, type, nan)

#define TEST(F, T, type, what)                                                                                         \
    F(testp_##what##_##type, I32, T, NONE, NONE, SETP("testp." #what "." #type " p, %1;"), EXACT, 0)

#define TESTS(F, T, type)                                                                                              \
    TEST(F, T, type, finite)                                                                                           \
    TEST(F, T, type, infinite)                                                                                         \
    TEST(F, T, type, number)                                                                                           \
    TEST(F, T, type, notanumber)                                                                                       \
    TEST(F, T, type, normal)                                                                                           \
    TEST(F, T, type, subnormal)

#define BOTH_WIDTHS(F, T, type)                                                                                        \
    ARITHMETIC(F, T, type, rn)                                                                                         \
    ARITHMETIC(F, T, type, rz)                                                                                         \
    ARITHMETIC(F, T, type, rm)                                                                                         \
    ARITHMETIC(F, T, type, rp)                                                                                         \
    COMPARISONS(F, T, type)                                                                                            \
    TESTS(F, T, type)                                                                                                  \
    F(abs_##type, T, T, NONE, NONE, "abs." #type " %0, %1;", EXACT, 0)                                                 \
    F(neg_##type, T, T, NONE, NONE, "neg." #type " %0, %1;", EXACT, 0)                                                 \
    F(min_##type, T, T, T, NONE, "min." #type " %0, %1, %2;", EXACT, 0)                                                \
    F(max_##type, T, T, T, NONE, "max." #type " %0, %1, %2;", EXACT, 0)                                                \
    F(copysign_##type, T, T, T, NONE, "copysign." #type " %0, %1, %2;", EXACT, 0)                                      \
    F(selp_##type, T, T, T, I32, ".reg .pred p; setp.gt.s32 p, %3, 0; selp." #type " %0, %1, %2, p;", EXACT, 0)        \
    F(slct_##type##_s32, T, T, T, I32, "slct." #type ".s32 %0, %1, %2, %3;", EXACT, 0)                                 \
    F(set_lt_u32_##type, I32, T, T, NONE, "set.lt.u32." #type " %0, %1, %2;", EXACT, 0)                                \
    F(set_gtu_f32_##type, F32, T, T, NONE, "set.gtu.f32." #type " %0, %1, %2;", EXACT, 0)                              \
    F(setp_and_##type, I32, T, T, I32,                                                                                 \
      ".reg .pred q; setp.gt.s32 q, %3, 0; " SETP("setp.lt.and." #type " p, %1, %2, q;"), EXACT, 0)

#define FORMS(F)                                                                                                       \
    BOTH_WIDTHS(F, F32, f32)                                                                                           \
    BOTH_WIDTHS(F, F64, f64)                                                                                           \
    F(add_ftz_f32, F32, F32, F32, NONE, "add.ftz.f32 %0, %1, %2;", EXACT, 0)                                           \
    F(add_sat_f32, F32, F32, F32, NONE, "add.sat.f32 %0, %1, %2;", EXACT, 0)                                           \
    F(add_rz_ftz_sat_f32, F32, F32, F32, NONE, "add.rz.ftz.sat.f32 %0, %1, %2;", EXACT, 0)                             \
    F(sub_ftz_f32, F32, F32, F32, NONE, "sub.ftz.f32 %0, %1, %2;", EXACT, 0)                                           \
    F(mul_ftz_f32, F32, F32, F32, NONE, "mul.ftz.f32 %0, %1, %2;", EXACT, 0)                                           \
    F(mul_sat_f32, F32, F32, F32, NONE, "mul.sat.f32 %0, %1, %2;", EXACT, 0)                                           \
    F(mul_rm_ftz_f32, F32, F32, F32, NONE, "mul.rm.ftz.f32 %0, %1, %2;", EXACT, 0)                                     \
    F(fma_rn_ftz_f32, F32, F32, F32, F32, "fma.rn.ftz.f32 %0, %1, %2, %3;", EXACT, 0)                                  \
    F(fma_rn_sat_f32, F32, F32, F32, F32, "fma.rn.sat.f32 %0, %1, %2, %3;", EXACT, 0)                                  \
    F(fma_rm_ftz_f32, F32, F32, F32, F32, "fma.rm.ftz.f32 %0, %1, %2, %3;", EXACT, 0)                                  \
    F(div_rn_ftz_f32, F32, F32, F32, NONE, "div.rn.ftz.f32 %0, %1, %2;", EXACT, 0)                                     \
    F(rcp_rn_ftz_f32, F32, F32, NONE, NONE, "rcp.rn.ftz.f32 %0, %1;", EXACT, 0)                                        \
    F(sqrt_rn_ftz_f32, F32, F32, NONE, NONE, "sqrt.rn.ftz.f32 %0, %1;", EXACT, 0)                                      \
    F(abs_ftz_f32, F32, F32, NONE, NONE, "abs.ftz.f32 %0, %1;", EXACT, 0)                                              \
    F(neg_ftz_f32, F32, F32, NONE, NONE, "neg.ftz.f32 %0, %1;", EXACT, 0)                                              \
    F(min_ftz_f32, F32, F32, F32, NONE, "min.ftz.f32 %0, %1, %2;", EXACT, 0)                                           \
    F(min_NaN_f32, F32, F32, F32, NONE, "min.NaN.f32 %0, %1, %2;", EXACT, 0)                                           \
    F(max_NaN_f32, F32, F32, F32, NONE, "max.NaN.f32 %0, %1, %2;", EXACT, 0)                                           \
    F(max_ftz_NaN_f32, F32, F32, F32, NONE, "max.ftz.NaN.f32 %0, %1, %2;", EXACT, 0)                                   \
    F(min_xorsign_abs_f32, F32, F32, F32, NONE, "min.xorsign.abs.f32 %0, %1, %2;", EXACT, 0)                           \
    F(max_NaN_xorsign_abs_f32, F32, F32, F32, NONE, "max.NaN.xorsign.abs.f32 %0, %1, %2;", EXACT, 0)                   \
    F(setp_lt_ftz_f32, I32, F32, F32, NONE, SETP("setp.lt.ftz.f32 p, %1, %2;"), EXACT, 0)                              \
    F(setp_eq_ftz_f32, I32, F32, F32, NONE, SETP("setp.eq.ftz.f32 p, %1, %2;"), EXACT, 0)                              \
    F(set_ge_ftz_s32_f32, I32, F32, F32, NONE, "set.ge.ftz.s32.f32 %0, %1, %2;", EXACT, 0)

TRUTH_KERNELS(FORMS)
TRUTH_TABLE(truth_real, FORMS)
