// Parses one instruction: its opcode, its suffixes, and its operands in the order of its form.
#include "forms.h"
#include "parser.h"

#include <stdio.h>
#include <string.h>

enum { MAX_OPCODE_SUFFIXES = 8 }; // after the first word of an opcode

#define BIT(class) (UINT64_C(1) << (class))
// Copies have a destination and a source space.
static bool is_copy(enum ptx_opcode opcode) {
    return opcode == PTX_OP_CP_ASYNC || opcode == PTX_OP_CP_ASYNC_BULK || opcode == PTX_OP_CP_ASYNC_BULK_TENSOR ||
           opcode == PTX_OP_CP_REDUCE_ASYNC_BULK || opcode == PTX_OP_CP_REDUCE_ASYNC_BULK_TENSOR ||
           opcode == PTX_OP_TENSORMAP_CP_FENCEPROXY;
}

static const uint64_t MAY_REPEAT = BIT(TYPES) | BIT(SUB_BYTE_TYPES) | BIT(CACHE) | BIT(SPACE) | BIT(ORDER) |
                                   BIT(SCOPE) | BIT(LAYOUT) | BIT(FRAGMENT_LAYOUT) | BIT(BARRIER) | BIT(XORSIGN) |
                                   BIT(FENCE_SEMANTICS);

// State of an instruction while its suffixes are parsed.
struct suffix_parse {
    const struct form *form;
    uint64_t classes; // suffix classes
    int types, spaces;
};

// Aliases of opcodes. The state space of a prefetched tensor map makes no difference.
static const struct {
    const char *text;
    enum ptx_opcode opcode;
} OPCODE_ALIASES[] = {
    {"barrier", PTX_OP_BAR},
    {"membar.proxy", PTX_OP_FENCE_PROXY},
    {"prefetch.const.tensormap", PTX_OP_PREFETCH_TENSORMAP},
    {"prefetch.param.tensormap", PTX_OP_PREFETCH_TENSORMAP},
};

void init_opcode_tables(struct parser *p) {
    symbols_init(&p->opcodes, p->arena);
    symbols_init(&p->suffixes, p->arena);
    for (int i = 0; i < PTX_OPCODES; i++) {
        const char *text = ptx_opcode_name(i);
        symbols_add(&p->opcodes, text, strlen(text), SYMBOL_KEYWORD, 0)->index = i;
    }
    for (size_t i = 0; i < sizeof OPCODE_ALIASES / sizeof *OPCODE_ALIASES; i++)
        symbols_add(&p->opcodes, OPCODE_ALIASES[i].text, strlen(OPCODE_ALIASES[i].text), SYMBOL_KEYWORD, 0)->index =
            (int)OPCODE_ALIASES[i].opcode;
    for (int i = 0; i < PTX_SUFFIX_COUNT; i++) { // of equal texts the first one is found
        struct symbol *symbol =
            symbols_add(&p->suffixes, PTX_SUFFIXES[i].text, strlen(PTX_SUFFIXES[i].text), SYMBOL_KEYWORD, 0);
        if (symbol)
            symbol->index = i;
    }
}

// Finds the longest opcode that the mnemonic starts with: cp.async, not cp. *words is the number of suffixes in it.
static enum ptx_opcode find_opcode(struct parser *p, const struct token *opcode, const struct token *suffix,
                                   int suffixes, int *words) {
    for (*words = suffixes; *words >= 0; --*words) {
        const struct token *last = *words ? &suffix[*words - 1] : opcode;
        size_t length = (size_t)(last->start + last->length - opcode->start);
        struct symbol *symbol = symbols_find(&p->opcodes, opcode->start, length, false);
        if (symbol)
            return (enum ptx_opcode)symbol->index;
    }
    parser_unsupported(p, "unsupported instruction '" TOKEN_FORMAT "'", TOKEN_TEXT(*opcode));
}

