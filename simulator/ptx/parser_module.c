// Module-level directives and function headers.
#include "parser.h"

#include <string.h>

enum { MAX_KERNEL_PARAMETERS = 32764 }; // bytes; CUDA 12.1 and later

// (.param .b32 a, .param .align 8 .b8 b[16]): appends the parameters to the signature, each at the next multiple of its
// alignment. In a .callprototype the names are _.
void parse_signature(struct parser *p, struct signature *signature, bool results) {
    int count = signature->parameters + signature->results, capacity = count;
    expect_punctuator(p, '(');
    while (!accept_punctuator(p, ')')) {
        if (token_is(&p->token, ".reg"))
            parser_fail(p, "parameters in .reg space are not supported; declare them in .param space");
        if (!accept_keyword(p, ".param"))
            parser_fail(p, "expected .param, found '" TOKEN_FORMAT "'", TOKEN_TEXT(p->token));
        struct declaration declaration = parse_declaration(p);
        signature->bytes = align_up(signature->bytes, declaration.align);
        if (declaration.size > (size_t)MAX_KERNEL_PARAMETERS - signature->bytes)
            parser_fail(p, "parameters exceed %d bytes", MAX_KERNEL_PARAMETERS);
        signature->parameter =
            arena_grow(p->arena, signature->parameter, count, &capacity, sizeof *signature->parameter);
        signature->parameter[count++] = (struct ptx_parameter){
            .name = arena_string(p->arena, declaration.name.start, declaration.name.length),
            .type = declaration.type,
            .size = declaration.size,
            .align = declaration.align,
            .offset = signature->bytes,
        };
        signature->bytes += declaration.size;
        if (results)
            signature->results++;
        else
            signature->parameters++;
        if (!accept_punctuator(p, ',') && !token_is_punctuator(&p->token, ')'))
            parser_fail(p, "expected ',' or ')', found '" TOKEN_FORMAT "'", TOKEN_TEXT(p->token));
    }
}

// The layout of a signature has the parameters before the results; a function header gives the results first.
struct signature join_signature(struct parser *p, const struct signature *parameters, const struct signature *results) {
    struct signature joined = *parameters;
    int capacity = 0, count = 0;
    joined.parameter = NULL;
    joined.results = results->results;
    for (int i = 0; i < parameters->parameters + results->results; i++) {
        bool result = i >= parameters->parameters;
        struct ptx_parameter parameter =
            result ? results->parameter[i - parameters->parameters] : parameters->parameter[i];
        if (result) {
            parameter.offset = align_up(joined.bytes, parameter.align);
            joined.bytes = parameter.offset + parameter.size;
        }
        joined.parameter = arena_grow(p->arena, joined.parameter, count, &capacity, sizeof *joined.parameter);
        joined.parameter[count++] = parameter;
    }
    return joined;
}

static bool same_signature(const struct signature *a, const struct signature *b) {
    if (a->parameters != b->parameters || a->results != b->results)
        return false;
    for (int i = 0; i < a->parameters + a->results; i++)
        if (a->parameter[i].size != b->parameter[i].size || a->parameter[i].offset != b->parameter[i].offset)
            return false;
    return true;
}

// The functions of the CUDA device runtime, with the sizes of their parameters and result.
static const struct builtin {
    const char *name;
    enum ptx_builtin builtin;
    unsigned char parameters, results, size[6];
} BUILTINS[] = {
    {"vprintf", PTX_BUILTIN_VPRINTF, 2, 1, {8, 8, 4}},
    {"__assertfail", PTX_BUILTIN_ASSERTFAIL, 5, 0, {8, 8, 4, 8, 8}},
    {"malloc", PTX_BUILTIN_MALLOC, 1, 1, {8, 8}},
    {"free", PTX_BUILTIN_FREE, 1, 0, {8}},
    {"__cudaCDP2GetParameterBufferV2", PTX_BUILTIN_LAUNCH_BUFFER, 4, 1, {8, 12, 12, 4, 8}},
    {"__cudaCDP2LaunchDeviceV2", PTX_BUILTIN_LAUNCH, 2, 1, {8, 8, 4}},
    {"__cudaCDP2GetLastError", PTX_BUILTIN_LAST_ERROR, 0, 1, {4}},
    {"__cudaCDP2PeekAtLastError", PTX_BUILTIN_LAST_ERROR, 0, 1, {4}},
    {"__cudaCDP2StreamCreateWithFlags", PTX_BUILTIN_STREAM_CREATE, 2, 1, {8, 4, 4}},
    {"__cudaCDP2StreamDestroy", PTX_BUILTIN_STREAM_DESTROY, 1, 1, {8, 4}},
    {"__cudaCDP2Malloc", PTX_BUILTIN_DEVICE_MALLOC, 2, 1, {8, 8, 4}},
    {"__cudaCDP2Free", PTX_BUILTIN_DEVICE_FREE, 1, 1, {8, 4}},
    {"__cudaCDP2MemcpyAsync", PTX_BUILTIN_DEVICE_COPY, 5, 1, {8, 8, 8, 4, 8, 4}},
    {"__cudaCDP2GetErrorString", PTX_BUILTIN_ERROR_TEXT, 1, 1, {4, 8}},
    {"__cudaCDP2GetErrorName", PTX_BUILTIN_ERROR_TEXT, 1, 1, {4, 8}},
    {"cudaGraphSetConditional", PTX_BUILTIN_SET_CONDITION, 2, 0, {8, 4}},
};

