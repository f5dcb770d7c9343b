// Variables of the module and their initial values.
#include "parser.h"

enum { MAX_ALIGN = 1 << 20 };
static const int64_t MAX_VARIABLE_BYTES = (int64_t)1 << 32;

enum ptx_type find_type(const struct token *token) {
    static const struct {
        const char *text;
        enum ptx_type type;
    } TYPES[] = {
        {".b32", PTX_B32},   {".f32", PTX_F32},     {".b64", PTX_B64},     {".u32", PTX_U32},
        {".s32", PTX_S32},   {".pred", PTX_PRED},   {".u64", PTX_U64},     {".s64", PTX_S64},
        {".b8", PTX_B8},     {".b16", PTX_B16},     {".u8", PTX_U8},       {".u16", PTX_U16},
        {".s8", PTX_S8},     {".s16", PTX_S16},     {".f64", PTX_F64},     {".f16", PTX_F16},
        {".bf16", PTX_BF16}, {".f16x2", PTX_F16X2}, {".tf32", PTX_TF32},   {".bf16x2", PTX_BF16X2},
        {".b128", PTX_B128}, {".u16x2", PTX_U16X2}, {".s16x2", PTX_S16X2}, {".f32x2", PTX_F32X2},
    };
    for (size_t i = 0; i < sizeof TYPES / sizeof *TYPES; i++)
        if (token_is(token, TYPES[i].text))
            return TYPES[i].type;
    return PTX_NO_TYPE;
}

static enum ptx_type parse_type(struct parser *p) {
    enum ptx_type type = find_type(&p->token);
    if (type == PTX_NO_TYPE)
        parser_fail(p, "expected a type, found '" TOKEN_FORMAT "'", TOKEN_TEXT(p->token));
    advance(p);
    return type;
}

static size_t parse_align(struct parser *p) {
    int64_t align = parse_count(p, "an alignment", 1, MAX_ALIGN);
    if (align & (align - 1))
        parser_fail(p, "alignment %lld is not a power of two", (long long)align);
    return (size_t)align;
}

// [.align N] [.v2 | .v4] .type [.ptr [.space] [.align N]] name [N]...: the common part of parameters and variables.
struct declaration parse_declaration(struct parser *p) {
    struct declaration declaration = {0};
    size_t align = 0, elements = 1;
    for (;;)
        if (accept_keyword(p, ".align"))
            align = parse_align(p);
        else if (accept_keyword(p, ".v2"))
            elements = 2;
        else if (accept_keyword(p, ".v4"))
            elements = 4;
        else
            break;
    declaration.type = parse_type(p);
    if (declaration.type == PTX_PRED)
        parser_fail(p, "a variable cannot have type .pred");
    if (accept_keyword(p, ".ptr")) { // an assumption about the pointer, which the simulator checks at run time instead
        while (p->token.kind == TOKEN_SUFFIX)
            if (accept_keyword(p, ".align"))
                parse_align(p);
            else
                advance(p);
    }
    declaration.name = expect_identifier(p, "a name");
    int64_t size = (int64_t)(elements * ptx_type_size(declaration.type));
    declaration.align = align ? align : (size_t)size;
    while (accept_punctuator(p, '[')) {
        int64_t count = 0;
        if (!accept_punctuator(p, ']')) {
            count = parse_constant_count(p, "an array's length", 0, MAX_VARIABLE_BYTES);
            expect_punctuator(p, ']');
        }
        if (count > 0 && size > MAX_VARIABLE_BYTES / count)
            parser_fail(p, "'" TOKEN_FORMAT "' is larger than 4 GiB", TOKEN_TEXT(declaration.name));
        size *= count;
    }
    declaration.size = (size_t)size;
    return declaration;
}

static void add_relocation(struct parser *p, struct ptx_variable *variable, int *capacity,
                           const struct ptx_relocation *relocation) {
    variable->relocation =
        arena_grow(p->arena, variable->relocation, variable->relocations, capacity, sizeof *variable->relocation);
    variable->relocation[variable->relocations++] = *relocation;
}

