// The simulator's counts for a run of a question, cached by the text of the source.
#ifndef MEASURE_H
#define MEASURE_H

#include "files.h"
#include "message.h"

// run: "LABEL SOURCE SHAPE [causal] [SED-SCRIPT]". Builds the edited source with $MAKE, checks it on the simulator and
// returns the path of a file below build/quiz/: the CSV of its counts or, if `outcome`, the output of the check, which
// may fail, after a line "status N". If that cannot be done: false with one line, after the output of the compiler or
// check.
bool measure(const char *run, bool outcome, char label[32], char path[PATH_TEXT], struct message *error);

#endif
