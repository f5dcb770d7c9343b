// One instruction: which opcode it is, what its suffixes say, and its operands in the order that its form gives.
#include "forms.h"
#include "parser.h"

#include <stdio.h>
#include <string.h>

enum { MOST_WORDS = 8 }; // of an opcode, after its first

#define BIT(class) (UINT64_C(1) << (class))
// Copies name the space that they write to and the one that they read.
static bool is_copy(enum ptx_opcode opcode) {
    return opcode == PTX_OP_CP_ASYNC || opcode == PTX_OP_CP_ASYNC_BULK || opcode == PTX_OP_CP_ASYNC_BULK_TENSOR ||
           opcode == PTX_OP_CP_REDUCE_ASYNC_BULK || opcode == PTX_OP_CP_REDUCE_ASYNC_BULK_TENSOR ||
           opcode == PTX_OP_TENSORMAP_CP_FENCEPROXY;
}

static const uint64_t MAY_REPEAT = BIT(TYPES) | BIT(NARROW_TYPES) | BIT(CACHE) | BIT(SPACE) | BIT(ORDER) | BIT(SCOPE) |
                                   BIT(LAYOUT) | BIT(LINES) | BIT(BARRIER) | BIT(XORSIGN) | BIT(FENCING);

// What is known of an instruction while its suffixes are read.
struct suffix_state {
    const struct form *form;
    uint64_t seen; // classes
    int types, spaces;
};

// Other words for an opcode: in which space a tensor map lies changes nothing.
static const struct {
    const char *text;
    enum ptx_opcode opcode;
} OTHER_NAMES[] = {
    {"barrier", PTX_OP_BAR},
    {"membar.proxy", PTX_OP_FENCE_PROXY},
    {"prefetch.const.tensormap", PTX_OP_PREFETCH_TENSORMAP},
    {"prefetch.param.tensormap", PTX_OP_PREFETCH_TENSORMAP},
};

void start_instructions(struct parser *p) {
    names_start(&p->opcodes, p->arena);
    names_start(&p->suffixes, p->arena);
    for (int i = 0; i < PTX_OPCODES; i++) {
        const char *text = ptx_opcode_name(i);
        names_add(&p->opcodes, text, strlen(text), NAME_KEYWORD, 0)->index = i;
    }
    for (size_t i = 0; i < sizeof OTHER_NAMES / sizeof *OTHER_NAMES; i++)
        names_add(&p->opcodes, OTHER_NAMES[i].text, strlen(OTHER_NAMES[i].text), NAME_KEYWORD, 0)->index =
            (int)OTHER_NAMES[i].opcode;
    for (int i = 0; i < PTX_SUFFIX_COUNT; i++) { // of equal words the first one is found
        struct name *name =
            names_add(&p->suffixes, PTX_SUFFIXES[i].text, strlen(PTX_SUFFIXES[i].text), NAME_KEYWORD, 0);
        if (name)
            name->index = i;
    }
}

// The opcode with the most words that the mnemonic begins with: cp.async, not cp. *words is how many suffixes it took.
static enum ptx_opcode find_opcode(struct parser *p, const struct token *opcode, const struct token *suffix,
                                   int suffixes, int *words) {
    for (*words = suffixes; *words >= 0; --*words) {
        const struct token *last = *words ? &suffix[*words - 1] : opcode;
        size_t length = (size_t)(last->start + last->length - opcode->start);
        struct name *name = names_find(&p->opcodes, opcode->start, length, false);
        if (name)
            return (enum ptx_opcode)name->index;
    }
    parser_unsupported(p, "the simulator does not know the instruction '" TOKEN_FORMAT "'", TOKEN_TEXT(*opcode));
}

