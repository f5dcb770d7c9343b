#include "expression.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Recursive descent, one function per level of precedence. With skip_evaluation set it only parses: in a branch of ?:
// that is not selected, nothing is computed and no function is called.
enum { MAX_NESTING = 100, NAME_TEXT = 32 };

struct parser {
    const char *at;
    const struct scope *scope;
    struct message *error;
    int depth;
    bool skip_evaluation;
};

struct value value_number(double number) {
    return (struct value){.number = number};
}

struct value value_text(const char *text) {
    struct value value = {.is_text = true};
    char *end;
    double number = strtod(text, &end);
    if ((isdigit((unsigned char)*text) || *text == '-') && !*end && isfinite(number))
        return value_number(number);
    snprintf(value.text, sizeof value.text, "%s", text);
    return value;
}

static bool parse_conditional(struct parser *p, struct value *value);

static char peek(struct parser *p) {
    while (isspace((unsigned char)*p->at))
        p->at++;
    return *p->at;
}

// Consumes the operator if it comes next; "<" does not match "<=".
static bool accept(struct parser *p, const char *operator) {
    size_t length = strlen(operator);
    peek(p);
    if (strncmp(p->at, operator, length) || (length == 1 && strchr("<>!=", *operator) && p->at[1] == '='))
        return false;
    p->at += length;
    return true;
}

static bool require_number(struct parser *p, const struct value *value) {
    return !value->is_text || message_set(p->error, "has the text '%.60s' where a number is needed", value->text);
}

static bool report_unknown(struct parser *p, const char *what) {
    return message_set(p->error, "uses more than %s: %.60s", p->scope->vocabulary, what);
}

// ---- Numbers, texts, names and calls --------------------------------------------------------------------------------

static bool parse_number(struct parser *p, struct value *value) {
    char *end;
    *value = value_number(strtod(p->at, &end));
    // Rejects "0x10" and everything else that strtod() accepts beyond decimal numbers.
    if (*p->at == '0' && (p->at[1] == 'x' || p->at[1] == 'X'))
        return report_unknown(p, p->at);
    if (end == p->at || isalnum((unsigned char)*end) || *end == '.' || !isfinite(value->number))
        return report_unknown(p, p->at);
    p->at = end;
    return true;
}

static bool parse_text(struct parser *p, struct value *value) {
    size_t length = 0;
    *value = (struct value){.is_text = true};
    for (p->at++; *p->at && *p->at != '"'; p->at++) {
        if (length + 1 == sizeof value->text)
            return message_set(p->error, "has a text of more than %zu characters", sizeof value->text - 1);
        p->at += *p->at == '\\' && p->at[1];
        value->text[length++] = *p->at;
    }
    if (!*p->at)
        return message_set(p->error, "has a text without its end");
    p->at++;
    return true;
}

static bool call_builtin(const char *name, const struct value *argument, int count, struct value *value) {
    double x = argument[0].number, y = argument[1].number;
    if (count == 1 && !strcmp(name, "ceil"))
        *value = value_number(ceil(x));
    else if (count == 1 && !strcmp(name, "floor"))
        *value = value_number(floor(x));
    else if (count == 2 && !strcmp(name, "min"))
        *value = value_number(x < y ? x : y);
    else if (count == 2 && !strcmp(name, "max"))
        *value = value_number(x > y ? x : y);
    else
        return false;
    return true;
}

static bool is_builtin(const char *name) {
    return !strcmp(name, "ceil") || !strcmp(name, "floor") || !strcmp(name, "min") || !strcmp(name, "max");
}

static bool parse_call(struct parser *p, const char *name, struct value *value) {
    struct value argument[MAX_ARGUMENTS] = {{0}};
    int count = 0;
    while (peek(p) != ')' || count) {
        if (count == MAX_ARGUMENTS)
            return message_set(p->error, "gives %s() more than %d arguments", name, MAX_ARGUMENTS);
        if (!parse_conditional(p, &argument[count++]))
            return false;
        if (!accept(p, ","))
            break;
    }
    if (!accept(p, ")"))
        return message_set(p->error, "has no ) for the ( of %s", name);
    *value = value_number(0);
    if (is_builtin(name)) {
        for (int i = 0; i < count; i++)
            if (!require_number(p, &argument[i]))
                return false;
        return call_builtin(name, argument, count, value) ||
               message_set(p->error, "gives %s() %d argument%s", name, count, count == 1 ? "" : "s");
    }
    p->error->text[0] = 0;
    if (p->skip_evaluation ||
        (p->scope->call && p->scope->call(p->scope->context, name, argument, count, value, p->error)))
        return true;
    return *p->error->text ? false : report_unknown(p, name);
}

static bool parse_name(struct parser *p, struct value *value) {
    char word[NAME_TEXT];
    size_t length = 0;
    while (isalnum((unsigned char)p->at[length]) || p->at[length] == '_')
        length++;
    if (length >= sizeof word)
        return report_unknown(p, p->at);
    memcpy(word, p->at, length);
    word[length] = 0;
    p->at += length;
    if (accept(p, "("))
        return parse_call(p, word, value);
    *value = value_number(0);
    return (p->scope->name && p->scope->name(p->scope->context, word, &value->number)) || report_unknown(p, word);
}

static bool parse_primary(struct parser *p, struct value *value) {
    char c = peek(p);
    if (isdigit((unsigned char)c) || c == '.')
        return parse_number(p, value);
    if (c == '"')
        return parse_text(p, value);
    if (isalpha((unsigned char)c))
        return parse_name(p, value);
    if (!c)
        return message_set(p->error, "ends where a number should follow");
    if (c == ')' || strchr("*/%<>=&|?:,", c))
        return message_set(p->error, "has %c where a number should be", c);
    if (!accept(p, "("))
        return report_unknown(p, p->at);
    if (!parse_conditional(p, value))
        return false;
    return accept(p, ")") || message_set(p->error, "has no ) for its (");
}

