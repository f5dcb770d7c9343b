// Checks that an instruction's operands match its types. The interpreter relies on it: register widths match the
// instruction, predicates appear only where expected, and vectors have the right number of elements.
#include "parser.h"

#include <string.h>

// The constraint on an operand: a predicate, or a register of that many bytes, or (wider) of at least that many.
struct constraint {
    bool predicate, wider, any;
    size_t size;
};

static struct constraint constraint_for(const struct ptx_instruction *instruction, char code) {
    size_t size = ptx_type_size(instruction->type), source_size = ptx_type_size(instruction->source_type);
    switch (code) {
    case 'u':
        return (struct constraint){.size = source_size, .predicate = instruction->source_type == PTX_PRED};
    case 'w':
        return (struct constraint){.size = instruction->flags & PTX_WIDE ? 2 * size : size};
    case 'l':
        return (struct constraint){.size = size, .wider = true};
    case 'L':
        return (struct constraint){.size = source_size, .wider = true};
    case 'p':
        return (struct constraint){.predicate = true};
    case '4':
        return (struct constraint){.size = 4};
    case '8':
        return (struct constraint){.size = 8};
    case '*':
        return (struct constraint){.any = true};
    default:
        return (struct constraint){.size = size, .predicate = instruction->type == PTX_PRED};
    }
}

static void check_register(struct parser *p, const struct ptx_operand *operand, const struct constraint *constraint) {
    bool predicate = operand->reg_type == PTX_PRED;
    size_t size = ptx_type_size(operand->reg_type);
    if (predicate != constraint->predicate)
        parser_unsupported(p, predicate ? "predicate where a non-predicate operand is expected"
                                        : "non-predicate register where a predicate is expected");
    if (predicate || constraint->any)
        return;
    if (constraint->wider ? size < constraint->size : size != constraint->size)
        parser_unsupported(p, "%zu-bit register where a %zu-bit operand is expected", 8 * size, 8 * constraint->size);
}

static void check_operand(struct parser *p, const struct ptx_instruction *instruction,
                          const struct ptx_operand *operand, const struct constraint *constraint) {
    switch (operand->kind) {
    case PTX_OPERAND_REGISTER:
        check_register(p, operand, constraint);
        break;
    case PTX_OPERAND_ADDRESS:
        if (instruction->opcode != PTX_OP_MOV && instruction->opcode != PTX_OP_CVTA &&
            instruction->opcode != PTX_OP_MAPA && instruction->opcode != PTX_OP_GETCTARANK)
            parser_unsupported(p, "variable address where a value is expected");
        if (constraint->size != 8 &&
            (constraint->size != 4 || operand->space == PTX_GLOBAL || operand->space == PTX_GENERIC))
            parser_unsupported(p, "variable address does not fit in %zu bits", 8 * constraint->size);
        break;
    case PTX_OPERAND_SPECIAL:
        if (constraint->predicate != (operand->special == PTX_IS_EXPLICIT_CLUSTER))
            parser_unsupported(p, constraint->predicate ? "non-predicate special register where a predicate is expected"
                                                        : "predicate where a non-predicate operand is expected");
        break;
    case PTX_OPERAND_VECTOR:
        for (int i = 0; i < operand->count; i++)
            if (operand->elements[i].kind == PTX_OPERAND_ADDRESS || operand->elements[i].kind == PTX_OPERAND_SPECIAL)
                parser_unsupported(p, "vector element is neither a register nor a constant");
            else
                check_operand(p, instruction, &operand->elements[i], constraint);
        break;
    default:
        break;
    }
}

static void check_vector(struct parser *p, const struct ptx_instruction *instruction,
                         const struct ptx_operand *operand) {
    int count = operand->kind == PTX_OPERAND_VECTOR ? operand->count : 1;
    if (count != instruction->vector)
        parser_unsupported(p, "vector of %d elements where %d are expected", count, instruction->vector);
}

