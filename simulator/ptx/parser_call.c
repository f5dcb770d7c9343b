// Calls and indexed branches, their prototypes and target lists, and the stack offsets of a call's arguments and
// results.
#include "parser.h"

enum { MAX_ARGUMENTS = 256 };

// Parses (param0, param1): .param variables of the body, or _ for an unused result. Returns their number.
static int parse_arguments(struct parser *p, int32_t argument[MAX_ARGUMENTS]) {
    int count = 0;
    expect_punctuator(p, '(');
    while (!accept_punctuator(p, ')')) {
        struct token token = p->token;
        struct symbol *symbol =
            token.kind == TOKEN_IDENTIFIER ? symbols_find(&p->symbols, token.start, token.length, false) : NULL;
        bool unused = token_is(&token, "_");
        if (!unused &&
            (!symbol || symbol->kind != SYMBOL_CALL_VARIABLE || p->function->call_variable[symbol->index].incoming))
            parser_unsupported(p, "call arguments and results must be .param variables of the calling function");
        if (count == MAX_ARGUMENTS)
            parser_fail(p, "call has more than %d arguments", MAX_ARGUMENTS);
        argument[count++] = unused ? -1 : symbol->index;
        advance(p);
        if (!accept_punctuator(p, ',') && !token_is_punctuator(&p->token, ')'))
            parser_fail(p, "expected ',' or ')', found '" TOKEN_FORMAT "'", TOKEN_TEXT(p->token));
    }
    return count;
}

// Gives a call's variables the offsets where the callee finds its parameters and stores its results: the entries of the
// signature from first on.
static void assign_argument_offsets(struct parser *p, const struct signature *signature, int first,
                                    const int32_t *argument, int count) {
    for (int i = 0; i < count; i++) {
        if (argument[i] < 0)
            continue;
        struct function_variable *variable = &p->function->call_variable[argument[i]];
        const struct ptx_parameter *parameter = &signature->parameter[first + i];
        if (variable->size != parameter->size)
            parser_unsupported(p, "argument '%s' has %zu bytes; its parameter has %zu", variable->name, variable->size,
                               parameter->size);
        if (variable->offset >= 0 && variable->offset != (int32_t)parameter->offset)
            parser_unsupported(p, "'%s' is passed at two different parameter offsets", variable->name);
        variable->offset = (int32_t)parameter->offset;
    }
}

static const struct signature *parse_callee(struct parser *p, struct ptx_operand *callee) {
    struct token token = expect_identifier(p, "a function");
    struct symbol *symbol = find_register(p, token);
    if (symbol) {
        *callee = new_operand(PTX_OPERAND_REGISTER);
        callee->slot = symbol->index;
        callee->reg_type = p->function->register_type[symbol->index];
        if (ptx_type_size(callee->reg_type) != 8)
            parser_fail_at(p, token.line, "an indirect call needs a 64-bit register");
        return NULL;
    }
    symbol = symbols_find(&p->symbols, token.start, token.length, false);
    if (!symbol || symbol->kind != SYMBOL_FUNCTION || p->module->function[symbol->index]->entry)
        parser_fail_at(p, token.line, "'" TOKEN_FORMAT "' is not a function", TOKEN_TEXT(token));
    *callee = new_operand(PTX_OPERAND_FUNCTION);
    callee->target = symbol->index;
    return &p->module->function[symbol->index]->signature;
}

static const struct signature *find_prototype(struct parser *p) {
    struct token token = expect_identifier(p, "a prototype");
    struct symbol *symbol = symbols_find(&p->symbols, token.start, token.length, true);
    if (!symbol || symbol->kind != SYMBOL_PROTOTYPE)
        parser_unsupported(p, "'" TOKEN_FORMAT "' is not a .callprototype declared before the call", TOKEN_TEXT(token));
    return &p->function->prototype[symbol->index];
}