static void set_field(struct ptx_instruction *instruction, struct suffix_parse *state, const struct suffix *suffix) {
    switch (suffix->field) {
    case NO_FIELD:
        break;
    case FLAG:
        instruction->flags |= (uint32_t)suffix->value;
        break;
    case TYPE_FIELD:
        if (state->types < 4)
            instruction->mma_type[state->types] = (enum ptx_type)suffix->value;
        state->types++;
        break;
    case ROUNDING:
        instruction->rounding = (enum ptx_rounding)suffix->value;
        break;
    case COMPARISON:
        instruction->compare = (enum ptx_compare)suffix->value;
        break;
    case VARIANT:
        instruction->variant = (enum ptx_variant)suffix->value;
        break;
    case COMPLETION_FIELD:
        instruction->completion = (enum ptx_completion)suffix->value;
        break;
    case CLUSTER_SPACE_FIELD:
        instruction->in_cluster = true;
        // fall through
    case SPACE_FIELD:
        if (state->spaces++ == 0)
            instruction->space = (enum ptx_space)suffix->value;
        else
            instruction->space2 = (enum ptx_space)suffix->value;
        break;
    case VECTOR_FIELD:
        instruction->vector = suffix->value;
        break;
    }
}

// .m16n8k16 or .m8n8
static bool parse_shape(const struct token *token, int shape[3]) {
    char text[16], end;
    if (token->length >= sizeof text)
        return false;
    memcpy(text, token->start, token->length);
    text[token->length] = 0;
    return sscanf(text, ".m%3dn%3dk%3d%c", &shape[0], &shape[1], &shape[2], &end) == 3 ||
           (shape[2] = 0, sscanf(text, ".m%3dn%3d%c", &shape[0], &shape[1], &end) == 2);
}

static const struct suffix *find_suffix(struct parser *p, const struct suffix_parse *state, const struct token *token) {
    struct symbol *symbol = symbols_find(&p->suffixes, token->start, token->length, false);
    for (int i = symbol ? symbol->index : PTX_SUFFIX_COUNT; i < PTX_SUFFIX_COUNT; i++) {
        if (!token_is(token, PTX_SUFFIXES[i].text))
            break;
        if (state->form->allowed & BIT(PTX_SUFFIXES[i].class))
            return &PTX_SUFFIXES[i];
    }
    return NULL;
}

static void apply_suffix(struct parser *p, struct ptx_instruction *instruction, struct suffix_parse *state,
                         const struct token *token) {
    const char *opcode = ptx_opcode_name(instruction->opcode);
    const struct suffix *suffix = find_suffix(p, state, token);
    enum suffix_class class = suffix ? suffix->class : SHAPE;
    if (!suffix && !(state->form->allowed & BIT(SHAPE) && parse_shape(token, instruction->shape)))
        parser_unsupported(p, "unsupported suffix '" TOKEN_FORMAT "' of '%s'", TOKEN_TEXT(*token), opcode);
    bool repeated = state->classes & BIT(class);
    if (repeated && !(MAY_REPEAT & BIT(class)))
        parser_unsupported(p, "suffix '" TOKEN_FORMAT "' conflicts with an earlier suffix", TOKEN_TEXT(*token));
    if (class == LAYOUT && repeated != (suffix->value == PTX_COL_MAJOR))
        parser_unsupported(p, "unsupported layout of '%s': only .row.col is supported", opcode);
    state->classes |= BIT(class);
    if (suffix)
        set_field(instruction, state, suffix);
}

static void check_suffixes(struct parser *p, struct ptx_instruction *instruction, const struct suffix_parse *state) {
    const struct form *form = state->form;
    const char *opcode = ptx_opcode_name(instruction->opcode);
    if (state->types < form->min_types || state->types > form->max_types)
        parser_unsupported(p, "'%s' has %d type suffixes; expected %d", opcode, state->types, form->min_types);
    if (form->required & ~state->classes)
        parser_unsupported(p, "'%s' lacks a required suffix", opcode);
    if (state->spaces > (is_copy(instruction->opcode) ? 2 : 1))
        parser_unsupported(p, "'%s' has too many state-space suffixes", opcode);
}

// Opcodes with types beyond those of a result and a source.
static bool has_more_than_two_types(enum ptx_opcode opcode) {
    return opcode == PTX_OP_MMA || is_sparse_mma(opcode) || opcode == PTX_OP_WMMA_MMA ||
           opcode == PTX_OP_WGMMA_MMA_ASYNC || opcode == PTX_OP_CVT_PACK || is_video(opcode);
}

