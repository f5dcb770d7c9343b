// Binding memory instructions.
#include "bind_memory.h"

#include "spaces.h"

#include <string.h>

// The address register, or the constant address.
static bool bind_address(struct binder *binder, const struct ptx_operand *address, enum ptx_space space,
                         struct bound *bound) {
    bound->space = (uint8_t)space;
    bound->offset = address->offset;
    if (address->kind == PTX_OPERAND_REGISTER) {
        bound->offset = 0;
    } else if (address->kind == PTX_OPERAND_IMMEDIATE) {
        bound->offset = (int64_t)address->bits;
        bound->address_cell = 0;
        return true;
    } else if (address->kind != PTX_OPERAND_ADDRESS) {
        return false;
    } else if (address->variable >= 0) {
        bound->offset += (int64_t)binder->kernel->variable_address[address->variable];
    }
    if (address->slot < 0) {
        bound->address_cell = 0;
        bound->extra = space == PTX_LOCAL && binder->frame->recursive;
        return true;
    }
    bound->a = bind_register(binder, address->slot);
    bound->address_cell = is_64_bit(address->reg_type) ? 8 : 4;
    return true;
}

static uint8_t order_of(const struct ptx_instruction *ptx) {
    bool both = strstr(ptx->text, ".acq_rel");
    return (uint8_t)((both || strstr(ptx->text, ".acquire") ? ORDER_ACQUIRE : 0) |
                     (ptx->flags & PTX_RELEASE ? ORDER_RELEASE : 0) | (strstr(ptx->text, ".cta") ? ORDER_CTA : 0));
}

bool bind_transfer(struct binder *binder, const struct ptx_instruction *ptx, struct bound *bound) {
    bool loads = ptx->opcode != PTX_OP_ST;
    const struct ptx_operand *data = loads ? &ptx->dst[0] : &ptx->src[1];
    const struct ptx_operand *first = data->kind == PTX_OPERAND_VECTOR ? &data->elements[0] : data;
    enum ptx_space space = ptx->space;
    if (space == PTX_GENERIC && ptx->src[0].kind == PTX_OPERAND_ADDRESS && ptx->src[0].slot < 0)
        space = ptx->src[0].space; // a variable has a space of its own
    int bits = type_bits(ptx->type);
    bound->kind = BOUND_RUN;
    bound->run = loads ? run_load : run_store;
    bound->bytes = (uint8_t)(bits / 8);
    bound->vector = (uint8_t)(data->kind == PTX_OPERAND_VECTOR ? data->count : 1);
    bound->is_signed = loads && is_signed_type(ptx->type);
    bound->is_volatile = ptx->flags & PTX_VOLATILE;
    bound->order = order_of(ptx);
    binder->kernel->signals |= bound->is_volatile;
    enum ptx_type held = first->kind == PTX_OPERAND_REGISTER ? first->reg_type : ptx->type;
    bound->width = (uint8_t)type_bits(held);
    if (bits < 8 || bits > 64 || bound->width < 8 || (data->kind == PTX_OPERAND_VECTOR && data->count > 8))
        return false;
    bound->elements = bind_operands(binder, data, held, loads);
    for (int i = 0; !loads && bound->elements && i < bound->vector; i++)
        if (bound->elements[i] == NO_OPERAND)
            return false;
    return bind_address(binder, &ptx->src[0], space, bound);
}

bool bind_atomic(struct binder *binder, const struct ptx_instruction *ptx, struct bound *bound) {
    const struct ptx_operand *data = &ptx->src[1];
    int vector = data->kind == PTX_OPERAND_VECTOR ? data->count : 1;
    int bits = type_bits(ptx->type);
    bound->kind = BOUND_RUN;
    bound->run = run_atomic;
    bound->vector = (uint8_t)vector;
    bound->bytes = (uint8_t)(bits / 8);
    bound->width = (uint8_t)bits;
    bound->is_volatile = true;
    bound->order = order_of(ptx);
    if (bits < 16 || bits > 64 || ptx->variant < PTX_V_ADD || ptx->variant > PTX_V_CAS)
        return false;
    operand_ref *places = bind_allocate(binder, 3 * (size_t)vector * sizeof *places);
    for (int i = 0; places && i < vector; i++) {
        bool many = data->kind == PTX_OPERAND_VECTOR;
        places[i] = bind_source(binder, many ? &data->elements[i] : data, ptx->type);
        const struct ptx_operand *to = ptx->dst[0].kind == PTX_OPERAND_VECTOR ? &ptx->dst[0].elements[i] : &ptx->dst[0];
        places[vector + i] = bind_result(binder, to);
        if (places[i] == NO_OPERAND)
            return false;
    }
    bound->elements = places;
    binder->kernel->signals = true;
    const struct ptx_operand *swapped = &ptx->src[2];
    bool wide = vector == 2 && bits == 64;
    if (wide != (vector > 1 && ptx->variant >= PTX_V_EXCH) ||
        (wide && swapped->count != (ptx->variant == PTX_V_CAS ? 2 : 0)))
        return false;
    for (int i = 0; wide && places && i < swapped->count; i++)
        places[2 * vector + i] = bind_source(binder, &swapped->elements[i], ptx->type);
    bound->c = ptx->variant == PTX_V_CAS && !wide ? bind_source(binder, swapped, ptx->type) : 0;
    return bound->c != NO_OPERAND && bind_address(binder, &ptx->src[0], ptx->space, bound);
}
