// Cuts PTX text into words. The text is not trusted and does not end in 0.
#ifndef SIMULATOR_PTX_LEXER_H
#define SIMULATOR_PTX_LEXER_H

#include "arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum token_kind {
    TOKEN_END,
    TOKEN_WORD,   // ld, %r1, $L__BB0_2, _Z6kernelPf
    TOKEN_SUFFIX, // .global, .x, .L2::128B: a dot and the word after it
    TOKEN_NUMBER, // 16, 0x1F, 0f3F800000, 1.5
    TOKEN_STRING, // "..." without the quotes
    TOKEN_SIGN,   // one character of punctuation
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

void lexer_start(struct lexer *lexer, struct arena *arena, const char *text, size_t length);

// The next token; TOKEN_END again and again once the text is used up.
struct token lexer_next(struct lexer *lexer);

bool token_is(const struct token *token, const char *text); // a TOKEN_SUFFIX is compared with its dot
bool token_is_sign(const struct token *token, char sign);

struct number {
    bool floating;
    bool single;      // 0f: bits hold a float, else a double
    uint64_t bits;    // integer value, or the bit pattern
    bool is_unsigned; // U suffix, or too large for a signed 64-bit integer
};

// False where the token is not a number that PTX knows, or does not fit in 64 bits.
bool token_number(const struct token *token, struct number *number);

// A floating-point number's bits as a float (size 4) or a double (8).
uint64_t number_float_bits(const struct number *number, size_t size);

#endif
