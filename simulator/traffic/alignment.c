// A forward data-flow analysis. The state at a point is, for each register slot, the number of low bits that are 0 on
// every path to it. It starts at the maximum and only decreases, so that the analysis of loops terminates.
#include "alignment.h"

#include <stdlib.h>
#include <string.h>

enum { SLOT_BYTES = 64, MOST_ZERO_BITS = 63 };

struct analysis {
    const struct ptx_kernel *kernel;
    size_t slots;
    bool *starts;    // [instructions], a basic block starts here
    uint8_t *before; // [instructions][slots], valid at the start of a block
    uint8_t *now;    // [slots]
};

static int trailing_zeros(uint64_t bits) {
    return bits == 0 ? MOST_ZERO_BITS : __builtin_ctzll(bits);
}

static int at_most(int value, int limit) {
    return value < limit ? value : limit;
}

static int zero_bits(const struct analysis *a, const struct ptx_operand *operand) {
    switch (operand->kind) {
    case PTX_OPERAND_REGISTER:
        return operand->reg_type == PTX_PRED ? 0 : a->now[(size_t)operand->slot / SLOT_BYTES];
    case PTX_OPERAND_IMMEDIATE:
        return trailing_zeros(operand->bits);
    case PTX_OPERAND_ADDRESS:
        if (operand->slot >= 0)
            return at_most(a->now[(size_t)operand->slot / SLOT_BYTES], trailing_zeros((uint64_t)operand->offset));
        if (operand->variable >= 0) {
            return at_most(trailing_zeros(a->kernel->module->variable[operand->variable].align),
                           trailing_zeros((uint64_t)operand->offset));
        }
        return trailing_zeros((uint64_t)operand->offset);
    case PTX_OPERAND_VECTOR:
        return operand->count > 0 ? zero_bits(a, &operand->elements[0]) : 0;
    default:
        return 0;
    }
}

// Low zero bits of an instruction's result.
static int result_zero_bits(const struct analysis *a, const struct ptx_instruction *i) {
    const int x = i->nsrc > 0 ? zero_bits(a, &i->src[0]) : 0;
    const int y = i->nsrc > 1 ? zero_bits(a, &i->src[1]) : 0;
    const int z = i->nsrc > 2 ? zero_bits(a, &i->src[2]) : 0;
    const bool y_is_known = i->nsrc > 1 && i->src[1].kind == PTX_OPERAND_IMMEDIATE;
    switch (i->opcode) {
    case PTX_OP_MOV:
    case PTX_OP_CVTA:
    case PTX_OP_CVT:
    case PTX_OP_NEG:
        return x;
    case PTX_OP_ADD:
    case PTX_OP_SUB:
    case PTX_OP_OR:
    case PTX_OP_XOR:
    case PTX_OP_SELP:
    case PTX_OP_MIN:
    case PTX_OP_MAX:
        return at_most(x, y);
    case PTX_OP_AND:
        return x > y ? x : y;
    case PTX_OP_MUL:
        return i->flags & PTX_HI ? 0 : at_most(x + y, MOST_ZERO_BITS);
    case PTX_OP_MAD:
        return i->flags & PTX_HI ? 0 : at_most(at_most(x + y, MOST_ZERO_BITS), z);
    case PTX_OP_SHL:
        return y_is_known ? at_most(x + (int)i->src[1].bits, MOST_ZERO_BITS) : x;
    case PTX_OP_SHR:
        return y_is_known && x > (int)i->src[1].bits ? x - (int)i->src[1].bits : 0;
    default:
        return 0;
    }
}

static bool is_floating(enum ptx_type type) {
    return type >= PTX_F16 && type <= PTX_F64;
}

static void assign(struct analysis *a, const struct ptx_operand *target, int bits, bool guarded) {
    if (target->kind == PTX_OPERAND_REGISTER && target->reg_type != PTX_PRED) {
        uint8_t *slot = &a->now[(size_t)target->slot / SLOT_BYTES];
        *slot = (uint8_t)(guarded ? at_most(*slot, bits) : bits);
    } else if (target->kind == PTX_OPERAND_VECTOR) {
        for (int e = 0; e < target->count; e++)
            assign(a, &target->elements[e], 0, guarded);
    }
}

static void step(struct analysis *a, const struct ptx_instruction *i) {
    const int bits = is_floating(i->type) ? 0 : result_zero_bits(a, i);
    assign(a, &i->dst[0], bits, i->guard >= 0);
    assign(a, &i->dst[1], 0, i->guard >= 0);
}

