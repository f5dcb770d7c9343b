// The blocks that a host thread has resident on the simulated GPU.
#ifndef SIMULATOR_EXECUTION_RESIDENT_H
#define SIMULATOR_EXECUTION_RESIDENT_H

#include "../machine/block.h"

// Runs blocks of the launch, as host thread `thread` of run->threads, until none is left or the launch stops.
void resident_run(struct run *run, unsigned thread);

// Host thread `thread` has no blocks any more, or was not started: other threads do not wait for it.
void resident_finish_thread(struct run *run, unsigned thread);

#endif
