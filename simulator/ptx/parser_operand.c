// One operand of an instruction.
#include "parser.h"

#include <string.h>

enum { MAX_VECTOR = 128 }; // an accumulator of wgmma

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

// How the names of PTX's other special registers begin: a kernel that reads one cannot run here, the rest of the module
// can.
static const char *const UNKNOWN_SPECIALS[] = {"%reserved_smem",      "%envreg", "%pm",   "%cluster", "%ncluster",
                                               "%current_graph_exec", "%tid",    "%ntid", "%ctaid",   "%nctaid"};

struct ptx_operand new_operand(enum ptx_operand_kind kind) {
    return (struct ptx_operand){.kind = kind, .slot = -1, .variable = -1, .target = -1};
}

// %r12 may be declared by that name or as one of %r<20>; the inner scope counts. A register of a range becomes one of
// the function's when it is first met: a range is often wider than what is used of it.
struct name *find_register(struct parser *p, struct token token) {
    struct name *whole = names_find(&p->names, token.start, token.length, false);
    struct name *as_whole = whole && whole->kind == NAME_REGISTER ? whole : NULL;
    if (as_whole && whole->depth == p->names.depth)
        return whole;
    size_t stem = token.length;
    uint64_t number = 0, scale = 1;
    while (stem > 1 && token.start[stem - 1] >= '0' && token.start[stem - 1] <= '9' && scale <= 1000000000u) {
        number += scale * (uint64_t)(token.start[--stem] - '0');
        scale *= 10;
    }
    if (stem == token.length || (token.start[stem] == '0' && token.length > stem + 1))
        return as_whole;
    struct name *range = names_find(&p->names, token.start, stem, false);
    if (!range || range->kind != NAME_REGISTER_RANGE || number >= range->count ||
        (whole && whole->depth >= range->depth))
        return as_whole;
    struct name *name = names_add(&p->names, token.start, token.length, NAME_REGISTER, range->depth);
    if (name)
        name->index = add_register(p, (enum ptx_type)range->index);
    return name;
}

// Where {a, b, c} is kept.
static struct ptx_operand vector_operand(struct parser *p, const struct ptx_operand *element, int count) {
    struct ptx_operand vector = new_operand(PTX_OPERAND_VECTOR);
    vector.count = count;
    vector.elements = arena_allocate(p->arena, (size_t)count * sizeof *vector.elements);
    memcpy(vector.elements, element, (size_t)count * sizeof *vector.elements);
    return vector;
}

// A register of 128 bits is a vector of its halves.
static struct ptx_operand register_operand(struct parser *p, const struct name *name) {
    struct ptx_operand result = new_operand(PTX_OPERAND_REGISTER);
    result.slot = name->index;
    result.reg_type = p->function->register_type[name->index];
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
    expect_sign(p, '{');
    do {
        if (count == MAX_VECTOR)
            parser_fail(p, "a vector of more than %d elements", MAX_VECTOR);
        if (token_is_sign(&p->token, '{'))
            parser_fail(p, "a vector within a vector");
        element[count] = destination ? parse_destination(p) : parse_source(p, type);
        if (element[count++].kind == PTX_OPERAND_VECTOR)
            parser_unsupported(p, "a register of 128 bits within a vector");
    } while (accept_sign(p, ','));
    expect_sign(p, '}');
    return vector_operand(p, element, count);
}

struct ptx_operand parse_destination(struct parser *p) {
    if (token_is_sign(&p->token, '{'))
        return parse_vector(p, true, PTX_NO_TYPE);
    if (accept_word(p, "_"))
        return new_operand(PTX_OPERAND_SINK);
    struct token token = expect_name(p, "a register");
    struct name *name = find_register(p, token);
    if (!name)
        parser_fail_at(p, token.line, "there is no register '" TOKEN_FORMAT "'", TOKEN_TEXT(token));
    return register_operand(p, name);
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
    for (size_t i = 0; i < sizeof UNKNOWN_SPECIALS / sizeof *UNKNOWN_SPECIALS; i++) {
        size_t prefix = strlen(UNKNOWN_SPECIALS[i]);
        if (token.length >= prefix && memcmp(token.start, UNKNOWN_SPECIALS[i], prefix) == 0)
            parser_unsupported(p, "the simulator does not know the special register '%.*s'",
                               (int)(length > 80 ? 80 : length), token.start);
    }
    parser_fail_at(p, token.line, "'" TOKEN_FORMAT "' is not declared", TOKEN_TEXT(token));
}