static void set_field(struct ptx_instruction *instruction, struct suffix_state *state, const struct suffix *suffix) {
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

static const struct suffix *find_suffix(struct parser *p, const struct suffix_state *state, const struct token *token) {
    struct name *name = names_find(&p->suffixes, token->start, token->length, false);
    for (int i = name ? name->index : PTX_SUFFIX_COUNT; i < PTX_SUFFIX_COUNT; i++) {
        if (!token_is(token, PTX_SUFFIXES[i].text))
            break;
        if (state->form->allowed & BIT(PTX_SUFFIXES[i].class))
            return &PTX_SUFFIXES[i];
    }
    return NULL;
}

static void apply_suffix(struct parser *p, struct ptx_instruction *instruction, struct suffix_state *state,
                         const struct token *token) {
    const char *opcode = ptx_opcode_name(instruction->opcode);
    const struct suffix *suffix = find_suffix(p, state, token);
    enum suffix_class class = suffix ? suffix->class : SHAPE;
    if (!suffix && !(state->form->allowed & BIT(SHAPE) && parse_shape(token, instruction->shape)))
        parser_unsupported(p, "the simulator does not know '" TOKEN_FORMAT "' after '%s'", TOKEN_TEXT(*token), opcode);
    bool again = state->seen & BIT(class);
    if (again && !(MAY_REPEAT & BIT(class)))
        parser_unsupported(p, "'" TOKEN_FORMAT "' contradicts another suffix", TOKEN_TEXT(*token));
    if (class == LAYOUT && again != (suffix->value == PTX_ROW_COL))
        parser_unsupported(p, "the only layout of '%s' that the simulator knows is .row.col", opcode);
    state->seen |= BIT(class);
    if (suffix)
        set_field(instruction, state, suffix);
}

static void check_suffixes(struct parser *p, struct ptx_instruction *instruction, const struct suffix_state *state) {
    const struct form *form = state->form;
    const char *opcode = ptx_opcode_name(instruction->opcode);
    if (state->types < form->least_types || state->types > form->most_types)
        parser_unsupported(p, "'%s' with %d types; it takes %d", opcode, state->types, form->least_types);
    if (form->needed & ~state->seen)
        parser_unsupported(p, "'%s' lacks a suffix", opcode);
    if (state->spaces > (is_copy(instruction->opcode) ? 2 : 1))
        parser_unsupported(p, "'%s' with too many spaces", opcode);
}

// Those whose types are more than a result's and a source's.
static bool keeps_types(enum ptx_opcode opcode) {
    return opcode == PTX_OP_MMA || is_sparse_mma(opcode) || opcode == PTX_OP_WMMA_MMA ||
           opcode == PTX_OP_WGMMA_MMA_ASYNC || opcode == PTX_OP_CVT_PACK || is_video(opcode);
}

// An element of 128 bits is moved as the two halves that its register is made of.
static void halve_type(struct parser *p, struct ptx_instruction *instruction, const struct suffix_state *state) {
    enum ptx_opcode opcode = instruction->opcode;
    bool update = opcode == PTX_OP_ATOM && (instruction->variant == PTX_V_EXCH || instruction->variant == PTX_V_CAS);
    bool known = opcode == PTX_OP_MOV || opcode == PTX_OP_LD || opcode == PTX_OP_ST || update;
    if (!known || state->seen & BIT(VECTOR))
        parser_unsupported(p, "'%s' of elements of 128 bits", ptx_opcode_name(opcode));
    if (opcode != PTX_OP_MOV) {
        instruction->type = instruction->source_type = PTX_B64;
        instruction->vector = 2;
    }
}

static void parse_suffixes(struct parser *p, struct ptx_instruction *instruction, struct token opcode) {
    struct token suffix[MOST_WORDS];
    int suffixes = 0, words;
    for (; p->token.kind == TOKEN_SUFFIX && suffixes < MOST_WORDS; advance(p))
        suffix[suffixes++] = p->token;
    instruction->opcode = find_opcode(p, &opcode, suffix, suffixes, &words);
    struct suffix_state state = {.form = &PTX_FORMS[instruction->opcode]};
    for (int i = words; i < suffixes; i++)
        apply_suffix(p, instruction, &state, &suffix[i]);
    for (; p->token.kind == TOKEN_SUFFIX; advance(p))
        apply_suffix(p, instruction, &state, &p->token);
    check_suffixes(p, instruction, &state);
    if (token_is(&opcode, "bar"))
        instruction->flags |= PTX_ALIGNED;
    instruction->type = instruction->mma_type[0];
    instruction->source_type = state.types > 1 ? instruction->mma_type[1] : instruction->mma_type[0];
    if (!keeps_types(instruction->opcode))
        memset(instruction->mma_type, 0, sizeof instruction->mma_type);
    if (instruction->type == PTX_B128 || instruction->source_type == PTX_B128)
        halve_type(p, instruction, &state);
}

// Bits are compared as unsigned integers: lo, ls, hi and hs (now lt, le, gt, ge) said so, and eq and ne do not care.
static void unsigned_compare(struct ptx_instruction *instruction) {
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
    if (!pair && token_is_sign(&p->token, '|'))
        parser_unsupported(p, "'%s' with a second result", ptx_opcode_name(instruction->opcode));
    if (pair && accept_sign(p, '|')) {
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
        if (optional && !token_is_sign(&p->token, ','))
            return;
        if (!first)
            expect_sign(p, ',');
        first = false;
        if (*word == 'A')
            instruction->flags |= PTX_READS_RESULT;
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

// Of all but .cas what stands behind b is the policy.
static void policy_of_atom(struct ptx_instruction *atom) {
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
        parser_unsupported(p, "a barrier of this kind is not known");
    if (reduces) {
        bar->dst[0] = parse_destination(p);
        expect_sign(p, ',');
    }
    bar->src[0] = parse_source(p, PTX_B32);
    bar->nsrc = 1;
    while (bar->nsrc < 3 && accept_sign(p, ','))
        bar->src[bar->nsrc++] = parse_source(p, PTX_B32);
    if (reduces && bar->nsrc == 2) { // the thread count was left out
        bar->src[2] = bar->src[1];
        bar->src[1] = (struct ptx_operand){0};
        bar->nsrc = 3;
    }
    int expected = reduces ? 3 : bar->variant == PTX_V_ARRIVE ? 2 : bar->nsrc == 2 ? 2 : 1;
    if (bar->nsrc != expected)
        parser_unsupported(p, "a barrier with %d operands", bar->nsrc);
    bool to_predicate = bar->variant == PTX_V_RED_AND || bar->variant == PTX_V_RED_OR;
    check_operands(p, bar, !reduces ? "s:4 ?s:4" : to_predicate ? "d:p s:4 ?s:4 s:p" : "d:4 s:4 ?s:4 s:p");
}

// 1 or -1
static bool parse_negation(struct parser *p) {
    expect_sign(p, ',');
    struct ptx_operand factor = parse_source(p, PTX_B32);
    if (factor.kind != PTX_OPERAND_IMMEDIATE || ((int32_t)factor.bits != 1 && (int32_t)factor.bits != -1))
        parser_unsupported(p, "a wgmma whose factor is neither 1 nor -1");
    return (int32_t)factor.bits == -1;
}

// wgmma.mma_async{.sp} {d, ...}, a or {a, ...}, b, {metadata, selector,} scale-d, negate a, negate b {, transpose a}
// {, transpose b}. src[3] is whether the product is negated, src[4] the metadata, src[5] and src[6] are the immediates
// that transpose; one that the text leaves out is NONE.
static void parse_wgmma(struct parser *p, struct ptx_instruction *mma) {
    mma->flags |= PTX_READS_RESULT;
    mma->dst[0] = parse_destination(p);
    for (int i = 0; i < 2; i++) {
        expect_sign(p, ',');
        mma->src[i] = parse_source(p, PTX_B64);
    }
    if (mma->flags & PTX_SPARSE) {
        expect_sign(p, ',');
        mma->src[4] = parse_source(p, PTX_B32);
        expect_sign(p, ',');
        struct ptx_operand selector = parse_source(p, PTX_B32);
        if (mma->src[4].kind != PTX_OPERAND_REGISTER || selector.kind != PTX_OPERAND_IMMEDIATE || selector.bits > 1)
            parser_unsupported(p, "a wgmma without a register of metadata and a selector that is 0 or 1");
        mma->vector = (int)selector.bits;
    }
    expect_sign(p, ',');
    mma->src[2] = parse_source(p, PTX_PRED);
    if (mma->mma_type[0] != PTX_S32) { // those of integers and bits have no immediates
        bool a_negated = parse_negation(p);
        mma->src[3] = new_operand(PTX_OPERAND_IMMEDIATE);
        mma->src[3].bits = a_negated != parse_negation(p);
    }
    bool from_registers = mma->src[0].kind == PTX_OPERAND_VECTOR;
    if (accept_sign(p, ',')) {
        mma->src[from_registers ? 6 : 5] = parse_source(p, PTX_B32);
        if (!from_registers) {
            expect_sign(p, ',');
            mma->src[6] = parse_source(p, PTX_B32);
        }
    }
    mma->nsrc = 7;
    check_operands(p, mma, from_registers ? "A:4 S:4 s:8 s:p s:4 s:4 s:4 s:4" : "A:4 s:8 s:8 s:p s:4 s:4 s:4 s:4");
}

static void parse_branch(struct parser *p, struct ptx_instruction *branch) {
    branch->src[0] = new_operand(PTX_OPERAND_TARGET);
    branch->nsrc = 1;
    use_label(p, expect_name(p, "a label"), NULL, p->function->instructions - 1);
}

static void parse_special_form(struct parser *p, struct ptx_instruction *instruction) {
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
        parse_map_fence(p, instruction);
        break;
    case PTX_OP_TENSORMAP_CP_FENCEPROXY:
        parse_map_copy(p, instruction);
        break;
    case PTX_OP_TENSORMAP_REPLACE:
        parse_map_replace(p, instruction);
        break;
    default:
        parse_cp_async(p, instruction);
        break;
    }
}

// From the opcode to before the semicolon.
void parse_instruction(struct parser *p, struct ptx_instruction *instruction, struct token opcode) {
    parse_suffixes(p, instruction, opcode);
    const char *operands = PTX_FORMS[instruction->opcode].operands;
    if (*operands == 'x') {
        parse_special_form(p, instruction);
    } else {
        parse_operands(p, instruction, operands);
        if (instruction->opcode == PTX_OP_ATOM && instruction->variant != PTX_V_CAS)
            policy_of_atom(instruction);
        check_operands(p, instruction, operands);
    }
    if (instruction->opcode == PTX_OP_SETP || instruction->opcode == PTX_OP_SET)
        unsigned_compare(instruction);
    if (!token_is_sign(&p->token, ';'))
        parser_unsupported(p, "'%s' with operands that the simulator does not know",
                           ptx_opcode_name(instruction->opcode));
}
