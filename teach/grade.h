// Whether what somebody typed is the answer.
#ifndef GRADE_H
#define GRADE_H

#include "message.h"

enum grade { GRADE_RIGHT, GRADE_WRONG, GRADE_UNCLEAR };

// A number, or an expression of numbers: "2 * 64 * 4", "1,024 bytes", "8 x 8". within: how far off, of the answer, is
// right. Unclear, with one line that says what to write, where it is none.
enum grade grade_number(const char *given, double answer, double within, struct message *unclear);

// A letter, a for the first of so many choices: "b", "(B)".
enum grade grade_letter(const char *given, int choices, int right, struct message *unclear);

#endif