// 0f3F800000 is a float's bits, 0d3FF0000000000000 and 1.0 are a double's; the instruction's type decides what is kept.
static struct ptx_operand parse_immediate(struct parser *p, enum ptx_type type) {
    struct ptx_operand result = new_operand(PTX_OPERAND_IMMEDIATE);
    struct number number;
    bool negative = token_is_sign(&p->token, '-');
    struct lexer ahead = p->lexer;
    struct token token = negative ? lexer_next(&ahead) : p->token;
    result.reg_type = type;
    if (!token_number(&token, &number) || !number.floating) {
        result.bits = (uint64_t)parse_constant(p);
        return result;
    }
    size_t size = ptx_type_size(type);
    if (size != 4 && size != 8)
        parser_fail(p, "a floating-point constant for an operand of %zu bytes", size);
    if (negative)
        advance(p);
    advance(p);
    result.bits = number_float_bits(&number, size);
    if (negative)
        result.bits ^= size == 4 ? UINT64_C(1) << 31 : UINT64_C(1) << 63;
    return result;
}

// A variable as an address, plus a constant where one follows. The offset that belongs to the variable itself is
// added when the kernel is linked.
static struct ptx_operand variable_operand(struct parser *p, const struct name *name) {
    struct ptx_operand result = new_operand(PTX_OPERAND_ADDRESS);
    result.variable = name->index;
    switch (name->kind) {
    case NAME_MODULE_VARIABLE:
        result.space = p->module->variable[name->index].space;
        break;
    case NAME_LOCAL_VARIABLE:
        result.space = PTX_LOCAL;
        break;
    case NAME_KERNEL_PARAMETER:
        result.space = PTX_PARAM;
        break;
    case NAME_CALL_VARIABLE:
        result.space = PTX_CALL_PARAM;
        break;
    default:
        parser_fail(p, "'%.*s' has no address", (int)name->length, name->text);
    }
    if (token_is_sign(&p->token, '+') || token_is_sign(&p->token, '-'))
        result.offset = parse_constant(p);
    return result;
}

struct ptx_operand parse_source(struct parser *p, enum ptx_type type) {
    if (token_is_sign(&p->token, '{'))
        return parse_vector(p, false, type);
    struct lexer ahead = p->lexer; // !%p1 is a predicate, !0 a constant
    bool negated = token_is_sign(&p->token, '!') && lexer_next(&ahead).kind == TOKEN_WORD;
    if (p->token.kind != TOKEN_WORD && !negated)
        return parse_immediate(p, type);
    if (negated)
        advance(p);
    struct token token = p->token;
    if (token_is(&token, "WARP_SZ"))
        return parse_immediate(p, type);
    expect_name(p, "an operand");
    struct name *name = find_register(p, token);
    if (name) {
        struct ptx_operand result = register_operand(p, name);
        result.negated = negated;
        if (negated && result.reg_type != PTX_PRED)
            parser_fail_at(p, token.line, "only a predicate can be negated by '!'");
        return result;
    }
    if (negated)
        parser_fail_at(p, token.line, "there is no predicate '" TOKEN_FORMAT "'", TOKEN_TEXT(token));
    name = names_find(&p->names, token.start, token.length, false);
    if (!name)
        return parse_special(p, token);
    if (name->kind == NAME_FUNCTION) {
        struct ptx_operand result = new_operand(PTX_OPERAND_IMMEDIATE);
        result.bits = function_address(name->index);
        result.reg_type = PTX_B64;
        p->module->function[name->index]->address_taken = true;
        return result;
    }
    return variable_operand(p, name);
}

// [%rd1], [%rd1+-8], [variable+4], [16], [%rd1, {%r1, %r2}]
struct ptx_operand parse_address(struct parser *p, enum ptx_space space) {
    struct ptx_operand result = new_operand(PTX_OPERAND_ADDRESS);
    result.space = space;
    expect_sign(p, '[');
    struct token token = p->token;
    if (token.kind != TOKEN_WORD) {
        result.offset = parse_constant(p);
    } else {
        advance(p);
        struct name *name = find_register(p, token);
        if (name) {
            result.slot = name->index;
            result.reg_type = register_operand(p, name).reg_type;
            if (token_is_sign(&p->token, '+') || token_is_sign(&p->token, '-'))
                result.offset = parse_constant(p);
        } else {
            name = names_find(&p->names, token.start, token.length, false);
            if (!name)
                parser_fail_at(p, token.line, "'" TOKEN_FORMAT "' is not declared", TOKEN_TEXT(token));
            result = variable_operand(p, name);
        }
    }
    if (accept_sign(p, ',')) {
        if (!token_is_sign(&p->token, '{'))
            parser_fail(p, "coordinates in braces are missing");
        struct ptx_operand coordinates = parse_vector(p, false, PTX_B32);
        result.count = coordinates.count;
        result.elements = coordinates.elements;
    }
    expect_sign(p, ']');
    return result;
}
