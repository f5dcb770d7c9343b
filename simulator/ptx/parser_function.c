// Function bodies: scopes, declarations, labels and the sequence of instructions.
#include "parser.h"

#include <stdio.h>
#include <string.h>

enum { MAX_INSTRUCTIONS = 1 << 20, MAX_REGISTERS = 1 << 20 };

// Reserves an upper bound of the body's instructions, the number of its semicolons, because growing the array by copies
// costs more than parsing. nvcc ends a function with a brace at the beginning of a line.
static void reserve_instructions(struct parser *p) {
    struct ptx_function *function = p->function;
    const char *end = memmem(p->lexer.next, (size_t)(p->lexer.end - p->lexer.next), "\n}", 2);
    int statements = 0;
    for (const char *c = p->lexer.next; end && c < end && statements < MAX_INSTRUCTIONS; c++)
        statements += *c == ';';
    if (statements > 0) {
        function->instruction = arena_allocate(p->arena, (size_t)statements * sizeof *function->instruction);
        function->instruction_capacity = statements;
    }
}

static struct ptx_instruction *add_instruction(struct parser *p) {
    struct ptx_function *function = p->function;
    if (function->instructions >= MAX_INSTRUCTIONS)
        parser_fail(p, "'%s' has more than %d instructions", function->name, MAX_INSTRUCTIONS);
    function->instruction = arena_grow(p->arena, function->instruction, function->instructions,
                                       &function->instruction_capacity, sizeof *function->instruction);
    struct ptx_instruction *instruction = &function->instruction[function->instructions++];
    *instruction =
        (struct ptx_instruction){.guard = -1, .vector = 1, .location = p->location, .ptx_line = p->statement_line};
    return instruction;
}

// The statement's text on one line without comments, up to the token before the current one.
static const char *statement_text(struct parser *p) {
    const char *end = p->token.kind == TOKEN_END ? p->lexer.end : p->token.start;
    size_t length = 0, limit = (size_t)(end - p->statement);
    char *text = arena_allocate(p->arena, limit + 1);
    for (const char *c = p->statement; c < end; c++) {
        if (*c == '/' && c + 1 < end && c[1] == '/') {
            while (c + 1 < end && c[1] != '\n')
                c++;
        } else if (*c == '/' && c + 1 < end && c[1] == '*') {
            for (c += 2; c + 1 < end && !(*c == '*' && c[1] == '/'); c++)
                ;
            c++;
        } else if (*c > ' ') {
            text[length++] = *c;
        } else if (length > 0 && text[length - 1] != ' ') {
            text[length++] = ' ';
        }
    }
    while (length > 0 && text[length - 1] == ' ')
        length--;
    text[length] = 0;
    return text;
}

_Noreturn void parser_unsupported(struct parser *p, const char *format, ...) {
    struct ptx_function *function = p->function;
    if (!function->unsupported) {
        va_list arguments, arguments_copy;
        va_start(arguments, format);
        va_copy(arguments_copy, arguments);
        char description[256];
        vsnprintf(description, sizeof description, format, arguments_copy);
        va_end(arguments_copy);
        va_end(arguments);
        struct unsupported *unsupported = arena_allocate(p->arena, sizeof *unsupported);
        *unsupported = (struct unsupported){.description = arena_string(p->arena, description, strlen(description)),
                                            .line = p->statement_line,
                                            .location = p->location};
        skip_statement(p);
        unsupported->text = statement_text(p);
        function->unsupported = unsupported;
    } else {
        skip_statement(p);
    }
    longjmp(p->on_unsupported, 1);
}

int32_t add_register(struct parser *p, enum ptx_type type) {
    struct ptx_function *function = p->function;
    if (function->registers >= MAX_REGISTERS)
        parser_fail(p, "'%s' uses more than %d registers", function->name, MAX_REGISTERS);
    function->register_type = arena_grow(p->arena, function->register_type, function->registers,
                                         &function->register_capacity, sizeof *function->register_type);
    function->register_type[function->registers] = type;
    int32_t index = function->registers++;
    if (type == PTX_B128) // the high half is another register
        add_register(p, PTX_B64);
    return index;
}

