// Runs a program as a child under a time limit and turns its end into an exit status and one line.
#ifndef LAUNCHER_SUPERVISE_H
#define LAUNCHER_SUPERVISE_H

// The child reports its steps (step.h). If a step lasts longer than limit seconds, the child and its descendants are
// killed. Returns the child's exit status; 1 if it crashed, ran too long, or exited with 0 without its last step; 128 +
// N if signal N ended this program. kept is printed for a child that is stopped before it has reported which results
// are recorded (STEP_KEPT); NULL: nothing.
int supervise(const char *program, int limit, const char *kept);

#endif
