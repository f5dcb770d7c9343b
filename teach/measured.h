// What results/ hold of a GPU, as the questions of a quiz ask for it (questions.h).
#ifndef MEASURED_H
#define MEASURED_H

#include "expression.h"

// The value in `column` of the newest row of FOLDER/FILE whose columns are as `wanted` says, "lesson=x D=64 metric~y":
// = is equal, ~ matches an extended regular expression. False with one line where no row is.
bool measured(const char *folder, const char *file, const char *wanted, const char *column, char value[VALUE_TEXT],
              struct message *error);

// In percent, how busy a part of the GPU was while a solution ran with B=1 H=16 N=4096 and this head dimension: "L2",
// "shared memory", "issue slots", "FMA" or "device memory".
bool measured_busy(const char *folder, const char *lesson, int head_dim, const char *part, double *percent,
                   struct message *error);

#endif
