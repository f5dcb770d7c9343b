#include "lexer.h"

#include <stdlib.h>
#include <string.h>

static const char END_TEXT[] = "end of input"; // of TOKEN_END, for messages

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$';
}

static bool is_word_character(char c) {
    return is_letter(c) || is_digit(c);
}

void lexer_init(struct lexer *lexer, struct arena *arena, const char *text, size_t length) {
    *lexer = (struct lexer){.next = text, .end = text + length, .line = 1, .arena = arena};
}

static char peek(const struct lexer *lexer, size_t ahead) {
    return (size_t)(lexer->end - lexer->next) > ahead ? lexer->next[ahead] : 0;
}

static void skip_block_comment(struct lexer *lexer) {
    int first_line = lexer->line;
    for (lexer->next += 2; !(peek(lexer, 0) == '*' && peek(lexer, 1) == '/'); lexer->next++) {
        if (lexer->next >= lexer->end)
            arena_fail(lexer->arena, "PTX line %d: unterminated comment [ptx-syntax]", first_line);
        if (*lexer->next == '\n')
            lexer->line++;
    }
    lexer->next += 2;
}

static void skip_whitespace(struct lexer *lexer) {
    while (lexer->next < lexer->end) {
        char c = *lexer->next;
        if (c == '\n') {
            lexer->line++;
            lexer->next++;
        } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
            lexer->next++;
        } else if (c == '/' && peek(lexer, 1) == '/') {
            while (lexer->next < lexer->end && *lexer->next != '\n')
                lexer->next++;
        } else if (c == '/' && peek(lexer, 1) == '*') {
            skip_block_comment(lexer);
        } else {
            break;
        }
    }
}

// Scans to the first character that cannot belong to a number; parse_number() validates it. A sign belongs to the
// number only after the e of a decimal exponent: 1.5e-3, but not 0x1e-3.
static void scan_number(struct lexer *lexer) {
    const char *start = lexer->next;
    bool decimal = true;
    for (; lexer->next < lexer->end; lexer->next++) {
        char c = *lexer->next;
        if (lexer->next == start + 1 && *start == '0' && is_letter(c))
            decimal = false;
        bool exponent_sign = decimal && (c == '+' || c == '-') && (lexer->next[-1] | 32) == 'e' && lexer->next > start;
        if (!is_word_character(c) && !exponent_sign && !(c == '.' && is_digit(peek(lexer, 1))))
            break;
    }
}

static void scan_string(struct lexer *lexer, struct token *token) {
    token->start = ++lexer->next;
    while (lexer->next < lexer->end && *lexer->next != '"' && *lexer->next != '\n')
        lexer->next += *lexer->next == '\\' && peek(lexer, 1) && peek(lexer, 1) != '\n' ? 2 : 1;
    if (peek(lexer, 0) != '"')
        arena_fail(lexer->arena, "PTX line %d: unterminated string [ptx-syntax]", lexer->line);
    token->length = (size_t)(lexer->next - token->start);
    lexer->next++;
}

// Two colons join the parts of a suffix, as in .L2::128B; one colon ends it, as after a label.
static void scan_suffix(struct lexer *lexer) {
    lexer->next++;
    for (;;) {
        while (lexer->next < lexer->end && is_word_character(*lexer->next))
            lexer->next++;
        if (peek(lexer, 0) != ':' || peek(lexer, 1) != ':' || !is_word_character(peek(lexer, 2)))
            break;
        lexer->next += 2;
    }
}