// mov.b128 %q1, {%rd1, %rd2}: a 128-bit register is the vector of its halves; the other side may also be four quarters.
static void check_mov_b128(struct parser *p, const struct ptx_instruction *mov) {
    const struct ptx_operand *sides[2] = {&mov->dst[0], &mov->src[0]};
    if (sides[0]->reg_type != PTX_B128 && sides[1]->reg_type != PTX_B128)
        parser_unsupported(p, "mov.b128 without a 128-bit register");
    for (int i = 0; i < 2; i++) {
        if (sides[i]->kind != PTX_OPERAND_VECTOR || (sides[i]->count != 2 && sides[i]->count != 4))
            parser_unsupported(p, "unsupported vector shape of mov");
        check_operand(p, mov, sides[i], &(struct constraint){.size = 16 / (size_t)sides[i]->count});
    }
}

// mov.b64 {%r1, %r2}, %rd1: the elements are equal parts of the scalar.
static void check_mov(struct parser *p, struct ptx_instruction *mov) {
    if (mov->type == PTX_B128) {
        check_mov_b128(p, mov);
        return;
    }
    struct ptx_operand *parts = mov->dst[0].kind == PTX_OPERAND_VECTOR ? &mov->dst[0] : &mov->src[0];
    struct ptx_operand *whole = parts == &mov->dst[0] ? &mov->src[0] : &mov->dst[0];
    struct constraint constraint = constraint_for(mov, 't');
    check_operand(p, mov, whole, &constraint);
    if (parts->kind == PTX_OPERAND_VECTOR) {
        if (whole->kind == PTX_OPERAND_VECTOR || (parts->count != 2 && parts->count != 4) || constraint.predicate)
            parser_unsupported(p, "unsupported vector shape of mov");
        constraint.size /= (size_t)parts->count;
        for (int i = 0; i < parts->count; i++) // -1 as a 32-bit half is 0xFFFFFFFF
            if (constraint.size > 0 && constraint.size < 8)
                parts->elements[i].bits &= (UINT64_C(1) << 8 * constraint.size) - 1;
    }
    check_operand(p, mov, parts, &constraint);
}

// The 32 lanes share a fragment's elements evenly, packed into 32-bit registers, or 64-bit ones for double.
static void check_fragment(struct parser *p, const struct ptx_instruction *mma, const struct ptx_operand *operand,
                           enum ptx_type type, int rows, int columns) {
    struct constraint constraint = {.size = type == PTX_F64 ? 8 : 4};
    int registers = rows * columns * ptx_type_bits(type) / (32 * 8 * (int)constraint.size);
    int count = operand->kind == PTX_OPERAND_VECTOR ? operand->count : 1;
    if (registers == 0 || count != registers)
        parser_unsupported(p, "fragment of %d registers where %d are expected", count, registers);
    check_operand(p, mma, operand, &constraint);
}

static void check_mma(struct parser *p, const struct ptx_instruction *mma) {
    int m = mma->shape[0], n = mma->shape[1], k = mma->shape[2];
    bool sparse = is_sparse_mma(mma->opcode);
    if (!is_valid_mma(mma))
        parser_unsupported(p, "unsupported shape or types of mma");
    check_fragment(p, mma, &mma->dst[0], mma->mma_type[0], m, n);
    check_fragment(p, mma, &mma->src[0], mma->mma_type[1], m, sparse ? k / 2 : k);
    check_fragment(p, mma, &mma->src[1], mma->mma_type[2], k, n);
    check_fragment(p, mma, &mma->src[2], mma->mma_type[3], m, n);
    int choices = sparse ? 4 / mma_metadata_lanes(mma) : 0;
    if (sparse && (mma->src[4].kind != PTX_OPERAND_IMMEDIATE || mma->src[4].bits >= (uint64_t)choices))
        parser_unsupported(p, "sparsity selector must be a constant from 0 to %d", choices - 1);
}

