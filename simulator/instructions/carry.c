// Extended-precision arithmetic, bfi and lop3 with a predicate: see carry.h.
#include "carry.h"

#include "../machine/warp.h"

// d = a op b (op c), with the carry flag in and out. Everything is an addition: a - b is a + ~b + 1, and the flag after
// a subtraction is the carry of that sum, 1 if nothing was borrowed. The PTX ISA describes a borrow, but the 128-bit
// integer division that nvcc emits reads the flag by addc after subc.cc.
static enum step run_carry(struct warp *warp, const struct bound *bound, uint32_t mask) {
    const struct ptx_instruction *ptx = bound->ptx;
    bool wide = bound->result_cell == 8, subtracts = ptx->opcode == PTX_OP_SUB || ptx->opcode == PTX_OP_SUBC;
    bool is_product = ptx->opcode == PTX_OP_MAD || ptx->opcode == PTX_OP_MADC;
    bool takes = ptx->opcode == PTX_OP_ADDC || ptx->opcode == PTX_OP_SUBC || ptx->opcode == PTX_OP_MADC;
    uint64_t sum64[LANES];
    uint32_t sum32[LANES], carry = 0;
    for (int i = 0; i < LANES; i++) {
        uint64_t x = wide ? cells64(warp, bound->a)[i] : cells32(warp, bound->a)[i];
        uint64_t y = wide ? cells64(warp, bound->b)[i] : cells32(warp, bound->b)[i];
        if (is_product) {
            bool is_signed = is_signed_type(ptx->type), high = ptx->flags & PTX_HI;
            __int128 product = !is_signed ? (__int128)((unsigned __int128)x * y)
                               : wide     ? (__int128)(int64_t)x * (int64_t)y
                                          : (__int128)((int64_t)(int32_t)x * (int32_t)y);
            x = (uint64_t)(high ? product >> (wide ? 64 : 32) : product);
            y = wide ? cells64(warp, bound->c)[i] : cells32(warp, bound->c)[i];
        }
        uint32_t in = takes ? warp->carry >> i & 1 : subtracts;
        y = subtracts ? ~y : y;
        unsigned __int128 sum =
            wide ? (unsigned __int128)x + y + in : (unsigned __int128)((uint64_t)(uint32_t)x + (uint32_t)y + in);
        uint32_t out = (uint32_t)(sum >> (wide ? 64 : 32)) & 1;
        carry |= out << i;
        sum64[i] = (uint64_t)sum;
        sum32[i] = (uint32_t)sum;
    }
    if (ptx->flags & PTX_CARRY_OUT)
        warp->carry = (warp->carry & ~mask) | (carry & mask);
    if (wide)
        warp_write64(warp, bound->d, sum64, mask);
    else
        warp_write32(warp, bound->d, sum32, mask);
    return STEP_NEXT;
}

bool bind_carry(struct binder *binder, const struct ptx_instruction *ptx, struct bound *bound) {
    bool is_product = ptx->opcode == PTX_OP_MAD || ptx->opcode == PTX_OP_MADC;
    int bits = type_bits(ptx->type);
    bound->kind = BOUND_RUN;
    bound->run = run_carry;
    bound->result_cell = (uint8_t)(bits / 8);
    bound->d = bind_result(binder, &ptx->dst[0]);
    bound->a = bind_source(binder, &ptx->src[0], ptx->type);
    bound->b = bind_source(binder, &ptx->src[1], ptx->type);
    bound->c = is_product ? bind_source(binder, &ptx->src[2], ptx->type) : 0;
    return (bits == 32 || bits == 64) && bound->a != NO_OPERAND && bound->b != NO_OPERAND && bound->c != NO_OPERAND;
}

static enum step run_insert(struct warp *warp, const struct bound *bound, uint32_t mask) {
    uint32_t where[LANES] = {0};
    uint64_t result[LANES];
    warp->lanes->join_bytes(where, operand_data(warp, bound->c), operand_data(warp, bound->elements[0]), where, 0);
    if (bound->result_cell == 8) {
        warp->lanes->bfi_b64(result, operand_data(warp, bound->a), operand_data(warp, bound->b), where, 0);
        warp_write64(warp, bound->d, result, mask);
    } else {
        warp->lanes->bfi_b32(result, operand_data(warp, bound->a), operand_data(warp, bound->b), where, 0);
        warp_write32(warp, bound->d, (const uint32_t *)(const void *)result, mask);
    }
    return STEP_NEXT;
}

bool bind_insert(struct binder *binder, const struct ptx_instruction *ptx, struct bound *bound) {
    bound->kind = BOUND_RUN;
    bound->run = run_insert;
    bound->result_cell = is_64_bit(ptx->type) ? 8 : 4;
    bound->d = bind_result(binder, &ptx->dst[0]);
    bound->a = bind_source(binder, &ptx->src[0], ptx->type);
    bound->b = bind_source(binder, &ptx->src[1], ptx->type);
    bound->c = bind_source(binder, &ptx->src[2], PTX_U32);
    bound->elements = bind_operands(binder, &ptx->src[3], PTX_U32, false);
    return bound->d != NO_OPERAND && bound->elements && bound->elements[0] != NO_OPERAND;
}

// lop3.BoolOp d|p: p is the combination of "the result is not zero" with q.
static enum step run_lop3_predicate(struct warp *warp, const struct bound *bound, uint32_t mask) {
    uint32_t result[LANES], bits = 0;
    warp->lanes->lop3_b32(result, operand_data(warp, bound->a), operand_data(warp, bound->b),
                          operand_data(warp, bound->c), bound->extra);
    for (int i = 0; i < LANES; i++)
        bits |= (uint32_t)(result[i] != 0) << i;
    uint32_t q = *predicate(warp, bound->elements[0]) ^ (bound->ptx->src[4].negated ? ALL_LANES : 0);
    warp_write32(warp, bound->d, result, mask);
    warp_write_predicate(warp, bound->elements[1], bound->ptx->variant == PTX_V_OR ? bits | q : bits & q, mask);
    return STEP_NEXT;
}

bool bind_lop3_predicate(struct binder *binder, const struct ptx_instruction *ptx, struct bound *bound) {
    operand_ref *places = bind_allocate(binder, 2 * sizeof *places);
    if (!places)
        return false;
    bound->kind = BOUND_RUN;
    bound->run = run_lop3_predicate;
    bound->d = bind_result(binder, &ptx->dst[0]);
    bound->a = bind_source(binder, &ptx->src[0], PTX_B32);
    bound->b = bind_source(binder, &ptx->src[1], PTX_B32);
    bound->c = bind_source(binder, &ptx->src[2], PTX_B32);
    places[0] = bind_source(binder, &ptx->src[4], PTX_PRED);
    places[1] = bind_result(binder, &ptx->dst[1]);
    bound->elements = places;
    return places[0] != NO_OPERAND;
}