// call{.uni} {(results),} function {, (arguments)} {, prototype}
void parse_call(struct parser *p, struct ptx_instruction *call) {
    int32_t result[MAX_ARGUMENTS], argument[MAX_ARGUMENTS];
    int results = 0, arguments = 0;
    if (token_is_punctuator(&p->token, '(')) {
        results = parse_arguments(p, result);
        expect_punctuator(p, ',');
    }
    const struct signature *signature = parse_callee(p, &call->src[0]);
    call->nsrc = 1;
    bool more = accept_punctuator(p, ',');
    if (more && token_is_punctuator(&p->token, '(')) {
        arguments = parse_arguments(p, argument);
        more = accept_punctuator(p, ',');
    }
    if (more && !signature)
        signature = find_prototype(p);
    if (!signature)
        parser_unsupported(p, "indirect call without a .callprototype");
    if (arguments != signature->parameters || results != signature->results)
        parser_fail(p, "call has %d arguments and %d results; the function has %d parameters and %d results", arguments,
                    results, signature->parameters, signature->results);
    assign_argument_offsets(p, signature, 0, argument, arguments);
    assign_argument_offsets(p, signature, arguments, result, results);
}

// label: .callprototype (.param .b32 _) _ (.param .b64 _) .noreturn;
void parse_prototype(struct parser *p, struct token label) {
    struct ptx_function *function = p->function;
    struct signature results = {0}, parameters = {0};
    if (token_is_punctuator(&p->token, '('))
        parse_signature(p, &results, true);
    expect_identifier(p, "_");
    if (token_is_punctuator(&p->token, '('))
        parse_signature(p, &parameters, false);
    accept_keyword(p, ".noreturn");
    expect_punctuator(p, ';');
    declare_symbol(p, label, SYMBOL_PROTOTYPE)->index = function->prototypes;
    function->prototype = arena_grow(p->arena, function->prototype, function->prototypes, &function->prototype_capacity,
                                     sizeof *function->prototype);
    function->prototype[function->prototypes++] = join_signature(p, &parameters, &results);
}

// label: .branchtargets L1, L2, L3;
void parse_branch_targets(struct parser *p, struct token label) {
    struct ptx_function *function = p->function;
    struct branch_targets targets = {0};
    struct token *name = NULL;
    int capacity = 0;
    do {
        name = arena_grow(p->arena, name, targets.count, &capacity, sizeof *name);
        name[targets.count++] = expect_identifier(p, "a label");
    } while (accept_punctuator(p, ','));
    expect_punctuator(p, ';');
    targets.target = arena_allocate(p->arena, (size_t)targets.count * sizeof *targets.target);
    for (int i = 0; i < targets.count; i++) {
        targets.target[i] = new_operand(PTX_OPERAND_TARGET);
        add_label_reference(p, name[i], &targets.target[i], 0);
    }
    declare_symbol(p, label, SYMBOL_TARGETS)->index = function->targets;
    function->target =
        arena_grow(p->arena, function->target, function->targets, &function->target_capacity, sizeof *function->target);
    function->target[function->targets++] = targets;
}

// brx.idx{.uni} index, list
void parse_brx(struct parser *p, struct ptx_instruction *brx) {
    brx->src[0] = parse_source(p, PTX_U32);
    brx->nsrc = 2;
    check_operands(p, brx, "s:4");
    expect_punctuator(p, ',');
    struct token token = expect_identifier(p, "a list of branch targets");
    struct symbol *symbol = symbols_find(&p->symbols, token.start, token.length, true);
    if (!symbol || symbol->kind != SYMBOL_TARGETS)
        parser_unsupported(p, "'" TOKEN_FORMAT "' is not a .branchtargets list declared before the branch",
                           TOKEN_TEXT(token));
    brx->src[1] = new_operand(PTX_OPERAND_VECTOR);
    brx->src[1].count = p->function->target[symbol->index].count;
    brx->src[1].elements = p->function->target[symbol->index].target;
}