// A thread holds 1/128 of a warpgroup's matrix.
static void check_wgmma(struct parser *p, const struct ptx_instruction *mma) {
    enum ptx_type a = mma->mma_type[1], accumulator = mma->mma_type[0];
    int m = mma->shape[0], n = mma->shape[1], k = mma->shape[2];
    bool half = a == PTX_F16 || a == PTX_BF16, byte = a == PTX_E4M3 || a == PTX_E5M2;
    bool b_type_matches =
        a == mma->mma_type[2] || (byte && (mma->mma_type[2] == PTX_E4M3 || mma->mma_type[2] == PTX_E5M2));
    bool integer = (a == PTX_S8 || a == PTX_U8) && (mma->mma_type[2] == PTX_S8 || mma->mma_type[2] == PTX_U8);
    bool sum = accumulator == PTX_F32 || (accumulator == PTX_F16 && (a == PTX_F16 || byte));
    bool is_b1 = a == PTX_B1 && mma->mma_type[2] == PTX_B1, counts = mma->variant == PTX_V_RED_POPC;
    bool sparse = mma->flags & PTX_SPARSE;
    int bits = is_b1 ? 1 : half ? 16 : byte || integer ? 8 : 32;
    bool known = integer || is_b1 ? accumulator == PTX_S32 && (n <= 32 || n % 16 == 0)
                                  : sum && b_type_matches && (half || byte || a == PTX_TF32);
    known = known && is_b1 == counts && !(sparse && (is_b1 || (mma->vector && bits == 8))) &&
            (integer || !(mma->flags & PTX_SAT));
    if (m != 64 || n < 8 || n > 256 || n % 8 || !known || k * bits != (sparse ? 512 : 256))
        parser_unsupported(p, "unsupported shape or types of wgmma");
    int results = n / (accumulator == PTX_F16 ? 4 : 2);
    if (mma->dst[0].kind != PTX_OPERAND_VECTOR || mma->dst[0].count != results)
        parser_unsupported(p, "accumulator of wgmma must have %d registers", results);
    bool from_registers = mma->src[0].kind == PTX_OPERAND_VECTOR;
    if (from_registers && mma->src[0].count != 4)
        parser_unsupported(p, "operand A of wgmma must have 4 registers");
    if (mma->src[1].kind != PTX_OPERAND_REGISTER || (!from_registers && mma->src[0].kind != PTX_OPERAND_REGISTER))
        parser_unsupported(p, "matrix descriptor of wgmma must be a register");
    bool transposes = mma->src[6].kind != PTX_OPERAND_NONE;
    if (transposes != half)
        parser_unsupported(p, half ? "wgmma of 16-bit types needs its transpose immediates"
                                   : "wgmma of these types has no transpose immediates");
    for (int i = 5; i < 7; i++)
        if (mma->src[i].kind != PTX_OPERAND_IMMEDIATE && mma->src[i].kind != PTX_OPERAND_NONE)
            parser_unsupported(p, "immediates of wgmma must be constants");
}

static bool is_wmma(enum ptx_opcode opcode) {
    return opcode >= PTX_OP_WMMA_LOAD_A && opcode <= PTX_OP_WMMA_STORE_D;
}

// fp16 fragments of wmma have eight registers for every shape.
static void check_wmma_fragment(struct parser *p, const struct ptx_instruction *wmma, const struct ptx_operand *operand,
                                enum ptx_type type, char which) {
    const int *shape = wmma->shape;
    int rows = which == 'b' ? shape[2] : shape[0], columns = which == 'a' ? shape[2] : shape[1];
    bool column_major = wmma->flags & PTX_COL_MAJOR, is_load_or_store = wmma->opcode != PTX_OP_WMMA_MMA;
    bool known = is_valid_wmma_fragment(shape, type, which == 'c') && operand->kind == PTX_OPERAND_VECTOR;
    if (is_load_or_store && which != 'c' && ptx_type_bits(type) < 8) // A is row-major, B column-major
        known = known && column_major == (which == 'b');
    if (!known)
        parser_unsupported(p, "unsupported shape or types of wmma");
    if (type == PTX_F16 && which != 'c')
        rows = 512 / columns;
    check_fragment(p, wmma, operand, type, rows, columns);
}

