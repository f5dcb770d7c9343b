// The two lines in which check and trace estimate the time of a kernel on an H200.
#ifndef ESTIMATE_REPORT_H
#define ESTIMATE_REPORT_H

#include <stdbool.h>

// Runs a sample of the kernel on the simulator and prints two lines; nothing if the sample fails, or if another GPU is
// simulated, for which the model was not validated. The arguments are those of teach trace. with_solution: also prints
// the estimate for the solution.
void print_estimate(int count, char **word, bool with_solution);

#endif
