// Runs other programs.
#ifndef PROCESS_H
#define PROCESS_H

#include <stdbool.h>

// Runs a command, a NULL-terminated argument vector, and waits for it. Returns its exit status; 128 + the signal number
// if a signal ended it; 127 if it could not be started.
int process_run(const char *const *command);

// The same with empty stdin, and with stdout, or stdout and stderr, redirected to the file `output`.
int process_run_to(const char *output, bool with_stderr, const char *const *command);

#endif