static void check_wmma(struct parser *p, const struct ptx_instruction *wmma) {
    const enum ptx_type *type = wmma->mma_type;
    bool half = type[2] == PTX_NO_TYPE; // .dtype.ctype: A and B are fp16
    enum ptx_type a = half ? PTX_F16 : type[1], b = half ? PTX_F16 : type[2], c = half ? type[1] : type[3];
    bool integers = a == PTX_S8 || a == PTX_U8 || ptx_type_bits(a) < 8;
    enum ptx_type sum = a == PTX_F64 ? PTX_F64 : integers ? PTX_S32 : PTX_F32;
    if (a != b || c != type[0] || (c != sum && !(half && c == PTX_F16)) || !has_valid_bit_operation(wmma, a))
        parser_unsupported(p, "unsupported types of wmma");
    check_wmma_fragment(p, wmma, &wmma->dst[0], c, 'c');
    check_wmma_fragment(p, wmma, &wmma->src[0], a, 'a');
    check_wmma_fragment(p, wmma, &wmma->src[1], b, 'b');
    check_wmma_fragment(p, wmma, &wmma->src[2], c, 'c');
}

static void check_matrix_instruction(struct parser *p, const struct ptx_instruction *instruction) {
    if (instruction->type != PTX_B16 || instruction->shape[0] != 8 || instruction->shape[1] != 8 ||
        instruction->shape[2])
        parser_unsupported(p, "unsupported matrix shape or type: only 8x8 matrices of .b16 are supported");
    if (instruction->opcode != PTX_OP_MOVMATRIX && instruction->space != PTX_SHARED &&
        instruction->space != PTX_GENERIC)
        parser_unsupported(p, "ldmatrix and stmatrix access shared memory only");
}

// Resolves the state space of an access: .param means two spaces, and a generic access to a variable becomes one to the
// variable's space.
static void check_access(struct parser *p, struct ptx_instruction *instruction, enum ptx_space *space,
                         struct ptx_operand *address) {
    if (address->variable >= 0) {
        bool parameter = address->space == PTX_PARAM || address->space == PTX_CALL_PARAM;
        if (*space != PTX_GENERIC && *space != (parameter ? PTX_PARAM : address->space))
            parser_unsupported(p, "state space of the access differs from the variable's");
        *space = address->space;
    } else if (*space == PTX_PARAM && (!p->function->entry || instruction->opcode == PTX_OP_ST)) {
        *space = address->space = PTX_CALL_PARAM;
    }
    size_t size = address->slot >= 0 ? ptx_type_size(address->reg_type) : 8;
    bool allows_32_bit_address = *space != PTX_GENERIC && *space != PTX_GLOBAL;
    if (size != 8 && (size != 4 || !allows_32_bit_address))
        parser_unsupported(p, "%zu-bit register as an address", 8 * size);
    bool writes = instruction->opcode == PTX_OP_ST || instruction->opcode == PTX_OP_ATOM ||
                  instruction->opcode == PTX_OP_RED || instruction->opcode == PTX_OP_STMATRIX;
    if (writes && (*space == PTX_CONST || *space == PTX_PARAM))
        parser_unsupported(p, "write to a read-only state space");
}

static void check_coordinates(struct parser *p, const struct ptx_instruction *instruction,
                              const struct ptx_operand *address, bool expected) {
    if (!expected && address->count > 0)
        parser_unsupported(p, "'%s' does not take tensor coordinates", ptx_opcode_name(instruction->opcode));
    for (int i = 0; i < address->count; i++)
        check_operand(p, instruction, &address->elements[i], &(struct constraint){.size = 4});
}

