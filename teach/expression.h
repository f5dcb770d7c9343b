// Arithmetic as predictions.csv, the questions of a quiz and those who answer them write it:
//
//     + - * / % ( ), < <= > >= == !=, && || !, condition ? one : other, numbers, "text",
//     ceil(x) floor(x) min(x, y) max(x, y), and what a scope adds of names and functions.
//
// Only the branch of ?: that is taken has to have a value.
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
// A text that is a number as a whole is that number.
struct value value_text(const char *text);

struct scope {
    // The value of a name; false where there is none. NULL: there are no names.
    bool (*name)(void *context, const char *name, double *value);
    // Calls a function with count arguments. False with an error, or with an empty one where there is no such function.
    // NULL: there are none but those above.
    bool (*call)(void *context, const char *name, const struct value *argument, int count, struct value *value,
                 struct message *error);
    void *context;
    const char *vocabulary; // what an expression may use, for who uses more
};

// The value of the whole text. Else an error to follow the expression in a line: "divides by 0", "uses more than ...".
bool expression_evaluate(const char *text, const struct scope *scope, struct value *value, struct message *error);

// The same where only a number will do.
bool expression_number(const char *text, const struct scope *scope, double *number, struct message *error);

#endif