// A symbol plus a constant in an initializer. A function's address is already final.
struct address {
    const struct symbol *symbol;
    int64_t addend;
};

static struct address parse_symbol(struct parser *p) {
    bool generic = accept_keyword(p, "generic");
    if (generic)
        expect_punctuator(p, '(');
    struct token token = expect_identifier(p, "a variable");
    if (generic)
        expect_punctuator(p, ')');
    struct address address = {.symbol = symbols_find(&p->symbols, token.start, token.length, false)};
    if (!address.symbol || (address.symbol->kind != SYMBOL_MODULE_VARIABLE && address.symbol->kind != SYMBOL_FUNCTION))
        parser_fail_at(p, token.line, "'" TOKEN_FORMAT "' is not a variable or function", TOKEN_TEXT(token));
    if (address.symbol->kind == SYMBOL_MODULE_VARIABLE &&
        p->module->variable[address.symbol->index].space == PTX_SHARED)
        parser_fail_at(p, token.line, "'" TOKEN_FORMAT "' is in shared memory and has no address before a launch",
                       TOKEN_TEXT(token));
    if (token_is_punctuator(&p->token, '+') || token_is_punctuator(&p->token, '-'))
        address.addend = parse_constant(p);
    return address;
}

static void store(uint8_t *to, uint64_t bits, int bytes) {
    for (int i = 0; i < bytes; i++)
        to[i] = i < 8 ? (uint8_t)(bits >> 8 * i) : 0;
}

static void store_address(struct parser *p, struct ptx_variable *variable, int *capacity, size_t offset,
                          const struct address *address, int bytes, int shift) {
    if (address->symbol->kind == SYMBOL_FUNCTION) {
        struct ptx_function *function = p->module->function[address->symbol->index];
        function->address_taken = true;
        store((uint8_t *)variable->init + offset,
              (function_address(function->index) + (uint64_t)address->addend) >> shift, bytes);
        return;
    }
    add_relocation(p, variable, capacity,
                   &(struct ptx_relocation){.offset = offset,
                                            .variable = address->symbol->index,
                                            .addend = address->addend,
                                            .bytes = bytes,
                                            .shift = shift});
}

// 0xFF00(generic(x)): the byte of the address that the mask selects, as an element of a byte array.
static void parse_masked_address(struct parser *p, struct ptx_variable *variable, int *capacity, size_t offset,
                                 int bytes, uint64_t mask) {
    int shift = 0;
    while (shift < 56 && !(mask >> shift & 0xFF))
        shift += 8;
    if (bytes != 1 || mask >> shift != 0xFF)
        parser_fail(p, "unsupported address mask: only a one-byte mask of a one-byte element is supported");
    expect_punctuator(p, '(');
    struct address address = parse_symbol(p);
    expect_punctuator(p, ')');
    store_address(p, variable, capacity, offset, &address, 1, shift);
}

static void parse_element(struct parser *p, struct ptx_variable *variable, int *capacity, size_t offset) {
    int bytes = (int)ptx_type_size(variable->type);
    struct number number;
    uint8_t *to = (uint8_t *)variable->init + offset;
    if (p->token.kind == TOKEN_IDENTIFIER && !token_is(&p->token, "WARP_SZ")) {
        struct address address = parse_symbol(p);
        if (bytes != 8)
            parser_fail(p, "an address initializer needs an element of 8 bytes");
        store_address(p, variable, capacity, offset, &address, 8, 0);
    } else if (parse_number(&p->token, &number) && number.floating) {
        if (bytes != 4 && bytes != 8)
            parser_fail(p, "floating-point initializer for an element of %d bytes", bytes);
        store(to, number_float_bits(&number, (size_t)bytes), bytes);
        advance(p);
    } else if (parse_number(&p->token, &number) && p->lexer.next < p->lexer.end && *p->lexer.next == '(') {
        advance(p);
        parse_masked_address(p, variable, capacity, offset, bytes, number.bits);
    } else {
        bool negative = token_is_punctuator(&p->token, '-');
        int64_t value = parse_constant(p);
        if (!negative && bytes < 8 && ((uint64_t)value >> 8 * bytes) != 0 && value > 0)
            parser_fail(p, "%lld does not fit in an element of %d bytes", (long long)value, bytes);
        store(to, (uint64_t)value, bytes);
    }
}

