// Binding integer arithmetic and operations on bits.
#include "carry.h"
#include "families.h"

// The operation of one type; b types count as unsigned. 0 if there is none.
#define CHOOSE(type, u16, s16, u32, s32, u64, s64)                                                                     \
    ((type) == PTX_U16 || (type) == PTX_B16   ? (u16)                                                                  \
     : (type) == PTX_S16                      ? (s16)                                                                  \
     : (type) == PTX_U32 || (type) == PTX_B32 ? (u32)                                                                  \
     : (type) == PTX_S32                      ? (s32)                                                                  \
     : (type) == PTX_U64 || (type) == PTX_B64 ? (u64)                                                                  \
     : (type) == PTX_S64                      ? (s64)                                                                  \
                                              : NULL)
#define BY_TYPE(type, op) CHOOSE(type, l->op##_u16, l->op##_s16, l->op##_u32, l->op##_s32, l->op##_u64, l->op##_s64)
#define BY_WIDTH(type, op) CHOOSE(type, l->op##_u16, l->op##_u16, l->op##_u32, l->op##_u32, l->op##_u64, l->op##_u64)

static enum ptx_type widened(enum ptx_type type) {
    switch (type) {
    case PTX_U16:
        return PTX_U32;
    case PTX_S16:
        return PTX_S32;
    case PTX_U32:
        return PTX_U64;
    default:
        return PTX_S64;
    }
}

static lane_operation *product(const struct lanes *l, const struct ptx_instruction *ptx) {
    enum ptx_type t = ptx->type;
    if (ptx->flags & PTX_WIDE)
        return CHOOSE(t, l->mul_wide_u16, l->mul_wide_s16, l->mul_wide_u32, l->mul_wide_s32, NULL, NULL);
    return ptx->flags & PTX_HI ? BY_TYPE(t, mul_hi) : BY_WIDTH(t, mul_lo);
}

static lane_operation *product_and_sum(const struct lanes *l, const struct ptx_instruction *ptx) {
    enum ptx_type t = ptx->type;
    if (ptx->flags & PTX_WIDE)
        return CHOOSE(t, l->mad_wide_u16, l->mad_wide_s16, l->mad_wide_u32, l->mad_wide_s32, NULL, NULL);
    if (ptx->flags & PTX_SAT)
        return t == PTX_S32 && ptx->flags & PTX_HI ? l->mad_hi_sat_s32 : NULL;
    return ptx->flags & PTX_HI ? BY_TYPE(t, mad_hi) : BY_WIDTH(t, mad_lo);
}

static lane_operation *two_sources(const struct lanes *l, const struct ptx_instruction *ptx) {
    enum ptx_type t = ptx->type;
    bool saturates = ptx->flags & PTX_SAT, relu = ptx->flags & PTX_RELU;
    switch (ptx->opcode) {
    case PTX_OP_ADD:
        return saturates                          ? (t == PTX_S32 ? l->add_sat_s32 : NULL)
               : t == PTX_U16X2 || t == PTX_S16X2 ? l->add_u16x2
                                                  : BY_WIDTH(t, add);
    case PTX_OP_SUB:
        return saturates ? (t == PTX_S32 ? l->sub_sat_s32 : NULL) : BY_WIDTH(t, sub);
    case PTX_OP_DIV:
        return BY_TYPE(t, div);
    case PTX_OP_REM:
        return BY_TYPE(t, rem);
    case PTX_OP_MIN:
        return relu             ? (t == PTX_S32     ? l->min_relu_s32
                                   : t == PTX_S16X2 ? l->min_relu_s16x2
                                                    : NULL)
               : t == PTX_U16X2 ? l->min_u16x2
               : t == PTX_S16X2 ? l->min_s16x2
                                : BY_TYPE(t, min);
    case PTX_OP_MAX:
        return relu             ? (t == PTX_S32     ? l->max_relu_s32
                                   : t == PTX_S16X2 ? l->max_relu_s16x2
                                                    : NULL)
               : t == PTX_U16X2 ? l->max_u16x2
               : t == PTX_S16X2 ? l->max_s16x2
                                : BY_TYPE(t, max);
    case PTX_OP_MUL24:
        return ptx->flags & PTX_HI ? CHOOSE(t, NULL, NULL, l->mul24_hi_u32, l->mul24_hi_s32, NULL, NULL)
                                   : CHOOSE(t, NULL, NULL, l->mul24_lo_u32, l->mul24_lo_s32, NULL, NULL);
    default:
        return NULL;
    }
}