struct token lexer_next(struct lexer *lexer) {
    skip_whitespace(lexer);
    if (lexer->next >= lexer->end)
        return (struct token){.kind = TOKEN_END, .start = END_TEXT, .length = sizeof END_TEXT - 1, .line = lexer->line};
    struct token token = {.start = lexer->next, .line = lexer->line};
    char c = *lexer->next, after = peek(lexer, 1);
    if (is_letter(c) || (c == '%' && is_letter(after))) {
        token.kind = TOKEN_IDENTIFIER;
        do
            lexer->next++;
        while (lexer->next < lexer->end && is_word_character(*lexer->next));
    } else if (is_digit(c)) {
        token.kind = TOKEN_NUMBER;
        scan_number(lexer);
    } else if (c == '.' && is_word_character(after)) {
        token.kind = TOKEN_SUFFIX;
        scan_suffix(lexer);
    } else if (c == '"') {
        token.kind = TOKEN_STRING;
        scan_string(lexer, &token);
        return token;
    } else if (memchr("@;:,{}()[]<>+-*/%!|&^~?=.", c, 25)) {
        token.kind = TOKEN_PUNCTUATOR;
        lexer->next++;
    } else {
        arena_fail(lexer->arena, "PTX line %d: unexpected character 0x%02x [ptx-syntax]", lexer->line,
                   (unsigned char)c);
    }
    token.length = (size_t)(lexer->next - token.start);
    return token;
}

bool token_is(const struct token *token, const char *text) {
    return token->length == strlen(text) && memcmp(token->start, text, token->length) == 0 &&
           (token->kind == TOKEN_IDENTIFIER || token->kind == TOKEN_SUFFIX);
}

bool token_is_punctuator(const struct token *token, char punctuator) {
    return token->kind == TOKEN_PUNCTUATOR && *token->start == punctuator;
}

static int digit_value(char c) {
    if (is_digit(c))
        return c - '0';
    c |= 32;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 99;
}

static bool read_digits(const char *start, const char *end, unsigned base, uint64_t *value) {
    *value = 0;
    if (start == end)
        return false;
    for (; start < end; start++) {
        unsigned digit = (unsigned)digit_value(*start);
        if (digit >= base || *value > (UINT64_MAX - digit) / base)
            return false;
        *value = *value * base + digit;
    }
    return true;
}

static bool read_decimal(const struct token *token, struct number *number) {
    char text[64], *end;
    if (token->length >= sizeof text)
        return false;
    memcpy(text, token->start, token->length);
    text[token->length] = 0;
    double value = strtod(text, &end);
    number->floating = true;
    memcpy(&number->bits, &value, sizeof value);
    return *end == 0;
}

bool parse_number(const struct token *token, struct number *number) {
    *number = (struct number){0};
    const char *start = token->start, *end = start + token->length;
    if (token->kind != TOKEN_NUMBER)
        return false;
    char second = token->length > 1 && *start == '0' ? (char)(start[1] | 32) : 0;
    if (second == 'f' || second == 'd') {
        number->floating = true;
        number->single = second == 'f';
        return token->length == (number->single ? 10u : 18u) && read_digits(start + 2, end, 16, &number->bits);
    }
    if (end[-1] == 'U' || end[-1] == 'u') {
        number->is_unsigned = true;
        end--;
    }
    bool read;
    if (second == 'x')
        read = read_digits(start + 2, end, 16, &number->bits);
    else if (second == 'b')
        read = read_digits(start + 2, end, 2, &number->bits);
    else if (memchr(start, '.', token->length) || memchr(start, 'e', token->length) ||
             memchr(start, 'E', token->length))
        return !number->is_unsigned && read_decimal(token, number);
    else
        read = read_digits(start, end, *start == '0' && end - start > 1 ? 8 : 10, &number->bits);
    if (number->bits > INT64_MAX)
        number->is_unsigned = true;
    return read;
}

uint64_t number_float_bits(const struct number *number, size_t size) {
    float single;
    double double_value;
    uint32_t bits = (uint32_t)number->bits;
    uint64_t result = number->bits;
    if (number->single && size == 8) {
        memcpy(&single, &bits, sizeof single);
        double_value = single;
        memcpy(&result, &double_value, sizeof result);
    } else if (!number->single && size == 4) {
        memcpy(&double_value, &number->bits, sizeof double_value);
        single = (float)double_value;
        memcpy(&bits, &single, sizeof bits);
        result = bits;
    }
    return result;
}
