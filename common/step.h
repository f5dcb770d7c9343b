// The pipe from the runner to the launcher: a line at the start of each step, written to the descriptor in the
// environment variable. Only a runner that ends normally writes the last one. A line that begins with STEP_KEPT is no
// step: it states which results are recorded, and is printed if the runner does not end normally.
#ifndef STEP_H
#define STEP_H

#define STEP_VARIABLE "ATTENTION_STEP_FD"
#define STEP_END "end"
#define STEP_KEPT "kept: "

#endif
