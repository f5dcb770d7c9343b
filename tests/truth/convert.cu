// cvt: between integers of every width, between floating-point types, and between the two, in every rounding mode.
#include "forms.cuh"

// 8-bit values are held in 16-bit registers.
#define NARROW(F, to, from, T) F(cvt_##to##_##from, I16, T, NONE, NONE, "cvt." #to "." #from " %0, %1;", EXACT, 0)

#define CONVERT(F, how, to, from, R, T)                                                                                \
    F(cvt_##how##_##to##_##from, R, T, NONE, NONE, "cvt." #how "." #to "." #from " %0, %1;", EXACT, 0)

#define CONVERT_FTZ(F, how, to, from, R, T)                                                                            \
    F(cvt_##how##_ftz_##to##_##from, R, T, NONE, NONE, "cvt." #how ".ftz." #to "." #from " %0, %1;", EXACT, 0)

#define WIDEN(F, to, from, R, T) F(cvt_##to##_##from, R, T, NONE, NONE, "cvt." #to "." #from " %0, %1;", EXACT, 0)

#define BETWEEN_INTEGERS(F)                                                                                            \
    NARROW(F, u8, u32, I32)                                                                                            \
    NARROW(F, s8, s32, I32)                                                                                            \
    NARROW(F, s8, s64, I64)                                                                                            \
    NARROW(F, u16, u32, I32)                                                                                           \
    NARROW(F, s16, s64, I64)                                                                                           \
    WIDEN(F, u32, u8, I32, I16)                                                                                        \
    WIDEN(F, s32, s8, I32, I16)                                                                                        \
    WIDEN(F, u32, u16, I32, I16)                                                                                       \
    WIDEN(F, s32, s16, I32, I16)                                                                                       \
    WIDEN(F, u32, u64, I32, I64)                                                                                       \
    WIDEN(F, s64, s32, I64, I32)                                                                                       \
    WIDEN(F, u64, u32, I64, I32)                                                                                       \
    WIDEN(F, s64, s8, I64, I16)                                                                                        \
    WIDEN(F, u64, u16, I64, I16)                                                                                       \
    CONVERT(F, sat, u8, s32, I16, I32)                                                                                 \
    CONVERT(F, sat, s8, s32, I16, I32)                                                                                 \
    CONVERT(F, sat, u16, s32, I16, I32)                                                                                \
    CONVERT(F, sat, s16, s64, I16, I64)                                                                                \
    CONVERT(F, sat, s32, u32, I32, I32)                                                                                \
    CONVERT(F, sat, u32, s64, I32, I64)                                                                                \
    CONVERT(F, sat, s32, s64, I32, I64)                                                                                \
    CONVERT(F, sat, u64, s64, I64, I64)                                                                                \
    F(cvt_pack_sat_u8_s32, I32, I32, I32, I32, "cvt.pack.sat.u8.s32.b32 %0, %1, %2, %3;", EXACT, 0)                    \
    F(cvt_pack_sat_s16_s32, I32, I32, I32, NONE, "cvt.pack.sat.s16.s32 %0, %1, %2;", EXACT, 0)

#define TO_REAL(F, to, R)                                                                                              \
    CONVERT(F, rn, to, s32, R, I32)                                                                                    \
    CONVERT(F, rn, to, u32, R, I32)                                                                                    \
    CONVERT(F, rz, to, s32, R, I32)                                                                                    \
    CONVERT(F, rm, to, s32, R, I32)                                                                                    \
    CONVERT(F, rp, to, u32, R, I32)                                                                                    \
    CONVERT(F, rn, to, s64, R, I64)                                                                                    \
    CONVERT(F, rn, to, u64, R, I64)                                                                                    \
    CONVERT(F, rz, to, u64, R, I64)                                                                                    \
    CONVERT(F, rm, to, s64, R, I64)                                                                                    \
    CONVERT(F, rp, to, s64, R, I64)                                                                                    \
    CONVERT(F, rn, to, s16, R, I16)                                                                                    \
    CONVERT(F, rn, to, u16, R, I16)                                                                                    \
    CONVERT(F, rn, to, s8, R, I16)                                                                                     \
    CONVERT(F, rn, to, u8, R, I16)

#define TO_INTEGER(F, how, from, T)                                                                                    \
    CONVERT(F, how, s32, from, I32, T)                                                                                 \
    CONVERT(F, how, u32, from, I32, T)                                                                                 \
    CONVERT(F, how, s64, from, I64, T)                                                                                 \
    CONVERT(F, how, u64, from, I64, T)                                                                                 \
    CONVERT(F, how, s16, from, I16, T)                                                                                 \
    CONVERT(F, how, u16, from, I16, T)                                                                                 \
    CONVERT(F, how, s8, from, I16, T)                                                                                  \
    CONVERT(F, how, u8, from, I16, T)

#define TO_INTEGER_ALL(F, from, T)                                                                                     \
    TO_INTEGER(F, rni, from, T)                                                                                        \
    TO_INTEGER(F, rzi, from, T)                                                                                        \
    TO_INTEGER(F, rmi, from, T)                                                                                        \
    TO_INTEGER(F, rpi, from, T)

#define TO_WHOLE_REAL(F, type, T)                                                                                      \
    CONVERT(F, rni, type, type, T, T)                                                                                  \
    CONVERT(F, rzi, type, type, T, T)                                                                                  \
    CONVERT(F, rmi, type, type, T, T)                                                                                  \
    CONVERT(F, rpi, type, type, T, T)

#define BETWEEN_REALS(F)                                                                                               \
    WIDEN(F, f64, f32, F64, F32)                                                                                       \
    F(cvt_ftz_f64_f32, F64, F32, NONE, NONE, "cvt.ftz.f64.f32 %0, %1;", EXACT, 0)                                      \
    F(cvt_sat_f32_f32, F32, F32, NONE, NONE, "cvt.sat.f32.f32 %0, %1;", EXACT, 0)                                      \
    F(cvt_ftz_f32_f32, F32, F32, NONE, NONE, "cvt.ftz.f32.f32 %0, %1;", EXACT, 0)                                      \
    F(cvt_ftz_sat_f32_f32, F32, F32, NONE, NONE, "cvt.ftz.sat.f32.f32 %0, %1;", EXACT, 0)                              \
    CONVERT(F, rn, f32, f64, F32, F64)                                                                                 \
    CONVERT(F, rz, f32, f64, F32, F64)                                                                                 \
    CONVERT(F, rm, f32, f64, F32, F64)                                                                                 \
    CONVERT(F, rp, f32, f64, F32, F64)                                                                                 \
    CONVERT_FTZ(F, rn, f32, f64, F32, F64)                                                                             \
    WIDEN(F, f32, f16, F32, F16)                                                                                       \
    F(cvt_ftz_f32_f16, F32, F16, NONE, NONE, "cvt.ftz.f32.f16 %0, %1;", EXACT, 0)                                      \
    WIDEN(F, f64, f16, F64, F16)                                                                                       \
    WIDEN(F, f32, bf16, F32, BF16)                                                                                     \
    CONVERT(F, rn, f16, f32, F16, F32)                                                                                 \
    CONVERT(F, rz, f16, f32, F16, F32)                                                                                 \
    CONVERT(F, rm, f16, f32, F16, F32)                                                                                 \
    CONVERT(F, rp, f16, f32, F16, F32)                                                                                 \
    CONVERT_FTZ(F, rn, f16, f32, F16, F32)                                                                             \
    F(cvt_rn_sat_f16_f32, F16, F32, NONE, NONE, "cvt.rn.sat.f16.f32 %0, %1;", EXACT, 0)                                \
    F(cvt_rn_relu_f16_f32, F16, F32, NONE, NONE, "cvt.rn.relu.f16.f32 %0, %1;", EXACT, 0)                              \
    CONVERT(F, rn, f16, f64, F16, F64)                                                                                 \
    CONVERT(F, rz, f16, f64, F16, F64)                                                                                 \
    CONVERT(F, rn, bf16, f32, BF16, F32)                                                                               \
    CONVERT(F, rz, bf16, f32, BF16, F32)                                                                               \
    F(cvt_rn_relu_bf16_f32, BF16, F32, NONE, NONE, "cvt.rn.relu.bf16.f32 %0, %1;", EXACT, 0)                           \
    F(cvt_rn_f16x2_f32, F16X2, F32, F32, NONE, "cvt.rn.f16x2.f32 %0, %1, %2;", EXACT, 0)                               \
    F(cvt_rz_f16x2_f32, F16X2, F32, F32, NONE, "cvt.rz.f16x2.f32 %0, %1, %2;", EXACT, 0)                               \
    F(cvt_rn_relu_f16x2_f32, F16X2, F32, F32, NONE, "cvt.rn.relu.f16x2.f32 %0, %1, %2;", EXACT, 0)                     \
    F(cvt_rn_bf16x2_f32, BF16X2, F32, F32, NONE, "cvt.rn.bf16x2.f32 %0, %1, %2;", EXACT, 0)                            \
    F(cvt_rz_bf16x2_f32, BF16X2, F32, F32, NONE, "cvt.rz.bf16x2.f32 %0, %1, %2;", EXACT, 0)                            \
    F(cvt_rn_relu_bf16x2_f32, BF16X2, F32, F32, NONE, "cvt.rn.relu.bf16x2.f32 %0, %1, %2;", EXACT, 0)                  \
    F(cvt_rna_tf32_f32, I32, F32, NONE, NONE, "cvt.rna.tf32.f32 %0, %1;", EXACT, 0)                                    \
    F(cvt_rn_tf32_f32, I32, F32, NONE, NONE, "cvt.rn.tf32.f32 %0, %1;", EXACT, 0)                                      \
    F(cvt_rz_tf32_f32, I32, F32, NONE, NONE, "cvt.rz.tf32.f32 %0, %1;", EXACT, 0)

#define FORMS(F)                                                                                                       \
    BETWEEN_INTEGERS(F)                                                                                                \
    TO_REAL(F, f32, F32)                                                                                               \
    TO_REAL(F, f64, F64)                                                                                               \
    TO_REAL(F, f16, F16)                                                                                               \
    TO_INTEGER_ALL(F, f32, F32)                                                                                        \
    TO_INTEGER_ALL(F, f64, F64)                                                                                        \
    TO_INTEGER(F, rni, f16, F16)                                                                                       \
    TO_INTEGER(F, rzi, f16, F16)                                                                                       \
    CONVERT_FTZ(F, rzi, s32, f32, I32, F32)                                                                            \
    CONVERT_FTZ(F, rpi, u32, f32, I32, F32)                                                                            \
    TO_WHOLE_REAL(F, f32, F32)                                                                                         \
    TO_WHOLE_REAL(F, f64, F64)                                                                                         \
    TO_WHOLE_REAL(F, f16, F16)                                                                                         \
    BETWEEN_REALS(F)

TRUTH_KERNELS(FORMS)
TRUTH_TABLE(truth_convert, FORMS)
