// Values from results/, for the questions of a quiz (questions.h).
#ifndef MEASURED_H
#define MEASURED_H

#include "expression.h"

// The value in `column` of the newest row of FOLDER/FILE that fulfils the condition "lesson=x D=64 metric~y": =
// compares texts, ~ matches an extended regular expression. False with one line if no row does.
bool results_value(const char *folder, const char *file, const char *wanted, const char *column, char value[VALUE_TEXT],
                   struct message *error);

// Utilization in percent of a unit of the GPU while a solution ran with B=1 H=16 N=4096 and this head dimension: "L2",
// "shared memory", "issue slots", "FMA", "tensor cores", "exponentials and conversions" or "device memory".
bool read_utilization(const char *folder, const char *lesson, int head_dim, const char *part, double *percent,
                      struct message *error);

#endif
