// Binding moves and conversions.
#include "../lanes/convert.h"
#include "families.h"
#include "move.h"

#include <string.h>

#define SAME (ptx->rounding == PTX_ROUND_NONE || ptx->rounding == PTX_RN)

// A specialized loop for the conversions that compilers use most; NULL: convert_any.
static lane_operation *common(const struct lanes *l, const struct ptx_instruction *ptx, int to_cell, int from_cell) {
    enum ptx_type to = ptx->type, from = ptx->source_type;
    uint32_t special = PTX_FTZ | PTX_SAT | PTX_RELU;
    if (ptx->flags & PTX_SAT && !(ptx->flags & PTX_FTZ) && to == PTX_F32 && from == PTX_F32 && SAME)
        return l->saturate_f32;
    if (ptx->flags & special)
        return NULL;
    if (to == PTX_F32 && from == PTX_F32) {
        return ptx->rounding == PTX_RNI   ? l->round_f32_rn
               : ptx->rounding == PTX_RZI ? l->round_f32_rz
               : ptx->rounding == PTX_RMI ? l->round_f32_rm
               : ptx->rounding == PTX_RPI ? l->round_f32_rp
                                          : NULL;
    }
    if (to == PTX_S32 && from == PTX_F32 && to_cell == 4) {
        return ptx->rounding == PTX_RNI   ? l->s32_of_f32_rn
               : ptx->rounding == PTX_RZI ? l->s32_of_f32_rz
               : ptx->rounding == PTX_RMI ? l->s32_of_f32_rm
                                          : l->s32_of_f32_rp;
    }
    if (to == PTX_U32 && from == PTX_F32 && ptx->rounding == PTX_RZI && to_cell == 4)
        return l->u32_of_f32_rz;
    if (!SAME)
        return NULL;
    if (from_cell == 4 && (from == PTX_S32 || from == PTX_U32)) {
        bool is_signed = from == PTX_S32;
        if (to == PTX_F32)
            return is_signed ? l->f32_of_s32 : l->f32_of_u32;
        if (to == PTX_F64)
            return is_signed ? l->f64_of_s32 : l->f64_of_u32;
        if ((to == PTX_U64 || to == PTX_S64) && to_cell == 8)
            return is_signed ? l->widen_s32 : l->widen_u32;
    }
    if (from_cell == 8 && to_cell == 8 && (from == PTX_S32 || from == PTX_U32) && (to == PTX_U64 || to == PTX_S64))
        return from == PTX_S32 ? l->widen_low_s32 : l->widen_low_u32;
    if (from == PTX_F32)
        return to == PTX_F64 ? l->f64_of_f32 : to == PTX_F16 ? l->f16_of_f32 : to == PTX_BF16 ? l->bf16_of_f32 : NULL;
    if (to == PTX_F32) {
        return from == PTX_F64    ? l->f32_of_f64
               : from == PTX_F16  ? l->f32_of_f16
               : from == PTX_BF16 ? l->f32_of_bf16
                                  : NULL;
    }
    if (to_cell == 4 && from_cell == 8 && (to == PTX_U32 || to == PTX_S32) && (from == PTX_U64 || from == PTX_S64))
        return l->low_b32;
    if (to_cell == 4 && from_cell == 4 && (to == PTX_U32 || to == PTX_S32)) {
        return from == PTX_U8    ? l->extend_u8
               : from == PTX_U16 ? l->extend_u16
               : from == PTX_S8  ? l->extend_s8
               : from == PTX_S16 ? l->extend_s16
                                 : NULL;
    }
    return NULL;
}

static int cell_of(const struct ptx_operand *operand, enum ptx_type type) {
    return is_64_bit(operand->kind == PTX_OPERAND_REGISTER ? operand->reg_type : type) ? 8 : 4;
}

static bool is_f8_pair(enum ptx_type type) {
    return type == PTX_E4M3X2 || type == PTX_E5M2X2;
}

// Converts two fp8 values in a 16-bit register, from or to fp8.
static bool bind_convert_f8(struct binder *binder, const struct ptx_instruction *ptx, struct bound *bound) {
    const struct lanes *l = binder->lanes;
    const bool to = is_f8_pair(ptx->type), of_halves = ptx->source_type == PTX_F16X2;
    const enum ptx_type format = to ? ptx->type : ptx->source_type;
    if (ptx->rounding != PTX_RN ||
        (to ? !(ptx->flags & PTX_SAT) || (!of_halves && ptx->source_type != PTX_F32) : ptx->type != PTX_F16X2))
        return false;
    bound->extra = (format == PTX_E5M2X2 ? LANE_E5M2 : 0) | (ptx->flags & PTX_RELU ? LANE_F8_RELU : 0);
    if (!to)
        return bind_lanes(binder, bound, l->f16x2_of_f8x2, PTX_B32, PTX_B32, PTX_NO_TYPE, PTX_NO_TYPE);
    return bind_lanes(binder, bound, of_halves ? l->f8x2_of_f16x2 : l->f8x2_of_f32, PTX_B32, PTX_B32,
                      of_halves ? PTX_NO_TYPE : PTX_B32, PTX_NO_TYPE);
}

