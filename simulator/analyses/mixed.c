// A plain read before an atomic on the same address, as in the atomicCAS loop by which the programming guide implements
// any atomic operation, or in `if (x < *least) atomicMin(least, x)`. By the memory model the read races with the
// atomics of other threads; the value is a guess, which the atomic then tests, so that an old value does no harm. Such
// a race is only a warning.
//
// The code shows which reads are such guesses: after the load, with no barrier in between, an atomic uses the same
// address, that is the same register with the same offset, a register derived from it, or the same variable. Program
// order approximates the order of execution, because nvcc lays out loops that way. A read of a sum after the atomics
// that computed it is no guess, and remains a race.
#include "mixed.h"

#include <string.h>

// An address, identified by the instruction `def` that last wrote its register (-1: written before the function), or,
// without a register, by the variable's offset in its space.
struct origin {
    int32_t slot, def, variable;
    int64_t offset;
};

static bool is_update(const struct ptx_instruction *ptx) {
    return ptx->opcode == PTX_OP_ATOM || ptx->opcode == PTX_OP_RED;
}

static bool is_plain_load(const struct bound *bound) {
    return bound->ptx->opcode == PTX_OP_LD && !bound->is_volatile && bound->ptx->src[0].kind == PTX_OPERAND_ADDRESS &&
           (bound->space == PTX_GLOBAL || bound->space == PTX_SHARED || bound->space == PTX_GENERIC);
}

static bool writes_slot(const struct ptx_instruction *ptx, int32_t slot) {
    for (int d = 0; d < 2; d++) {
        const struct ptx_operand *to = &ptx->dst[d];
        for (int i = -1; i < to->count; i++) {
            const struct ptx_operand *one = i < 0 ? to : &to->elements[i];
            if (one->kind == PTX_OPERAND_REGISTER && one->slot == slot)
                return true;
        }
    }
    return false;
}

// Follows the address register backwards through copies, to the first instruction of the function.
static struct origin origin_of(const struct ptx_kernel *ptx, int32_t first, int32_t at) {
    const struct ptx_operand *address = &ptx->instruction[at].src[0];
    struct origin origin = {address->slot, -1, address->variable, address->offset};
    for (int32_t i = at - 1; i >= first && origin.slot >= 0; i--) {
        const struct ptx_instruction *before = &ptx->instruction[i];
        if (!writes_slot(before, origin.slot))
            continue;
        const struct ptx_operand *from = &before->src[0];
        bool copies = before->opcode == PTX_OP_MOV || before->opcode == PTX_OP_CVTA;
        bool adds = before->opcode == PTX_OP_ADD && from->kind == PTX_OPERAND_REGISTER &&
                    before->src[1].kind == PTX_OPERAND_IMMEDIATE;
        if (adds || (copies && from->kind == PTX_OPERAND_REGISTER)) {
            origin.slot = from->slot;
            origin.offset += adds ? (int64_t)before->src[1].bits : 0;
        } else if (copies && from->kind == PTX_OPERAND_ADDRESS && from->slot < 0) {
            origin.slot = -1;
            origin.variable = from->variable;
            origin.offset += from->offset;
        } else {
            origin.def = i;
            break;
        }
    }
    return origin;
}

static bool is_same(const struct origin *a, const struct origin *b) {
    return a->slot == b->slot && a->def == b->def && a->variable == b->variable && a->offset == b->offset;
}

static bool may_meet(const struct bound *load, const struct bound *atomic) {
    return load->space == atomic->space || load->space == PTX_GENERIC || atomic->space == PTX_GENERIC;
}

// Marks the loads between the last barrier before an atomic and the atomic.
static void mark_before(struct sim_kernel *kernel, int32_t first, int32_t atomic) {
    struct origin atomic_origin = origin_of(kernel->ptx, first, atomic);
    for (int32_t i = atomic - 1; i >= first && kernel->ptx->instruction[i].opcode != PTX_OP_BAR; i--) {
        struct bound *load = &kernel->code[i];
        if (!is_plain_load(load) || load->before_atomic || !may_meet(load, &kernel->code[atomic]))
            continue;
        struct origin read = origin_of(kernel->ptx, first, i);
        load->before_atomic = is_same(&read, &atomic_origin);
    }
}

void mixed_mark_loads(struct sim_kernel *kernel) {
    const struct ptx_kernel *ptx = kernel->ptx;
    for (int f = 0; f < ptx->functions; f++) {
        int32_t first = ptx->function[f].entry, end = first + ptx->function[f].instructions;
        for (int32_t i = first; i < end; i++)
            if (is_update(&ptx->instruction[i]))
                mark_before(kernel, first, i);
    }
}
