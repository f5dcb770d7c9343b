// Binding fp32 and fp64 arithmetic. fp16 and bf16 are in bind_half.c.
#include "families.h"

#include "../lanes/half.h"

// 0 to nearest, 1 to zero, 2 down, 3 up: as lanes/exact.h counts.
static uint32_t direction(enum ptx_rounding rounding) {
    switch (rounding) {
    case PTX_RZ:
        return 1;
    case PTX_RM:
        return 2;
    case PTX_RP:
        return 3;
    default:
        return 0;
    }
}

#define THREE_FORMS(name) (rounded ? l->name##_rounded_f32 : ftz ? l->name##_ftz_f32 : l->name##_f32)

static lane_operation *single(const struct lanes *l, const struct ptx_instruction *ptx, uint32_t *extra) {
    bool ftz = ptx->flags & PTX_FTZ, approx = ptx->flags & PTX_APPROX;
    bool rounded = direction(ptx->rounding) != 0;
    *extra = rounded ? direction(ptx->rounding) | (ftz ? 4 : 0) : 0;
    switch (ptx->opcode) {
    case PTX_OP_ADD:
        return THREE_FORMS(add);
    case PTX_OP_SUB:
        return THREE_FORMS(sub);
    case PTX_OP_MUL:
        return THREE_FORMS(mul);
    case PTX_OP_FMA:
    case PTX_OP_MAD:
        return THREE_FORMS(fma);
    case PTX_OP_DIV:
        if (approx || ptx->flags & PTX_FULL) {
            *extra = ftz;
            return approx ? l->div_approx_f32 : l->div_full_f32;
        }
        return THREE_FORMS(div);
    case PTX_OP_RCP:
        if (approx) {
            *extra = ftz;
            return l->rcp_approx_f32;
        }
        return THREE_FORMS(rcp);
    case PTX_OP_SQRT:
        if (approx) {
            *extra = ftz;
            return l->sqrt_approx_f32;
        }
        return THREE_FORMS(sqrt);
    case PTX_OP_ABS:
        return ftz ? l->abs_ftz_f32 : l->abs_f32;
    case PTX_OP_NEG:
        return ftz ? l->neg_ftz_f32 : l->neg_f32;
    case PTX_OP_COPYSIGN:
        return l->copysign_f32;
    case PTX_OP_MIN:
    case PTX_OP_MAX:
        *extra = (ptx->flags & PTX_NAN_PROPAGATE ? 1 : 0) | (ptx->flags & PTX_XORSIGN ? 2 : 0) | (ftz ? 4 : 0);
        return ptx->opcode == PTX_OP_MIN ? l->min_f32 : l->max_f32;
    case PTX_OP_EX2:
    case PTX_OP_LG2:
    case PTX_OP_SIN:
    case PTX_OP_COS:
    case PTX_OP_RSQRT:
    case PTX_OP_TANH:
        *extra = ftz;
        return ptx->opcode == PTX_OP_EX2     ? l->ex2_approx_f32
               : ptx->opcode == PTX_OP_LG2   ? l->lg2_approx_f32
               : ptx->opcode == PTX_OP_SIN   ? l->sin_approx_f32
               : ptx->opcode == PTX_OP_COS   ? l->cos_approx_f32
               : ptx->opcode == PTX_OP_RSQRT ? l->rsqrt_approx_f32
                                             : l->tanh_approx_f32;
    default:
        return NULL;
    }
}

#define TWO_FORMS(name) (rounded ? l->name##_rounded_f64 : l->name##_f64)

static lane_operation *doubled(const struct lanes *l, const struct ptx_instruction *ptx, uint32_t *extra) {
    bool rounded = direction(ptx->rounding) != 0, approx = ptx->flags & PTX_APPROX;
    *extra = direction(ptx->rounding);
    switch (ptx->opcode) {
    case PTX_OP_ADD:
        return TWO_FORMS(add);
    case PTX_OP_SUB:
        return TWO_FORMS(sub);
    case PTX_OP_MUL:
        return TWO_FORMS(mul);
    case PTX_OP_FMA:
    case PTX_OP_MAD:
        return TWO_FORMS(fma);
    case PTX_OP_DIV:
        return TWO_FORMS(div);
    case PTX_OP_RCP:
        return approx ? l->rcp_approx_f64 : TWO_FORMS(rcp);
    case PTX_OP_SQRT:
        return TWO_FORMS(sqrt);
    case PTX_OP_RSQRT:
        return ptx->flags & PTX_FTZ ? l->rsqrt_approx_f64 : l->rsqrt_f64;
    case PTX_OP_MIN:
        return l->min_f64;
    case PTX_OP_MAX:
        return l->max_f64;
    case PTX_OP_ABS:
        return l->abs_f64;
    case PTX_OP_NEG:
        return l->neg_f64;
    case PTX_OP_COPYSIGN:
        return l->copysign_f64;
    default:
        return NULL;
    }
}

static int sources_of(enum ptx_opcode opcode) {
    switch (opcode) {
    case PTX_OP_FMA:
    case PTX_OP_MAD:
        return 3;
    case PTX_OP_ADD:
    case PTX_OP_SUB:
    case PTX_OP_MUL:
    case PTX_OP_DIV:
    case PTX_OP_MIN:
    case PTX_OP_MAX:
    case PTX_OP_COPYSIGN:
        return 2;
    default:
        return 1;
    }
}

bool bind_float(struct binder *binder, const struct ptx_instruction *ptx, struct bound *bound) {
    enum ptx_type t = ptx->type;
    lane_operation *lanes = NULL;
    int sources = sources_of(ptx->opcode);
    if (ptx->src[sources].kind != PTX_OPERAND_NONE)
        return false;
    if (t == PTX_F32) {
        lanes = single(binder->lanes, ptx, &bound->extra);
        bound->saturate = lanes && ptx->flags & PTX_SAT;
    } else if (t == PTX_F64) {
        lanes = doubled(binder->lanes, ptx, &bound->extra);
    } else if (t == PTX_F16 || t == PTX_F16X2 || t == PTX_BF16 || t == PTX_BF16X2) {
        lanes = half_operation(binder->lanes, ptx, &bound->extra);
    }
    return lanes &&
           bind_lanes(binder, bound, lanes, t, t, sources > 1 ? t : PTX_NO_TYPE, sources > 2 ? t : PTX_NO_TYPE);
}
