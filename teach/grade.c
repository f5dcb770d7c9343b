#include "grade.h"

#include "expression.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

// "16k", "3 MiB": a unit prefix after a digit, which is ambiguous (1000 or 1024).
static bool has_prefix(const char *text) {
    size_t end = strlen(text);
    if (end && tolower((unsigned char)text[end - 1]) == 'b')
        end--;
    if (end && tolower((unsigned char)text[end - 1]) == 'i')
        end--;
    if (!end || !strchr("kmg", tolower((unsigned char)text[end - 1])))
        return false;
    end--;
    while (end && text[end - 1] == ' ')
        end--;
    return end && isdigit((unsigned char)text[end - 1]);
}

// Removes commas and spaces between digits and a unit at the end; x becomes *.
static void strip_formatting(const char *given, char *text, size_t size) {
    size_t length = 0;
    for (; *given && length + 1 < size; given++)
        if (!strchr(", _", *given))
            text[length++] = *given;
    while (length && (isalpha((unsigned char)text[length - 1]) || text[length - 1] == '%'))
        length--;
    text[length] = 0;
    for (char *c = text; *c; c++)
        if (*c == 'x' || *c == 'X')
            *c = '*';
}

enum grade grade_number(const char *given, double answer, double within, struct message *unclear) {
    const struct scope scope = {.vocabulary = "numbers"};
    struct message reason;
    char text[200];
    double value;
    if (strlen(given) >= sizeof text) {
        message_set(unclear, "answer with a number, or with an expression like 2 * 64 * 4, in under 200 characters");
        return GRADE_UNCLEAR;
    }
    if (has_prefix(given)) {
        message_set(unclear, "write the number in full; 2 * 64 * 1024 is a number, too");
        return GRADE_UNCLEAR;
    }
    strip_formatting(given, text, sizeof text);
    if (!*text) {
        message_set(unclear, "answer with a number, or with an expression like 2 * 64 * 4");
        return GRADE_UNCLEAR;
    }
    if (!expression_number(text, &scope, &value, &reason)) {
        message_set(unclear, "answer with a number, or with an expression like 2 * 64 * 4: %.100s %s", text,
                    reason.text);
        return GRADE_UNCLEAR;
    }
    return fabs(value - answer) <= within * fabs(answer) ? GRADE_CORRECT : GRADE_WRONG;
}

enum grade grade_letter(const char *given, int choices, int right, struct message *unclear) {
    char letter = 0;
    int letters = 0;
    for (; *given; given++)
        if (!strchr(" ().", *given)) {
            letter = (char)tolower((unsigned char)*given);
            letters++;
        }
    if (letters != 1 || letter < 'a' || letter >= 'a' + choices) {
        message_set(unclear, "answer with one letter, a to %c", 'a' + choices - 1);
        return GRADE_UNCLEAR;
    }
    return letter - 'a' == right ? GRADE_CORRECT : GRADE_WRONG;
}
