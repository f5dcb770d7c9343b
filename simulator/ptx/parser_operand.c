// Parses one operand of an instruction.
#include "parser.h"

#include <string.h>

enum { MAX_VECTOR = 128 }; // the accumulator of wgmma

static const struct {
    const char *text;
    enum ptx_special special;
} SPECIALS[] = {
    {"%tid.x", PTX_TID_X},
    {"%tid.y", PTX_TID_Y},
    {"%tid.z", PTX_TID_Z},
    {"%ntid.x", PTX_NTID_X},
    {"%ntid.y", PTX_NTID_Y},
    {"%ntid.z", PTX_NTID_Z},
    {"%ctaid.x", PTX_CTAID_X},
    {"%ctaid.y", PTX_CTAID_Y},
    {"%ctaid.z", PTX_CTAID_Z},
    {"%nctaid.x", PTX_NCTAID_X},
    {"%nctaid.y", PTX_NCTAID_Y},
    {"%nctaid.z", PTX_NCTAID_Z},
    {"%laneid", PTX_LANEID},
    {"%warpid", PTX_WARPID},
    {"%nwarpid", PTX_NWARPID},
    {"%smid", PTX_SMID},
    {"%nsmid", PTX_NSMID},
    {"%gridid", PTX_GRIDID},
    {"%lanemask_eq", PTX_LANEMASK_EQ},
    {"%lanemask_le", PTX_LANEMASK_LE},
    {"%lanemask_lt", PTX_LANEMASK_LT},
    {"%lanemask_ge", PTX_LANEMASK_GE},
    {"%lanemask_gt", PTX_LANEMASK_GT},
    {"%clock", PTX_CLOCK},
    {"%clock_hi", PTX_CLOCK_HI},
    {"%clock64", PTX_CLOCK64},
    {"%globaltimer", PTX_GLOBALTIMER},
    {"%globaltimer_lo", PTX_GLOBALTIMER_LO},
    {"%globaltimer_hi", PTX_GLOBALTIMER_HI},
    {"%dynamic_smem_size", PTX_DYNAMIC_SMEM_SIZE},
    {"%total_smem_size", PTX_TOTAL_SMEM_SIZE},
    {"%aggr_smem_size", PTX_AGGR_SMEM_SIZE},
    {"%reserved_smem_offset_1", PTX_RESERVED_SMEM},
    {"%clusterid.x", PTX_CLUSTERID_X},
    {"%clusterid.y", PTX_CLUSTERID_Y},
    {"%clusterid.z", PTX_CLUSTERID_Z},
    {"%nclusterid.x", PTX_NCLUSTERID_X},
    {"%nclusterid.y", PTX_NCLUSTERID_Y},
    {"%nclusterid.z", PTX_NCLUSTERID_Z},
    {"%cluster_ctaid.x", PTX_CLUSTER_CTAID_X},
    {"%cluster_ctaid.y", PTX_CLUSTER_CTAID_Y},
    {"%cluster_ctaid.z", PTX_CLUSTER_CTAID_Z},
    {"%cluster_nctaid.x", PTX_CLUSTER_NCTAID_X},
    {"%cluster_nctaid.y", PTX_CLUSTER_NCTAID_Y},
    {"%cluster_nctaid.z", PTX_CLUSTER_NCTAID_Z},
    {"%cluster_ctarank", PTX_CLUSTER_CTARANK},
    {"%cluster_nctarank", PTX_CLUSTER_NCTARANK},
    {"%is_explicit_cluster", PTX_IS_EXPLICIT_CLUSTER},
    {"%envreg1", PTX_ENVREG1},
    {"%envreg2", PTX_ENVREG2},
};

// Prefixes of the unsupported special registers: a kernel that reads one cannot run, but the rest of the module can.
static const char *const UNSUPPORTED_SPECIALS[] = {"%reserved_smem",      "%envreg", "%pm",   "%cluster", "%ncluster",
                                                   "%current_graph_exec", "%tid",    "%ntid", "%ctaid",   "%nctaid"};

struct ptx_operand new_operand(enum ptx_operand_kind kind) {
    return (struct ptx_operand){.kind = kind, .slot = -1, .variable = -1, .target = -1};
}

