// What a kernel leaves in flight where it waits. A kernel that waits for everything computes the same, and slower:
// these counts tell the two apart. SIMULATOR_OVERLAP_CSV=path names a file for them, written with the other counts
// (trace.h): rows  what,count.
#ifndef SIMULATOR_TRAFFIC_OVERLAP_H
#define SIMULATOR_TRAFFIC_OVERLAP_H

#include <stdbool.h>

// Per warp: mma.sync while its cp.async are in flight; waits that leave groups of wgmma in flight; and passes of a
// named barrier other than 0, by which groups of warps take turns.
enum overlap { OVERLAP_CP_ASYNC, OVERLAP_WGMMA, OVERLAP_TURNS, OVERLAP_KINDS };

void overlap_count(enum overlap kind);

// False: the file could not be written.
bool overlap_write(void);

#endif
