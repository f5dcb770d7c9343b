// Runs a program as a child under a time limit and turns what can become of it into an exit status and one line.
#ifndef LAUNCHER_SUPERVISE_H
#define LAUNCHER_SUPERVISE_H

// The child finds in the environment variable ATTENTION_STEP_FD a descriptor to which it writes a line at the start of
// each step. A step that lasts longer than limit seconds ends the child and all that it started.
// Returns the child's exit status; 1 where it crashed or ran too long; 128 + N where signal N ended this program.
int supervise(const char *program, char **argv, int limit);

#endif