static bool is_integer(enum ptx_type type) {
    return (type >= PTX_B8 && type <= PTX_S64) || type == PTX_U16X2 || type == PTX_S16X2;
}

// Opcodes that integers and floating-point numbers share.
bool bind_number(struct binder *binder, const struct ptx_instruction *ptx, struct bound *bound) {
    return is_integer(ptx->type) ? bind_arith(binder, ptx, bound) : bind_float(binder, ptx, bound);
}

bool bind_arith(struct binder *binder, const struct ptx_instruction *ptx, struct bound *bound) {
    const struct lanes *l = binder->lanes;
    enum ptx_type t = ptx->type, wide = ptx->flags & PTX_WIDE ? widened(t) : t;
    bool third = ptx->opcode == PTX_OP_MIN || ptx->opcode == PTX_OP_MAX; // has an optional third source
    if (!is_integer(t) || (third && ptx->src[2].kind != PTX_OPERAND_NONE))
        return false;
    switch (ptx->opcode) {
    case PTX_OP_ADD:
    case PTX_OP_SUB:
        if (ptx->flags & PTX_CARRY_OUT)
            return bind_carry(binder, ptx, bound);
        // fall through
    case PTX_OP_DIV:
    case PTX_OP_REM:
    case PTX_OP_MIN:
    case PTX_OP_MAX:
    case PTX_OP_MUL24:
        return bind_lanes(binder, bound, two_sources(l, ptx), t, t, t, PTX_NO_TYPE);
    case PTX_OP_ADDC:
    case PTX_OP_SUBC:
    case PTX_OP_MADC:
        return bind_carry(binder, ptx, bound);
    case PTX_OP_MUL:
        return bind_lanes(binder, bound, product(l, ptx), wide, t, t, PTX_NO_TYPE);
    case PTX_OP_MAD:
        return ptx->flags & PTX_CARRY_OUT ? bind_carry(binder, ptx, bound)
                                          : bind_lanes(binder, bound, product_and_sum(l, ptx), wide, t, t, wide);
    case PTX_OP_MAD24:
        return bind_lanes(binder, bound,
                          ptx->flags & PTX_HI ? CHOOSE(t, NULL, NULL, l->mad24_hi_u32, l->mad24_hi_s32, NULL, NULL)
                                              : CHOOSE(t, NULL, NULL, l->mad24_lo_u32, l->mad24_lo_s32, NULL, NULL),
                          t, t, t, t);
    case PTX_OP_SAD:
        return bind_lanes(binder, bound, BY_TYPE(t, sad), t, t, t, t);
    case PTX_OP_ABS:
        return bind_lanes(binder, bound, CHOOSE(t, NULL, l->abs_s16, NULL, l->abs_s32, NULL, l->abs_s64), t, t,
                          PTX_NO_TYPE, PTX_NO_TYPE);
    case PTX_OP_NEG:
        return bind_lanes(binder, bound, CHOOSE(t, NULL, l->neg_s16, NULL, l->neg_s32, NULL, l->neg_s64), t, t,
                          PTX_NO_TYPE, PTX_NO_TYPE);
    case PTX_OP_DP4A:
    case PTX_OP_DP2A:
        bound->extra = (t == PTX_S32) | (ptx->source_type == PTX_S32) << 1 | !!(ptx->flags & PTX_HI) << 2;
        return bind_lanes(binder, bound, ptx->opcode == PTX_OP_DP4A ? l->dp4a : l->dp2a, PTX_B32, PTX_B32, PTX_B32,
                          PTX_B32);
    default:
        return false;
    }
}
