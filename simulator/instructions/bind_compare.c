// Binding comparison and selection.
#include "families.h"

#include "../lanes/half.h"
#include "../machine/warp.h"

#define INTEGER_CASE(T, CODE)                                                                                          \
    case CODE: {                                                                                                       \
        lane_operation *const table[] = {l->eq_##T, l->ne_##T, l->lt_##T, l->le_##T, l->gt_##T, l->ge_##T};            \
        return compare <= PTX_GE ? table[compare] : NULL;                                                              \
    }
#define FLOAT_TABLE(T)                                                                                                 \
    {                                                                                                                  \
        l->eq_##T, l->ne_##T, l->lt_##T, l->le_##T, l->gt_##T, l->ge_##T, l->equ_##T, l->neu_##T, l->ltu_##T,          \
            l->leu_##T, l->gtu_##T, l->geu_##T, l->num_##T, l->nan_##T                                                 \
    }

static lane_operation *comparison(const struct lanes *l, enum ptx_type type, enum ptx_compare compare, bool ftz) {
    switch (type) {
    case PTX_B16:
        INTEGER_CASE(u16, PTX_U16)
        INTEGER_CASE(s16, PTX_S16)
    case PTX_B32:
        INTEGER_CASE(u32, PTX_U32)
        INTEGER_CASE(s32, PTX_S32)
    case PTX_B64:
        INTEGER_CASE(u64, PTX_U64)
        INTEGER_CASE(s64, PTX_S64)
    case PTX_F32: {
        lane_operation *const plain[] = FLOAT_TABLE(f32), *const flushed[] = FLOAT_TABLE(ftz_f32);
        return ftz ? flushed[compare] : plain[compare];
    }
    case PTX_F64: {
        lane_operation *const table[] = FLOAT_TABLE(f64);
        return table[compare];
    }
    case PTX_F16:
    case PTX_F16X2:
    case PTX_BF16:
    case PTX_BF16X2:
        return l->half_compare;
    default:
        return NULL;
    }
}

static uint32_t half_flags(const struct ptx_instruction *ptx, enum ptx_type type) {
    bool bf16 = type == PTX_BF16 || type == PTX_BF16X2, pair = type == PTX_F16X2 || type == PTX_BF16X2;
    return (bf16 ? HALF_BF16 : 0) | (pair ? HALF_PAIR : 0) | (ptx->flags & PTX_FTZ ? HALF_FTZ : 0) |
           (uint32_t)ptx->compare * HALF_COMPARE;
}

static uint32_t combine(enum ptx_variant how, uint32_t p, uint32_t c) {
    return how == PTX_V_AND ? p & c : how == PTX_V_OR ? p | c : how == PTX_V_XOR ? p ^ c : p;
}

// setp with a second result, or combined with a third predicate: p = (a cmp b) op c, q = !(a cmp b) op c; for pairs of
// halves q is the upper one's.
static enum step run_compare(struct warp *warp, const struct bound *bound, uint32_t mask) {
    const struct ptx_instruction *ptx = bound->ptx;
    uint32_t both[2] = {0, 0};
    bound->lanes(both, operand_data(warp, bound->a), operand_data(warp, bound->b), both, bound->extra);
    uint32_t c = bound->c == NO_OPERAND ? 0 : *predicate(warp, bound->c) ^ (ptx->src[2].negated ? ALL_LANES : 0);
    uint32_t second = bound->vector == 2 ? both[1] : ~both[0];
    warp_write_predicate(warp, bound->elements[0], combine(ptx->variant, second, c), mask);
    warp_write_predicate(warp, bound->d, combine(ptx->variant, both[0], c), mask);
    return STEP_NEXT;
}

bool bind_setp(struct binder *binder, const struct ptx_instruction *ptx, struct bound *bound) {
    enum ptx_type t = ptx->type;
    lane_operation *lanes = comparison(binder->lanes, t, ptx->compare, ptx->flags & PTX_FTZ);
    bool is_half = lanes == binder->lanes->half_compare, pair = t == PTX_F16X2 || t == PTX_BF16X2;
    bound->extra = is_half ? half_flags(ptx, t) : 0;
    bool plain = ptx->dst[1].kind == PTX_OPERAND_NONE && ptx->src[2].kind == PTX_OPERAND_NONE &&
                 ptx->dst[0].kind == PTX_OPERAND_REGISTER && !pair;
    if (plain)
        return bind_lanes(binder, bound, lanes, PTX_PRED, t, t, PTX_NO_TYPE);
    operand_ref *second = bind_allocate(binder, sizeof *second);
    if (!lanes || !second)
        return false;
    bound->kind = BOUND_RUN;
    bound->lanes = lanes;
    bound->run = run_compare;
    bound->vector = pair ? 2 : 1;
    bound->d = bind_result(binder, &ptx->dst[0]);
    bound->a = bind_source(binder, &ptx->src[0], t);
    bound->b = bind_source(binder, &ptx->src[1], t);
    bound->c = ptx->src[2].kind == PTX_OPERAND_NONE ? NO_OPERAND : bind_source(binder, &ptx->src[2], PTX_PRED);
    *second = bind_result(binder, &ptx->dst[1]);
    bound->elements = second;
    return bound->a != NO_OPERAND && bound->b != NO_OPERAND;
}

// set: the same as a number, all ones or 1.0 if true.
static enum step run_set(struct warp *warp, const struct bound *bound, uint32_t mask) {
    const struct ptx_instruction *ptx = bound->ptx;
    uint32_t both[2] = {0, 0}, result[LANES];
    bound->lanes(both, operand_data(warp, bound->a), operand_data(warp, bound->b), both, bound->extra);
    uint32_t c = bound->c == NO_OPERAND ? 0 : *predicate(warp, bound->c) ^ (ptx->src[2].negated ? ALL_LANES : 0);
    uint32_t low = combine(ptx->variant, both[0], c), high = combine(ptx->variant, both[1], c);
    for (int i = 0; i < LANES; i++) {
        uint32_t one = (uint32_t)bound->offset;
        result[i] = bound->vector == 2 ? (low >> i & 1 ? one & 0xffff : 0) | (high >> i & 1 ? one & 0xffff0000u : 0)
                                       : (low >> i & 1 ? one : 0);
    }
    warp_write32(warp, bound->d, result, mask);
    return STEP_NEXT;
}

bool bind_set(struct binder *binder, const struct ptx_instruction *ptx, struct bound *bound) {
    enum ptx_type from = ptx->source_type;
    bool pair = from == PTX_F16X2 || from == PTX_BF16X2;
    bound->kind = BOUND_RUN;
    bound->run = run_set;
    bound->lanes = comparison(binder->lanes, from, ptx->compare, ptx->flags & PTX_FTZ);
    bound->extra = bound->lanes == binder->lanes->half_compare ? half_flags(ptx, from) : 0;
    bound->vector = pair ? 2 : 1;
    switch (ptx->type) {
    case PTX_F32:
        bound->offset = 0x3f800000;
        break;
    case PTX_F16:
        bound->offset = 0x3c00;
        break;
    case PTX_BF16:
        bound->offset = 0x3f80;
        break;
    case PTX_F16X2:
        bound->offset = 0x3c003c00;
        break;
    case PTX_BF16X2:
        bound->offset = 0x3f803f80;
        break;
    case PTX_U16:
    case PTX_S16:
        bound->offset = 0xffff;
        break;
    default:
        bound->offset = 0xffffffff;
    }
    bound->d = bind_result(binder, &ptx->dst[0]);
    bound->a = bind_source(binder, &ptx->src[0], from);
    bound->b = bind_source(binder, &ptx->src[1], from);
    bound->c = ptx->src[2].kind == PTX_OPERAND_NONE ? NO_OPERAND : bind_source(binder, &ptx->src[2], PTX_PRED);
    return bound->lanes && bound->d != NO_OPERAND && bound->a != NO_OPERAND && bound->b != NO_OPERAND;
}

bool bind_selp(struct binder *binder, const struct ptx_instruction *ptx, struct bound *bound) {
    enum ptx_type t = ptx->type;
    bound->extra = ptx->src[2].negated ? ALL_LANES : 0;
    return bind_lanes(binder, bound, is_64_bit(t) ? binder->lanes->selp_b64 : binder->lanes->selp_b32, t, t, t,
                      PTX_PRED);
}

bool bind_slct(struct binder *binder, const struct ptx_instruction *ptx, struct bound *bound) {
    enum ptx_type t = ptx->type;
    const struct lanes *l = binder->lanes;
    bool wide = is_64_bit(t);
    bound->extra = !!(ptx->flags & PTX_FTZ);
    lane_operation *lanes = ptx->source_type == PTX_S32 ? (wide ? l->slct_s32_b64 : l->slct_s32_b32)
                                                        : (wide ? l->slct_f32_b64 : l->slct_f32_b32);
    return bind_lanes(binder, bound, lanes, t, t, t, ptx->source_type);
}

bool bind_testp(struct binder *binder, const struct ptx_instruction *ptx, struct bound *bound) {
    bound->extra = ptx->variant;
    return bind_lanes(binder, bound, ptx->type == PTX_F64 ? binder->lanes->testp_f64 : binder->lanes->testp_f32,
                      PTX_PRED, ptx->type, PTX_NO_TYPE, PTX_NO_TYPE);
}
