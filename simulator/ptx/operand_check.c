// Whether an instruction's operands fit its types. What passes here the interpreter need not look at again: a register
// is as wide as the instruction reads or writes it, a predicate stands only where one is meant, vectors have the right
// number of elements.
#include "parser.h"

#include <string.h>

// What an operand must be: a predicate, or a register of that many bytes, or (wider) of at least as many.
struct need {
    bool predicate, wider, any;
    size_t size;
};

static struct need need_of(const struct ptx_instruction *instruction, char code) {
    size_t size = ptx_type_size(instruction->type), source_size = ptx_type_size(instruction->source_type);
    switch (code) {
    case 'u':
        return (struct need){.size = source_size, .predicate = instruction->source_type == PTX_PRED};
    case 'w':
        return (struct need){.size = instruction->flags & PTX_WIDE ? 2 * size : size};
    case 'l':
        return (struct need){.size = size, .wider = true};
    case 'L':
        return (struct need){.size = source_size, .wider = true};
    case 'p':
        return (struct need){.predicate = true};
    case '4':
        return (struct need){.size = 4};
    case '8':
        return (struct need){.size = 8};
    case '*':
        return (struct need){.any = true};
    default:
        return (struct need){.size = size, .predicate = instruction->type == PTX_PRED};
    }
}

static void check_register(struct parser *p, const struct ptx_operand *operand, const struct need *need) {
    bool predicate = operand->reg_type == PTX_PRED;
    size_t size = ptx_type_size(operand->reg_type);
    if (predicate != need->predicate)
        parser_unsupported(p,
                           predicate ? "a predicate where a number is meant" : "a register where a predicate is meant");
    if (predicate || need->any)
        return;
    if (need->wider ? size < need->size : size != need->size)
        parser_unsupported(p, "a register of %zu bits where %zu are meant", 8 * size, 8 * need->size);
}

static void check_operand(struct parser *p, const struct ptx_instruction *instruction,
                          const struct ptx_operand *operand, const struct need *need) {
    switch (operand->kind) {
    case PTX_OPERAND_REGISTER:
        check_register(p, operand, need);
        break;
    case PTX_OPERAND_ADDRESS:
        if (instruction->opcode != PTX_OP_MOV && instruction->opcode != PTX_OP_CVTA &&
            instruction->opcode != PTX_OP_MAPA && instruction->opcode != PTX_OP_GETCTARANK)
            parser_unsupported(p, "a variable's address where a number is meant");
        if (need->size != 8 && (need->size != 4 || operand->space == PTX_GLOBAL || operand->space == PTX_GENERIC))
            parser_unsupported(p, "a variable's address does not fit in %zu bits", 8 * need->size);
        break;
    case PTX_OPERAND_SPECIAL:
        if (need->predicate != (operand->special == PTX_IS_EXPLICIT_CLUSTER))
            parser_unsupported(p, need->predicate ? "a number where a predicate is meant"
                                                  : "a predicate where a number is meant");
        break;
    case PTX_OPERAND_VECTOR:
        for (int i = 0; i < operand->count; i++)
            if (operand->elements[i].kind == PTX_OPERAND_ADDRESS || operand->elements[i].kind == PTX_OPERAND_SPECIAL)
                parser_unsupported(p, "an element that is neither a register nor a constant");
            else
                check_operand(p, instruction, &operand->elements[i], need);
        break;
    default:
        break;
    }
}

static void check_vector(struct parser *p, const struct ptx_instruction *instruction,
                         const struct ptx_operand *operand) {
    int count = operand->kind == PTX_OPERAND_VECTOR ? operand->count : 1;
    if (count != instruction->vector)
        parser_unsupported(p, "%d values where %d are meant", count, instruction->vector);
}

// mov.b128 %q1, {%rd1, %rd2}: a register of 128 bits is the vector of its halves; on the other side may be four
// quarters.
static void check_wide_mov(struct parser *p, const struct ptx_instruction *mov) {
    const struct ptx_operand *sides[2] = {&mov->dst[0], &mov->src[0]};
    if (sides[0]->reg_type != PTX_B128 && sides[1]->reg_type != PTX_B128)
        parser_unsupported(p, "a mov of 128 bits without a register of 128 bits");
    for (int i = 0; i < 2; i++) {
        if (sides[i]->kind != PTX_OPERAND_VECTOR || (sides[i]->count != 2 && sides[i]->count != 4))
            parser_unsupported(p, "a mov of this shape is not known");
        check_operand(p, mov, sides[i], &(struct need){.size = 16 / (size_t)sides[i]->count});
    }
}

