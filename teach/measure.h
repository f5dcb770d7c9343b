// The counts of a run that a question asks about, made now unless they are there for the very same text.
#ifndef MEASURE_H
#define MEASURE_H

#include "files.h"
#include "message.h"

// run: "LABEL SOURCE SHAPE [causal] [SED-SCRIPT]". Builds the changed source with $MAKE, runs it on the simulator, and
// names the CSV, below build/quiz/. False with one line, behind what compiler or check have said, where that cannot be
// done.
bool measure(const char *run, char label[32], char csv[PATH_TEXT], struct message *error);

#endif
