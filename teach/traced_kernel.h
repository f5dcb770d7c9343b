// One run of a kernel on the simulator, with its counted memory traffic.
#ifndef TRACED_KERNEL_H
#define TRACED_KERNEL_H

#include "files.h"
#include "traffic.h"

struct traced_kernel {
    char shape[64];
    char overlap[PATH_TEXT]; // file: what waits leave in flight, see simulator/traffic/overlap.h
    struct traffic traffic;
};

// The arguments are those of teach trace. Returns 0, or a nonzero status if the run failed or counted nothing.
int run_traced_kernel(int count, char **word, struct traced_kernel *traced_kernel);

// The argument of --source, "" if it is missing.
const char *source_option(int count, char **word);

#endif