// Moves a 128-bit element as two 64-bit halves, which form its register.
static void split_b128(struct parser *p, struct ptx_instruction *instruction, const struct suffix_parse *state) {
    enum ptx_opcode opcode = instruction->opcode;
    bool update = opcode == PTX_OP_ATOM && (instruction->variant == PTX_V_EXCH || instruction->variant == PTX_V_CAS);
    bool known = opcode == PTX_OP_MOV || opcode == PTX_OP_LD || opcode == PTX_OP_ST || update;
    if (!known || state->classes & BIT(VECTOR))
        parser_unsupported(p, "'%s' does not support 128-bit elements", ptx_opcode_name(opcode));
    if (opcode != PTX_OP_MOV) {
        instruction->type = instruction->source_type = PTX_B64;
        instruction->vector = 2;
    }
}

static void parse_suffixes(struct parser *p, struct ptx_instruction *instruction, struct token opcode) {
    struct token suffix[MAX_OPCODE_SUFFIXES];
    int suffixes = 0, words;
    for (; p->token.kind == TOKEN_SUFFIX && suffixes < MAX_OPCODE_SUFFIXES; advance(p))
        suffix[suffixes++] = p->token;
    instruction->opcode = find_opcode(p, &opcode, suffix, suffixes, &words);
    struct suffix_parse state = {.form = &PTX_FORMS[instruction->opcode]};
    for (int i = words; i < suffixes; i++)
        apply_suffix(p, instruction, &state, &suffix[i]);
    for (; p->token.kind == TOKEN_SUFFIX; advance(p))
        apply_suffix(p, instruction, &state, &p->token);
    check_suffixes(p, instruction, &state);
    if (token_is(&opcode, "bar"))
        instruction->flags |= PTX_ALIGNED;
    instruction->type = instruction->mma_type[0];
    instruction->source_type = state.types > 1 ? instruction->mma_type[1] : instruction->mma_type[0];
    if (!has_more_than_two_types(instruction->opcode))
        memset(instruction->mma_type, 0, sizeof instruction->mma_type);
    if (instruction->type == PTX_B128 || instruction->source_type == PTX_B128)
        split_b128(p, instruction, &state);
}

// Converts a comparison of bits to one of unsigned integers: the parser maps lo, ls, hi and hs to lt, le, gt and ge,
// and eq and ne are the same for both.
static void use_unsigned_compare(struct ptx_instruction *instruction) {
    enum ptx_type *type = instruction->opcode == PTX_OP_SET ? &instruction->source_type : &instruction->type;
    switch (*type) {
    case PTX_B16:
        *type = PTX_U16;
        break;
    case PTX_B32:
        *type = PTX_U32;
        break;
    case PTX_B64:
        *type = PTX_U64;
        break;
    default:
        break;
    }
}

static enum ptx_type operand_type(const struct ptx_instruction *instruction, char code) {
    switch (code) {
    case 'u':
    case 'L':
        return instruction->source_type;
    case 'p':
        return PTX_PRED;
    case '4':
        return PTX_B32;
    case '8':
    case '*':
        return PTX_B64;
    default:
        return instruction->type;
    }
}

// d|p: the second destination is a predicate.
static void parse_destinations(struct parser *p, struct ptx_instruction *instruction, bool pair) {
    instruction->dst[0] = parse_destination(p);
    if (is_video(instruction->opcode))
        parse_video_destination(p, instruction);
    if (!pair && token_is_punctuator(&p->token, '|'))
        parser_unsupported(p, "'%s' does not support a second destination", ptx_opcode_name(instruction->opcode));
    if (pair && accept_punctuator(p, '|')) {
        instruction->dst[1] = parse_destination(p);
        if (instruction->opcode != PTX_OP_SETP)
            instruction->flags |= PTX_SHUFFLE_PRED;
    }
}

