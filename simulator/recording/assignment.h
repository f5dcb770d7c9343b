// Which variable a line of a source assigns to.
#ifndef SIMULATOR_RECORDING_ASSIGNMENT_H
#define SIMULATOR_RECORDING_ASSIGNMENT_H

#include <stdbool.h>
#include <stddef.h>

enum assigned_type { ASSIGNED_UNKNOWN, ASSIGNED_FLOAT, ASSIGNED_INTEGER, ASSIGNED_OTHER };

struct assignment {
    char name[64]; // as written: score, row_sum[i]
    char from[64]; // the other variable where it is set to nothing but that: row_max[i] = new_max; else ""
    enum assigned_type type;
};

// A line that holds exactly one assignment, to a plain variable or an element of an array: "x = ...;", "float x =
// ...;", "a[i] += ...;", also behind "if (...)". false for any other: two of them, a for, a pointer's target, none.
bool assignment_of(const char *line, struct assignment *assignment);

#endif
