#include "binder.h"

#include <stdlib.h>
#include <string.h>

void *bind_allocate(struct binder *binder, size_t size) {
    struct sim_kernel *kernel = binder->kernel;
    if (kernel->owned_count == kernel->owned_room) {
        int room = kernel->owned_room ? 2 * kernel->owned_room : 64;
        void **grown = realloc(kernel->owned, (size_t)room * sizeof *grown);
        if (!grown) {
            binder->failed = true;
            return NULL;
        }
        kernel->owned = grown;
        kernel->owned_room = room;
    }
    void *memory = calloc(1, size);
    binder->failed |= !memory;
    kernel->owned[kernel->owned_count++] = memory;
    return memory;
}

operand_ref bind_data(struct binder *binder, const void *data, size_t size) {
    struct sim_kernel *kernel = binder->kernel;
    size_t step = (size + 63) / 64 * 64;
    for (size_t at = 0; size >= 64 && at + size <= kernel->constants_bytes; at += 64)
        if (memcmp(kernel->constants + at, data, size) == 0)
            return (operand_ref)at << 1 | 1;
    if (kernel->constants_bytes + step > kernel->constants_room) {
        size_t room = 2 * (kernel->constants_room + step);
        uint8_t *grown = aligned_alloc(64, room);
        if (!grown) {
            binder->failed = true;
            return 1;
        }
        if (kernel->constants)
            memcpy(grown, kernel->constants, kernel->constants_bytes);
        free(kernel->constants);
        kernel->constants = grown;
        kernel->constants_room = room;
    }
    operand_ref where = (operand_ref)kernel->constants_bytes << 1 | 1;
    memset(kernel->constants + kernel->constants_bytes, 0, step);
    memcpy(kernel->constants + kernel->constants_bytes, data, size);
    kernel->constants_bytes += step;
    return where;
}

operand_ref bind_constant(struct binder *binder, uint64_t value, enum ptx_type type) {
    uint64_t wide[LANES];
    uint32_t narrow[LANES];
    if (type == PTX_PRED) {
        uint32_t all[16] = {value ? ALL_LANES : 0};
        return bind_data(binder, all, sizeof all);
    }
    if (is_64_bit(type)) {
        for (int i = 0; i < LANES; i++)
            wide[i] = value;
        return bind_data(binder, wide, sizeof wide);
    }
    int bits = type_bits(type);
    for (int i = 0; i < LANES; i++)
        narrow[i] = (uint32_t)value & (bits >= 32 ? ~0u : (1u << bits) - 1);
    return bind_data(binder, narrow, sizeof narrow);
}

operand_ref bind_register(struct binder *binder, int32_t slot) {
    return (operand_ref)(slot + binder->frame->register_base) << 1;
}

// A special register that is constant while a block runs is filled in when the block starts; from then on it is an
// ordinary register.
static operand_ref special_register(struct binder *binder, enum ptx_special special) {
    struct sim_kernel *kernel = binder->kernel;
    if (kernel->special[special] < 0) {
        kernel->special[special] = (int32_t)kernel->register_bytes;
        kernel->register_bytes += 8 * LANES;
    }
    return (operand_ref)kernel->special[special] << 1;
}

// The address that `mov r, variable` returns: an offset in its space, a device address for global and const.
static uint64_t address_value(struct binder *binder, const struct ptx_operand *operand) {
    uint64_t base = operand->variable >= 0 ? binder->kernel->variable_address[operand->variable] : 0;
    return base + (uint64_t)operand->offset;
}

operand_ref bind_source(struct binder *binder, const struct ptx_operand *operand, enum ptx_type type) {
    switch (operand->kind) {
    case PTX_OPERAND_REGISTER:
        return bind_register(binder, operand->slot);
    case PTX_OPERAND_IMMEDIATE:
        return bind_constant(binder, operand->bits, type);
    case PTX_OPERAND_SPECIAL:
        return operand->special == PTX_WARP_SIZE ? bind_constant(binder, LANES, type)
                                                 : special_register(binder, operand->special);
    case PTX_OPERAND_ADDRESS:
        return bind_constant(binder, address_value(binder, operand), type);
    case PTX_OPERAND_FUNCTION:
        return bind_constant(binder, operand->target >= 0 ? binder->kernel->ptx->function[operand->target].address : 0,
                             type);
    default:
        return NO_OPERAND;
    }
}

operand_ref bind_result(struct binder *binder, const struct ptx_operand *operand) {
    return operand->kind == PTX_OPERAND_REGISTER ? bind_register(binder, operand->slot) : NO_OPERAND;
}

const operand_ref *bind_operands(struct binder *binder, const struct ptx_operand *operand, enum ptx_type type,
                                 bool result) {
    int count = operand->kind == PTX_OPERAND_VECTOR ? operand->count : 1;
    operand_ref *places = bind_allocate(binder, (size_t)count * sizeof *places);
    for (int i = 0; places && i < count; i++) {
        const struct ptx_operand *one = operand->kind == PTX_OPERAND_VECTOR ? &operand->elements[i] : operand;
        places[i] = result ? bind_result(binder, one) : bind_source(binder, one, type);
    }
    return places;
}

bool bind_lanes(struct binder *binder, struct bound *bound, lane_operation *lanes, enum ptx_type result,
                enum ptx_type a, enum ptx_type b, enum ptx_type c) {
    const struct ptx_instruction *ptx = bound->ptx;
    if (!lanes || ptx->dst[0].kind != PTX_OPERAND_REGISTER)
        return false;
    bound->kind = BOUND_LANES;
    bound->lanes = lanes;
    bound->d = bind_result(binder, &ptx->dst[0]);
    bound->result_cell = result == PTX_PRED ? 0 : is_64_bit(result) ? 8 : 4;
    const enum ptx_type types[3] = {a, b, c};
    operand_ref *places[3] = {&bound->a, &bound->b, &bound->c};
    for (int i = 0; i < 3; i++) {
        *places[i] = 0;
        if (types[i] == PTX_NO_TYPE)
            continue;
        *places[i] = bind_source(binder, &ptx->src[i], types[i]);
        if (*places[i] == NO_OPERAND)
            return false;
    }
    return true;
}
