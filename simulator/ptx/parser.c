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

static _Noreturn void fail_list(struct parser *p, int line, const char *format, va_list arguments) {
    char message[512];
    vsnprintf(message, sizeof message, format, arguments);
    arena_fail(p->arena, "ptx line %d: %s", line, message);
}

_Noreturn void parser_fail(struct parser *p, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fail_list(p, p->token.line, format, arguments);
}

_Noreturn void parser_fail_at(struct parser *p, int line, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fail_list(p, line, format, arguments);
}

bool accept_sign(struct parser *p, char sign) {
    bool there = token_is_sign(&p->token, sign);
    if (there)
        advance(p);
    return there;
}

static const char *token_description(const struct token *token) {
    return token->kind == TOKEN_END ? "the end of the text" : "";
}

void expect_sign(struct parser *p, char sign) {
    if (!accept_sign(p, sign))
        parser_fail(p, "expected '%c', found '" TOKEN_FORMAT "'%s", sign, TOKEN_TEXT(p->token),
                    token_description(&p->token));
}

bool accept_word(struct parser *p, const char *word) {
    bool there = token_is(&p->token, word);
    if (there)
        advance(p);
    return there;
}

struct token expect_name(struct parser *p, const char *what) {
    struct token token = p->token;
    if (token.kind != TOKEN_WORD)
        parser_fail(p, "expected %s, found '" TOKEN_FORMAT "'%s", what, TOKEN_TEXT(token), token_description(&token));
    advance(p);
    return token;
}

void skip_statement(struct parser *p) {
    while (!token_is_sign(&p->token, ';')) {
        if (p->token.kind == TOKEN_END)
            parser_fail(p, "expected ';', found the end of the text");
        advance(p);
    }
    advance(p);
}

// File numbers that no .file names, and the end of an array that grew in steps, are given an empty name.
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
    names_start(&p->names, arena);
    start_locations(p);
    start_instructions(p);
    for (int i = 0; i < count; i++) {
        size_t length = texts[i].length;
        while (length > 0 && texts[i].text[length - 1] == 0) // images of fat binaries end in zeros
            length--;
        p->file_base = i > 0 ? p->module->files - 1 : 0;
        lexer_start(&p->lexer, arena, texts[i].text, length);
        advance(p);
        parse_module(p);
        names_forget_local(&p->names);
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

const char *ptx_function_at(const struct ptx_module *module, uint64_t address) {
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