// %r12 may be declared by that name or as one of %r<20>; the inner scope wins. A register of a range is allocated at
// its first use, because ranges are often larger than the number of used registers.
struct symbol *find_register(struct parser *p, struct token token) {
    struct symbol *same_name = symbols_find(&p->symbols, token.start, token.length, false);
    struct symbol *declared = same_name && same_name->kind == SYMBOL_REGISTER ? same_name : NULL;
    if (declared && same_name->depth == p->symbols.depth)
        return same_name;
    size_t stem_length = token.length;
    uint64_t number = 0, scale = 1;
    while (stem_length > 1 && token.start[stem_length - 1] >= '0' && token.start[stem_length - 1] <= '9' &&
           scale <= 1000000000u) {
        number += scale * (uint64_t)(token.start[--stem_length] - '0');
        scale *= 10;
    }
    if (stem_length == token.length || (token.start[stem_length] == '0' && token.length > stem_length + 1))
        return declared;
    struct symbol *range = symbols_find(&p->symbols, token.start, stem_length, false);
    if (!range || range->kind != SYMBOL_REGISTER_RANGE || number >= range->count ||
        (same_name && same_name->depth >= range->depth))
        return declared;
    struct symbol *symbol = symbols_add(&p->symbols, token.start, token.length, SYMBOL_REGISTER, range->depth);
    if (symbol)
        symbol->index = add_register(p, (enum ptx_type)range->index);
    return symbol;
}

// Makes a vector operand {a, b, c}.
static struct ptx_operand vector_operand(struct parser *p, const struct ptx_operand *element, int count) {
    struct ptx_operand vector = new_operand(PTX_OPERAND_VECTOR);
    vector.count = count;
    vector.elements = arena_allocate(p->arena, (size_t)count * sizeof *vector.elements);
    memcpy(vector.elements, element, (size_t)count * sizeof *vector.elements);
    return vector;
}

// A 128-bit register is a vector of its two halves.
static struct ptx_operand register_operand(struct parser *p, const struct symbol *symbol) {
    struct ptx_operand result = new_operand(PTX_OPERAND_REGISTER);
    result.slot = symbol->index;
    result.reg_type = p->function->register_type[symbol->index];
    if (result.reg_type != PTX_B128)
        return result;
    struct ptx_operand half[2] = {result, result};
    half[0].reg_type = half[1].reg_type = PTX_B64;
    half[1].slot++;
    result = vector_operand(p, half, 2);
    result.reg_type = PTX_B128;
    return result;
}

// {a, b, c}
static struct ptx_operand parse_vector(struct parser *p, bool destination, enum ptx_type type) {
    struct ptx_operand element[MAX_VECTOR];
    int count = 0;
    expect_punctuator(p, '{');
    do {
        if (count == MAX_VECTOR)
            parser_fail(p, "vector operand has more than %d elements", MAX_VECTOR);
        if (token_is_punctuator(&p->token, '{'))
            parser_fail(p, "nested vector operand");
        element[count] = destination ? parse_destination(p) : parse_source(p, type);
        if (element[count++].kind == PTX_OPERAND_VECTOR)
            parser_unsupported(p, "128-bit register within a vector operand");
    } while (accept_punctuator(p, ','));
    expect_punctuator(p, '}');
    return vector_operand(p, element, count);
}

struct ptx_operand parse_destination(struct parser *p) {
    if (token_is_punctuator(&p->token, '{'))
        return parse_vector(p, true, PTX_NO_TYPE);
    if (accept_keyword(p, "_"))
        return new_operand(PTX_OPERAND_SINK);
    struct token token = expect_identifier(p, "a register");
    struct symbol *symbol = find_register(p, token);
    if (!symbol)
        parser_fail_at(p, token.line, "undeclared register '" TOKEN_FORMAT "'", TOKEN_TEXT(token));
    return register_operand(p, symbol);
}

static struct ptx_operand parse_special(struct parser *p, struct token token) {
    char text[32];
    size_t length = token.length;
    if (p->token.kind == TOKEN_SUFFIX && p->token.start == token.start + token.length) {
        length += p->token.length;
        advance(p);
    }
    struct ptx_operand result = new_operand(PTX_OPERAND_SPECIAL);
    if (length < sizeof text) {
        memcpy(text, token.start, length);
        text[length] = 0;
        for (size_t i = 0; i < sizeof SPECIALS / sizeof *SPECIALS; i++) {
            if (strcmp(text, SPECIALS[i].text) == 0) {
                result.special = SPECIALS[i].special;
                return result;
            }
        }
    }
    for (size_t i = 0; i < sizeof UNSUPPORTED_SPECIALS / sizeof *UNSUPPORTED_SPECIALS; i++) {
        size_t prefix = strlen(UNSUPPORTED_SPECIALS[i]);
        if (token.length >= prefix && memcmp(token.start, UNSUPPORTED_SPECIALS[i], prefix) == 0)
            parser_unsupported(p, "unsupported special register '%.*s'", (int)(length > 80 ? 80 : length), token.start);
    }
    parser_fail_at(p, token.line, "undeclared identifier '" TOKEN_FORMAT "'", TOKEN_TEXT(token));
}

