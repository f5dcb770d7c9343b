// Operands of video instructions, and in .parts which parts of a word they are:
//   %r1.b2, %r1.h0    of vadd and the like: 1 to 4 for a byte, 5 or 6 for a half, 0 for the word
//   %r1.b7530         of vadd4: which of the eight bytes of a and b its four are, a digit of 4 bits each, as prmt has
//   it %r1.h30           of vadd2, of the four halves: as bytes, too %r1.b20, %r1.h1   of the result of vadd4 and
//   vadd2: a bit for each part that is written
//   -%r1              of vmad
#include "parser.h"

#include <string.h>

enum { BYTES = 4, HALVES = 2, WORD = 1 };

bool is_video(enum ptx_opcode opcode) {
    return opcode >= PTX_OP_VABSDIFF && opcode <= PTX_OP_VSUB4;
}

// How many parts the instruction works on.
static int parts_of(enum ptx_opcode opcode) {
    const char *name = ptx_opcode_name(opcode), last = name[strlen(name) - 1];
    return last == '4' ? BYTES : last == '2' ? HALVES : WORD;
}

_Noreturn static void unknown(struct parser *p, const struct ptx_instruction *instruction) {
    parser_unsupported(p, "the simulator does not know '" TOKEN_FORMAT "' behind this operand of '%s'",
                       TOKEN_TEXT(p->token), ptx_opcode_name(instruction->opcode));
}

// The digits behind .b or .h, the last one first. Returns how many; 0: it is no such suffix, or has others than those
// below `below`.
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

static void parse_part(struct parser *p, const struct ptx_instruction *instruction, struct ptx_operand *operand) {
    int digit[4];
    if (read_digits(&p->token, 'b', 4, digit) == 1)
        operand->parts = (uint16_t)(1 + digit[0]);
    else if (read_digits(&p->token, 'h', 2, digit) == 1)
        operand->parts = (uint16_t)(5 + digit[0]);
    else
        unknown(p, instruction);
    advance(p);
}

static void parse_selection(struct parser *p, const struct ptx_instruction *instruction, struct ptx_operand *operand) {
    int parts = parts_of(instruction->opcode), bytes = 4 / parts, digit[4];
    if (read_digits(&p->token, parts == BYTES ? 'b' : 'h', 2 * parts, digit) != parts)
        unknown(p, instruction);
    operand->parts = 0;
    for (int i = 0; i < 4; i++)
        operand->parts |= (uint16_t)((digit[i / bytes] * bytes + i % bytes) << 4 * i);
    advance(p);
}

static void parse_mask(struct parser *p, const struct ptx_instruction *instruction, struct ptx_operand *operand) {
    int parts = parts_of(instruction->opcode), digit[4];
    int count = read_digits(&p->token, parts == BYTES ? 'b' : 'h', parts, digit);
    operand->parts = 0;
    for (int i = 0; i < count; i++) {
        if (i > 0 && digit[i] <= digit[i - 1])
            unknown(p, instruction);
        operand->parts |= (uint16_t)(1 << digit[i]);
    }
    if (count == 0)
        unknown(p, instruction);
    advance(p);
}

void parse_video_destination(struct parser *p, struct ptx_instruction *instruction) {
    int parts = parts_of(instruction->opcode);
    struct ptx_operand *result = &instruction->dst[0];
    result->parts = parts == WORD ? 0 : (uint16_t)((1 << parts) - 1);
    if (p->token.kind != TOKEN_SUFFIX)
        return;
    if (result->kind != PTX_OPERAND_REGISTER || instruction->opcode == PTX_OP_VMAD)
        unknown(p, instruction);
    if (parts == WORD)
        parse_part(p, instruction, result);
    else
        parse_mask(p, instruction, result);
}

void parse_video_source(struct parser *p, struct ptx_instruction *instruction) {
    struct lexer ahead = p->lexer; // -%r1 is vmad's, -1 a constant
    bool negated =
        instruction->opcode == PTX_OP_VMAD && token_is_sign(&p->token, '-') && lexer_next(&ahead).kind == TOKEN_WORD;
    if (negated)
        advance(p);
    struct ptx_operand source = parse_source(p, PTX_B32);
    int parts = parts_of(instruction->opcode), which = instruction->nsrc;
    source.negated = negated;
    source.parts = parts == WORD || which == 2 ? 0 : which == 0 ? 0x3210 : 0x7654;
    if (p->token.kind == TOKEN_SUFFIX) {
        if (source.kind != PTX_OPERAND_REGISTER || which == 2)
            unknown(p, instruction);
        if (parts == WORD)
            parse_part(p, instruction, &source);
        else
            parse_selection(p, instruction, &source);
    }
    instruction->src[instruction->nsrc++] = source;
}
