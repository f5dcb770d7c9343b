// Runs a program as a child under a time limit and turns what can become of it into an exit status and one line.
#ifndef LAUNCHER_SUPERVISE_H
#define LAUNCHER_SUPERVISE_H

// The child says which step it is in (step.h). A step that lasts longer than limit seconds ends the child and all that
// it started. Returns the child's exit status; 1 where it crashed, ran too long, or ended with 0 but without its last
// step; 128 + N where signal N ended this program. kept is what is said of a child that is stopped before it has said
// itself what is kept (STEP_KEPT), NULL for nothing.
int supervise(const char *program, int limit, const char *kept);

#endif
