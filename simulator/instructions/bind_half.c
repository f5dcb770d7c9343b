// Binds fp16 and bf16 arithmetic: one set of lane operations, configured by flags.
#include "families.h"

#include "../lanes/half.h"

lane_operation *half_operation(const struct lanes *l, const struct ptx_instruction *ptx, uint32_t *extra) {
    enum ptx_type t = ptx->type;
    uint32_t flags = ptx->flags;
    *extra = (t == PTX_BF16 || t == PTX_BF16X2 ? HALF_BF16 : 0) | (t == PTX_F16X2 || t == PTX_BF16X2 ? HALF_PAIR : 0) |
             (flags & PTX_FTZ ? HALF_FTZ : 0) | (flags & PTX_SAT ? HALF_SAT : 0) | (flags & PTX_RELU ? HALF_RELU : 0) |
             (flags & PTX_NAN_PROPAGATE ? HALF_NAN : 0) | (flags & PTX_XORSIGN ? HALF_XORSIGN : 0);
    switch (ptx->opcode) {
    case PTX_OP_ADD:
        return l->half_add;
    case PTX_OP_SUB:
        return l->half_sub;
    case PTX_OP_MUL:
        return l->half_mul;
    case PTX_OP_FMA:
        return l->half_fma;
    case PTX_OP_MIN:
        return l->half_min;
    case PTX_OP_MAX:
        return l->half_max;
    case PTX_OP_NEG:
        return l->half_neg;
    case PTX_OP_ABS:
        return l->half_abs;
    case PTX_OP_EX2:
        return l->half_ex2;
    case PTX_OP_TANH:
        return l->half_tanh;
    default:
        return NULL;
    }
}