// 0f3F800000 gives the bits of a float, 0d3FF0000000000000 and 1.0 those of a double; the instruction's type determines
// the conversion.
static struct ptx_operand parse_immediate(struct parser *p, enum ptx_type type) {
    struct ptx_operand result = new_operand(PTX_OPERAND_IMMEDIATE);
    struct number number;
    bool negative = token_is_punctuator(&p->token, '-');
    struct lexer ahead = p->lexer;
    struct token token = negative ? lexer_next(&ahead) : p->token;
    result.reg_type = type;
    if (!parse_number(&token, &number) || !number.floating) {
        result.bits = (uint64_t)parse_constant(p);
        return result;
    }
    size_t size = ptx_type_size(type);
    if (size != 4 && size != 8)
        parser_fail(p, "floating-point constant for an operand of %zu bytes", size);
    if (negative)
        advance(p);
    advance(p);
    result.bits = number_float_bits(&number, size);
    if (negative)
        result.bits ^= size == 4 ? UINT64_C(1) << 31 : UINT64_C(1) << 63;
    return result;
}

// A variable's address, plus an optional constant. The linker adds the variable's own offset.
static struct ptx_operand variable_operand(struct parser *p, const struct symbol *symbol) {
    struct ptx_operand result = new_operand(PTX_OPERAND_ADDRESS);
    result.variable = symbol->index;
    switch (symbol->kind) {
    case SYMBOL_MODULE_VARIABLE:
        result.space = p->module->variable[symbol->index].space;
        break;
    case SYMBOL_LOCAL_VARIABLE:
        result.space = PTX_LOCAL;
        break;
    case SYMBOL_KERNEL_PARAMETER:
        result.space = PTX_PARAM;
        break;
    case SYMBOL_CALL_VARIABLE:
        result.space = PTX_CALL_PARAM;
        break;
    default:
        parser_fail(p, "'%.*s' has no address", (int)symbol->length, symbol->text);
    }
    if (token_is_punctuator(&p->token, '+') || token_is_punctuator(&p->token, '-'))
        result.offset = parse_constant(p);
    return result;
}

struct ptx_operand parse_source(struct parser *p, enum ptx_type type) {
    if (token_is_punctuator(&p->token, '{'))
        return parse_vector(p, false, type);
    struct lexer ahead = p->lexer; // !%p1 is a predicate, !0 a constant
    bool negated = token_is_punctuator(&p->token, '!') && lexer_next(&ahead).kind == TOKEN_IDENTIFIER;
    if (p->token.kind != TOKEN_IDENTIFIER && !negated)
        return parse_immediate(p, type);
    if (negated)
        advance(p);
    struct token token = p->token;
    if (token_is(&token, "WARP_SZ"))
        return parse_immediate(p, type);
    expect_identifier(p, "an operand");
    struct symbol *symbol = find_register(p, token);
    if (symbol) {
        struct ptx_operand result = register_operand(p, symbol);
        result.negated = negated;
        if (negated && result.reg_type != PTX_PRED)
            parser_fail_at(p, token.line, "'!' applies to predicate registers only");
        return result;
    }
    if (negated)
        parser_fail_at(p, token.line, "undeclared predicate '" TOKEN_FORMAT "'", TOKEN_TEXT(token));
    symbol = symbols_find(&p->symbols, token.start, token.length, false);
    if (!symbol)
        return parse_special(p, token);
    if (symbol->kind == SYMBOL_FUNCTION) {
        struct ptx_operand result = new_operand(PTX_OPERAND_IMMEDIATE);
        result.bits = function_address(symbol->index);
        result.reg_type = PTX_B64;
        p->module->function[symbol->index]->address_taken = true;
        return result;
    }
    return variable_operand(p, symbol);
}

// [%rd1], [%rd1+-8], [variable+4], [16], [%rd1, {%r1, %r2}]
struct ptx_operand parse_address(struct parser *p, enum ptx_space space) {
    struct ptx_operand result = new_operand(PTX_OPERAND_ADDRESS);
    result.space = space;
    expect_punctuator(p, '[');
    struct token token = p->token;
    if (token.kind != TOKEN_IDENTIFIER) {
        result.offset = parse_constant(p);
    } else {
        advance(p);
        struct symbol *symbol = find_register(p, token);
        if (symbol) {
            result.slot = symbol->index;
            result.reg_type = register_operand(p, symbol).reg_type;
            if (token_is_punctuator(&p->token, '+') || token_is_punctuator(&p->token, '-'))
                result.offset = parse_constant(p);
        } else {
            symbol = symbols_find(&p->symbols, token.start, token.length, false);
            if (!symbol)
                parser_fail_at(p, token.line, "undeclared identifier '" TOKEN_FORMAT "'", TOKEN_TEXT(token));
            result = variable_operand(p, symbol);
        }
    }
    if (accept_punctuator(p, ',')) {
        if (!token_is_punctuator(&p->token, '{'))
            parser_fail(p, "expected '{' before the tensor coordinates");
        struct ptx_operand coordinates = parse_vector(p, false, PTX_B32);
        result.count = coordinates.count;
        result.elements = coordinates.elements;
    }
    expect_punctuator(p, ']');
    return result;
}