bool bind_convert(struct binder *binder, const struct ptx_instruction *ptx, struct bound *bound) {
    if (is_f8_pair(ptx->type) || is_f8_pair(ptx->source_type))
        return bind_convert_f8(binder, ptx, bound);
    const struct lanes *l = binder->lanes;
    bool pair = ptx->type == PTX_F16X2 || ptx->type == PTX_BF16X2;
    int to_cell = cell_of(&ptx->dst[0], ptx->type), from_cell = cell_of(&ptx->src[0], ptx->source_type);
    enum ptx_type to_register = to_cell == 8 ? PTX_B64 : PTX_B32, from_register = from_cell == 8 ? PTX_B64 : PTX_B32;
    lane_operation *lanes = pair ? NULL : common(l, ptx, to_cell, from_cell);
    if (pair && !(ptx->flags & (PTX_RELU | PTX_SAT)) && ptx->rounding == PTX_RN)
        lanes = ptx->type == PTX_F16X2 ? l->f16x2_of_f32 : l->bf16x2_of_f32;
    if (pair && ptx->source_type != PTX_F32)
        return false;
    if (lanes)
        return bind_lanes(binder, bound, lanes, to_register, from_register, pair ? PTX_B32 : PTX_NO_TYPE, PTX_NO_TYPE);
    bool finite = ptx->flags & PTX_SAT && ptx->text && strstr(ptx->text, "satfinite");
    struct lane_conversion how = {
        .from = ptx->source_type,
        .to = ptx->type == PTX_F16X2    ? PTX_F16
              : ptx->type == PTX_BF16X2 ? PTX_BF16
                                        : ptx->type,
        .rounding = ptx->rounding,
        .ftz = ptx->flags & PTX_FTZ,
        // The front end gives .sat and .satfinite the same flag.
        .saturate = ptx->flags & PTX_SAT && !finite,
        .finite = finite,
        .relu = ptx->flags & PTX_RELU,
        .pair = pair,
        .from_cell = from_cell,
        .to_cell = to_cell,
        .to_bits = type_bits(ptx->dst[0].reg_type),
    };
    if (!bind_lanes(binder, bound, l->convert_any, to_register, from_register, pair ? PTX_B32 : PTX_NO_TYPE,
                    PTX_NO_TYPE))
        return false;
    bound->c = bind_data(binder, &how, sizeof how);
    return true;
}

bool bind_mov(struct binder *binder, const struct ptx_instruction *ptx, struct bound *bound) {
    const struct ptx_operand *from = &ptx->src[0];
    if (from->kind == PTX_OPERAND_VECTOR || ptx->dst[0].kind == PTX_OPERAND_VECTOR)
        return bind_pack(binder, ptx, bound);
    if (from->kind == PTX_OPERAND_SPECIAL && special_changes(from->special))
        return bind_clock(binder, ptx, bound);
    if (from->kind == PTX_OPERAND_ADDRESS && from->space == PTX_LOCAL && binder->frame->recursive)
        return bind_local_address(binder, ptx, bound);
    if (from->kind == PTX_OPERAND_ADDRESS && from->slot >= 0)
        return false;
    enum ptx_type t = ptx->type;
    const struct lanes *l = binder->lanes;
    return bind_lanes(binder, bound,
                      t == PTX_PRED  ? l->mov_pred
                      : is_64_bit(t) ? l->mov_b64
                                     : l->mov_b32,
                      t, t, PTX_NO_TYPE, PTX_NO_TYPE);
}

bool bind_pack_saturated(struct binder *binder, const struct ptx_instruction *ptx, struct bound *bound) {
    int bits = type_bits(ptx->type);
    bound->extra = (uint32_t)(is_signed_type(ptx->type) ? -bits : bits);
    return (bits == 8 || bits == 16) && ptx->source_type == PTX_S32 &&
           bind_lanes(binder, bound, binder->lanes->pack_saturated, PTX_B32, PTX_B32, PTX_B32,
                      bits == 8 ? PTX_B32 : PTX_NO_TYPE);
}