// An access to a named parameter must stay within it, because other parameters surround it.
static void check_parameter_bounds(struct parser *p, const struct ptx_instruction *instruction,
                                   const struct ptx_operand *address) {
    if (address->variable < 0 || (address->space != PTX_PARAM && address->space != PTX_CALL_PARAM))
        return;
    const struct ptx_function *function = p->function;
    size_t size = address->space == PTX_PARAM ? function->signature.parameter[address->variable].size
                                              : function->call_variable[address->variable].size;
    size_t width = ptx_type_size(instruction->type) * (size_t)instruction->vector;
    if (address->offset < 0 || (uint64_t)address->offset > size || width > size - (size_t)address->offset)
        parser_unsupported(p, "access of %zu bytes at offset %lld is outside the parameter of %zu bytes", width,
                           (long long)address->offset, size);
}

static void check_by_opcode(struct parser *p, struct ptx_instruction *instruction) {
    switch (instruction->opcode) {
    case PTX_OP_MMA:
    case PTX_OP_MMA_SP:
    case PTX_OP_MMA_SP_ORDERED:
        check_mma(p, instruction);
        break;
    case PTX_OP_WGMMA_MMA_ASYNC:
        check_wgmma(p, instruction);
        break;
    case PTX_OP_WMMA_LOAD_A:
        check_wmma_fragment(p, instruction, &instruction->dst[0], instruction->type, 'a');
        break;
    case PTX_OP_WMMA_LOAD_B:
        check_wmma_fragment(p, instruction, &instruction->dst[0], instruction->type, 'b');
        break;
    case PTX_OP_WMMA_LOAD_C:
        check_wmma_fragment(p, instruction, &instruction->dst[0], instruction->type, 'c');
        break;
    case PTX_OP_WMMA_STORE_D:
        check_wmma_fragment(p, instruction, &instruction->src[1], instruction->type, 'c');
        break;
    case PTX_OP_WMMA_MMA:
        check_wmma(p, instruction);
        break;
    case PTX_OP_LDMATRIX:
    case PTX_OP_STMATRIX:
    case PTX_OP_MOVMATRIX:
        check_matrix_instruction(p, instruction);
        break;
    case PTX_OP_LD:
    case PTX_OP_LDU:
    case PTX_OP_ST:
    case PTX_OP_ATOM:
    case PTX_OP_RED:
        if (instruction->type == PTX_PRED)
            parser_unsupported(p, "predicates cannot be loaded or stored");
        check_parameter_bounds(p, instruction, &instruction->src[0]);
        break;
    default:
        break;
    }
}

void check_operands(struct parser *p, struct ptx_instruction *instruction, const char *operands) {
    int sources = 0;
    if (instruction->opcode == PTX_OP_MOV) {
        check_mov(p, instruction);
        return;
    }
    for (const char *word = operands; *word; word += strcspn(word, " "), word += *word == ' ') {
        word += *word == '?';
        bool destination = strchr("dDPA", *word);
        struct ptx_operand *operand = destination ? &instruction->dst[0] : &instruction->src[sources++];
        if (*word == 'm' || *word == 'M') {
            check_coordinates(p, instruction, operand, *word == 'M');
            enum ptx_space *space = sources == 2 ? &instruction->space2 : &instruction->space;
            check_access(p, instruction, space, operand);
            continue;
        }
        bool vector = strchr("DSAV", *word);
        if (vector && *word != 'A' && *word != 'V' && instruction->opcode != PTX_OP_MMA &&
            !is_sparse_mma(instruction->opcode) && instruction->opcode != PTX_OP_WGMMA_MMA_ASYNC &&
            !is_wmma(instruction->opcode) && operand->kind != PTX_OPERAND_NONE &&
            !(instruction->opcode == PTX_OP_ATOM && operand->kind == PTX_OPERAND_SINK))
            check_vector(p, instruction, operand);
        else if (operand->kind == PTX_OPERAND_VECTOR && !vector)
            parser_unsupported(p, "vector operand where a scalar is expected");
        struct constraint constraint = constraint_for(instruction, word[1] == ':' ? word[2] : 't');
        check_operand(p, instruction, operand, &constraint);
        if (destination && *word == 'P' && instruction->dst[1].kind == PTX_OPERAND_REGISTER)
            check_register(p, &instruction->dst[1], &(struct constraint){.predicate = true});
    }
    check_by_opcode(p, instruction);
}
