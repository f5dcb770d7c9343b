// Fast approximations of the special function unit, with the error bounds of the PTX ISA (PTX ISA 9.0,
// section 9.7.3 for fp32 and fp64, 9.7.4 for fp16 and bf16). compare.c computes the exact value.
#include "forms.cuh"

#define FORMS(F)                                                                                                       \
    F(ex2_approx_f32, F32, POWER, NONE, NONE, "ex2.approx.f32 %0, %1;", RELATIVE, 0x1p-22)                             \
    F(ex2_approx_ftz_f32, F32, POWER, NONE, NONE, "ex2.approx.ftz.f32 %0, %1;", RELATIVE, 0x1p-22)                     \
    F(lg2_approx_f32, F32, F32, NONE, NONE, "lg2.approx.f32 %0, %1;", LOGARITHM, 0x1p-22)                              \
    F(lg2_approx_ftz_f32, F32, F32, NONE, NONE, "lg2.approx.ftz.f32 %0, %1;", LOGARITHM, 0x1p-22)                      \
    F(rcp_approx_f32, F32, F32, NONE, NONE, "rcp.approx.f32 %0, %1;", ULP, 1)                                          \
    F(rcp_approx_ftz_f32, F32, F32, NONE, NONE, "rcp.approx.ftz.f32 %0, %1;", ULP, 1)                                  \
    F(rsqrt_approx_f32, F32, F32, NONE, NONE, "rsqrt.approx.f32 %0, %1;", RELATIVE, 0x1.12p-23)                        \
    F(rsqrt_approx_ftz_f32, F32, F32, NONE, NONE, "rsqrt.approx.ftz.f32 %0, %1;", RELATIVE, 0x1.12p-23)                \
    F(sqrt_approx_f32, F32, F32, NONE, NONE, "sqrt.approx.f32 %0, %1;", RELATIVE, 0x1p-23)                             \
    F(sqrt_approx_ftz_f32, F32, F32, NONE, NONE, "sqrt.approx.ftz.f32 %0, %1;", RELATIVE, 0x1p-23)                     \
    F(sin_approx_f32, F32, ANGLE, NONE, NONE, "sin.approx.f32 %0, %1;", ABSOLUTE, 0x1.3b2p-15)                         \
    F(sin_approx_ftz_f32, F32, ANGLE, NONE, NONE, "sin.approx.ftz.f32 %0, %1;", ABSOLUTE, 0x1.3b2p-15)                 \
    F(cos_approx_f32, F32, ANGLE, NONE, NONE, "cos.approx.f32 %0, %1;", ABSOLUTE, 0x1.3b2p-15)                         \
    F(cos_approx_ftz_f32, F32, ANGLE, NONE, NONE, "cos.approx.ftz.f32 %0, %1;", ABSOLUTE, 0x1.3b2p-15)                 \
    F(tanh_approx_f32, F32, F32, NONE, NONE, "tanh.approx.f32 %0, %1;", RELATIVE, 0x1p-11)                             \
    F(div_approx_f32, F32, F32, F32, NONE, "div.approx.f32 %0, %1, %2;", ULP, 2)                                       \
    F(div_approx_ftz_f32, F32, F32, F32, NONE, "div.approx.ftz.f32 %0, %1, %2;", ULP, 2)                               \
    F(div_full_f32, F32, F32, F32, NONE, "div.full.f32 %0, %1, %2;", ULP, 2)                                           \
    F(div_full_ftz_f32, F32, F32, F32, NONE, "div.full.ftz.f32 %0, %1, %2;", ULP, 2)                                   \
    F(rcp_approx_ftz_f64, F64, F64, NONE, NONE, "rcp.approx.ftz.f64 %0, %1;", RELATIVE, 0x1p-20)                       \
    F(rsqrt_approx_ftz_f64, F64, F64, NONE, NONE, "rsqrt.approx.ftz.f64 %0, %1;", RELATIVE, 0x1p-20)                   \
    F(ex2_approx_f16, F16, F16, NONE, NONE, "ex2.approx.f16 %0, %1;", RELATIVE, 0x1.12p-10)                            \
    F(ex2_approx_f16x2, F16X2, F16X2, NONE, NONE, "ex2.approx.f16x2 %0, %1;", RELATIVE, 0x1.12p-10)                    \
    F(ex2_approx_ftz_bf16, BF16, BF16, NONE, NONE, "ex2.approx.ftz.bf16 %0, %1;", RELATIVE, 0x1p-7)                    \
    F(ex2_approx_ftz_bf16x2, BF16X2, BF16X2, NONE, NONE, "ex2.approx.ftz.bf16x2 %0, %1;", RELATIVE, 0x1p-7)            \
    F(tanh_approx_f16, F16, F16, NONE, NONE, "tanh.approx.f16 %0, %1;", ABSOLUTE, 0x1.025p-11)                         \
    F(tanh_approx_f16x2, F16X2, F16X2, NONE, NONE, "tanh.approx.f16x2 %0, %1;", ABSOLUTE, 0x1.025p-11)                 \
    F(tanh_approx_bf16, BF16, BF16, NONE, NONE, "tanh.approx.bf16 %0, %1;", ABSOLUTE, 0x1p-8)                          \
    F(tanh_approx_bf16x2, BF16X2, BF16X2, NONE, NONE, "tanh.approx.bf16x2 %0, %1;", ABSOLUTE, 0x1p-8)

TRUTH_KERNELS(FORMS)
TRUTH_TABLE(truth_approximate, FORMS)
