// Constant expressions with C's operators, precedence and wrapping 64-bit arithmetic. nvcc writes little more than -4;
// inline assembly may contain (4+5)*2.
#include "parser.h"

enum { MAX_NESTING = 64, LOWEST_PRECEDENCE = 1 };

struct binary {
    char text[3];
    int precedence;
};

// Longer operators come first: << must not match as <.
static const struct binary BINARIES[] = {
    {"||", 1}, {"&&", 2}, {"==", 6}, {"!=", 6}, {"<=", 7}, {">=", 7}, {"<<", 8}, {">>", 8}, {"|", 3},
    {"^", 4},  {"&", 5},  {"<", 7},  {">", 7},  {"+", 9},  {"-", 9},  {"*", 10}, {"/", 10}, {"%", 10},
};

static int64_t parse_conditional(struct parser *p, int nesting);

static int64_t parse_primary(struct parser *p, int nesting) {
    struct number number;
    if (accept_punctuator(p, '(')) {
        int64_t value = parse_conditional(p, nesting + 1);
        expect_punctuator(p, ')');
        return value;
    }
    if (accept_keyword(p, "WARP_SZ"))
        return 32;
    if (!parse_number(&p->token, &number) || number.floating)
        parser_fail(p, "expected an integer, found '" TOKEN_FORMAT "'", TOKEN_TEXT(p->token));
    advance(p);
    return (int64_t)number.bits;
}

static int64_t parse_unary(struct parser *p, int nesting) {
    if (nesting > MAX_NESTING)
        parser_fail(p, "expression is nested too deeply");
    if (accept_punctuator(p, '-'))
        return (int64_t)(0 - (uint64_t)parse_unary(p, nesting + 1));
    if (accept_punctuator(p, '+'))
        return parse_unary(p, nesting + 1);
    if (accept_punctuator(p, '~'))
        return ~parse_unary(p, nesting + 1);
    if (accept_punctuator(p, '!'))
        return !parse_unary(p, nesting + 1);
    return parse_primary(p, nesting);
}

static const struct binary *binary_at(const struct parser *p) {
    if (p->token.kind != TOKEN_PUNCTUATOR)
        return NULL;
    for (size_t i = 0; i < sizeof BINARIES / sizeof *BINARIES; i++) {
        const char *text = BINARIES[i].text;
        if (*p->token.start == text[0] && (!text[1] || (p->lexer.next < p->lexer.end && p->token.start[1] == text[1])))
            return &BINARIES[i];
    }
    return NULL;
}

static int64_t evaluate_division(struct parser *p, int64_t left, int64_t right, bool remainder) {
    if (right == 0)
        parser_fail(p, "division by zero in a constant expression");
    if (right == -1) // INT64_MIN / -1 overflows
        return remainder ? 0 : (int64_t)(0 - (uint64_t)left);
    return remainder ? left % right : left / right;
}

static int64_t evaluate_binary(struct parser *p, const struct binary *operator, int64_t left, int64_t right) {
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
        return evaluate_division(p, left, right, operator->text[0] == '%');
    }
}

static int64_t parse_binary(struct parser *p, int minimum, int nesting) {
    int64_t left = parse_unary(p, nesting);
    for (;;) {
        const struct binary *operator= binary_at(p);
        if (!operator|| operator->precedence<minimum)
            return left;
        advance(p);
        if (operator->text[1])
            advance(p);
        int64_t right = parse_binary(p, operator->precedence + 1, nesting + 1);
        left = evaluate_binary(p, operator, left, right);
    }
}

static int64_t parse_conditional(struct parser *p, int nesting) {
    int64_t value = parse_binary(p, LOWEST_PRECEDENCE, nesting);
    if (!accept_punctuator(p, '?'))
        return value;
    int64_t when_true = parse_conditional(p, nesting + 1);
    expect_punctuator(p, ':');
    int64_t when_false = parse_conditional(p, nesting + 1);
    return value ? when_true : when_false;
}

int64_t parse_constant(struct parser *p) {
    return parse_conditional(p, 0);
}

static int64_t check_count(struct parser *p, int line, int64_t value, const char *description, int64_t minimum,
                           int64_t maximum) {
    if (value < minimum || value > maximum)
        parser_fail_at(p, line, "%s is %lld; it must be between %lld and %lld", description, (long long)value,
                       (long long)minimum, (long long)maximum);
    return value;
}

// Parses a literal where a whole expression would consume too many tokens: the > of %r<5> as an operator, or the next
// line of a .loc.
int64_t parse_count(struct parser *p, const char *description, int64_t minimum, int64_t maximum) {
    int line = p->token.line;
    return check_count(p, line, parse_primary(p, 0), description, minimum, maximum);
}

int64_t parse_constant_count(struct parser *p, const char *description, int64_t minimum, int64_t maximum) {
    int line = p->token.line;
    return check_count(p, line, parse_constant(p), description, minimum, maximum);
}