static void parse_operands(struct parser *p, struct ptx_instruction *instruction, const char *operands) {
    bool first = true;
    for (const char *word = operands; *word; word += strcspn(word, " "), word += *word == ' ') {
        bool optional = *word == '?';
        word += optional;
        char code = word[1] == ':' ? word[2] : 't';
        if (optional && !token_is_punctuator(&p->token, ','))
            return;
        if (!first)
            expect_punctuator(p, ',');
        first = false;
        if (*word == 'A')
            instruction->flags |= PTX_READS_DESTINATION;
        if (strchr("dDPA", *word))
            parse_destinations(p, instruction, *word == 'P');
        else if (is_video(instruction->opcode))
            parse_video_source(p, instruction);
        else if (*word == 'm' || *word == 'M')
            instruction->src[instruction->nsrc++] = parse_address(p, instruction->space);
        else
            instruction->src[instruction->nsrc++] = parse_source(p, operand_type(instruction, code));
    }
}

// The operand after b is the cache policy, except of .cas.
static void move_atom_cache_policy(struct ptx_instruction *atom) {
    if (atom->nsrc == 3) {
        atom->src[3] = atom->src[2];
        atom->src[2] = (struct ptx_operand){.kind = PTX_OPERAND_NONE};
        atom->nsrc = 4;
    }
}

// bar.sync a {, b}; bar.arrive a, b; bar.red.popc.u32 d, a {, b}, {!}c
static void parse_bar(struct parser *p, struct ptx_instruction *bar) {
    bool reduces = bar->variant != PTX_V_SYNC && bar->variant != PTX_V_ARRIVE;
    if (bar->variant == PTX_VARIANT_NONE || bar->flags & PTX_CLUSTER_SCOPE)
        parser_unsupported(p, "unsupported variant of barrier");
    if (reduces) {
        bar->dst[0] = parse_destination(p);
        expect_punctuator(p, ',');
    }
    bar->src[0] = parse_source(p, PTX_B32);
    bar->nsrc = 1;
    while (bar->nsrc < 3 && accept_punctuator(p, ','))
        bar->src[bar->nsrc++] = parse_source(p, PTX_B32);
    if (reduces && bar->nsrc == 2) { // the optional thread count is missing
        bar->src[2] = bar->src[1];
        bar->src[1] = (struct ptx_operand){0};
        bar->nsrc = 3;
    }
    int expected = reduces ? 3 : bar->variant == PTX_V_ARRIVE ? 2 : bar->nsrc == 2 ? 2 : 1;
    if (bar->nsrc != expected)
        parser_unsupported(p, "unsupported number of barrier operands: %d", bar->nsrc);
    bool to_predicate = bar->variant == PTX_V_RED_AND || bar->variant == PTX_V_RED_OR;
    check_operands(p, bar, !reduces ? "s:4 ?s:4" : to_predicate ? "d:p s:4 ?s:4 s:p" : "d:4 s:4 ?s:4 s:p");
}

// 1 or -1
static bool parse_negation(struct parser *p) {
    expect_punctuator(p, ',');
    struct ptx_operand factor = parse_source(p, PTX_B32);
    if (factor.kind != PTX_OPERAND_IMMEDIATE || ((int32_t)factor.bits != 1 && (int32_t)factor.bits != -1))
        parser_unsupported(p, "imm-scale of wgmma must be 1 or -1");
    return (int32_t)factor.bits == -1;
}

