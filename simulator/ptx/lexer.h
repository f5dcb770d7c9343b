// Splits PTX text into tokens. The text is not trusted and not null-terminated.
#ifndef SIMULATOR_PTX_LEXER_H
#define SIMULATOR_PTX_LEXER_H

#include "arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum token_kind {
    TOKEN_END,
    TOKEN_IDENTIFIER, // ld, %r1, $L__BB0_2, _Z6kernelPf
    TOKEN_SUFFIX,     // .global, .x, .L2::128B: a dot and the identifier after it
    TOKEN_NUMBER,     // 16, 0x1F, 0f3F800000, 1.5
    TOKEN_STRING,     // the text between the quotes
    TOKEN_PUNCTUATOR, // one character
};

struct token {
    enum token_kind kind;
    const char *start; // in the text
    size_t length;
    int line;
};

struct lexer {
    const char *next, *end; // of the text
    int line;
    struct arena *arena; // for errors
};

void lexer_init(struct lexer *lexer, struct arena *arena, const char *text, size_t length);

// The next token; TOKEN_END at the end of the text, repeatedly.
struct token lexer_next(struct lexer *lexer);

bool token_is(const struct token *token, const char *text); // the text of a TOKEN_SUFFIX includes its dot
bool token_is_punctuator(const struct token *token, char punctuator);

struct number {
    bool floating;
    bool single;      // 0f: bits hold a float, else a double
    uint64_t bits;    // integer value, or the bit pattern
    bool is_unsigned; // U suffix, or too large for a signed 64-bit integer
};

// False if the token is not a valid PTX number or does not fit in 64 bits.
bool parse_number(const struct token *token, struct number *number);

// The bits of a floating-point number as a float (size 4) or a double (8).
uint64_t number_float_bits(const struct number *number, size_t size);

#endif
