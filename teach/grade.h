// Grades a typed answer.
#ifndef GRADE_H
#define GRADE_H

#include "message.h"

enum grade { GRADE_CORRECT, GRADE_WRONG, GRADE_UNCLEAR };

// A number, or an expression of numbers: "2 * 64 * 4", "1,024 bytes", "8 x 8". within: the relative tolerance. Any
// other text is unclear, with one line that says what to type.
enum grade grade_number(const char *given, double answer, double within, struct message *unclear);

// One letter, a for the first of `choices`: "b", "(B)".
enum grade grade_letter(const char *given, int choices, int right, struct message *unclear);

#endif
