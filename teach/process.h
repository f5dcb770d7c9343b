// Other programs.
#ifndef PROCESS_H
#define PROCESS_H

#include <stdbool.h>

// Runs a command, its words up to a NULL, and waits for it: its exit status, 128 and more where a signal ended it, 127
// where it could not be started.
int process_run(const char *const *command);

// The same with stdin empty, and with all that it prints in the file `output`, or its stdout alone.
int process_run_to(const char *output, bool both, const char *const *command);

#endif
