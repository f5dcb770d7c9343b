// Constant expressions, with C's operators and precedence and 64-bit arithmetic that wraps. nvcc writes little more
// than -4; inline assembly may write (4+5)*2.
#include "parser.h"

enum { MAX_NESTING = 64, LOWEST_PRECEDENCE = 1 };

struct binary {
    char text[3];
    int precedence;
};

// Longer operators first: << must not be read as <.
static const struct binary BINARIES[] = {
    {"||", 1}, {"&&", 2}, {"==", 6}, {"!=", 6}, {"<=", 7}, {">=", 7}, {"<<", 8}, {">>", 8}, {"|", 3},
    {"^", 4},  {"&", 5},  {"<", 7},  {">", 7},  {"+", 9},  {"-", 9},  {"*", 10}, {"/", 10}, {"%", 10},
};

static int64_t conditional(struct parser *p, int nesting);

static int64_t primary(struct parser *p, int nesting) {
    struct number number;
    if (accept_sign(p, '(')) {
        int64_t value = conditional(p, nesting + 1);
        expect_sign(p, ')');
        return value;
    }
    if (accept_word(p, "WARP_SZ"))
        return 32;
    if (!token_number(&p->token, &number) || number.floating)
        parser_fail(p, "expected an integer, found '" TOKEN_FORMAT "'", TOKEN_TEXT(p->token));
    advance(p);
    return (int64_t)number.bits;
}

static int64_t unary(struct parser *p, int nesting) {
    if (nesting > MAX_NESTING)
        parser_fail(p, "this expression is nested too deep");
    if (accept_sign(p, '-'))
        return (int64_t)(0 - (uint64_t)unary(p, nesting + 1));
    if (accept_sign(p, '+'))
        return unary(p, nesting + 1);
    if (accept_sign(p, '~'))
        return ~unary(p, nesting + 1);
    if (accept_sign(p, '!'))
        return !unary(p, nesting + 1);
    return primary(p, nesting);
}

static const struct binary *binary_at(const struct parser *p) {
    if (p->token.kind != TOKEN_SIGN)
        return NULL;
    for (size_t i = 0; i < sizeof BINARIES / sizeof *BINARIES; i++) {
        const char *text = BINARIES[i].text;
        if (*p->token.start == text[0] && (!text[1] || (p->lexer.next < p->lexer.end && p->token.start[1] == text[1])))
            return &BINARIES[i];
    }
    return NULL;
}

static int64_t divide(struct parser *p, int64_t left, int64_t right, bool remainder) {
    if (right == 0)
        parser_fail(p, "division by zero in a constant expression");
    if (right == -1) // INT64_MIN / -1 does not fit
        return remainder ? 0 : (int64_t)(0 - (uint64_t)left);
    return remainder ? left % right : left / right;
}

static int64_t apply(struct parser *p, const struct binary *operator, int64_t left, int64_t right) {
    uint64_t a = (uint64_t)left, b = (uint64_t)right;
    switch (operator->text[0] | operator->text[1] << 8) {
    case '|' | '|' << 8:
        return left || right;
    case '&' | '&' << 8:
        return left && right;
    case '=' | '=' << 8:
        return left == right;
    case '!' | '=' << 8:
        return left != right;
    case '<' | '=' << 8:
        return left <= right;
    case '>' | '=' << 8:
        return left >= right;
    case '<' | '<' << 8:
        return (int64_t)(b > 63 ? 0 : a << b);
    case '>' | '>' << 8:
        return left >> (b > 63 ? 63 : b);
    case '|':
        return (int64_t)(a | b);
    case '^':
        return (int64_t)(a ^ b);
    case '&':
        return (int64_t)(a & b);
    case '<':
        return left < right;
    case '>':
        return left > right;
    case '+':
        return (int64_t)(a + b);
    case '-':
        return (int64_t)(a - b);
    case '*':
        return (int64_t)(a * b);
    default:
        return divide(p, left, right, operator->text[0] == '%');
    }
}

static int64_t climb(struct parser *p, int least, int nesting) {
    int64_t left = unary(p, nesting);
    for (;;) {
        const struct binary *operator= binary_at(p);
        if (!operator|| operator->precedence<least)
            return left;
        advance(p);
        if (operator->text[1])
            advance(p);
        int64_t right = climb(p, operator->precedence + 1, nesting + 1);
        left = apply(p, operator, left, right);
    }
}

static int64_t conditional(struct parser *p, int nesting) {
    int64_t value = climb(p, LOWEST_PRECEDENCE, nesting);
    if (!accept_sign(p, '?'))
        return value;
    int64_t when_true = conditional(p, nesting + 1);
    expect_sign(p, ':');
    int64_t when_false = conditional(p, nesting + 1);
    return value ? when_true : when_false;
}

int64_t parse_constant(struct parser *p) {
    return conditional(p, 0);
}

static int64_t check_count(struct parser *p, int line, int64_t value, const char *what, int64_t least, int64_t most) {
    if (value < least || value > most)
        parser_fail_at(p, line, "%s is %lld; it must lie between %lld and %lld", what, (long long)value,
                       (long long)least, (long long)most);
    return value;
}

// Where a whole expression would take too much: the > of %r<5> for an operator, the next line of a .loc.
int64_t parse_count(struct parser *p, const char *what, int64_t least, int64_t most) {
    int line = p->token.line;
    return check_count(p, line, primary(p, 0), what, least, most);
}

int64_t parse_constant_count(struct parser *p, const char *what, int64_t least, int64_t most) {
    int line = p->token.line;
    return check_count(p, line, parse_constant(p), what, least, most);
}