// mov.b64 {%r1, %r2}, %rd1: the elements are equal parts of the whole.
static void check_mov(struct parser *p, struct ptx_instruction *mov) {
    if (mov->type == PTX_B128) {
        check_wide_mov(p, mov);
        return;
    }
    struct ptx_operand *parts = mov->dst[0].kind == PTX_OPERAND_VECTOR ? &mov->dst[0] : &mov->src[0];
    struct ptx_operand *whole = parts == &mov->dst[0] ? &mov->src[0] : &mov->dst[0];
    struct need need = need_of(mov, 't');
    check_operand(p, mov, whole, &need);
    if (parts->kind == PTX_OPERAND_VECTOR) {
        if (whole->kind == PTX_OPERAND_VECTOR || (parts->count != 2 && parts->count != 4) || need.predicate)
            parser_unsupported(p, "a mov of this shape is not known");
        need.size /= (size_t)parts->count;
        for (int i = 0; i < parts->count; i++) // -1 as a half of 32 bits is 0xFFFFFFFF
            if (need.size > 0 && need.size < 8)
                parts->elements[i].bits &= (UINT64_C(1) << 8 * need.size) - 1;
    }
    check_operand(p, mov, parts, &need);
}

// A fragment's elements are spread evenly over the 32 lanes, packed into registers of 32 bits, or 64 for double.
static void check_fragment(struct parser *p, const struct ptx_instruction *mma, const struct ptx_operand *operand,
                           enum ptx_type type, int rows, int columns) {
    struct need need = {.size = type == PTX_F64 ? 8 : 4};
    int registers = rows * columns * ptx_type_bits(type) / (32 * 8 * (int)need.size);
    int count = operand->kind == PTX_OPERAND_VECTOR ? operand->count : 1;
    if (registers == 0 || count != registers)
        parser_unsupported(p, "a fragment of %d registers where %d are meant", count, registers);
    check_operand(p, mma, operand, &need);
}

static void check_mma(struct parser *p, const struct ptx_instruction *mma) {
    int m = mma->shape[0], n = mma->shape[1], k = mma->shape[2];
    bool sparse = is_sparse_mma(mma->opcode);
    if (!is_mma(mma))
        parser_unsupported(p, "the simulator does not know an mma of this shape and these types");
    check_fragment(p, mma, &mma->dst[0], mma->mma_type[0], m, n);
    check_fragment(p, mma, &mma->src[0], mma->mma_type[1], m, sparse ? k / 2 : k);
    check_fragment(p, mma, &mma->src[1], mma->mma_type[2], k, n);
    check_fragment(p, mma, &mma->src[2], mma->mma_type[3], m, n);
    int choices = sparse ? 4 / mma_metadata_lanes(mma) : 0;
    if (sparse && (mma->src[4].kind != PTX_OPERAND_IMMEDIATE || mma->src[4].bits >= (uint64_t)choices))
        parser_unsupported(p, "which lanes have the metadata is said by a constant from 0 to %d", choices - 1);
}

