// Output of the counts. Environment:
//   SIMULATOR_TRACE=1            count; launches of a kernel with the same grid are added up
//   SIMULATOR_TRACE=launches     count; each launch separately
//   SIMULATOR_TRACE_CSV=path     written when the process ends
//   SIMULATOR_TRACE_JSON=path    the same as JSON
//   SIMULATOR_WORK_CSV=path      work of the units of an SM, one row per kernel and grid (work.h)
//   SIMULATOR_OVERLAP_CSV=path   what waits leave in flight (overlap.h)
// A row is one memory instruction of one kernel. A function in simulator.h writes the files earlier.
#ifndef SIMULATOR_TRAFFIC_TRACE_H
#define SIMULATOR_TRAFFIC_TRACE_H

#include <stdbool.h>

enum trace_mode { TRACE_OFF, TRACE_KERNELS, TRACE_LAUNCHES };

// Reads the environment at the first call, and arranges for the files to be written at exit.
enum trace_mode trace_mode(void);

// Whether SIMULATOR_WORK_CSV requests the work of kernels (work.h).
bool trace_counts_work(void);

#endif
