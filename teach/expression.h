// The arithmetic of predictions.csv, of the questions of a quiz and of typed answers:
//
//     + - * / % ( ), < <= > >= == !=, && || !, condition ? one : other, numbers, "text",
//     ceil(x) floor(x) min(x, y) max(x, y), and the names and functions of a scope.
//
// Only the selected branch of ?: is evaluated.
#ifndef EXPRESSION_H
#define EXPRESSION_H

#include "message.h"

enum { VALUE_TEXT = 240, MAX_ARGUMENTS = 4 };

struct value {
    bool is_text;
    double number;
    char text[VALUE_TEXT];
};

struct value value_number(double number);
// A text that is a number becomes a number.
struct value value_text(const char *text);

struct scope {
    // The value of a name; false if it is unknown. NULL: there are no names.
    bool (*name)(void *context, const char *name, double *value);
    // Calls a function with `count` arguments. False with an error, or with an empty error if the function is unknown.
    // NULL: there are only the built-in functions.
    bool (*call)(void *context, const char *name, const struct value *argument, int count, struct value *value,
                 struct message *error);
    void *context;
    const char *vocabulary; // describes what an expression may use, for error messages
};

// Evaluates the whole text. Otherwise false with an error that continues a sentence about the expression: "divides by
// 0".
bool expression_evaluate(const char *text, const struct scope *scope, struct value *value, struct message *error);

// The same for an expression that must be a number.
bool expression_number(const char *text, const struct scope *scope, double *number, struct message *error);

#endif