static enum ptx_builtin find_builtin(const struct ptx_function *function) {
    for (size_t i = 0; i < sizeof BUILTINS / sizeof *BUILTINS; i++) {
        const struct builtin *builtin = &BUILTINS[i];
        const struct signature *signature = &function->signature;
        bool same = strcmp(builtin->name, function->name) == 0 && builtin->parameters == signature->parameters &&
                    builtin->results == signature->results;
        for (int j = 0; same && j < builtin->parameters + builtin->results; j++)
            same = signature->parameter[j].size == builtin->size[j] &&
                   signature->parameter[j].align == (builtin->size[j] == 12 ? 4 : builtin->size[j]); // 12: dim3
        if (same)
            return builtin->builtin;
    }
    return PTX_BUILTIN_NONE;
}

static struct ptx_function *declare_function(struct parser *p, struct token name, bool entry) {
    struct symbol *known = symbols_find(&p->symbols, name.start, name.length, false);
    if (known) {
        struct ptx_function *function = known->kind == SYMBOL_FUNCTION ? p->module->function[known->index] : NULL;
        if (!function || function->entry != entry)
            parser_fail_at(p, name.line, "duplicate declaration of '" TOKEN_FORMAT "'", TOKEN_TEXT(name));
        return function;
    }
    struct ptx_module *module = p->module;
    known = symbols_add(&p->symbols, name.start, name.length, SYMBOL_FUNCTION, 0);
    known->index = module->functions;
    known->local = p->local;
    module->function =
        arena_grow(p->arena, module->function, module->functions, &p->function_capacity, sizeof *module->function);
    struct ptx_function *function = arena_allocate(p->arena, sizeof *function);
    function->name = arena_string(p->arena, name.start, name.length);
    function->entry = entry;
    function->index = module->functions;
    module->function[module->functions++] = function;
    return function;
}

static void parse_counts(struct parser *p, const char *description, int counts[3]) {
    counts[1] = counts[2] = 1;
    for (int i = 0; i < 3; i++) {
        counts[i] = (int)parse_count(p, description, 1, INT32_MAX);
        if (!accept_punctuator(p, ','))
            break;
    }
}

// The simulator does not support launches whose grid is given in clusters instead of blocks.
static void reject_directive(struct parser *p, struct ptx_function *function) {
    struct unsupported *unsupported = arena_allocate(p->arena, sizeof *unsupported);
    *unsupported = (struct unsupported){.description = "unsupported directive",
                                        .text = arena_string(p->arena, p->token.start, p->token.length),
                                        .line = p->token.line};
    function->unsupported = unsupported;
    advance(p);
}

// The directives between a function's header and its body.
static void parse_performance_directives(struct parser *p, struct ptx_function *function) {
    for (;;)
        if (accept_keyword(p, ".maxntid"))
            parse_counts(p, "a thread count", function->max_threads);
        else if (accept_keyword(p, ".reqntid"))
            parse_counts(p, "a thread count", function->required_threads);
        else if (accept_keyword(p, ".minnctapersm"))
            function->min_blocks = (int)parse_count(p, "a block count", 0, INT32_MAX);
        else if (accept_keyword(p, ".maxnreg"))
            function->max_registers = (int)parse_count(p, "a register count", 0, INT32_MAX);
        else if (accept_keyword(p, ".maxnctapersm"))
            parse_count(p, "a limit", 0, INT32_MAX);
        else if (accept_keyword(p, ".pragma"))
            skip_statement(p);
        else if (accept_keyword(p, ".reqnctapercluster"))
            parse_counts(p, "a block count", function->cluster.blocks);
        else if (accept_keyword(p, ".maxclusterrank"))
            function->cluster.max_rank = (int)parse_count(p, "a block count", 1, INT32_MAX);
        else if (accept_keyword(p, ".explicitcluster"))
            function->cluster.must_be_given = true;
        else if (token_is(&p->token, ".blocksareclusters"))
            reject_directive(p, function);
        else if (!accept_keyword(p, ".noreturn"))
            return;
}

// Skips the body of a weak function that is already defined.
static void skip_duplicate_body(struct parser *p) {
    int depth = 0;
    do {
        if (p->token.kind == TOKEN_END)
            parser_fail(p, "unterminated function body");
        depth += token_is_punctuator(&p->token, '{') - token_is_punctuator(&p->token, '}');
        advance(p);
    } while (depth > 0);
}

