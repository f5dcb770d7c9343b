// What the runner tells the launcher: a line at the start of each step, written to the descriptor whose number is in
// the environment variable. Only a runner that came to its own end writes the last one. A line that begins with
// STEP_KEPT is no step: it says what has been recorded, and is printed where the runner does not come to its end.
#ifndef STEP_H
#define STEP_H

#define STEP_VARIABLE "ATTENTION_STEP_FD"
#define STEP_END "end"
#define STEP_KEPT "kept: "

#endif
