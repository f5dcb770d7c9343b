// Operands of video instructions. Their selectors become ptx_operand.selector:
//   %r1.b2, %r1.h0   of vadd and other scalar ones: 1 to 4 for a byte, 5 or 6 for a halfword, 0 for the word
//   %r1.b7530        of vadd4 and other SIMD ones: a digit of 4 bits for each byte of the operand, an index into the
//   eight bytes of
//                    a and b, as in prmt
//   %r1.h30          of vadd2 and others: an index into the four halfwords, expanded to bytes
//   %r1.b20, %r1.h1  of the result of vadd4 and vadd2: a mask of the written bytes or halfwords
//   -%r1             of vmad
#include "parser.h"

#include <string.h>

enum { FOUR_BYTES = 4, TWO_HALVES = 2, SCALAR = 1 };

bool is_video(enum ptx_opcode opcode) {
    return opcode >= PTX_OP_VABSDIFF && opcode <= PTX_OP_VSUB4;
}

// The number of SIMD lanes within a word.
static int simd_lanes(enum ptx_opcode opcode) {
    const char *name = ptx_opcode_name(opcode), last = name[strlen(name) - 1];
    return last == '4' ? FOUR_BYTES : last == '2' ? TWO_HALVES : SCALAR;
}

_Noreturn static void fail_unknown_selector(struct parser *p, const struct ptx_instruction *instruction) {
    parser_unsupported(p, "unsupported selector '" TOKEN_FORMAT "' on an operand of '%s'", TOKEN_TEXT(p->token),
                       ptx_opcode_name(instruction->opcode));
}

// Reads the digits after .b or .h, the last one first. Returns their number; 0: not a selector, or a digit is not below
// `below`.
static int read_digits(const struct token *token, char letter, int below, int digit[4]) {
    int count = (int)token->length - 2;
    if (token->kind != TOKEN_SUFFIX || count < 1 || count > 4 || token->start[1] != letter)
        return 0;
    for (int i = 0; i < count; i++) {
        digit[i] = token->start[token->length - 1 - (size_t)i] - '0';
        if (digit[i] < 0 || digit[i] >= below)
            return 0;
    }
    return count;
}

static void parse_selector(struct parser *p, const struct ptx_instruction *instruction, struct ptx_operand *operand) {
    int digit[4];
    if (read_digits(&p->token, 'b', 4, digit) == 1)
        operand->selector = (uint16_t)(1 + digit[0]);
    else if (read_digits(&p->token, 'h', 2, digit) == 1)
        operand->selector = (uint16_t)(5 + digit[0]);
    else
        fail_unknown_selector(p, instruction);
    advance(p);
}

static void parse_simd_selector(struct parser *p, const struct ptx_instruction *instruction,
                                struct ptx_operand *operand) {
    int selector = simd_lanes(instruction->opcode), bytes = 4 / selector, digit[4];
    if (read_digits(&p->token, selector == FOUR_BYTES ? 'b' : 'h', 2 * selector, digit) != selector)
        fail_unknown_selector(p, instruction);
    operand->selector = 0;
    for (int i = 0; i < 4; i++)
        operand->selector |= (uint16_t)((digit[i / bytes] * bytes + i % bytes) << 4 * i);
    advance(p);
}

static void parse_write_mask(struct parser *p, const struct ptx_instruction *instruction, struct ptx_operand *operand) {
    int selector = simd_lanes(instruction->opcode), digit[4];
    int count = read_digits(&p->token, selector == FOUR_BYTES ? 'b' : 'h', selector, digit);
    operand->selector = 0;
    for (int i = 0; i < count; i++) {
        if (i > 0 && digit[i] <= digit[i - 1])
            fail_unknown_selector(p, instruction);
        operand->selector |= (uint16_t)(1 << digit[i]);
    }
    if (count == 0)
        fail_unknown_selector(p, instruction);
    advance(p);
}

void parse_video_destination(struct parser *p, struct ptx_instruction *instruction) {
    int selector = simd_lanes(instruction->opcode);
    struct ptx_operand *result = &instruction->dst[0];
    result->selector = selector == SCALAR ? 0 : (uint16_t)((1 << selector) - 1);
    if (p->token.kind != TOKEN_SUFFIX)
        return;
    if (result->kind != PTX_OPERAND_REGISTER || instruction->opcode == PTX_OP_VMAD)
        fail_unknown_selector(p, instruction);
    if (selector == SCALAR)
        parse_selector(p, instruction, result);
    else
        parse_write_mask(p, instruction, result);
}

void parse_video_source(struct parser *p, struct ptx_instruction *instruction) {
    struct lexer ahead = p->lexer; // -%r1 is a negated operand of vmad, -1 a constant
    bool negated = instruction->opcode == PTX_OP_VMAD && token_is_punctuator(&p->token, '-') &&
                   lexer_next(&ahead).kind == TOKEN_IDENTIFIER;
    if (negated)
        advance(p);
    struct ptx_operand source = parse_source(p, PTX_B32);
    int selector = simd_lanes(instruction->opcode), source_index = instruction->nsrc;
    source.negated = negated;
    source.selector = selector == SCALAR || source_index == 2 ? 0 : source_index == 0 ? 0x3210 : 0x7654;
    if (p->token.kind == TOKEN_SUFFIX) {
        if (source.kind != PTX_OPERAND_REGISTER || source_index == 2)
            fail_unknown_selector(p, instruction);
        if (selector == SCALAR)
            parse_selector(p, instruction, &source);
        else
            parse_simd_selector(p, instruction, &source);
    }
    instruction->src[instruction->nsrc++] = source;
}