// ---- Operators, in order of decreasing precedence
// ---------------------------------------------------------------------------

static bool parse_unary(struct parser *p, struct value *value) {
    const char *sign = accept(p, "-") ? "-" : accept(p, "+") ? "+" : accept(p, "!") ? "!" : NULL;
    if (!sign)
        return parse_primary(p, value);
    if (++p->depth > MAX_NESTING)
        return message_set(p->error, "is nested too deep");
    bool right = parse_unary(p, value) && require_number(p, value);
    p->depth--;
    if (*sign == '-')
        value->number = -value->number;
    else if (*sign == '!')
        value->number = value->number == 0;
    return right;
}

static bool parse_product(struct parser *p, struct value *value) {
    if (!parse_unary(p, value))
        return false;
    for (char c = peek(p); c && strchr("*/%", c); c = peek(p)) {
        struct value right;
        p->at++;
        if (!parse_unary(p, &right) || !require_number(p, value) || !require_number(p, &right))
            return false;
        if (c != '*' && right.number == 0) {
            if (!p->skip_evaluation)
                return message_set(p->error, "divides by 0");
            right.number = 1;
        }
        value->number = c == '*'   ? value->number * right.number
                        : c == '/' ? value->number / right.number
                                   : fmod(value->number, right.number);
    }
    return true;
}

static bool parse_sum(struct parser *p, struct value *value) {
    if (!parse_product(p, value))
        return false;
    for (char c = peek(p); c == '+' || c == '-'; c = peek(p)) {
        struct value right;
        p->at++;
        if (!parse_product(p, &right) || !require_number(p, value) || !require_number(p, &right))
            return false;
        value->number += c == '+' ? right.number : -right.number;
    }
    return true;
}

static bool compare(const char *operator, double x, double y) {
    switch (*operator) {
    case '<':
        return operator[1] ? x <= y : x<y;
    case '>':
        return operator[1] ? x >= y : x> y;
    case '=':
        return x == y;
    default:
        return x != y;
    }
}

static bool parse_comparison(struct parser *p, struct value *value) {
    static const char *const operators[] = {"<=", ">=", "==", "!=", "<", ">"};
    if (!parse_sum(p, value))
        return false;
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
        struct value right;
        if (!accept(p, operators[i]))
            continue;
        if (!parse_sum(p, &right) || !require_number(p, value) || !require_number(p, &right))
            return false;
        value->number = compare(operators[i], value->number, right.number);
        return true;
    }
    return true;
}

static bool parse_and(struct parser *p, struct value *value) {
    if (!parse_comparison(p, value))
        return false;
    while (accept(p, "&&")) {
        struct value right;
        bool skip_evaluation = p->skip_evaluation;
        p->skip_evaluation |= value->number == 0;
        if (!parse_comparison(p, &right) || !require_number(p, value) || !require_number(p, &right))
            return false;
        p->skip_evaluation = skip_evaluation;
        value->number = value->number != 0 && right.number != 0;
    }
    return true;
}

static bool parse_or(struct parser *p, struct value *value) {
    if (!parse_and(p, value))
        return false;
    while (accept(p, "||")) {
        struct value right;
        bool skip_evaluation = p->skip_evaluation;
        p->skip_evaluation |= value->number != 0;
        if (!parse_and(p, &right) || !require_number(p, value) || !require_number(p, &right))
            return false;
        p->skip_evaluation = skip_evaluation;
        value->number = value->number != 0 || right.number != 0;
    }
    return true;
}

static bool parse_conditional_branches(struct parser *p, struct value *value) {
    struct value yes, no;
    bool taken = value->number != 0, skip_evaluation = p->skip_evaluation;
    if (!require_number(p, value))
        return false;
    p->skip_evaluation = skip_evaluation || !taken;
    if (!parse_conditional(p, &yes))
        return false;
    if (!accept(p, ":"))
        return message_set(p->error, "has no : for its ?");
    p->skip_evaluation = skip_evaluation || taken;
    if (!parse_conditional(p, &no))
        return false;
    p->skip_evaluation = skip_evaluation;
    *value = taken ? yes : no;
    return true;
}

static bool parse_conditional(struct parser *p, struct value *value) {
    if (++p->depth > MAX_NESTING)
        return message_set(p->error, "is nested too deep");
    bool right = parse_or(p, value) && (!accept(p, "?") || parse_conditional_branches(p, value));
    p->depth--;
    return right;
}

bool expression_evaluate(const char *text, const struct scope *scope, struct value *value, struct message *error) {
    struct parser parser = {.at = text, .scope = scope, .error = error};
    error->text[0] = 0;
    if (!parse_conditional(&parser, value))
        return false;
    if (peek(&parser))
        return isalnum((unsigned char)*parser.at) || strchr("\"(", *parser.at)
                   ? message_set(error, "has no operator before %.60s", parser.at)
               : *parser.at == ')' ? message_set(error, "has a ) without its (")
                                   : report_unknown(&parser, parser.at);
    return value->is_text || isfinite(value->number) || message_set(error, "is too large for a number");
}

bool expression_number(const char *text, const struct scope *scope, double *number, struct message *error) {
    struct value value;
    if (!expression_evaluate(text, scope, &value, error))
        return false;
    *number = value.number;
    return !value.is_text || message_set(error, "has the text '%.60s' where a number is needed", value.text);
}
