#include "parser.h"

#include <stdio.h>
#include <string.h>

static const size_t MODULE_LIMIT = (size_t)1 << 30;

const char *ptx_opcode_name(enum ptx_opcode opcode) {
    static const char *const NAMES[] = {
#define OPCODE(name, text) text,
#include "opcodes.def"
#undef OPCODE
    };
    return (unsigned)opcode < PTX_OPCODES ? NAMES[opcode] : "?";
}

size_t ptx_type_size(enum ptx_type type) {
    static const unsigned char SIZES[] = {
        [PTX_B8] = 1,    [PTX_B16] = 2,    [PTX_B32] = 4,    [PTX_B64] = 8,  [PTX_B128] = 16,  [PTX_U8] = 1,
        [PTX_U16] = 2,   [PTX_U32] = 4,    [PTX_U64] = 8,    [PTX_S8] = 1,   [PTX_S16] = 2,    [PTX_S32] = 4,
        [PTX_S64] = 8,   [PTX_F16] = 2,    [PTX_F16X2] = 4,  [PTX_BF16] = 2, [PTX_BF16X2] = 4, [PTX_TF32] = 4,
        [PTX_E4M3] = 1,  [PTX_E5M2] = 1,   [PTX_F32] = 4,    [PTX_F64] = 8,  [PTX_U16X2] = 4,  [PTX_S16X2] = 4,
        [PTX_F32X2] = 8, [PTX_E4M3X2] = 2, [PTX_E5M2X2] = 2,
    };
    return (unsigned)type < sizeof SIZES ? SIZES[type] : 0;
}

int ptx_type_bits(enum ptx_type type) {
    return type == PTX_B1 ? 1 : type == PTX_S4 || type == PTX_U4 ? 4 : 8 * (int)ptx_type_size(type);
}

void advance(struct parser *p) {
    p->token = lexer_next(&p->lexer);
}

static _Noreturn void vfail(struct parser *p, int line, const char *format, va_list arguments) {
    char message[512];
    vsnprintf(message, sizeof message, format, arguments);
    arena_fail(p->arena, "PTX line %d: %s [ptx-syntax]", line, message);
}

_Noreturn void parser_fail(struct parser *p, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vfail(p, p->token.line, format, arguments);
}

_Noreturn void parser_fail_at(struct parser *p, int line, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vfail(p, line, format, arguments);
}

bool accept_punctuator(struct parser *p, char punctuator) {
    bool accepted = token_is_punctuator(&p->token, punctuator);
    if (accepted)
        advance(p);
    return accepted;
}

void expect_punctuator(struct parser *p, char punctuator) {
    if (!accept_punctuator(p, punctuator))
        parser_fail(p, "expected '%c', found '" TOKEN_FORMAT "'", punctuator, TOKEN_TEXT(p->token));
}

bool accept_keyword(struct parser *p, const char *keyword) {
    bool accepted = token_is(&p->token, keyword);
    if (accepted)
        advance(p);
    return accepted;
}

struct token expect_identifier(struct parser *p, const char *description) {
    struct token token = p->token;
    if (token.kind != TOKEN_IDENTIFIER)
        parser_fail(p, "expected %s, found '" TOKEN_FORMAT "'", description, TOKEN_TEXT(token));
    advance(p);
    return token;
}

void skip_statement(struct parser *p) {
    while (!token_is_punctuator(&p->token, ';')) {
        if (p->token.kind == TOKEN_END)
            parser_fail(p, "expected ';', found 'end of input'");
        advance(p);
    }
    advance(p);
}

// Gives file indices without a .file directive, and the unused end of the array, an empty name.
static void complete_files(struct parser *p) {
    struct ptx_module *module = p->module;
    const char **file = arena_allocate(p->arena, (size_t)module->files * sizeof *file);
    for (int i = 0; i < module->files; i++)
        file[i] = i < p->file_capacity && module->file[i] ? module->file[i] : "";
    module->file = file;
}

static struct ptx_module *parse(struct arena *arena, const struct ptx_text *texts, int count) {
    struct parser *p = arena_allocate(arena, sizeof *p);
    p->arena = arena;
    p->module = arena_allocate(arena, sizeof *p->module);
    p->module->arena = arena;
    symbols_init(&p->symbols, arena);
    init_locations(p);
    init_opcode_tables(p);
    for (int i = 0; i < count; i++) {
        size_t length = texts[i].length;
        while (length > 0 && texts[i].text[length - 1] == 0) // images of fat binaries are padded with zeros
            length--;
        p->file_base = i > 0 ? p->module->files - 1 : 0;
        lexer_init(&p->lexer, arena, texts[i].text, length);
        advance(p);
        parse_module(p);
        symbols_remove_local(&p->symbols);
    }
    complete_files(p);
    return p->module;
}

struct ptx_module *ptx_parse(const char *text, size_t length, char *error, size_t error_size) {
    return ptx_parse_linked(&(struct ptx_text){text, length}, 1, error, error_size);
}

struct ptx_module *ptx_parse_linked(const struct ptx_text *texts, int count, char *error, size_t error_size) {
    struct arena *arena = arena_create(MODULE_LIMIT, error, error_size);
    if (!arena)
        return NULL;
    if (setjmp(arena->on_error)) {
        arena_destroy(arena);
        return NULL;
    }
    return parse(arena, texts, count);
}

void ptx_free_module(struct ptx_module *module) {
    if (module)
        arena_destroy(module->arena);
}

const char *ptx_function_name(const struct ptx_module *module, uint64_t address) {
    for (int i = 0; i < module->functions; i++)
        if (function_address(i) == address)
            return module->function[i]->name;
    return NULL;
}

const char *ptx_entry_name(const struct ptx_module *module, int index) {
    for (int i = 0; i < module->functions; i++)
        if (module->function[i]->entry && index-- == 0)
            return module->function[i]->name;
    return NULL;
}
