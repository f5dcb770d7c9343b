// The check: runs a kernel over its cases, or over the one that was asked for, and judges each output.
#ifndef RUNNER_CHECK_H
#define RUNNER_CHECK_H

#include "arguments.h"

// Returns the exit status: 0 where every case was right, 1 where one was not, 2 where the input cannot be used.
// The kernel is loaded into another process (runner/worker.h), and no more into this one than the name of its file.
int check(const struct arguments *arguments);

// The seed that was given, or a fresh one.
uint64_t check_seed(const struct arguments *arguments);

#endif
