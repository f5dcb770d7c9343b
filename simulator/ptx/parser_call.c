// Calls, and branches through a list: what they name, and where a call's arguments and results lie.
#include "parser.h"

enum { MAX_ARGUMENTS = 256 };

// (param0, param1): .param variables of the body, or _ for a result that nobody wants. Returns their number.
static int parse_arguments(struct parser *p, int32_t argument[MAX_ARGUMENTS]) {
    int count = 0;
    expect_sign(p, '(');
    while (!accept_sign(p, ')')) {
        struct token token = p->token;
        struct name *name = token.kind == TOKEN_WORD ? names_find(&p->names, token.start, token.length, false) : NULL;
        bool nothing = token_is(&token, "_");
        if (!nothing && (!name || name->kind != NAME_CALL_VARIABLE || p->function->call_variable[name->index].incoming))
            parser_unsupported(p, "a call's arguments and results must be .param variables of its own");
        if (count == MAX_ARGUMENTS)
            parser_fail(p, "a call with more than %d arguments", MAX_ARGUMENTS);
        argument[count++] = nothing ? -1 : name->index;
        advance(p);
        if (!accept_sign(p, ',') && !token_is_sign(&p->token, ')'))
            parser_fail(p, "expected ',' or ')', found '" TOKEN_FORMAT "'", TOKEN_TEXT(p->token));
    }
    return count;
}

// A call's variables lie where the function called looks for its parameters and leaves its results: the ones of the
// signature from first on.
static void place_arguments(struct parser *p, const struct signature *signature, int first, const int32_t *argument,
                            int count) {
    for (int i = 0; i < count; i++) {
        if (argument[i] < 0)
            continue;
        struct function_variable *variable = &p->function->call_variable[argument[i]];
        const struct ptx_parameter *parameter = &signature->parameter[first + i];
        if (variable->size != parameter->size)
            parser_unsupported(p, "'%s' has %zu bytes, the parameter that it is passed for %zu", variable->name,
                               variable->size, parameter->size);
        if (variable->offset >= 0 && variable->offset != (int32_t)parameter->offset)
            parser_unsupported(p, "'%s' is passed in two places", variable->name);
        variable->offset = (int32_t)parameter->offset;
    }
}

static const struct signature *parse_callee(struct parser *p, struct ptx_operand *callee) {
    struct token token = expect_name(p, "a function");
    struct name *name = find_register(p, token);
    if (name) {
        *callee = new_operand(PTX_OPERAND_REGISTER);
        callee->slot = name->index;
        callee->reg_type = p->function->register_type[name->index];
        if (ptx_type_size(callee->reg_type) != 8)
            parser_fail_at(p, token.line, "a function's address has 64 bits");
        return NULL;
    }
    name = names_find(&p->names, token.start, token.length, false);
    if (!name || name->kind != NAME_FUNCTION || p->module->function[name->index]->entry)
        parser_fail_at(p, token.line, "'" TOKEN_FORMAT "' is not a function", TOKEN_TEXT(token));
    *callee = new_operand(PTX_OPERAND_FUNCTION);
    callee->target = name->index;
    return &p->module->function[name->index]->signature;
}

static const struct signature *find_prototype(struct parser *p) {
    struct token token = expect_name(p, "a prototype");
    struct name *name = names_find(&p->names, token.start, token.length, true);
    if (!name || name->kind != NAME_PROTOTYPE)
        parser_unsupported(p, "'" TOKEN_FORMAT "' is not a .callprototype that stands before the call",
                           TOKEN_TEXT(token));
    return &p->function->prototype[name->index];
}

// call{.uni} {(results),} function {, (arguments)} {, prototype}
void parse_call(struct parser *p, struct ptx_instruction *call) {
    int32_t result[MAX_ARGUMENTS], argument[MAX_ARGUMENTS];
    int results = 0, arguments = 0;
    if (token_is_sign(&p->token, '(')) {
        results = parse_arguments(p, result);
        expect_sign(p, ',');
    }
    const struct signature *signature = parse_callee(p, &call->src[0]);
    call->nsrc = 1;
    bool more = accept_sign(p, ',');
    if (more && token_is_sign(&p->token, '(')) {
        arguments = parse_arguments(p, argument);
        more = accept_sign(p, ',');
    }
    if (more && !signature)
        signature = find_prototype(p);
    if (!signature)
        parser_unsupported(p, "a call through a register needs a prototype");
    if (arguments != signature->parameters || results != signature->results)
        parser_fail(p, "a call with %d arguments and %d results; the function has %d and %d", arguments, results,
                    signature->parameters, signature->results);
    place_arguments(p, signature, 0, argument, arguments);
    place_arguments(p, signature, arguments, result, results);
}

// label: .callprototype (.param .b32 _) _ (.param .b64 _) .noreturn;
void parse_prototype(struct parser *p, struct token label) {
    struct ptx_function *function = p->function;
    struct signature results = {0}, parameters = {0};
    if (token_is_sign(&p->token, '('))
        parse_signature(p, &results, true);
    expect_name(p, "_");
    if (token_is_sign(&p->token, '('))
        parse_signature(p, &parameters, false);
    accept_word(p, ".noreturn");
    expect_sign(p, ';');
    declare_name(p, label, NAME_PROTOTYPE)->index = function->prototypes;
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
        name[targets.count++] = expect_name(p, "a label");
    } while (accept_sign(p, ','));
    expect_sign(p, ';');
    targets.target = arena_allocate(p->arena, (size_t)targets.count * sizeof *targets.target);
    for (int i = 0; i < targets.count; i++) {
        targets.target[i] = new_operand(PTX_OPERAND_TARGET);
        use_label(p, name[i], &targets.target[i], 0);
    }
    declare_name(p, label, NAME_TARGETS)->index = function->targets;
    function->target =
        arena_grow(p->arena, function->target, function->targets, &function->target_capacity, sizeof *function->target);
    function->target[function->targets++] = targets;
}

// brx.idx{.uni} index, list
void parse_brx(struct parser *p, struct ptx_instruction *brx) {
    brx->src[0] = parse_source(p, PTX_U32);
    brx->nsrc = 2;
    check_operands(p, brx, "s:4");
    expect_sign(p, ',');
    struct token token = expect_name(p, "a list of branch targets");
    struct name *name = names_find(&p->names, token.start, token.length, true);
    if (!name || name->kind != NAME_TARGETS)
        parser_unsupported(p, "'" TOKEN_FORMAT "' is not a .branchtargets list that stands before the branch",
                           TOKEN_TEXT(token));
    brx->src[1] = new_operand(PTX_OPERAND_VECTOR);
    brx->src[1].count = p->function->target[name->index].count;
    brx->src[1].elements = p->function->target[name->index].target;
}
