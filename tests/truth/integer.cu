// Integer instructions, logic, shifts, bit fields, comparisons and selections.
#include "forms.cuh"

// A comparison sets a predicate, which selects 1 or 0.
#define SETP(text) ".reg .pred p; " text " selp.u32 %0, 1, 0, p;"
// Division by zero is undefined, so the divisor is made odd.
#define ODD(bits, text) ".reg .b" #bits " odd; or.b" #bits " odd, %2, 1; " text

// For each width: F(name, type of table, PTX suffixes)
#define WIDTH_FORMS(F, T, b, s, u)                                                                                     \
    F(add_##s, T, T, T, NONE, "add." #s " %0, %1, %2;", EXACT, 0)                                                      \
    F(add_##u, T, T, T, NONE, "add." #u " %0, %1, %2;", EXACT, 0)                                                      \
    F(sub_##s, T, T, T, NONE, "sub." #s " %0, %1, %2;", EXACT, 0)                                                      \
    F(sub_##u, T, T, T, NONE, "sub." #u " %0, %1, %2;", EXACT, 0)                                                      \
    F(mul_lo_##s, T, T, T, NONE, "mul.lo." #s " %0, %1, %2;", EXACT, 0)                                                \
    F(mul_lo_##u, T, T, T, NONE, "mul.lo." #u " %0, %1, %2;", EXACT, 0)                                                \
    F(mul_hi_##s, T, T, T, NONE, "mul.hi." #s " %0, %1, %2;", EXACT, 0)                                                \
    F(mul_hi_##u, T, T, T, NONE, "mul.hi." #u " %0, %1, %2;", EXACT, 0)                                                \
    F(mad_lo_##s, T, T, T, T, "mad.lo." #s " %0, %1, %2, %3;", EXACT, 0)                                               \
    F(mad_lo_##u, T, T, T, T, "mad.lo." #u " %0, %1, %2, %3;", EXACT, 0)                                               \
    F(mad_hi_##s, T, T, T, T, "mad.hi." #s " %0, %1, %2, %3;", EXACT, 0)                                               \
    F(mad_hi_##u, T, T, T, T, "mad.hi." #u " %0, %1, %2, %3;", EXACT, 0)                                               \
    F(abs_##s, T, T, NONE, NONE, "abs." #s " %0, %1;", EXACT, 0)                                                       \
    F(neg_##s, T, T, NONE, NONE, "neg." #s " %0, %1;", EXACT, 0)                                                       \
    F(min_##s, T, T, T, NONE, "min." #s " %0, %1, %2;", EXACT, 0)                                                      \
    F(min_##u, T, T, T, NONE, "min." #u " %0, %1, %2;", EXACT, 0)                                                      \
    F(max_##s, T, T, T, NONE, "max." #s " %0, %1, %2;", EXACT, 0)                                                      \
    F(max_##u, T, T, T, NONE, "max." #u " %0, %1, %2;", EXACT, 0)                                                      \
    F(and_##b, T, T, T, NONE, "and." #b " %0, %1, %2;", EXACT, 0)                                                      \
    F(or_##b, T, T, T, NONE, "or." #b " %0, %1, %2;", EXACT, 0)                                                        \
    F(xor_##b, T, T, T, NONE, "xor." #b " %0, %1, %2;", EXACT, 0)                                                      \
    F(not_##b, T, T, NONE, NONE, "not." #b " %0, %1;", EXACT, 0)                                                       \
    F(cnot_##b, T, T, NONE, NONE, "cnot." #b " %0, %1;", EXACT, 0)                                                     \
    F(shl_##b, T, T, SHIFT, NONE, "shl." #b " %0, %1, %2;", EXACT, 0)                                                  \
    F(shr_##s, T, T, SHIFT, NONE, "shr." #s " %0, %1, %2;", EXACT, 0)                                                  \
    F(shr_##u, T, T, SHIFT, NONE, "shr." #u " %0, %1, %2;", EXACT, 0)                                                  \
    F(setp_eq_##s, I32, T, T, NONE, SETP("setp.eq." #s " p, %1, %2;"), EXACT, 0)                                       \
    F(setp_ne_##b, I32, T, T, NONE, SETP("setp.ne." #b " p, %1, %2;"), EXACT, 0)                                       \
    F(setp_lt_##s, I32, T, T, NONE, SETP("setp.lt." #s " p, %1, %2;"), EXACT, 0)                                       \
    F(setp_le_##s, I32, T, T, NONE, SETP("setp.le." #s " p, %1, %2;"), EXACT, 0)                                       \
    F(setp_gt_##s, I32, T, T, NONE, SETP("setp.gt." #s " p, %1, %2;"), EXACT, 0)                                       \
    F(setp_ge_##s, I32, T, T, NONE, SETP("setp.ge." #s " p, %1, %2;"), EXACT, 0)                                       \
    F(setp_lt_##u, I32, T, T, NONE, SETP("setp.lt." #u " p, %1, %2;"), EXACT, 0)                                       \
    F(setp_lo_##u, I32, T, T, NONE, SETP("setp.lo." #u " p, %1, %2;"), EXACT, 0)                                       \
    F(setp_ls_##u, I32, T, T, NONE, SETP("setp.ls." #u " p, %1, %2;"), EXACT, 0)                                       \
    F(setp_hi_##u, I32, T, T, NONE, SETP("setp.hi." #u " p, %1, %2;"), EXACT, 0)                                       \
    F(setp_hs_##u, I32, T, T, NONE, SETP("setp.hs." #u " p, %1, %2;"), EXACT, 0)                                       \
    F(set_lt_u32_##s, I32, T, T, NONE, "set.lt.u32." #s " %0, %1, %2;", EXACT, 0)                                      \
    F(set_ge_f32_##u, F32, T, T, NONE, "set.ge.f32." #u " %0, %1, %2;", EXACT, 0)                                      \
    F(selp_##b, T, T, T, I32, ".reg .pred p; setp.gt.s32 p, %3, 0; selp." #b " %0, %1, %2, p;", EXACT, 0)              \
    F(slct_##s##_s32, T, T, T, I32, "slct." #s ".s32 %0, %1, %2, %3;", EXACT, 0)                                       \
    F(slct_##u##_f32, T, T, T, F32, "slct." #u ".f32 %0, %1, %2, %3;", EXACT, 0)                                       \
    F(sad_##s, T, T, T, T, "sad." #s " %0, %1, %2, %3;", EXACT, 0)                                                     \
    F(sad_##u, T, T, T, T, "sad." #u " %0, %1, %2, %3;", EXACT, 0)

#define FORMS_16(F)                                                                                                    \
    WIDTH_FORMS(F, I16, b16, s16, u16)                                                                                 \
    F(div_s16, I16, I16, I16, NONE, ODD(16, "div.s16 %0, %1, odd;"), EXACT, 0)                                         \
    F(div_u16, I16, I16, I16, NONE, ODD(16, "div.u16 %0, %1, odd;"), EXACT, 0)                                         \
    F(rem_s16, I16, I16, I16, NONE, ODD(16, "rem.s16 %0, %1, odd;"), EXACT, 0)                                         \
    F(rem_u16, I16, I16, I16, NONE, ODD(16, "rem.u16 %0, %1, odd;"), EXACT, 0)                                         \
    F(mul_wide_s16, I32, I16, I16, NONE, "mul.wide.s16 %0, %1, %2;", EXACT, 0)                                         \
    F(mul_wide_u16, I32, I16, I16, NONE, "mul.wide.u16 %0, %1, %2;", EXACT, 0)                                         \
    F(mad_wide_s16, I32, I16, I16, I32, "mad.wide.s16 %0, %1, %2, %3;", EXACT, 0)                                      \
    F(mad_wide_u16, I32, I16, I16, I32, "mad.wide.u16 %0, %1, %2, %3;", EXACT, 0)                                      \
    F(add_u16x2, I32, I32, I32, NONE, "add.u16x2 %0, %1, %2;", EXACT, 0)                                               \
    F(add_s16x2, I32, I32, I32, NONE, "add.s16x2 %0, %1, %2;", EXACT, 0)                                               \
    F(min_u16x2, I32, I32, I32, NONE, "min.u16x2 %0, %1, %2;", EXACT, 0)                                               \
    F(min_s16x2, I32, I32, I32, NONE, "min.s16x2 %0, %1, %2;", EXACT, 0)                                               \
    F(max_u16x2, I32, I32, I32, NONE, "max.u16x2 %0, %1, %2;", EXACT, 0)                                               \
    F(max_s16x2, I32, I32, I32, NONE, "max.s16x2 %0, %1, %2;", EXACT, 0)                                               \
    F(max_relu_s16x2, I32, I32, I32, NONE, "max.s16x2.relu %0, %1, %2;", EXACT, 0)                                     \
    F(mov_b32_pair, I32, I16, I16, NONE, "mov.b32 %0, {%1, %2};", EXACT, 0)                                            \
    F(mov_b64_pair, I64, I32, I32, NONE, "mov.b64 %0, {%1, %2};", EXACT, 0)                                            \
    F(mov_unpack_b32, I16, I32, NONE, NONE, ".reg .b16 low; mov.b32 {low, %0}, %1;", EXACT, 0)                         \
    F(mov_unpack_b64, I32, I64, NONE, NONE, ".reg .b32 low; mov.b64 {low, %0}, %1;", EXACT, 0)

#define FORMS_32(F)                                                                                                    \
    WIDTH_FORMS(F, I32, b32, s32, u32)                                                                                 \
    F(div_s32, I32, I32, I32, NONE, ODD(32, "div.s32 %0, %1, odd;"), EXACT, 0)                                         \
    F(div_u32, I32, I32, I32, NONE, ODD(32, "div.u32 %0, %1, odd;"), EXACT, 0)                                         \
    F(rem_s32, I32, I32, I32, NONE, ODD(32, "rem.s32 %0, %1, odd;"), EXACT, 0)                                         \
    F(rem_u32, I32, I32, I32, NONE, ODD(32, "rem.u32 %0, %1, odd;"), EXACT, 0)                                         \
    F(add_sat_s32, I32, I32, I32, NONE, "add.sat.s32 %0, %1, %2;", EXACT, 0)                                           \
    F(sub_sat_s32, I32, I32, I32, NONE, "sub.sat.s32 %0, %1, %2;", EXACT, 0)                                           \
    F(mad_hi_sat_s32, I32, I32, I32, I32, "mad.hi.sat.s32 %0, %1, %2, %3;", EXACT, 0)                                  \
    F(mul_wide_s32, I64, I32, I32, NONE, "mul.wide.s32 %0, %1, %2;", EXACT, 0)                                         \
    F(mul_wide_u32, I64, I32, I32, NONE, "mul.wide.u32 %0, %1, %2;", EXACT, 0)                                         \
    F(mad_wide_s32, I64, I32, I32, I64, "mad.wide.s32 %0, %1, %2, %3;", EXACT, 0)                                      \
    F(mad_wide_u32, I64, I32, I32, I64, "mad.wide.u32 %0, %1, %2, %3;", EXACT, 0)                                      \
    F(mul24_lo_s32, I32, I32, I32, NONE, "mul24.lo.s32 %0, %1, %2;", EXACT, 0)                                         \
    F(mul24_hi_u32, I32, I32, I32, NONE, "mul24.hi.u32 %0, %1, %2;", EXACT, 0)                                         \
    F(mad24_lo_u32, I32, I32, I32, I32, "mad24.lo.u32 %0, %1, %2, %3;", EXACT, 0)                                      \
    F(mad24_hi_s32, I32, I32, I32, I32, "mad24.hi.s32 %0, %1, %2, %3;", EXACT, 0)                                      \
    F(min_relu_s32, I32, I32, I32, NONE, "min.relu.s32 %0, %1, %2;", EXACT, 0)                                         \
    F(popc_b32, I32, I32, NONE, NONE, "popc.b32 %0, %1;", EXACT, 0)                                                    \
    F(clz_b32, I32, I32, NONE, NONE, "clz.b32 %0, %1;", EXACT, 0)                                                      \
    F(bfind_u32, I32, I32, NONE, NONE, "bfind.u32 %0, %1;", EXACT, 0)                                                  \
    F(bfind_s32, I32, I32, NONE, NONE, "bfind.s32 %0, %1;", EXACT, 0)                                                  \
    F(bfind_shiftamt_s32, I32, I32, NONE, NONE, "bfind.shiftamt.s32 %0, %1;", EXACT, 0)                                \
    F(brev_b32, I32, I32, NONE, NONE, "brev.b32 %0, %1;", EXACT, 0)                                                    \
    F(bfe_u32, I32, I32, SHIFT, SHIFT, "bfe.u32 %0, %1, %2, %3;", EXACT, 0)                                            \
    F(bfe_s32, I32, I32, SHIFT, SHIFT, "bfe.s32 %0, %1, %2, %3;", EXACT, 0)                                            \
    F(bfi_b32, I32, I32, SHIFT, SHIFT, "bfi.b32 %0, %1, 0x5a5a5a5a, %2, %3;", EXACT, 0)                                \
    F(fns_b32, I32, I32, SHIFT, NONE, ".reg .b32 base; and.b32 base, %2, 31; fns.b32 %0, %1, base, 2;", EXACT, 0)      \
    F(szext_clamp_s32, I32, I32, SHIFT, NONE, "szext.clamp.s32 %0, %1, %2;", EXACT, 0)                                 \
    F(szext_wrap_u32, I32, I32, SHIFT, NONE, "szext.wrap.u32 %0, %1, %2;", EXACT, 0)                                   \
    F(bmsk_clamp_b32, I32, SHIFT, SHIFT, NONE, "bmsk.clamp.b32 %0, %1, %2;", EXACT, 0)                                 \
    F(bmsk_wrap_b32, I32, SHIFT, SHIFT, NONE, "bmsk.wrap.b32 %0, %1, %2;", EXACT, 0)                                   \
    F(dp4a_s32_s32, I32, I32, I32, I32, "dp4a.s32.s32 %0, %1, %2, %3;", EXACT, 0)                                      \
    F(dp4a_u32_s32, I32, I32, I32, I32, "dp4a.u32.s32 %0, %1, %2, %3;", EXACT, 0)                                      \
    F(dp4a_u32_u32, I32, I32, I32, I32, "dp4a.u32.u32 %0, %1, %2, %3;", EXACT, 0)                                      \
    F(dp2a_lo_s32_s32, I32, I32, I32, I32, "dp2a.lo.s32.s32 %0, %1, %2, %3;", EXACT, 0)                                \
    F(dp2a_hi_u32_u32, I32, I32, I32, I32, "dp2a.hi.u32.u32 %0, %1, %2, %3;", EXACT, 0)                                \
    F(lop3_b32_96, I32, I32, I32, I32, "lop3.b32 %0, %1, %2, %3, 0x96;", EXACT, 0)                                     \
    F(lop3_b32_ca, I32, I32, I32, I32, "lop3.b32 %0, %1, %2, %3, 0xca;", EXACT, 0)                                     \
    F(shf_l_wrap_b32, I32, I32, I32, SHIFT, "shf.l.wrap.b32 %0, %1, %2, %3;", EXACT, 0)                                \
    F(shf_l_clamp_b32, I32, I32, I32, SHIFT, "shf.l.clamp.b32 %0, %1, %2, %3;", EXACT, 0)                              \
    F(shf_r_wrap_b32, I32, I32, I32, SHIFT, "shf.r.wrap.b32 %0, %1, %2, %3;", EXACT, 0)                                \
    F(shf_r_clamp_b32, I32, I32, I32, SHIFT, "shf.r.clamp.b32 %0, %1, %2, %3;", EXACT, 0)                              \
    F(prmt_b32, I32, I32, I32, I32, "prmt.b32 %0, %1, %2, %3;", EXACT, 0)                                              \
    F(prmt_b32_f4e, I32, I32, I32, SHIFT, "prmt.b32.f4e %0, %1, %2, %3;", EXACT, 0)                                    \
    F(prmt_b32_b4e, I32, I32, I32, SHIFT, "prmt.b32.b4e %0, %1, %2, %3;", EXACT, 0)                                    \
    F(prmt_b32_rc8, I32, I32, I32, SHIFT, "prmt.b32.rc8 %0, %1, %2, %3;", EXACT, 0)                                    \
    F(prmt_b32_ecl, I32, I32, I32, SHIFT, "prmt.b32.ecl %0, %1, %2, %3;", EXACT, 0)                                    \
    F(prmt_b32_ecr, I32, I32, I32, SHIFT, "prmt.b32.ecr %0, %1, %2, %3;", EXACT, 0)                                    \
    F(prmt_b32_rc16, I32, I32, I32, SHIFT, "prmt.b32.rc16 %0, %1, %2, %3;", EXACT, 0)                                  \
    F(addc_u32, I32, I32, I32, I32, ".reg .u32 t; add.cc.u32 t, %1, %2; addc.u32 %0, %3, 0;", EXACT, 0)                \
    F(addc_cc_u32, I32, I32, I32, I32, ".reg .u32 t; add.cc.u32 t, %1, %2; addc.cc.u32 t, %2, %3; addc.u32 %0, t, 0;", \
      EXACT, 0)                                                                                                        \
    F(subc_u32, I32, I32, I32, I32, ".reg .u32 t; sub.cc.u32 t, %1, %2; subc.u32 %0, %3, 0;", EXACT, 0)                \
    F(madc_hi_u32, I32, I32, I32, I32, ".reg .u32 t; mad.lo.cc.u32 t, %1, %2, %3; madc.hi.u32 %0, %1, %2, 0;", EXACT,  \
      0)                                                                                                               \
    F(setp_and_s32, I32, I32, I32, I32, ".reg .pred q; setp.gt.s32 q, %3, 0; " SETP("setp.lt.and.s32 p, %1, %2, q;"),  \
      EXACT, 0)                                                                                                        \
    F(setp_or_s32, I32, I32, I32, I32, ".reg .pred q; setp.gt.s32 q, %3, 0; " SETP("setp.lt.or.s32 p, %1, %2, !q;"),   \
      EXACT, 0)                                                                                                        \
    F(setp_xor_s32, I32, I32, I32, I32, ".reg .pred q; setp.gt.s32 q, %3, 0; " SETP("setp.lt.xor.s32 p, %1, %2, q;"),  \
      EXACT, 0)                                                                                                        \
    F(setp_both_s32, I32, I32, I32, I32,                                                                               \
      ".reg .pred p, q, r; setp.gt.s32 r, %3, 0; setp.lt.and.s32 p|q, %1, %2, r; "                                     \
      "selp.u32 %0, 1, 0, p; @q add.u32 %0, %0, 2;",                                                                   \
      EXACT, 0)                                                                                                        \
    F(and_pred, I32, I32, I32, NONE,                                                                                   \
      ".reg .pred p, q; setp.lt.s32 p, %1, 0; setp.lt.s32 q, %2, 0; and.pred p, p, q; selp.u32 %0, 1, 0, p;", EXACT,   \
      0)                                                                                                               \
    F(or_pred, I32, I32, I32, NONE,                                                                                    \
      ".reg .pred p, q; setp.lt.s32 p, %1, 0; setp.lt.s32 q, %2, 0; or.pred p, p, q; selp.u32 %0, 1, 0, p;", EXACT, 0) \
    F(xor_not_pred, I32, I32, I32, NONE,                                                                               \
      ".reg .pred p, q; setp.lt.s32 p, %1, 0; setp.lt.s32 q, %2, 0; not.pred q, q; xor.pred p, p, q; "                 \
      "selp.u32 %0, 1, 0, p;",                                                                                         \
      EXACT, 0)                                                                                                        \
    F(lop3_or_b32, I32, I32, I32, I32,                                                                                 \
      ".reg .pred p, q; setp.lt.s32 q, %3, 0; lop3.or.b32 %0|p, %1, %2, %3, 0x96, q; @p add.u32 %0, %0, 1;", EXACT, 0) \
    F(guarded_add, I32, I32, I32, I32, ".reg .pred p; setp.lt.s32 p, %3, 0; mov.u32 %0, %1; @!p add.u32 %0, %0, %2;",  \
      EXACT, 0)

#define FORMS_64(F)                                                                                                    \
    WIDTH_FORMS(F, I64, b64, s64, u64)                                                                                 \
    F(div_s64, I64, I64, I64, NONE, ODD(64, "div.s64 %0, %1, odd;"), EXACT, 0)                                         \
    F(div_u64, I64, I64, I64, NONE, ODD(64, "div.u64 %0, %1, odd;"), EXACT, 0)                                         \
    F(rem_s64, I64, I64, I64, NONE, ODD(64, "rem.s64 %0, %1, odd;"), EXACT, 0)                                         \
    F(rem_u64, I64, I64, I64, NONE, ODD(64, "rem.u64 %0, %1, odd;"), EXACT, 0)                                         \
    F(popc_b64, I32, I64, NONE, NONE, "popc.b64 %0, %1;", EXACT, 0)                                                    \
    F(clz_b64, I32, I64, NONE, NONE, "clz.b64 %0, %1;", EXACT, 0)                                                      \
    F(bfind_u64, I32, I64, NONE, NONE, "bfind.u64 %0, %1;", EXACT, 0)                                                  \
    F(bfind_shiftamt_s64, I32, I64, NONE, NONE, "bfind.shiftamt.s64 %0, %1;", EXACT, 0)                                \
    F(brev_b64, I64, I64, NONE, NONE, "brev.b64 %0, %1;", EXACT, 0)                                                    \
    F(bfe_u64, I64, I64, SHIFT, SHIFT, "bfe.u64 %0, %1, %2, %3;", EXACT, 0)                                            \
    F(bfe_s64, I64, I64, SHIFT, SHIFT, "bfe.s64 %0, %1, %2, %3;", EXACT, 0)                                            \
    F(bfi_b64, I64, I64, SHIFT, SHIFT, "bfi.b64 %0, %1, 0x5a5a5a5a5a5a5a5a, %2, %3;", EXACT, 0)                        \
    F(addc_u64, I64, I64, I64, I64, ".reg .u64 t; add.cc.u64 t, %1, %2; addc.u64 %0, %3, 0;", EXACT, 0)

#define FORMS(F) FORMS_16(F) FORMS_32(F) FORMS_64(F)

TRUTH_KERNELS(FORMS)
TRUTH_TABLE(truth_integer, FORMS)