// What a thread holds of a matrix of the warpgroup: 1/128 of it.
static void check_wgmma(struct parser *p, const struct ptx_instruction *mma) {
    enum ptx_type a = mma->mma_type[1], accumulator = mma->mma_type[0];
    int m = mma->shape[0], n = mma->shape[1], k = mma->shape[2];
    bool half = a == PTX_F16 || a == PTX_BF16, byte = a == PTX_E4M3 || a == PTX_E5M2;
    bool b_fits = a == mma->mma_type[2] || (byte && (mma->mma_type[2] == PTX_E4M3 || mma->mma_type[2] == PTX_E5M2));
    bool integer = (a == PTX_S8 || a == PTX_U8) && (mma->mma_type[2] == PTX_S8 || mma->mma_type[2] == PTX_U8);
    bool sum = accumulator == PTX_F32 || (accumulator == PTX_F16 && (a == PTX_F16 || byte));
    bool of_bits = a == PTX_B1 && mma->mma_type[2] == PTX_B1, counts = mma->variant == PTX_V_RED_POPC;
    bool sparse = mma->flags & PTX_SPARSE;
    int bits = of_bits ? 1 : half ? 16 : byte || integer ? 8 : 32;
    bool known = integer || of_bits ? accumulator == PTX_S32 && (n <= 32 || n % 16 == 0)
                                    : sum && b_fits && (half || byte || a == PTX_TF32);
    known = known && of_bits == counts && !(sparse && (of_bits || (mma->vector && bits == 8))) &&
            (integer || !(mma->flags & PTX_SAT));
    if (m != 64 || n < 8 || n > 256 || n % 8 || !known || k * bits != (sparse ? 512 : 256))
        parser_unsupported(p, "the simulator does not know a wgmma of this shape and these types");
    int results = n / (accumulator == PTX_F16 ? 4 : 2);
    if (mma->dst[0].kind != PTX_OPERAND_VECTOR || mma->dst[0].count != results)
        parser_unsupported(p, "a wgmma whose result is not %d registers", results);
    bool from_registers = mma->src[0].kind == PTX_OPERAND_VECTOR;
    if (from_registers && mma->src[0].count != 4)
        parser_unsupported(p, "a wgmma whose A is not 4 registers");
    if (mma->src[1].kind != PTX_OPERAND_REGISTER || (!from_registers && mma->src[0].kind != PTX_OPERAND_REGISTER))
        parser_unsupported(p, "a wgmma whose descriptor is no register");
    bool transposes = mma->src[6].kind != PTX_OPERAND_NONE;
    if (transposes != half)
        parser_unsupported(p, half ? "this wgmma takes immediates that transpose" : "this wgmma cannot transpose");
    for (int i = 5; i < 7; i++)
        if (mma->src[i].kind != PTX_OPERAND_IMMEDIATE && mma->src[i].kind != PTX_OPERAND_NONE)
            parser_unsupported(p, "a wgmma whose immediates are no constants");
}

static bool is_wmma(enum ptx_opcode opcode) {
    return opcode >= PTX_OP_WMMA_LOAD_A && opcode <= PTX_OP_WMMA_STORE_D;
}

// wmma's fragments of fp16 have eight registers whatever their shape.
static void check_tile(struct parser *p, const struct ptx_instruction *wmma, const struct ptx_operand *operand,
                       enum ptx_type type, char which) {
    const int *shape = wmma->shape;
    int rows = which == 'b' ? shape[2] : shape[0], columns = which == 'a' ? shape[2] : shape[1];
    bool columns_first = wmma->flags & PTX_ROW_COL, moves = wmma->opcode != PTX_OP_WMMA_MMA;
    bool known = is_tile(shape, type, which == 'c') && operand->kind == PTX_OPERAND_VECTOR;
    if (moves && which != 'c' && ptx_type_bits(type) < 8) // A lies in rows, B in columns
        known = known && columns_first == (which == 'b');
    if (!known)
        parser_unsupported(p, "the simulator does not know a wmma of this shape and these types");
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
    if (a != b || c != type[0] || (c != sum && !(half && c == PTX_F16)) || !counts_where_bits(wmma, a))
        parser_unsupported(p, "the simulator does not know a wmma of these types");
    check_tile(p, wmma, &wmma->dst[0], c, 'c');
    check_tile(p, wmma, &wmma->src[0], a, 'a');
    check_tile(p, wmma, &wmma->src[1], b, 'b');
    check_tile(p, wmma, &wmma->src[2], c, 'c');
}

static void check_matrix_move(struct parser *p, const struct ptx_instruction *instruction) {
    if (instruction->type != PTX_B16 || instruction->shape[0] != 8 || instruction->shape[1] != 8 ||
        instruction->shape[2])
        parser_unsupported(p, "the simulator knows 8x8 matrices of 16-bit elements only");
    if (instruction->opcode != PTX_OP_MOVMATRIX && instruction->space != PTX_SHARED &&
        instruction->space != PTX_GENERIC)
        parser_unsupported(p, "matrices are loaded from and stored to shared memory");
}