// Parses .entry or .func [(results)] name [(parameters)] directives, then ; or a body. The current token is .entry or
// .func.
static void parse_function(struct parser *p) {
    bool entry = token_is(&p->token, ".entry");
    struct signature results = {0}, parameters = {0};
    advance(p);
    accept_keyword(p, ".noreturn");
    if (token_is_punctuator(&p->token, '('))
        parse_signature(p, &results, true);
    struct token name = expect_identifier(p, "a function's name");
    if (token_is_punctuator(&p->token, '('))
        parse_signature(p, &parameters, false);
    if (entry && results.results > 0)
        parser_fail_at(p, name.line, "an .entry function cannot return a value");

    bool first = !symbols_find(&p->symbols, name.start, name.length, false);
    struct ptx_function *function = declare_function(p, name, entry);
    struct signature signature = join_signature(p, &parameters, &results);
    if (!first && !same_signature(&signature, &function->signature))
        parser_fail_at(p, name.line, "'%s' was declared earlier with different parameters", function->name);
    bool defined = function->defined;
    if (!defined)
        function->signature = signature;
    parse_performance_directives(p, function);
    if (token_is_punctuator(&p->token, '{') && defined) {
        if (!p->weak)
            parser_fail_at(p, name.line, "duplicate declaration of '%s'", function->name);
        skip_duplicate_body(p);
    } else if (token_is_punctuator(&p->token, '{')) {
        function->defined = true;
        parse_body(p, function);
    } else {
        expect_punctuator(p, ';');
        function->builtin = find_builtin(function);
    }
}

// Skips .section .debug_str { ... }, which only debuggers use.
static void skip_section(struct parser *p) {
    while (!token_is_punctuator(&p->token, '{')) {
        if (p->token.kind == TOKEN_END)
            parser_fail(p, "expected '{' after .section");
        advance(p);
    }
    while (!token_is_punctuator(&p->token, '}')) {
        if (p->token.kind == TOKEN_END)
            parser_fail(p, "unterminated .section");
        advance(p);
    }
    advance(p);
}

// Parses .target sm_90a, debug; the simulator uses the number only.
static void parse_target(struct parser *p) {
    struct token name = expect_identifier(p, "sm_NN");
    struct ptx_module *module = p->module;
    module->target = 0;
    module->target_name = arena_string(p->arena, name.start, name.length);
    if (strncmp(module->target_name, "sm_", 3) == 0)
        for (const char *c = module->target_name + 3; *c >= '0' && *c <= '9' && module->target < 100000; c++)
            module->target = module->target * 10 + (*c - '0');
    if (module->target == 0)
        parser_fail_at(p, name.line, "expected a target such as sm_90, found '" TOKEN_FORMAT "'", TOKEN_TEXT(name));
    while (accept_punctuator(p, ','))
        expect_identifier(p, "a target option");
}

static void parse_version(struct parser *p) {
    struct token token = p->token;
    struct ptx_module *module = p->module;
    const char *c = token.start, *end = c + token.length;
    module->version_major = module->version_minor = 0;
    advance(p);
    for (; token.kind == TOKEN_NUMBER && c < end && *c != '.' && module->version_major < 1000; c++)
        module->version_major = module->version_major * 10 + (*c - '0');
    for (c++; token.kind == TOKEN_NUMBER && c < end && module->version_minor < 1000; c++)
        module->version_minor = module->version_minor * 10 + (*c - '0');
    if (module->version_major < 1 || module->version_minor < 0)
        parser_fail_at(p, token.line, "expected a version such as 8.0, found '" TOKEN_FORMAT "'", TOKEN_TEXT(token));
}

void parse_module(struct parser *p) {
    if (!accept_keyword(p, ".version"))
        parser_fail(p, "not PTX: a module must begin with .version");
    parse_version(p);
    while (p->token.kind != TOKEN_END) {
        bool external = false;
        p->local = true;
        p->weak = false;
        while (token_is(&p->token, ".visible") || token_is(&p->token, ".weak") || token_is(&p->token, ".common") ||
               token_is(&p->token, ".extern")) {
            external = external || token_is(&p->token, ".extern");
            p->weak = p->weak || token_is(&p->token, ".weak") || token_is(&p->token, ".common");
            p->local = false;
            advance(p);
        }
        if (token_is(&p->token, ".entry") || token_is(&p->token, ".func"))
            parse_function(p);
        else if (token_is(&p->token, ".global") || token_is(&p->token, ".const") || token_is(&p->token, ".shared"))
            parse_module_variable(p, external);
        else if (token_is(&p->token, ".file"))
            parse_file(p);
        else if (token_is(&p->token, ".loc"))
            parse_location(p);
        else if (accept_keyword(p, ".section"))
            skip_section(p);
        else if (accept_keyword(p, ".target"))
            parse_target(p);
        else if (accept_keyword(p, ".address_size"))
            parse_count(p, "the address size", 64, 64);
        else if (accept_keyword(p, ".pragma"))
            skip_statement(p);
        else if (!accept_punctuator(p, ';'))
            parser_fail(p, "unexpected '" TOKEN_FORMAT "'", TOKEN_TEXT(p->token));
    }
}