// Lowers the state at a block's start to the current one; true if this changed it.
static bool flow_to(struct analysis *a, int32_t target) {
    uint8_t *before = a->before + (size_t)target * a->slots;
    bool changed = false;
    for (size_t s = 0; s < a->slots; s++) {
        if (before[s] > a->now[s]) {
            before[s] = a->now[s];
            changed = true;
        }
    }
    return changed;
}

static bool flow_to_targets(struct analysis *a, const struct ptx_operand *operand) {
    bool changed = operand->kind == PTX_OPERAND_TARGET && flow_to(a, operand->target);
    for (int e = 0; operand->kind == PTX_OPERAND_VECTOR && e < operand->count; e++)
        changed = flow_to_targets(a, &operand->elements[e]) || changed;
    return changed;
}

static bool ends_block(const struct ptx_instruction *i) {
    return i->opcode == PTX_OP_BRA || i->opcode == PTX_OP_BRX || i->opcode == PTX_OP_RET || i->opcode == PTX_OP_EXIT ||
           i->opcode == PTX_OP_TRAP;
}

static void mark_targets(const struct ptx_operand *operand, bool *starts) {
    if (operand->kind == PTX_OPERAND_TARGET)
        starts[operand->target] = true;
    for (int e = 0; operand->kind == PTX_OPERAND_VECTOR && e < operand->count; e++)
        mark_targets(&operand->elements[e], starts);
}

void traffic_mark_block_starts(const struct ptx_kernel *kernel, bool *starts) {
    for (int f = 0; f < kernel->functions; f++)
        starts[kernel->function[f].entry] = true;
    for (int32_t n = 0; n < kernel->instructions; n++) {
        const struct ptx_instruction *i = &kernel->instruction[n];
        if (ends_block(i)) {
            mark_targets(&i->src[0], starts);
            mark_targets(&i->src[1], starts);
            if (n + 1 < kernel->instructions)
                starts[n + 1] = true;
        }
    }
}

// One pass over the program; true if a block's start changed. Fills bits with the state before each access.
static bool pass(struct analysis *a, uint8_t *bits) {
    bool changed = false, reached = false;
    for (int32_t n = 0; n < a->kernel->instructions; n++) {
        const struct ptx_instruction *i = &a->kernel->instruction[n];
        if (a->starts[n]) {
            changed = (reached && flow_to(a, n)) || changed;
            memcpy(a->now, a->before + (size_t)n * a->slots, a->slots);
            reached = true;
        }
        if (i->nsrc > 0 && i->src[0].kind == PTX_OPERAND_ADDRESS) {
            const int32_t slot = i->src[0].slot;
            bits[n] = slot < 0 ? MOST_ZERO_BITS : a->now[(size_t)slot / SLOT_BYTES];
        }
        step(a, i);
        if (ends_block(i)) {
            changed = flow_to_targets(a, &i->src[0]) || changed;
            changed = flow_to_targets(a, &i->src[1]) || changed;
            reached = i->guard >= 0;
        }
    }
    return changed;
}

uint8_t *traffic_address_zero_bits(const struct ptx_kernel *kernel) {
    int32_t frame_bytes = 0;
    for (int f = 0; f < kernel->functions; f++)
        frame_bytes = kernel->function[f].frame_bytes > frame_bytes ? kernel->function[f].frame_bytes : frame_bytes;
    struct analysis a = {.kernel = kernel, .slots = (size_t)frame_bytes / SLOT_BYTES + 1};
    const size_t instructions = (size_t)kernel->instructions + 1;
    a.starts = calloc(instructions, sizeof *a.starts);
    a.before = malloc(instructions * a.slots);
    a.now = malloc(a.slots);
    uint8_t *bits = calloc(instructions, 1);
    if (!a.starts || !a.before || !a.now || !bits) {
        free(bits);
        bits = NULL;
    } else {
        traffic_mark_block_starts(kernel, a.starts);
        memset(a.before, MOST_ZERO_BITS, instructions * a.slots);
        for (int f = 0; f < kernel->functions; f++) {
            // The registers are unknown when a function starts.
            memset(a.before + (size_t)kernel->function[f].entry * a.slots, 0, a.slots);
        }
        while (pass(&a, bits)) {
        }
    }
    free(a.now);
    free(a.before);
    free(a.starts);
    return bits;
}
