// The pipe from the runner to the launcher: a line at the start of each step, written to the descriptor in the
// environment variable. Only a runner that ends normally writes the last one. A line that begins with STEP_KEPT is no
// step: it states which results are recorded, and is printed if the runner does not end normally.
#ifndef STEP_H
#define STEP_H

// The launcher sends the signal when a step has taken as long as it may. A runner that can give up the step begins the
// next one; others ignore the signal, and are ended soon afterwards.
#include <signal.h>

#define STEP_VARIABLE "ATTENTION_STEP_FD"
#define STEP_END "end"
#define STEP_KEPT "kept: "
#define STEP_TIME_IS_UP SIGURG

#endif
