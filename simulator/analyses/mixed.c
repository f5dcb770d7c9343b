// A plain read before an atomic on the same place, as in the loop of atomicCAS by which the programming guide makes an
// atomic of any operation, or in `if (x < *least) atomicMin(least, x)`. By the memory model the read races with the
// atomics of other threads; what it reads is a guess, which the atomic then tests, so that an old value does no harm.
// Such a conflict is a remark and fails nothing.
//
// Which reads are such guesses the code says: behind the load, with no barrier between, an atomic takes the same
// address: the same register with the same offset, or one that both follow from, or the same variable. The text's
// order stands for the order of execution, as nvcc writes loops. A read of a sum after the atomics that made it is no
// guess, and stays a race.
#include "mixed.h"

#include <string.h>

// An address by where its register was last written: by the instruction at def (-1: before the function), or no
// register: the variable's offset in its space.
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

// Follows the register of an address back, through copies, to the first instruction of the function.
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

// Marks the loads between the barrier before an atomic and the atomic itself.
static void mark_before(struct sim_kernel *kernel, int32_t first, int32_t atomic) {
    struct origin place = origin_of(kernel->ptx, first, atomic);
    for (int32_t i = atomic - 1; i >= first && kernel->ptx->instruction[i].opcode != PTX_OP_BAR; i--) {
        struct bound *load = &kernel->code[i];
        if (!is_plain_load(load) || load->before_atomic || !may_meet(load, &kernel->code[atomic]))
            continue;
        struct origin read = origin_of(kernel->ptx, first, i);
        load->before_atomic = is_same(&read, &place);
    }
}

void mixed_find(struct sim_kernel *kernel) {
    const struct ptx_kernel *ptx = kernel->ptx;
    for (int f = 0; f < ptx->functions; f++) {
        int32_t first = ptx->function[f].entry, end = first + ptx->function[f].instructions;
        for (int32_t i = first; i < end; i++)
            if (is_update(&ptx->instruction[i]))
                mark_before(kernel, first, i);
    }
}
