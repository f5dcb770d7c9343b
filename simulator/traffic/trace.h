// What is written of the counts, and when. Environment:
//   SIMULATOR_TRACE=1            count; launches of a kernel with the same grid are added up
//   SIMULATOR_TRACE=launches     count; every launch for itself
//   SIMULATOR_TRACE_CSV=path     written when the process ends
//   SIMULATOR_TRACE_JSON=path    the same as JSON
//   SIMULATOR_WORK_CSV=path      what the parts of an SM do, a row a kernel and grid (work.h)
// A row is one memory instruction of one kernel. simulator.h has the call that writes the files earlier.
#ifndef SIMULATOR_TRAFFIC_TRACE_H
#define SIMULATOR_TRAFFIC_TRACE_H

#include <stdbool.h>

enum trace_mode { TRACE_OFF, TRACE_KERNELS, TRACE_LAUNCHES };

// From the environment, at the first call; that call also arranges for the files to be written at exit.
enum trace_mode trace_mode(void);

// Whether SIMULATOR_WORK_CSV asks for the work of kernels, too (work.h).
bool trace_counts_work(void);

#endif
