// The blocks that a host thread has on the simulated GPU at a time.
#ifndef SIMULATOR_EXECUTION_RESIDENT_H
#define SIMULATOR_EXECUTION_RESIDENT_H

#include "../machine/block.h"

// Runs blocks of the launch, as host thread `thread` of run->threads, until there are none left or the launch stops.
void resident_run(struct run *run, unsigned thread);

// Host thread `thread` has no blocks any more, or could not be started: nobody waits for what it might do.
void resident_leave(struct run *run, unsigned thread);

#endif