// Fixes the space of an access by what it names: .param is two spaces, and a generic access to a variable is one to the
// variable's space.
static void check_access(struct parser *p, struct ptx_instruction *instruction, enum ptx_space *space,
                         struct ptx_operand *address) {
    if (address->variable >= 0) {
        bool parameter = address->space == PTX_PARAM || address->space == PTX_CALL_PARAM;
        if (*space != PTX_GENERIC && *space != (parameter ? PTX_PARAM : address->space))
            parser_unsupported(p, "an access to a variable of another space");
        *space = address->space;
    } else if (*space == PTX_PARAM && (!p->function->entry || instruction->opcode == PTX_OP_ST)) {
        *space = address->space = PTX_CALL_PARAM;
    }
    size_t size = address->slot >= 0 ? ptx_type_size(address->reg_type) : 8;
    bool small_space = *space != PTX_GENERIC && *space != PTX_GLOBAL;
    if (size != 8 && (size != 4 || !small_space))
        parser_unsupported(p, "a register of %zu bits as an address", 8 * size);
    bool writes = instruction->opcode == PTX_OP_ST || instruction->opcode == PTX_OP_ATOM ||
                  instruction->opcode == PTX_OP_RED || instruction->opcode == PTX_OP_STMATRIX;
    if (writes && (*space == PTX_CONST || *space == PTX_PARAM))
        parser_unsupported(p, "a write to read-only memory");
}

static void check_coordinates(struct parser *p, const struct ptx_instruction *instruction,
                              const struct ptx_operand *address, bool wanted) {
    if (!wanted && address->count > 0)
        parser_unsupported(p, "'%s' takes an address without coordinates", ptx_opcode_name(instruction->opcode));
    for (int i = 0; i < address->count; i++)
        check_operand(p, instruction, &address->elements[i], &(struct need){.size = 4});
}

// An access to a parameter by its name must stay within it: there is nothing but other parameters around it.
static void check_parameter_bounds(struct parser *p, const struct ptx_instruction *instruction,
                                   const struct ptx_operand *address) {
    if (address->variable < 0 || (address->space != PTX_PARAM && address->space != PTX_CALL_PARAM))
        return;
    const struct ptx_function *function = p->function;
    size_t size = address->space == PTX_PARAM ? function->signature.parameter[address->variable].size
                                              : function->call_variable[address->variable].size;
    size_t width = ptx_type_size(instruction->type) * (size_t)instruction->vector;
    if (address->offset < 0 || (uint64_t)address->offset > size || width > size - (size_t)address->offset)
        parser_unsupported(p, "an access to %zu bytes at offset %lld of a parameter of %zu bytes", width,
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
        check_tile(p, instruction, &instruction->dst[0], instruction->type, 'a');
        break;
    case PTX_OP_WMMA_LOAD_B:
        check_tile(p, instruction, &instruction->dst[0], instruction->type, 'b');
        break;
    case PTX_OP_WMMA_LOAD_C:
        check_tile(p, instruction, &instruction->dst[0], instruction->type, 'c');
        break;
    case PTX_OP_WMMA_STORE_D:
        check_tile(p, instruction, &instruction->src[1], instruction->type, 'c');
        break;
    case PTX_OP_WMMA_MMA:
        check_wmma(p, instruction);
        break;
    case PTX_OP_LDMATRIX:
    case PTX_OP_STMATRIX:
    case PTX_OP_MOVMATRIX:
        check_matrix_move(p, instruction);
        break;
    case PTX_OP_LD:
    case PTX_OP_LDU:
    case PTX_OP_ST:
    case PTX_OP_ATOM:
    case PTX_OP_RED:
        if (instruction->type == PTX_PRED)
            parser_unsupported(p, "a predicate has no place in memory");
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
            parser_unsupported(p, "a vector where one value is meant");
        struct need need = need_of(instruction, word[1] == ':' ? word[2] : 't');
        check_operand(p, instruction, operand, &need);
        if (destination && *word == 'P' && instruction->dst[1].kind == PTX_OPERAND_REGISTER)
            check_register(p, &instruction->dst[1], &(struct need){.predicate = true});
    }
    check_by_opcode(p, instruction);
}