static void parse_initialiser(struct parser *p, struct ptx_variable *variable) {
    size_t element = ptx_type_size(variable->type), offset = 0;
    int capacity = 0;
    if (variable->space != PTX_GLOBAL && variable->space != PTX_CONST)
        parser_fail(p, "only .global and .const variables can have an initializer");
    if (variable->size == 0)
        parser_fail(p, "'%s' has an initializer but no array length", variable->name);
    variable->init = arena_allocate(p->arena, variable->size);
    if (!accept_punctuator(p, '{')) {
        parse_element(p, variable, &capacity, 0);
        return;
    }
    if (accept_punctuator(p, '}'))
        return;
    do {
        if (variable->size - offset < element)
            parser_fail(p, "too many initializers for '%s'", variable->name);
        parse_element(p, variable, &capacity, offset);
        offset += element;
    } while (accept_punctuator(p, ','));
    expect_punctuator(p, '}');
}

static enum ptx_space parse_space(struct parser *p) {
    if (accept_keyword(p, ".global"))
        return PTX_GLOBAL;
    if (accept_keyword(p, ".const"))
        return PTX_CONST;
    if (accept_keyword(p, ".shared"))
        return PTX_SHARED;
    parser_fail(p, "expected .global, .const or .shared, found '" TOKEN_FORMAT "'", TOKEN_TEXT(p->token));
}

// Parses .global .align 4 .b8 table[256] = {0, 0, 128, 63}; the current token is the state space. A function's .shared
// variables are module variables as well: only their names are local to the function.
void parse_module_variable(struct parser *p, bool external) {
    struct ptx_module *module = p->module;
    struct ptx_variable variable = {.space = parse_space(p), .external = external};
    if (accept_keyword(p, ".attribute")) {
        expect_punctuator(p, '(');
        while (!accept_punctuator(p, ')') && p->token.kind != TOKEN_END)
            advance(p);
    }
    struct declaration declaration = parse_declaration(p);
    struct token name = declaration.name;
    variable.name = arena_string(p->arena, name.start, name.length);
    variable.type = declaration.type;
    variable.size = declaration.size;
    variable.align = declaration.align;
    if (variable.space == PTX_SHARED && declaration.size > INT32_MAX)
        parser_fail(p, "'%s' is larger than any shared memory", variable.name);
    if (accept_punctuator(p, '='))
        parse_initialiser(p, &variable);
    expect_punctuator(p, ';');

    struct symbol *known = symbols_find(&p->symbols, name.start, name.length, false);
    if (known && known->kind == SYMBOL_MODULE_VARIABLE && known->depth == 0 && p->symbols.depth == 0 &&
        module->variable[known->index].space == variable.space && (external || p->weak))
        return; // another text defines it
    if (known && known->kind == SYMBOL_MODULE_VARIABLE && module->variable[known->index].external &&
        known->depth == 0 && p->symbols.depth == 0) {
        if (module->variable[known->index].space != variable.space)
            parser_fail_at(p, name.line, "'%s' was declared earlier in a different state space", variable.name);
        module->variable[known->index] = variable; // declared before as .extern
        return;
    }
    struct symbol *added = symbols_add(&p->symbols, name.start, name.length, SYMBOL_MODULE_VARIABLE, p->symbols.depth);
    if (!added)
        parser_fail_at(p, name.line, "duplicate declaration of '%s'", variable.name);
    module->variable =
        arena_grow(p->arena, module->variable, module->variables, &p->variable_capacity, sizeof *module->variable);
    added->index = module->variables;
    added->local = p->local;
    module->variable[module->variables++] = variable;
}