struct symbol *declare_symbol(struct parser *p, struct token token, enum symbol_kind kind) {
    struct symbol *symbol = symbols_add(&p->symbols, token.start, token.length, kind, p->symbols.depth);
    if (!symbol)
        parser_fail_at(p, token.line, "duplicate declaration of '" TOKEN_FORMAT "'", TOKEN_TEXT(token));
    return symbol;
}

// .reg .b32 %r<185>, t;
static void parse_registers(struct parser *p) {
    enum ptx_type type = find_type(&p->token);
    if (type == PTX_NO_TYPE)
        parser_fail(p, "expected a type, found '" TOKEN_FORMAT "'", TOKEN_TEXT(p->token));
    advance(p);
    do {
        struct token token = expect_identifier(p, "a register's name");
        if (accept_punctuator(p, '<')) {
            int64_t count = parse_count(p, "a register count", 0, UINT32_MAX);
            struct symbol *range = declare_symbol(p, token, SYMBOL_REGISTER_RANGE);
            range->index = (int32_t)type;
            range->count = (uint32_t)count;
            expect_punctuator(p, '>');
        } else {
            declare_symbol(p, token, SYMBOL_REGISTER)->index = add_register(p, type);
        }
    } while (accept_punctuator(p, ','));
    expect_punctuator(p, ';');
}

static void add_call_variable(struct parser *p, const char *name, size_t size, size_t align, int32_t offset,
                              bool incoming) {
    struct ptx_function *function = p->function;
    function->call_variable = arena_grow(p->arena, function->call_variable, function->call_variables,
                                         &function->call_variable_capacity, sizeof *function->call_variable);
    function->call_variable[function->call_variables++] =
        (struct function_variable){.name = name, .size = size, .align = align, .offset = offset, .incoming = incoming};
}

// Parses .param .b32 param0; in a body: an argument or result of a call.
static void parse_call_variable(struct parser *p) {
    struct declaration declaration = parse_declaration(p);
    expect_punctuator(p, ';');
    declare_symbol(p, declaration.name, SYMBOL_CALL_VARIABLE)->index = p->function->call_variables;
    add_call_variable(p, arena_string(p->arena, declaration.name.start, declaration.name.length), declaration.size,
                      declaration.align, -1, false);
}

static void parse_local_variable(struct parser *p) {
    struct ptx_function *function = p->function;
    struct declaration declaration = parse_declaration(p);
    expect_punctuator(p, ';');
    if (declaration.size > INT32_MAX / 4)
        parser_fail(p, "'" TOKEN_FORMAT "' is larger than any local memory", TOKEN_TEXT(declaration.name));
    declare_symbol(p, declaration.name, SYMBOL_LOCAL_VARIABLE)->index = function->locals;
    function->local =
        arena_grow(p->arena, function->local, function->locals, &function->local_capacity, sizeof *function->local);
    function->local[function->locals++] =
        (struct function_variable){.name = arena_string(p->arena, declaration.name.start, declaration.name.length),
                                   .size = declaration.size,
                                   .align = declaration.align};
}

static void declare_parameters(struct parser *p) {
    struct ptx_function *function = p->function;
    const struct signature *signature = &function->signature;
    for (int i = 0; i < signature->parameters + signature->results; i++) {
        const struct ptx_parameter *parameter = &signature->parameter[i];
        enum symbol_kind kind = function->entry ? SYMBOL_KERNEL_PARAMETER : SYMBOL_CALL_VARIABLE;
        struct symbol *symbol =
            symbols_add(&p->symbols, parameter->name, strlen(parameter->name), kind, p->symbols.depth);
        if (!symbol)
            parser_fail(p, "duplicate declaration of '%s'", parameter->name);
        symbol->index = i;
        if (!function->entry)
            add_call_variable(p, parameter->name, parameter->size, parameter->align, (int32_t)parameter->offset, true);
    }
}

void add_label_reference(struct parser *p, struct token label, struct ptx_operand *operand, int instruction) {
    struct label_reference *use = arena_allocate(p->arena, sizeof *use);
    *use = (struct label_reference){.name = label.start,
                                    .length = label.length,
                                    .line = label.line,
                                    .operand = operand,
                                    .instruction = instruction,
                                    .next = p->label_references[p->symbols.depth]};
    p->label_references[p->symbols.depth] = use;
}

