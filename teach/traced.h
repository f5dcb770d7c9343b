// One run of a kernel on the simulator that counts its memory traffic, for what compares the counts.
#ifndef TRACED_H
#define TRACED_H

#include "traffic.h"

struct traced {
    char shape[64];
    struct traffic traffic;
};

// The words are those of teach trace. 0, or the status of a run that failed, or that counted nothing.
int traced_run(int count, char **word, struct traced *traced);

// What stands behind --source, "" where it is not there.
const char *traced_source(int count, char **word);

#endif
