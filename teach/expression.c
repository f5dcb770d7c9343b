#include "expression.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A recursive descent, a function a level of precedence. Where unused is set it only reads on: the branch of a ?: that
// is not taken is neither computed nor are its functions called.
enum { MOST_NESTED = 100, NAME_TEXT = 32 };

struct parser {
    const char *at;
    const struct scope *scope;
    struct message *error;
    int depth;
    bool unused;
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

static bool conditional(struct parser *p, struct value *value);

static char peek(struct parser *p) {
    while (isspace((unsigned char)*p->at))
        p->at++;
    return *p->at;
}

// Takes the operator where it comes next, and is no longer one: "<" is not in "<=".
static bool take(struct parser *p, const char *operator) {
    size_t length = strlen(operator);
    peek(p);
    if (strncmp(p->at, operator, length) || (length == 1 && strchr("<>!=", *operator) && p->at[1] == '='))
        return false;
    p->at += length;
    return true;
}

static bool need_number(struct parser *p, const struct value *value) {
    return !value->is_text || message_set(p->error, "has the text '%.60s' where a number is needed", value->text);
}

static bool outside(struct parser *p, const char *what) {
    return message_set(p->error, "uses more than %s: %.60s", p->scope->vocabulary, what);
}

// ---- Numbers, texts, names and calls --------------------------------------------------------------------------------

static bool number(struct parser *p, struct value *value) {
    char *end;
    *value = value_number(strtod(p->at, &end));
    // "0x10", and what strtod() takes for more than a decimal number.
    if (*p->at == '0' && (p->at[1] == 'x' || p->at[1] == 'X'))
        return outside(p, p->at);
    if (end == p->at || isalnum((unsigned char)*end) || *end == '.' || !isfinite(value->number))
        return outside(p, p->at);
    p->at = end;
    return true;
}

static bool quoted(struct parser *p, struct value *value) {
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

static bool call_own(const char *name, const struct value *argument, int count, struct value *value) {
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

static bool is_own(const char *name) {
    return !strcmp(name, "ceil") || !strcmp(name, "floor") || !strcmp(name, "min") || !strcmp(name, "max");
}

static bool call(struct parser *p, const char *name, struct value *value) {
    struct value argument[MAX_ARGUMENTS] = {{0}};
    int count = 0;
    while (peek(p) != ')' || count) {
        if (count == MAX_ARGUMENTS)
            return message_set(p->error, "gives %s() more than %d arguments", name, MAX_ARGUMENTS);
        if (!conditional(p, &argument[count++]))
            return false;
        if (!take(p, ","))
            break;
    }
    if (!take(p, ")"))
        return message_set(p->error, "has no ) for the ( of %s", name);
    *value = value_number(0);
    if (is_own(name)) {
        for (int i = 0; i < count; i++)
            if (!need_number(p, &argument[i]))
                return false;
        return call_own(name, argument, count, value) ||
               message_set(p->error, "gives %s() %d argument%s", name, count, count == 1 ? "" : "s");
    }
    p->error->text[0] = 0;
    if (p->unused || (p->scope->call && p->scope->call(p->scope->context, name, argument, count, value, p->error)))
        return true;
    return *p->error->text ? false : outside(p, name);
}

static bool name(struct parser *p, struct value *value) {
    char word[NAME_TEXT];
    size_t length = 0;
    while (isalnum((unsigned char)p->at[length]) || p->at[length] == '_')
        length++;
    if (length >= sizeof word)
        return outside(p, p->at);
    memcpy(word, p->at, length);
    word[length] = 0;
    p->at += length;
    if (take(p, "("))
        return call(p, word, value);
    *value = value_number(0);
    return (p->scope->name && p->scope->name(p->scope->context, word, &value->number)) || outside(p, word);
}

static bool primary(struct parser *p, struct value *value) {
    char c = peek(p);
    if (isdigit((unsigned char)c) || c == '.')
        return number(p, value);
    if (c == '"')
        return quoted(p, value);
    if (isalpha((unsigned char)c))
        return name(p, value);
    if (!c)
        return message_set(p->error, "ends where a number should follow");
    if (c == ')' || strchr("*/%<>=&|?:,", c))
        return message_set(p->error, "has %c where a number should be", c);
    if (!take(p, "("))
        return outside(p, p->at);
    if (!conditional(p, value))
        return false;
    return take(p, ")") || message_set(p->error, "has no ) for its (");
}

// ---- Operators, from those that bind most ---------------------------------------------------------------------------

static bool unary(struct parser *p, struct value *value) {
    const char *sign = take(p, "-") ? "-" : take(p, "+") ? "+" : take(p, "!") ? "!" : NULL;
    if (!sign)
        return primary(p, value);
    if (++p->depth > MOST_NESTED)
        return message_set(p->error, "is nested too deep");
    bool right = unary(p, value) && need_number(p, value);
    p->depth--;
    if (*sign == '-')
        value->number = -value->number;
    else if (*sign == '!')
        value->number = value->number == 0;
    return right;
}

static bool product(struct parser *p, struct value *value) {
    if (!unary(p, value))
        return false;
    for (char c = peek(p); c && strchr("*/%", c); c = peek(p)) {
        struct value right;
        p->at++;
        if (!unary(p, &right) || !need_number(p, value) || !need_number(p, &right))
            return false;
        if (c != '*' && right.number == 0) {
            if (!p->unused)
                return message_set(p->error, "divides by 0");
            right.number = 1;
        }
        value->number = c == '*'   ? value->number * right.number
                        : c == '/' ? value->number / right.number
                                   : fmod(value->number, right.number);
    }
    return true;
}

static bool sum(struct parser *p, struct value *value) {
    if (!product(p, value))
        return false;
    for (char c = peek(p); c == '+' || c == '-'; c = peek(p)) {
        struct value right;
        p->at++;
        if (!product(p, &right) || !need_number(p, value) || !need_number(p, &right))
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

static bool comparison(struct parser *p, struct value *value) {
    static const char *const operators[] = {"<=", ">=", "==", "!=", "<", ">"};
    if (!sum(p, value))
        return false;
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
        struct value right;
        if (!take(p, operators[i]))
            continue;
        if (!sum(p, &right) || !need_number(p, value) || !need_number(p, &right))
            return false;
        value->number = compare(operators[i], value->number, right.number);
        return true;
    }
    return true;
}

static bool both(struct parser *p, struct value *value) {
    if (!comparison(p, value))
        return false;
    while (take(p, "&&")) {
        struct value right;
        bool unused = p->unused;
        p->unused |= value->number == 0;
        if (!comparison(p, &right) || !need_number(p, value) || !need_number(p, &right))
            return false;
        p->unused = unused;
        value->number = value->number != 0 && right.number != 0;
    }
    return true;
}

static bool either(struct parser *p, struct value *value) {
    if (!both(p, value))
        return false;
    while (take(p, "||")) {
        struct value right;
        bool unused = p->unused;
        p->unused |= value->number != 0;
        if (!both(p, &right) || !need_number(p, value) || !need_number(p, &right))
            return false;
        p->unused = unused;
        value->number = value->number != 0 || right.number != 0;
    }
    return true;
}

static bool choose(struct parser *p, struct value *value) {
    struct value yes, no;
    bool taken = value->number != 0, unused = p->unused;
    if (!need_number(p, value))
        return false;
    p->unused = unused || !taken;
    if (!conditional(p, &yes))
        return false;
    if (!take(p, ":"))
        return message_set(p->error, "has no : for its ?");
    p->unused = unused || taken;
    if (!conditional(p, &no))
        return false;
    p->unused = unused;
    *value = taken ? yes : no;
    return true;
}

static bool conditional(struct parser *p, struct value *value) {
    if (++p->depth > MOST_NESTED)
        return message_set(p->error, "is nested too deep");
    bool right = either(p, value) && (!take(p, "?") || choose(p, value));
    p->depth--;
    return right;
}

bool expression_evaluate(const char *text, const struct scope *scope, struct value *value, struct message *error) {
    struct parser parser = {.at = text, .scope = scope, .error = error};
    error->text[0] = 0;
    if (!conditional(&parser, value))
        return false;
    if (peek(&parser))
        return isalnum((unsigned char)*parser.at) || strchr("\"(", *parser.at)
                   ? message_set(error, "has no operator before %.60s", parser.at)
               : *parser.at == ')' ? message_set(error, "has a ) without its (")
                                   : outside(&parser, parser.at);
    return value->is_text || isfinite(value->number) || message_set(error, "is too large for a number");
}

bool expression_number(const char *text, const struct scope *scope, double *number, struct message *error) {
    struct value value;
    if (!expression_evaluate(text, scope, &value, error))
        return false;
    *number = value.number;
    return !value.is_text || message_set(error, "has the text '%.60s' where a number is needed", value.text);
}