// wgmma.mma_async{.sp} {d, ...}, a or {a, ...}, b, {metadata, selector,} scale-d, imm-scale-a, imm-scale-b {,
// imm-trans-a} {, imm-trans-b}. src[3] is whether the product is negated, src[4] the metadata, src[5] and src[6] the
// transpose immediates; an omitted one is NONE.
static void parse_wgmma(struct parser *p, struct ptx_instruction *mma) {
    mma->flags |= PTX_READS_DESTINATION;
    mma->dst[0] = parse_destination(p);
    for (int i = 0; i < 2; i++) {
        expect_punctuator(p, ',');
        mma->src[i] = parse_source(p, PTX_B64);
    }
    if (mma->flags & PTX_SPARSE) {
        expect_punctuator(p, ',');
        mma->src[4] = parse_source(p, PTX_B32);
        expect_punctuator(p, ',');
        struct ptx_operand selector = parse_source(p, PTX_B32);
        if (mma->src[4].kind != PTX_OPERAND_REGISTER || selector.kind != PTX_OPERAND_IMMEDIATE || selector.bits > 1)
            parser_unsupported(p, "sparse wgmma needs a metadata register and a sparsity selector of 0 or 1");
        mma->vector = (int)selector.bits;
    }
    expect_punctuator(p, ',');
    mma->src[2] = parse_source(p, PTX_PRED);
    if (mma->mma_type[0] != PTX_S32) { // integer and .b1 types have no scale immediates
        bool a_negated = parse_negation(p);
        mma->src[3] = new_operand(PTX_OPERAND_IMMEDIATE);
        mma->src[3].bits = a_negated != parse_negation(p);
    }
    bool from_registers = mma->src[0].kind == PTX_OPERAND_VECTOR;
    if (accept_punctuator(p, ',')) {
        mma->src[from_registers ? 6 : 5] = parse_source(p, PTX_B32);
        if (!from_registers) {
            expect_punctuator(p, ',');
            mma->src[6] = parse_source(p, PTX_B32);
        }
    }
    mma->nsrc = 7;
    check_operands(p, mma, from_registers ? "A:4 S:4 s:8 s:p s:4 s:4 s:4 s:4" : "A:4 s:8 s:8 s:p s:4 s:4 s:4 s:4");
}

static void parse_branch(struct parser *p, struct ptx_instruction *branch) {
    branch->src[0] = new_operand(PTX_OPERAND_TARGET);
    branch->nsrc = 1;
    add_label_reference(p, expect_identifier(p, "a label"), NULL, p->function->instructions - 1);
}

static void parse_custom_operands(struct parser *p, struct ptx_instruction *instruction) {
    switch (instruction->opcode) {
    case PTX_OP_BRA:
        parse_branch(p, instruction);
        break;
    case PTX_OP_BRX:
        parse_brx(p, instruction);
        break;
    case PTX_OP_CALL:
        parse_call(p, instruction);
        break;
    case PTX_OP_BAR:
        parse_bar(p, instruction);
        break;
    case PTX_OP_CP_ASYNC_BULK:
    case PTX_OP_CP_ASYNC_BULK_TENSOR:
    case PTX_OP_CP_REDUCE_ASYNC_BULK:
    case PTX_OP_CP_REDUCE_ASYNC_BULK_TENSOR:
        parse_bulk(p, instruction);
        break;
    case PTX_OP_CP_ASYNC_BULK_PREFETCH_TENSOR:
        parse_prefetch(p, instruction);
        break;
    case PTX_OP_WGMMA_MMA_ASYNC:
        parse_wgmma(p, instruction);
        break;
    case PTX_OP_FENCE_PROXY_TENSORMAP:
        parse_tensormap_fence(p, instruction);
        break;
    case PTX_OP_TENSORMAP_CP_FENCEPROXY:
        parse_tensormap_copy(p, instruction);
        break;
    case PTX_OP_TENSORMAP_REPLACE:
        parse_tensormap_replace(p, instruction);
        break;
    default:
        parse_cp_async(p, instruction);
        break;
    }
}

// Parses an instruction after its opcode, up to the semicolon.
void parse_instruction(struct parser *p, struct ptx_instruction *instruction, struct token opcode) {
    parse_suffixes(p, instruction, opcode);
    const char *operands = PTX_FORMS[instruction->opcode].operands;
    if (*operands == 'x') {
        parse_custom_operands(p, instruction);
    } else {
        parse_operands(p, instruction, operands);
        if (instruction->opcode == PTX_OP_ATOM && instruction->variant != PTX_V_CAS)
            move_atom_cache_policy(instruction);
        check_operands(p, instruction, operands);
    }
    if (instruction->opcode == PTX_OP_SETP || instruction->opcode == PTX_OP_SET)
        use_unsigned_compare(instruction);
    if (!token_is_punctuator(&p->token, ';'))
        parser_unsupported(p, "unsupported operands of '%s'", ptx_opcode_name(instruction->opcode));
}
