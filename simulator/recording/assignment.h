// Finds the variable that a source line assigns to.
#ifndef SIMULATOR_RECORDING_ASSIGNMENT_H
#define SIMULATOR_RECORDING_ASSIGNMENT_H

#include <stdbool.h>
#include <stddef.h>

enum assigned_type { ASSIGNED_UNKNOWN, ASSIGNED_FLOAT, ASSIGNED_INTEGER, ASSIGNED_OTHER };

struct assignment {
    char name[64]; // as written: score, row_sum[i]
    char from[64]; // the other variable if it is a plain copy: row_max[i] = new_max; else ""
    enum assigned_type type;
};

// A line with exactly one assignment, to a plain variable or an element of an array: "x = ...;", "float x = ...;",
// "a[i] += ...;", also after "if (...)". false for any other: two of them, a for, a pointer's target, none.
bool assignment_of(const char *line, struct assignment *assignment);

#endif
