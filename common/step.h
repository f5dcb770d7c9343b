// What the runner tells the launcher: a line at the start of each step, written to the descriptor whose number is in
// the environment variable. Only a runner that came to its own end writes the last one.
#ifndef STEP_H
#define STEP_H

#define STEP_VARIABLE "ATTENTION_STEP_FD"
#define STEP_END "end"

#endif