// At the end of a scope all of its labels are declared. Unresolved references move to the enclosing scope.
static void exit_scope(struct parser *p) {
    int depth = p->symbols.depth;
    for (struct label_reference *use = p->label_references[depth], *next; use; use = next) {
        next = use->next;
        const struct symbol *symbol = symbols_find(&p->symbols, use->name, use->length, true);
        if (symbol && symbol->depth == depth) {
            if (symbol->kind != SYMBOL_LABEL)
                parser_fail_at(p, use->line, "'%.*s' is not a branch label", (int)use->length, use->name);
            struct ptx_operand *operand =
                use->operand ? use->operand : &p->function->instruction[use->instruction].src[0];
            operand->target = symbol->index;
        } else if (depth == 1) {
            parser_fail_at(p, use->line, "undefined label '%.*s'", (int)use->length, use->name);
        } else {
            use->next = p->label_references[depth - 1];
            p->label_references[depth - 1] = use;
        }
    }
    p->label_references[depth] = NULL;
    symbols_leave_scope(&p->symbols);
}

static void enter_scope(struct parser *p) {
    if (!symbols_enter_scope(&p->symbols))
        parser_fail(p, "scopes are nested deeper than %d", SYMBOLS_MAX_DEPTH);
}

static void parse_directive(struct parser *p) {
    if (accept_keyword(p, ".reg"))
        parse_registers(p);
    else if (accept_keyword(p, ".param"))
        parse_call_variable(p);
    else if (accept_keyword(p, ".local"))
        parse_local_variable(p);
    else if (token_is(&p->token, ".shared") || token_is(&p->token, ".global") || token_is(&p->token, ".const"))
        parse_module_variable(p, false);
    else if (token_is(&p->token, ".loc"))
        parse_location(p);
    else if (accept_keyword(p, ".pragma"))
        skip_statement(p);
    else
        parser_fail(p, "unexpected '" TOKEN_FORMAT "'", TOKEN_TEXT(p->token));
}

static void parse_label(struct parser *p, struct token name) {
    if (accept_keyword(p, ".callprototype"))
        parse_prototype(p, name);
    else if (accept_keyword(p, ".branchtargets"))
        parse_branch_targets(p, name);
    else if (accept_keyword(p, ".calltargets"))
        skip_statement(p); // restricts the callees of an indirect call, which the simulator does not need
    else
        declare_symbol(p, name, SYMBOL_LABEL)->index = p->function->instructions;
}

static void parse_statement(struct parser *p) {
    int32_t guard = -1;
    bool negated = false;
    p->statement = p->token.start;
    p->statement_line = p->token.line;
    if (accept_punctuator(p, '@')) {
        negated = accept_punctuator(p, '!');
        struct symbol *symbol = find_register(p, expect_identifier(p, "a predicate"));
        if (!symbol || p->function->register_type[symbol->index] != PTX_PRED)
            parser_fail(p, "a guard must be a predicate register");
        guard = symbol->index;
    }
    struct token word = expect_identifier(p, "an instruction");
    if (guard < 0 && accept_punctuator(p, ':')) {
        parse_label(p, word);
        return;
    }
    struct ptx_instruction *instruction = add_instruction(p);
    instruction->guard = guard;
    instruction->guard_negated = negated;
    parse_instruction(p, instruction, word);
    expect_punctuator(p, ';');
    instruction->text = statement_text(p);
}

// Parses the function's body. The current token is its opening brace.
void parse_body(struct parser *p, struct ptx_function *function) {
    p->function = function;
    p->location = 0;
    reserve_instructions(p);
    enter_scope(p);
    declare_parameters(p);
    advance(p);
    setjmp(
        p->on_unsupported); // the parser goes on behind an unsupported instruction: the rest may contain syntax errors
    while (p->symbols.depth > 0)
        if (accept_punctuator(p, '{'))
            enter_scope(p);
        else if (accept_punctuator(p, '}'))
            exit_scope(p);
        else if (p->token.kind == TOKEN_SUFFIX)
            parse_directive(p);
        else if (p->token.kind == TOKEN_END)
            parser_fail(p, "unterminated body of '%s'", function->name);
        else if (!accept_punctuator(p, ';'))
            parse_statement(p);
    p->function = NULL;
}
