#include "assignment.h"

#include <ctype.h>
#include <string.h>

// Copies the line without comments and without the contents of quotes.
static void strip(const char *line, char *text, size_t size) {
    size_t length = 0;
    char quote = 0;
    for (; *line && length + 1 < size; line++) {
        if (quote) {
            line += *line == '\\' && line[1];
            quote = *line == quote ? 0 : quote;
            continue;
        }
        if (line[0] == '/' && line[1] == '/')
            break;
        if (line[0] == '/' && line[1] == '*') {
            const char *end = strstr(line + 2, "*/");
            if (!end)
                break;
            line = end + 1;
            continue;
        }
        if (*line == '"' || *line == '\'')
            quote = *line;
        else
            text[length++] = *line;
    }
    text[length] = 0;
}

static const char *skip_spaces(const char *text) {
    while (isspace((unsigned char)*text))
        text++;
    return text;
}

static bool is_word(const char *text, const char *word) {
    size_t length = strlen(word);
    return !strncmp(text, word, length) && !isalnum((unsigned char)text[length]) && text[length] != '_';
}

// The text after the closing parenthesis; NULL if there is none.
static const char *behind_parenthesis(const char *text) {
    int depth = 0;
    for (; *text; text++) {
        depth += (*text == '(') - (*text == ')');
        if (*text == ')' && depth == 0)
            return text + 1;
    }
    return NULL;
}

// The only '=' that assigns and is not in parentheses; NULL: none, or several.
static const char *find_equals(const char *text) {
    const char *found = NULL;
    int depth = 0;
    for (const char *at = text; *at; at++) {
        depth += (*at == '(' || *at == '[') - (*at == ')' || *at == ']');
        if (*at != '=')
            continue;
        if (at[1] == '=') {
            at++;
            continue;
        }
        if (at > text && strchr("!<>", at[-1]) && !(at > text + 1 && at[-2] == at[-1]))
            continue;
        if (found || depth)
            return NULL;
        found = at;
    }
    return found;
}

// From "const float new_max" the name and the type, from "a[i][j]" the name only.
static bool split(const char *left, size_t length, struct assignment *assignment) {
    while (length && isspace((unsigned char)left[length - 1]))
        length--;
    size_t end = length, depth = 0;
    while (end > 0 && (depth || left[end - 1] == ']')) {
        end--;
        depth += left[end] == ']';
        depth -= left[end] == '[';
    }
    size_t start = end;
    while (start > 0 && (isalnum((unsigned char)left[start - 1]) || left[start - 1] == '_'))
        start--;
    if (start == end || isdigit((unsigned char)left[start]) || length - start >= sizeof assignment->name)
        return false;
    memcpy(assignment->name, left + start, length - start);
    assignment->name[length - start] = 0;
    while (start > 0 && isspace((unsigned char)left[start - 1]))
        start--;
    if (start > 0 && !isalnum((unsigned char)left[start - 1]) && left[start - 1] != '_')
        return false; // *p, p->x, a.b
    assignment->type = start == 0 ? ASSIGNED_UNKNOWN : ASSIGNED_OTHER;
    for (const char *word = left; word < left + start; word++) {
        if (word > left && (isalnum((unsigned char)word[-1]) || word[-1] == '_'))
            continue;
        if (is_word(word, "float"))
            assignment->type = ASSIGNED_FLOAT;
        else if (is_word(word, "int") || is_word(word, "unsigned") || is_word(word, "uint32_t") ||
                 is_word(word, "int32_t"))
            assignment->type = ASSIGNED_INTEGER;
    }
    return memchr(left, ',', start) == NULL;
}

// The name, if it is the whole text up to a semicolon, else "".
static void copy_word(const char *text, char *word, size_t size) {
    size_t length = 0;
    text = skip_spaces(text);
    while (isalnum((unsigned char)text[length]) || text[length] == '_')
        length++;
    const bool all = *skip_spaces(text + length) == ';' && length && length < size && !isdigit((unsigned char)*text);
    memcpy(word, text, all ? length : 0);
    word[all ? length : 0] = 0;
}

bool assignment_of(const char *line, struct assignment *assignment) {
    char text[512];
    strip(line, text, sizeof text);
    const char *at = skip_spaces(text);
    if (is_word(at, "for") || is_word(at, "while") || *at == '#')
        return false;
    while (at && (is_word(at, "if") || is_word(at, "else"))) {
        at = is_word(at, "if") ? behind_parenthesis(at) : at + strlen("else");
        at = at ? skip_spaces(at) : NULL;
    }
    const char *equals = at ? find_equals(at) : NULL;
    if (!equals || equals == at)
        return false;
    size_t length = (size_t)(equals - at);
    copy_word(equals + 1, assignment->from, sizeof assignment->from);
    while (length && strchr("+-*/%&|^<>", at[length - 1])) {
        length--;
        *assignment->from = 0; // x += y is not a copy of y
    }
    return split(at, length, assignment);
}
