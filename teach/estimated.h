// The lines by which check and trace estimate the time of a kernel on an H200.
#ifndef ESTIMATED_H
#define ESTIMATED_H

// Runs a sample of the kernel on the simulator and prints two lines; nothing where that cannot be done, or another GPU
// is simulated, whose times no estimate was held against. The words are those of teach trace; beside: the estimate of
// the solution, too.
void estimated_print(int count, char **word, int beside);

#endif
