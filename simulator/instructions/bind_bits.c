// Binding logic, shifts and operations on bit fields.
#include "carry.h"
#include "families.h"

static lane_operation *by_width(enum ptx_type type, lane_operation *pred, lane_operation *b16, lane_operation *b32,
                                lane_operation *b64) {
    switch (type_bits(type)) {
    case 1:
        return pred;
    case 16:
        return b16;
    case 32:
        return b32;
    case 64:
        return b64;
    default:
        return NULL;
    }
}

static lane_operation *logic(const struct lanes *l, const struct ptx_instruction *ptx) {
    enum ptx_type t = ptx->type;
    switch (ptx->opcode) {
    case PTX_OP_AND:
        return by_width(t, l->and_pred, l->and_b32, l->and_b32, l->and_b64);
    case PTX_OP_OR:
        return by_width(t, l->or_pred, l->or_b32, l->or_b32, l->or_b64);
    case PTX_OP_XOR:
        return by_width(t, l->xor_pred, l->xor_b32, l->xor_b32, l->xor_b64);
    case PTX_OP_NOT:
        return by_width(t, l->not_pred, l->not_b16, l->not_b32, l->not_b64);
    case PTX_OP_CNOT:
        return by_width(t, NULL, l->cnot_b16, l->cnot_b32, l->cnot_b64);
    case PTX_OP_SHL:
        return by_width(t, NULL, l->shl_b16, l->shl_b32, l->shl_b64);
    case PTX_OP_SHR:
        return is_signed_type(t) ? by_width(t, NULL, l->shr_s16, l->shr_s32, l->shr_s64)
                                 : by_width(t, NULL, l->shr_u16, l->shr_u32, l->shr_u64);
    case PTX_OP_POPC:
        return by_width(t, NULL, NULL, l->popc_b32, l->popc_b64);
    case PTX_OP_CLZ:
        return by_width(t, NULL, NULL, l->clz_b32, l->clz_b64);
    case PTX_OP_BREV:
        return by_width(t, NULL, NULL, l->brev_b32, l->brev_b64);
    case PTX_OP_BFIND:
        return is_signed_type(t) ? by_width(t, NULL, NULL, l->bfind_s32, l->bfind_s64)
                                 : by_width(t, NULL, NULL, l->bfind_u32, l->bfind_u64);
    case PTX_OP_BFE:
        return is_signed_type(t) ? by_width(t, NULL, NULL, l->bfe_s32, l->bfe_s64)
                                 : by_width(t, NULL, NULL, l->bfe_u32, l->bfe_u64);
    default:
        return NULL;
    }
}

static lane_operation *funnel(const struct lanes *l, const struct ptx_instruction *ptx) {
    bool clamp = ptx->flags & PTX_SHIFT_CLAMP;
    if (ptx->variant == PTX_V_L)
        return clamp ? l->shf_l_clamp : l->shf_l_wrap;
    return clamp ? l->shf_r_clamp : l->shf_r_wrap;
}

bool bind_bits(struct binder *binder, const struct ptx_instruction *ptx, struct bound *bound) {
    const struct lanes *l = binder->lanes;
    enum ptx_type t = ptx->type;
    bool clamp = ptx->flags & PTX_SHIFT_CLAMP;
    switch (ptx->opcode) {
    case PTX_OP_AND:
    case PTX_OP_OR:
    case PTX_OP_XOR:
        return bind_lanes(binder, bound, logic(l, ptx), t, t, t, PTX_NO_TYPE);
    case PTX_OP_NOT:
    case PTX_OP_CNOT:
    case PTX_OP_BREV:
        return bind_lanes(binder, bound, logic(l, ptx), t, t, PTX_NO_TYPE, PTX_NO_TYPE);
    case PTX_OP_SHL:
    case PTX_OP_SHR:
        return bind_lanes(binder, bound, logic(l, ptx), t, t, PTX_U32, PTX_NO_TYPE);
    case PTX_OP_BFIND:
        bound->extra = !!(ptx->flags & PTX_SHIFTAMT);
        // fall through
    case PTX_OP_POPC:
    case PTX_OP_CLZ:
        return bind_lanes(binder, bound, logic(l, ptx), PTX_U32, t, PTX_NO_TYPE, PTX_NO_TYPE);
    case PTX_OP_BFE:
        return bind_lanes(binder, bound, logic(l, ptx), t, t, PTX_U32, PTX_U32);
    case PTX_OP_SHF:
        return bind_lanes(binder, bound, funnel(l, ptx), t, t, t, PTX_U32);
    case PTX_OP_PRMT:
        bound->extra = ptx->variant == PTX_VARIANT_NONE ? 0 : ptx->variant - PTX_V_F4E + 1;
        return bind_lanes(binder, bound, l->prmt_b32, t, t, t, PTX_U32);
    case PTX_OP_LOP3:
        bound->extra = (uint32_t)ptx->src[3].bits & 0xff;
        return ptx->flags & PTX_SHUFFLE_PRED ? bind_lop3_predicate(binder, ptx, bound)
                                             : bind_lanes(binder, bound, l->lop3_b32, t, t, t, t);
    case PTX_OP_FNS:
        return bind_lanes(binder, bound, l->fns_b32, PTX_B32, PTX_B32, PTX_B32, PTX_B32);
    case PTX_OP_BMSK:
        bound->extra = clamp;
        return bind_lanes(binder, bound, l->bmsk_b32, PTX_B32, PTX_B32, PTX_B32, PTX_NO_TYPE);
    case PTX_OP_SZEXT:
        bound->extra = clamp;
        return bind_lanes(binder, bound, is_signed_type(t) ? l->szext_s32 : l->szext_u32, t, t, PTX_U32, PTX_NO_TYPE);
    default:
        return false;
    }
}
